"""Questions, checks and their answers."""
