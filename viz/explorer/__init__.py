"""A whole real model: its modules, what ran in them, and their gradients."""
