"""The NumPy executor: faster than one kernel after the other."""
