"""From a graph to its picture."""
