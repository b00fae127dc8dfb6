"""Tables of a tape, and of gradients beside central differences."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.dynamic.check import numerical_gradient
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from viz.film.facts import spec_of
from viz.page.document import Document, table_html
from viz.picture import formula
from viz.picture.boxes import Picture
from viz.picture.picture import brief, picture
from viz.picture.summary import summarize
from viz.views.draw import names_in
from viz.views.step import argument_names
from viz.words.text import ROWS, Pair, bilingual, choose, row, row_text

__all__ = ["tape"]

NONE: Pair = ("–", "–")


class Table(Document):
    """A table that a notebook shows; `str` of it has a line for each row."""

    def __init__(
        self, caption: Pair, head: Sequence[Pair], rows: Sequence[tuple[Pair, ...]]
    ) -> None:
        self.caption, self.head, self.rows = caption, tuple(head), tuple(rows)

    def __repr__(self) -> str:
        lines = (self.caption,), self.head, *self.rows
        en, zh = ("\n".join(" | ".join(c[i] for c in line) for line in lines) for i in (0, 1))
        return choose((en, zh))

    def _repr_html_(self) -> str:
        return self._html(bilingual(self.caption))

    def _html(self, caption: str = "") -> str:
        rows = [[bilingual(cell) for cell in line] for line in (self.head, *self.rows)]
        return table_html(rows[0], rows[1:], caption)

    def _page(self) -> tuple[Pair, str]:
        return self.caption, self._html()


# ---- The tape ---------------------------------------------------------------------------------


def tape(*tensors: Tensor) -> Table:
    """Show the tape of some tensors: each node with what it saved and its gradient functions.

    In the order recorded, which backward walks from the bottom up; ∂ is the upstream gradient.
    TypeError for anything but tensors: a static graph has no tape.

    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> y = x * x + 3
    >>> print(tape(y))
    tape: 2 nodes, 1 of them with saved values
    node | saved | gradient function
    Mul = x × x | x = 2 | to x: ∂ × x + ∂ × x
    y = Mul + 3 | nothing | to Mul: ∂
    """
    if not tensors or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(row_text("tape_tensors", value=brief(tensors)))
    drawn = picture(list(tensors), names_in(sys._getframe(1)))
    nodes = {key: drawn_id for key, drawn_id in drawn.ids.items() if isinstance(key, TapeNode)}
    rows = [_tape_row(node, *_names(drawn, name)) for node, name in nodes.items()]
    holding = sum(node.saved is not None and node.pullback.has_data for node in nodes)
    caption = row("tape_caption", nodes=len(nodes), saved=holding)
    keys = "tape_node", "tape_saved", "gradient_function"
    return Table(caption, [ROWS[key] for key in keys], rows)


def _names(drawn: Picture, id: str) -> tuple[str, list[str]]:
    """Return the names of a node and its operands in the picture."""
    boxes = {box.id: box for box in drawn.nodes}
    return boxes[id].label, [boxes[i].label for i in boxes[id].inputs]


def _tape_row(node: TapeNode, name: str, operands: list[str]) -> tuple[Pair, ...]:
    """Return the table row of one node."""
    computed = f"{name} = {formula.forward(node.op, operands, node.attrs)}"
    return (computed, computed), _saved(node, [name, *operands]), _functions(node, name, operands)


def _saved(node: TapeNode, names: list[str]) -> Pair:
    """Describe the result and the operands, as far as the node has saved them."""
    if node.saved is None:
        return ROWS["tape_dropped"]
    pairs = zip(names, node.saved, strict=True)
    held = {name: summarize(value).text for name, value in pairs if value is not None}
    # a number is its own name
    text = ", ".join(x if name == x else f"{name} = {x}" for name, x in held.items())
    return (text, text) if held else ROWS["nothing_saved"]


def _functions(node: TapeNode, name: str, operands: list[str]) -> Pair:
    """Describe for each operand with a gradient how it is computed from the upstream one."""
    specs = [spec_of(node), *(spec_of(x) for x in node.inputs)]
    found: dict[str, list[str]] = {}
    for i in node.pullback.wrt:
        text = formula.local(node.op, i, specs, node.attrs, (name, *operands))
        found.setdefault(operands[i], []).append(text or node.op.name)
    parts = [row("tape_to", name=to, formula=" + ".join(texts)) for to, texts in found.items()]
    return "; ".join(p[0] for p in parts), "；".join(p[1] for p in parts)


# ---- The gradient check -----------------------------------------------------------------------


def gradient_check(
    f: Callable[..., Tensor], *inputs: Any, tolerance: float = 1e-6, step: float = 1e-5
) -> Table:
    """Compare a function's gradients by backward with central differences, in float64.

    f takes tensors and returns a single number; each input but integer arrays gets a row. A
    gradient that does not arrive is not computed, whatever the differences say. `mg.check_grads`
    compares the same silently, with higher orders. TypeError if f returns no tensor.

    >>> print(gradient_check(lambda x, w: (x * w).sum(), [1.0, 2.0], 3.0))
    gradient check: 2 of 2 agree
    input | backward | central differences | difference
    x | [3, 3] | [3, 3] | ✓ < 1e-06
    w | 3 | 3 | ✓ < 1e-06
    """
    given = [np.asarray(getattr(x, "data", x)) for x in inputs]
    arrays = [x if x.ndim and x.dtype.kind in "bui" else x.astype(mg.float64) for x in given]
    exact = _backward(f, arrays)

    def value(*moved: Any) -> float:
        with mg.no_grad():
            return float(f(*(mg.tensor(x) for x in moved)))

    names = argument_names(f, len(arrays))
    rows, agreeing = [], 0
    for i, gradient in exact.items():
        approximate = numerical_gradient(value, arrays, i, step)
        near, verdict = _verdict(gradient, approximate, tolerance)
        agreeing += near
        rows.append((_cell(names[i]), _cell(gradient), _cell(approximate), verdict))
    keys = ("input", "backward", "differences", "difference")
    caption = row("gradients_caption", agreeing=agreeing, inputs=len(rows))
    return Table(caption, [ROWS[f"gradients_{key}"] for key in keys], rows)


def _backward(f: Callable[..., Tensor], arrays: list[Any]) -> Mapping[int, Any]:
    """Return the gradient for each input that can have one, by position; None if none arrived."""
    leaves = [mg.tensor(x, requires_grad=x.dtype.kind == "f") for x in arrays]
    y = f(*leaves)
    if not isinstance(y, Tensor):
        raise TypeError(row_text("gradients_result", value=brief(y)))
    if y.requires_grad:
        y.backward()
    found = {i: x.grad for i, x in enumerate(leaves) if x.requires_grad}
    return {i: None if g is None else g._array for i, g in found.items()}


def _verdict(gradient: Any, approximate: Any, tolerance: float) -> tuple[bool, Pair]:
    """Return whether two gradients agree within the tolerance, and the difference as text."""
    if gradient is None:
        return False, NONE
    difference = float(np.max(np.abs(gradient - approximate), initial=0))
    near = difference <= tolerance
    text = f"✓ < {tolerance:.0e}" if near else f"✗ {difference:.3g}"
    return near, (text, text)


def _cell(value: Any) -> Pair:
    if value is None:
        return ROWS["not_computed"]
    text = value if isinstance(value, str) else summarize(value).text
    return text, text
