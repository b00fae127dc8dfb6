"""A program on several devices."""
