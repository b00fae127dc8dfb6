"""Interoperation with other systems: their file formats, engines and models.

Each module needs a package beyond the core, an extra, and imports it when it is first used.
"""
