"""Compatibility layers for other systems: `import minigrad.faces.torch as torch`.

A layer maps the other system's names to minigrad, which does all computing. It knows the names
that learners use first, raises an error with the alternative for others, and loads on import.
"""
