"""The engine's messages and errors, and the user's line."""
