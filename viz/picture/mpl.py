"""The names we use from matplotlib, loaded with the first chart, as that takes a while."""

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib import rc_context as rc_context
    from matplotlib.axes import Axes as Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvasAgg
    from matplotlib.backends.backend_svg import RendererSVG as RendererSVG
    from matplotlib.figure import Figure as Figure
    from matplotlib.font_manager import FontEntry as FontEntry
    from matplotlib.font_manager import fontManager as fontManager
    from matplotlib.image import imsave as imsave
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.patches import Ellipse as Ellipse
    from matplotlib.patches import FancyBboxPatch as FancyBboxPatch
    from matplotlib.patches import Patch as Patch
    from matplotlib.patches import PathPatch as PathPatch
    from matplotlib.patches import Polygon as Polygon
    from matplotlib.patches import Rectangle as Rectangle
    from matplotlib.path import Path as Path
    from matplotlib.patheffects import withStroke as withStroke
    from matplotlib.ticker import LogLocator as LogLocator
    from matplotlib.ticker import MaxNLocator as MaxNLocator
    from matplotlib.ticker import NullLocator as NullLocator
    from PIL import Image as Image
else:
    PLACES = (
        ".path .figure .axes .patches .lines .patheffects .ticker .image .font_manager "
        ".backends.backend_agg .backends.backend_svg"
    )

    # It says so when it first lists the fonts of a machine, and where a font lacks the weight that
    # was asked for: nothing for the cell of a lesson.
    UNSAID = ("building the font cache", "Failed to find font weight")
    logging.getLogger("matplotlib.font_manager").addFilter(
        lambda said: not any(text in said.getMessage() for text in UNSAID)
    )

    def __getattr__(name: str) -> Any:
        if name == "Image":
            return importlib.import_module("PIL.Image")
        for place in (*PLACES.split(), ""):  # last of all, as it has a Path of another kind
            module = importlib.import_module(f"matplotlib{place}")
            if hasattr(module, name):
                globals()[name] = found = getattr(module, name)
                return found
        raise AttributeError(name)
