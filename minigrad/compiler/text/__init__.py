"""A program as the Python that it runs."""
