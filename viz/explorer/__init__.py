"""A real model seen whole: its modules, what ran in them, and what came back."""
