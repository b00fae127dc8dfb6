"""Graphs as files: JSON and arrays, no code; a damaged or hostile file is refused with a reason."""

from minigrad.saving.loading import load_graph
from minigrad.saving.writing import save

__all__ = ["load_graph", "save"]
