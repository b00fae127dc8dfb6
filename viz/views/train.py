"""`viz.train`: a loop whose loss and gradients are drawn while it runs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np
import traitlets
from IPython import get_ipython
from IPython.display import display

from minigrad.compiler.schedule.schedule import seconds
from minigrad.nn.module import Module
from viz import assets
from viz.charts import Chart
from viz.charts.curves import Lines, stacked
from viz.page.page import SHEETS, Page
from viz.page.sheets import sheets
from viz.picture.picture import brief
from viz.words.text import ROWS, Pair, bilingual, both, row, row_text

__all__ = ["train"]

PAUSE = 0.1  # seconds from one report to the next while it runs
SHARE = 5  # times as long as a drawing took, it waits for the next one
DECADES = 1e3  # from the lowest number to the highest: the axis is logarithmic


class Training(Page):
    """A loop that draws itself; made by viz.train."""

    _esm = assets.source("widget.js") + assets.source("train.js")
    _css = sheets(*SHEETS, "train")

    drawing = traitlets.Unicode("").tag(sync=True)  # the chart

    def __init__(self, items: Iterable[Any], total: int | None, model: Module | None) -> None:
        self._items, self.total, self._model = items, total, model
        self.series: dict[str, list[float]] = {}
        self.norms: dict[str, list[float]] = {}
        self.done, self.state = 0, "ready"
        self._begin: float | None = None
        self._sent = self._drawn = self._cost = self._spent = self._elapsed = 0.0
        self._tell()
        super().__init__()

    # ---- While it runs -------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        """Yield the items, one per step; however the loop ends, the chart is complete and stays."""
        self._begin = self._drawn = time.monotonic()
        self.state, self.done, self._spent = "running", 0, 0.0
        shown = None
        if get_ipython() is not None:
            shown = display(self, display_id=True)  # type: ignore[no-untyped-call]
        try:
            for item in self._items:
                yield item
                self.done += 1
                now = time.monotonic()
                if now - self._drawn > max(PAUSE, SHARE * self._cost):
                    self._draw()
                if now - self._sent > PAUSE:
                    self._tell()
            self.state = "done"
        finally:  # an interrupt, an error or a break comes here as well
            self.state = self.state if self.state == "done" else "stopped"
            self._draw()
            self._tell()
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
        """Return the status, and the first, last, smallest and largest number of each curve."""
        chart, halves = self.chart(), []
        for i in (0, 1):
            lines = [self.status[i]]
            if chart is not None:
                lines += [chart.title[i], " | ".join(chart.head[i])]
                lines += [" | ".join(line[i]) for line in chart.rows]
            halves.append("\n".join(lines))
        return halves[0], halves[1]

    def __str__(self) -> str:
        return self.text()[0]

    __repr__ = __str__

    def chart(self) -> Chart | None:
        """Stack the curves of each logged quantity, and of the gradients' norms."""
        parts = []
        for what, series in quantities(self.series).items():
            lines = [(_title(name), np.array(values)) for name, values in series.items()]
            title, far = _title(what), np.concatenate([v for _, v in lines])
            logy = bool(far.min() > 0 and far.max() >= DECADES * far.min())
            parts.append(Lines(title, (title[0][:1].upper() + title[0][1:], title[1]), lines, logy))
        if self.norms:
            lines = [((f"∂ {k}",) * 2, np.array(v)) for k, v in self.norms.items()]
            logy = all(v > 0 for values in self.norms.values() for v in values)
            parts.append(Lines(ROWS["train_norms"], ROWS["train_norm"], lines, logy, True))
        size = 6.4, max(3.0, 0.7 + 1.7 * len(parts))
        return stacked(parts, ROWS["train_step"], size, 1) if parts else None

    def _title(self) -> Pair:
        return chart.title if (chart := self.chart()) else ROWS["train_loss"]

    def _values(self, room: int) -> dict[str, Any]:
        return {**super()._values(room), "drawing": self._chart(page=True)}

    def _chart(self, page: bool) -> str:
        return chart._shown(page) if (chart := self.chart()) else ""

    def _still(self) -> str:
        return f"<p>{bilingual(self.status)}</p>{self._chart(page=False)}"

    def _draw(self) -> None:
        """Send the chart to every place where the training is displayed."""
        begin = time.monotonic()
        self.drawing = self._chart(page=False)
        self._drawn = time.monotonic()
        self._cost = self._drawn - begin
        self._spent += self._cost

    def _tell(self) -> None:
        """Send the progress to the page."""
        now = time.monotonic()
        if self._begin is not None:
            self._elapsed = now - self._begin - self._spent  # of the loop alone
        self._sent = now
        ended = self.state in ("done", "stopped")
        took = row("train_took", elapsed=seconds(self._elapsed))
        times = took if ended else row("train_elapsed", elapsed=f"{self._elapsed:.1f}")
        if self.state == "running" and self.done and self.total is not None:
            left = f"{self._elapsed / self.done * (self.total - self.done):.1f}"
            times = row("train_left", elapsed=f"{self._elapsed:.1f}", left=left)
        self.data = {
            "status": bilingual(self.status),
            "done": self.done,
            "total": self.total,
            "state": self.state,
            "times": bilingual(times),
            "labels": {key: both(ROWS[key]) for key in ("train_loss", "train_progress")},
        }


def _title(what: str) -> Pair:
    """Return the name of a quantity: common ones have a Chinese name, too."""
    known = {"loss": "train_quantity_loss", "accuracy": "train_quantity_accuracy"}
    return ROWS[known[what]] if what in known else (what, what)


def quantities(series: Mapping[str, list[float]]) -> dict[str, dict[str, list[float]]]:
    """Group series by the last word of their name, what they measure: each group has its axis.

    >>> quantities({"train_loss": [2.0], "test_loss": [3.0], "accuracy": [0.5]})
    {'loss': {'train_loss': [2.0], 'test_loss': [3.0]}, 'accuracy': {'accuracy': [0.5]}}
    """
    found: dict[str, dict[str, list[float]]] = {}
    for name, values in series.items():
        found.setdefault(re.split(r"[\W_]+", name.strip("_ "))[-1] or name, {})[name] = values
    return found


def train(steps: int | Iterable[Any], model: Module | None = None) -> Training:
    """Iterate over `steps` and draw what is logged in the loop: curves, progress, time left.

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
    Loss falls from 1 to 0.25
    series | count | first | last | min | max
    loss | 3 | 1 | 0.25 | 0.25 | 1
    """
    if isinstance(steps, (int, np.integer)) and not isinstance(steps, bool):
        return Training(range(int(steps)), int(steps), model)
    if not isinstance(steps, Iterable) or isinstance(steps, str):
        raise TypeError(row_text("train_steps", value=brief(steps)))
    return Training(steps, len(steps) if isinstance(steps, Sized) else None, model)


def _number(name: str, value: Any) -> float:
    array = np.asarray(getattr(value, "data", value))
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise ValueError(row_text("train_number", name=name, value=brief(value)))
    return float(array.reshape(-1)[0])


def _by_layer(model: Module | None) -> dict[str, float]:
    """Return the norm of the gradient of each layer, all its parameters together."""
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
