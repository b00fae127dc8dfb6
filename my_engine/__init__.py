"""My engine: see engine.py."""

from my_engine.engine import *
