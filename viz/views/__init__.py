"""What a lesson calls: each view of a graph, a pass, a failure."""
