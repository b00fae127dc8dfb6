"""What leaves the house and what comes in: formats of others, their engines, their models.

Each module needs a package beyond the core, an extra, and imports it when it is first used.
"""
