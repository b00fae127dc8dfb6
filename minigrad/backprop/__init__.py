"""Gradient rules, what they save for backward, and the sweep that adds up contributions."""
