"""Interoperation with other systems: their file formats, engines and models, and C.

Each module needs a package beyond the core, an extra, and imports it when it is first used. C wants
a compiler, and leaves everything to NumPy where there is none.
"""

from minigrad.interop.c import joining as joining  # which enters itself among the executors
