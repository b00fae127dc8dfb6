"""From code to graph: traced, scripted, or called as a function."""
