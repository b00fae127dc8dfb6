"""`viz.train`: a loop whose loss and gradients are drawn while it runs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np
from IPython import get_ipython
from IPython.display import display

from minigrad.nn.module import Module
from viz import assets
from viz.charts import Chart, curves
from viz.page.page import SHEETS, Page
from viz.page.sheets import sheets
from viz.picture.picture import brief
from viz.picture.style import CURVES
from viz.words.text import ROWS, Pair, bilingual, both, printed, row

__all__ = ["train"]

COLORS = [f"--mg-c{i}: light-dark({a}, {b});" for i, (a, b) in enumerate(CURVES)]
POINTS = 200  # of a curve that are sent to the browser; of a longer one every second, third, …
PAUSE = 0.1  # seconds between two drawings while it runs
WORDS = ("train_loss", "train_step", "train_log", "train_progress", "table")


class Training(Page):
    """A loop that draws itself; made by viz.train."""

    _esm = assets.source("widget.js") + assets.source("train.js")
    _css = sheets(*SHEETS, "train") + f".mg-train {{ {' '.join(COLORS)} }}"

    heading = ROWS["train_loss"]

    def __init__(self, items: Iterable[Any], total: int | None, model: Module | None) -> None:
        super().__init__()
        self._items, self.total, self._model = items, total, model
        self.series: dict[str, list[float]] = {}
        self.norms: dict[str, list[float]] = {}
        self.done, self.state = 0, "ready"
        self._begin: float | None = None
        self._drawn = self._elapsed = 0.0
        self._draw()

    # ---- While it runs -------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        """The items, one a step; however the loop ends, the chart is complete and stays."""
        self._begin, self.state, self.done = time.monotonic(), "running", 0
        shown = None
        if get_ipython() is not None:
            shown = display(self, display_id=True)  # type: ignore[no-untyped-call]
        try:
            for item in self._items:
                yield item
                self.done += 1
                if time.monotonic() - self._drawn > PAUSE:
                    self._draw()
            self.state = "done"
        finally:  # an interrupt, an error or a break comes here as well
            self.state = self.state if self.state == "done" else "stopped"
            self._draw()
            if shown is not None:  # what the notebook stores is the end, not the empty start
                shown.update(self)

    def log(self, gradients: Mapping[str, Any] | None = None, **numbers: Any) -> None:
        """Note the numbers of this step: loss=…, accuracy=…; and the norm of each gradient.

        Gradients are those of the model, layer by layer, as they are now; or arrays by name, as a
        static graph gives them. ValueError for what is not a single number.
        """
        known = {name: _number(name, value) for name, value in numbers.items()}
        found = _by_layer(self._model) if gradients is None else _named(gradients)
        for series, values in ((self.series, known), (self.norms, found)):
            for name, value in values.items():
                series.setdefault(name, []).append(value)

    # ---- What is shown -------------------------------------------------------------------------

    @property
    def status(self) -> Pair:
        """How far it came, in words without times."""
        total = "?" if self.total is None else self.total
        return row(f"train_{self.state}", done=self.done, total=total)

    def text(self) -> Pair:
        """How far it came, and of each curve the first, last, smallest and largest number."""
        charts = self.charts()
        halves = []
        for i in (0, 1):
            lines = [self.status[i]]
            for chart in charts:
                lines += [chart.title[i], " | ".join(chart.head[i])]
                lines += [" | ".join(line[i]) for line in chart.rows]
            halves.append("\n".join(lines))
        return halves[0], halves[1]

    def __str__(self) -> str:
        return self.text()[0]

    __repr__ = __str__

    def charts(self) -> list[Chart]:
        """A chart for each quantity logged, and one of the gradients' norms, over the steps."""
        x = ROWS["train_step"]
        found = [
            curves(series, title=_title(what), x=x, y=ROWS["train_value"])
            for what, series in quantities(self.series).items()
        ]
        if self.norms:
            positive = all(v > 0 for values in self.norms.values() for v in values)
            title, y = ROWS["train_norms"], ROWS["train_norm"]
            found.append(curves(self.norms, title=title, x=x, y=y, logy=positive))
        return found

    def _still(self) -> str:
        shown = "".join(chart._repr_mimebundle_()["text/html"] for chart in self.charts())
        return f"<p>{bilingual(self.status)}</p>{shown}"

    def _curves(self) -> list[dict[str, Any]]:
        """The charts for the browser."""
        norms = {"title": ROWS["train_norms"], "log": True, "series": self.norms}
        found: list[dict[str, Any]] = [
            {"title": _title(what), "log": False, "series": series}
            for what, series in quantities(self.series).items()
        ]
        found += [norms] if self.norms else []
        return [{**one, "series": [_sent(*s) for s in one["series"].items()]} for one in found]

    def _draw(self) -> None:
        """Send the curves to every place where the training is displayed."""
        now = time.monotonic()
        if self._begin is not None:
            self._elapsed = now - self._begin
        self._drawn = now
        ended = self.state in ("done", "stopped")
        times = row("train_took" if ended else "train_elapsed", elapsed=f"{self._elapsed:.1f}")
        if self.state == "running" and self.done and self.total is not None:
            left = f"{self._elapsed / self.done * (self.total - self.done):.1f}"
            times = row("train_left", elapsed=f"{self._elapsed:.1f}", left=left)
        self.data = {
            "status": bilingual(self.status),
            "say": both(self.status),
            "done": self.done,
            "total": self.total,
            "state": self.state,
            "times": bilingual(times),
            "charts": self._curves(),
            "words": {key: ROWS[key] for key in WORDS},
            "labels": {key: both(ROWS[key]) for key in WORDS},
        }


def _title(what: str) -> Pair:
    """What a quantity is called: the usual ones have a Chinese name, too."""
    known = {"loss": "train_quantity_loss", "accuracy": "train_quantity_accuracy"}
    return ROWS[known[what]] if what in known else (what, what)


def quantities(series: Mapping[str, list[float]]) -> dict[str, dict[str, list[float]]]:
    """Series by what they measure, the last word of their name: no two quantities share an axis.

    >>> quantities({"train_loss": [2.0], "test_loss": [3.0], "accuracy": [0.5]})
    {'loss': {'train_loss': [2.0], 'test_loss': [3.0]}, 'accuracy': {'accuracy': [0.5]}}
    """
    found: dict[str, dict[str, list[float]]] = {}
    for name, values in series.items():
        found.setdefault(re.split(r"[\W_]+", name.strip("_ "))[-1] or name, {})[name] = values
    return found


def train(steps: int | Iterable[Any], model: Module | None = None) -> Training:
    """A loop over `steps` that draws what is logged in it: curves, progress, time left.

    steps: how many, or the batches themselves. model: the norms of its layers' gradients are drawn,
    too, as they are at each `log`. In a notebook the chart appears when the loop begins and is
    renewed in place; interrupt the kernel, break, or let an error come: the chart stays, and says
    where it stopped. TypeError for other things.

    >>> import minigrad as mg, viz
    >>> w = mg.tensor(1.0, requires_grad=True)
    >>> training = viz.train(3)
    >>> for step in training:
    ...     loss = w * 0.5**step
    ...     training.log(loss=loss)
    >>> print(training)
    done: step 3 of 3
    loss
    series | count | first | last | min | max
    loss | 3 | 1 | 0.25 | 0.25 | 1
    """
    if isinstance(steps, (int, np.integer)) and not isinstance(steps, bool):
        return Training(range(int(steps)), int(steps), model)
    if not isinstance(steps, Iterable) or isinstance(steps, str):
        raise TypeError(printed("train_steps", value=brief(steps)))
    total = len(steps) if isinstance(steps, Sized) else None
    return Training(steps, total, model)


def _number(name: str, value: Any) -> float:
    array = np.asarray(getattr(value, "data", value))
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise ValueError(printed("train_number", name=name, value=brief(value)))
    return float(array.reshape(-1)[0])


def _by_layer(model: Module | None) -> dict[str, float]:
    """The norm of the gradient of each layer, all its parameters together."""
    squares: dict[str, float] = {}
    for name, parameter in model.named_parameters() if model is not None else ():
        if parameter.grad is not None:
            layer = name.rpartition(".")[0] or name
            part = float(np.sum(np.square(parameter.grad._array, dtype=np.float64)))
            squares[layer] = squares.get(layer, 0.0) + part
    return {layer: float(np.sqrt(total)) for layer, total in squares.items()}


def _named(gradients: Mapping[str, Any]) -> dict[str, float]:
    arrays = {name: np.asarray(getattr(g, "data", g), float) for name, g in gradients.items()}
    return {name: float(np.sqrt(np.sum(np.square(a)))) for name, a in arrays.items()}


def _sent(name: str, values: list[float]) -> dict[str, Any]:
    """A curve for the browser: thinned out, without NaN and infinity, and always with its end."""
    stride = -(-len(values) // POINTS)
    chosen = sorted({*range(0, len(values), stride), len(values) - 1})
    points = [[i, float(f"{values[i]:.6g}") if np.isfinite(values[i]) else None] for i in chosen]
    return {"name": name, "points": points}
