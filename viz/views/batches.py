"""`viz.batches`: operations of many samples in the groups that ran together, over their trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad.batching.notes import BatchedRun, OperationNote
from minigrad.core import show_shape
from minigrad.core.events import Recording
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.static import without_listeners
from viz.page.board import Board
from viz.page.scenes import Panel, Scene, Sheet
from viz.picture.boxes import Picture, PictureEdge, PictureNode
from viz.picture.calls import in_layer
from viz.picture.picture import brief, number
from viz.words.text import ROWS, Pair, row, row_text

__all__ = ["batches"]

HEAD = ("batches_group", "batches_operator", "batches_members", "batches_depth", "batches_how")
CROWDED = 40  # operations; above, parameters and data are not drawn
HOW = {"batched": "batched", "once": "once", "one by one": "singly", "running sum": "sum"}


def batches(obj: Recording | Callable[[], Any]) -> Board:
    """Show lazy batching on a board: which operations of the samples ran as one, by group.

    obj: a recording of a block with `mg.lazy_batch()`; or a function without arguments, which is
    then run twice, with and without batching, so that both numbers of kernels are measured.
    TypeError for other things, ValueError for a recording in which nothing was batched.

    >>> import minigrad as mg, viz
    >>> w = mg.randn(4, 4, seed=0, requires_grad=True)
    >>> def loss():
    ...     return sum(mg.tanh(mg.tensor([float(i)] * 4) @ w).sum() for i in range(8))
    >>> viz.batches(loss).verdict[0]
    'kernels: 32 without batching, 8 with it'
    """
    plain = None
    if isinstance(obj, Recording):
        log = obj
    elif callable(obj):
        log, plain = _record_both(obj)
    else:
        raise TypeError(row_text("batches_kind", value=brief(obj)))
    groups = [e.node for e in log.of_kind("group") if isinstance(e.node, BatchedRun)]
    if not groups:
        raise ValueError(row_text("batches_none"))
    drawn = forest(groups)
    start = row("batches_start", operations=sum(g.size for g in groups), groups=len(groups))
    scenes = [Scene(start, (_panel(drawn, groups, 0),))]
    rows = []
    for i, group in enumerate(groups):
        how = ROWS["batches_alone"] if group.size == 1 else ROWS[f"batches_{HOW[group.how]}"]
        about = {"number": i + 1, "op": group.op, "size": group.size, "how": how}
        panel = _panel(drawn, groups, i + 1)
        scenes.append(Scene(row("batches_step", **about), (panel,), (), i))
        cells = (str(i + 1), str(group.op), str(group.size), str(group.depth))
        rows.append((*((cell, cell) for cell in cells), how))
    sheet = Sheet(tuple(ROWS[key] for key in HEAD), tuple(rows), folds=1)
    verdict, heading = _verdict(log, groups, plain), ROWS["page_batches"]
    return Board(scenes, sheet, verdict, ROWS["batches_group"], heading=heading)


def _record_both(run: Callable[[], Any]) -> tuple[Recording, Recording]:
    """Record the forward pass with and without batching."""
    with without_listeners():
        with mg.record() as log, mg.lazy_batch():
            run()
        with mg.record() as plain:
            run()
    return log, plain


def _verdict(log: Recording, groups: list[BatchedRun], plain: Recording | None) -> Pair:
    """Compare the kernels with and without batching; if not measured, count operations instead."""
    about: dict[str, Any] = {"kernels": log.counts.kernels}
    if plain is not None:
        return row("batches_measured", plain=plain.counts.kernels, **about)
    return row("batches_counted", operations=sum(g.size for g in groups), **about)


def _panel(drawn: Picture, groups: list[BatchedRun], done: int) -> Panel:
    """Return the trees after `done` groups: what ran, what runs now, what still waits."""
    marks, notes = {}, {}
    for i, group in enumerate(groups, 1):
        kind = "ran" if i < done else "now" if i == done else "waits"
        for note in group.members:
            marks[drawn.ids[note]] = kind
            notes[drawn.ids[note]] = str(i)
    return Panel(ROWS["batches_trees"], drawn, marks, notes, omitted=("ran", "waits"))


def forest(groups: list[BatchedRun]) -> Picture:
    """Draw the recorded operations of all samples, in the order recorded, with their operands."""
    members = sorted((n for g in groups for n in g.members), key=lambda note: note.order)
    ids: dict[Any, str] = {}
    nodes: dict[str, PictureNode] = {}
    edges: list[PictureEdge] = []

    def box(key: Any, **about: Any) -> str:
        i = ids[key] = f"n{len(ids) + 1}"
        nodes[i] = PictureNode(i, **about)
        return i

    bare = len(members) > CROWDED
    read = {x for note in members for x in note.inputs if isinstance(x, OperationNote)}
    for note in members:
        operands = [x if isinstance(x, OperationNote) or not bare else None for x in note.inputs]
        sources = [_operand(box, ids, note, k, x) for k, x in enumerate(operands)]
        known = [i for i in sources if i]
        target = box(
            note,
            kind="operator",
            op=note.op.name,
            name="",
            shape=show_shape(note.shape),
            inputs=tuple(known),
            is_output=note not in read,
            line=note.where.label,
            title=note.op.title,
            dtype=str(note.dtype),
        )
        for k, source in enumerate(sources):
            if source:
                edges.append(PictureEdge(f"e{len(edges) + 1}", source, target, k))
    return Picture(tuple(nodes.values()), tuple(edges), "dynamic", ids)


def _operand(box: Any, ids: dict[Any, str], note: OperationNote, k: int, x: Any) -> str:
    """Return the box of an operand; "" if there is none to draw."""
    if isinstance(x, (OperationNote, TapeNode, Tensor)) and x in ids:
        return ids[x]
    if isinstance(x, Tensor) and x.requires_grad:
        kind = "parameter" if in_layer(note.scope) else "input"
        return str(box(x, kind=kind, op="tensor", name=x.name or "", shape=str(x.shape)))
    if isinstance(x, Tensor):
        return str(box(x, kind="input", op="data", name="", shape=str(x.shape)))
    if isinstance(x, TapeNode):
        return str(box(x, kind="operator", op=x.op.name, name="", shape=show_shape(x.shape)))
    if x is None:  # noted while nobody listened
        return ""
    return str(box((note, k), kind="constant", op="Constant", name=number(x), shape="()"))
