"""What the NumPy executor does better than one kernel after the other."""
