"""A user's whole model: its modules with what ran in them and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.core import Spec
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import function_name
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing.keys import is_array, leaves_of
from minigrad.interop.captured import Captured
from minigrad.interop.models import with_loss_and_args
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors, labels
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer
from viz.explorer.still import Still
from viz.explorer.witness import SOURCES, RunRecorder
from viz.picture.picture import brief
from viz.views.models import try_capture, verdict
from viz.words.progress import announce, progress
from viz.words.text import row, row_text

FEW = 25  # operators of a model that is played one by one


@dataclass(frozen=True)
class FirstView:
    """What is seen of a model at first.

    depth: how many levels of modules are seen as their parts, less one; opened: further modules
    that are; focus: the module that fills the screen, "layer3.0".
    """

    depth: int = 1
    opened: Collection[str] = ()
    focus: str = ""

    @classmethod
    def of(cls, depth: int, opened: str | Collection[str], focus: str) -> FirstView:
        """Return the view that a user requests; a single module may be named without a list."""
        return cls(depth, (opened,) if isinstance(opened, str) else tuple(opened), focus)


PLAIN = FirstView()


def seen_whole(
    obj: Any,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    fed: Sequence[Any] = (None, None),
    loss: Callable[[Any], Any] | None = None,
    first: FirstView = PLAIN,
    whole: bool | None = None,
) -> Explorer | Captured | None:
    """Return the explorer of a user's model; the captured model if it is small; else None.

    fed: the feed and the session of a graph of ours, which is seen whole on request;
    whole: whether it is seen whole whatever its size, as it is if `first` requests anything.
    TypeError for a loss or keyword arguments of what is no model; ValueError for a module in
    `first` that is not there.
    """
    whole = True if whole is None and first != PLAIN else whole
    if hasattr(type(obj), "named_modules") and sum(1 for _ in obj.modules()) > FEW:
        announce("progress_capture")
    try:
        model = try_capture(*with_loss_and_args(obj, inputs, named, loss))
    except TraceError as error:
        if whole is False or (made := stopped_explorer(obj, error)) is None:
            raise
        return made
    if model is None:
        if named or loss is not None:
            raise TypeError(row_text("step_model_only", value=brief(obj)))
        return ours_whole(obj, inputs, fed, first) if whole else None
    few = sum(n.op not in SOURCES for n in ancestors(model.outputs)) <= FEW
    if whole is False or (whole is None and few):
        return model
    return explorer_of(obj, model, first, loss)


def still_of(
    obj: Any,
    *inputs: Any,
    loss: Callable[[Any], Any] | None = None,
    depth: int = 1,
    open: str | Collection[str] = (),
    focus: str = "",
    **named: Any,
) -> Still:
    """Return the still of a model's explorer; raise TypeError for what cannot be explored."""
    first = FirstView.of(depth, open, focus)
    with progress():
        made = seen_whole(obj, inputs, named, loss=loss, first=first, whole=True)
    if not isinstance(made, Explorer):
        raise TypeError(row_text("cannot_draw", value=brief(obj)))
    return Still(made)


def ends_of(graph: Graph) -> list[Node]:
    """Return the outputs of a graph; if none are declared, the nodes that no other reads."""
    read = {x for node in graph.nodes for x in node.inputs}
    return list(graph.outputs) or [node for node in graph.nodes if node not in read]


def ours_whole(
    obj: Any, inputs: Sequence[Any], fed: Sequence[Any], first: FirstView
) -> Explorer | None:
    """Return the explorer of our own graph, or of the one a function builds for these inputs."""
    several = isinstance(obj, (list, tuple)) and obj and all(isinstance(x, Node) for x in obj)
    if isinstance(obj, (Graph, Node)) or several:
        feed_dict, session = (*inputs, *fed[len(inputs) :])
        return graph_whole(obj, feed_dict, session, first)
    if not callable(obj) or isinstance(obj, Tensor):
        return None
    graph = mg.make_graph(getattr(obj, "python_function", obj))(*inputs)
    arrays = [x for x in leaves_of("", list(inputs)) if is_array(x[1])]
    given = [np.asarray(getattr(x, "data", x)) for _, x in arrays]
    feed_dict = dict(zip(graph.placeholders, given, strict=True))
    return graph_whole(graph, feed_dict, None, first, name_of(obj))


def graph_whole(
    obj: Any,
    feed_dict: Mapping[Any, Any] | None,
    session: Any,
    first: FirstView,
    name: str = "graph",
) -> Explorer:
    """Return the explorer of a copy of a graph or of nodes: nothing is added to the user's."""
    outputs = ends_of(obj) if isinstance(obj, Graph) else [obj] if isinstance(obj, Node) else obj
    fed = check_feeds(mg.build_graph([], list(outputs)), feed_dict)
    graph = Graph()
    twin: dict[Node, Node] = {}
    behind = ancestors(outputs)
    called = labels(behind)  # two layers may call their parameters alike
    for node in behind:
        spec = Spec(fed[node].shape, node.dtype) if node in fed else None  # no length is open
        twin[node] = graph.add_copy(node, tuple(twin[x] for x in node.inputs), spec, called[node])
    feeds = {twin[x]: value for x, value in fed.items() if x in twin}
    kept = {} if session is None else session.variables
    for node in twin:
        if node in kept:
            twin[node].attrs = {**twin[node].attrs, "value": kept[node]}
    ends = [twin[y] for y in outputs]
    leaves = {
        n.name: n
        for n in twin.values()
        if n.op in (state.variable, state.placeholder) and n.dtype.kind == "f"
        if n.attrs.get("role") != "buffer"
    }
    values = Interpreter(ends)(feeds, {v: v.attrs["value"] for v in graph.variables})
    for y, value in zip(ends, values, strict=True):
        y.spec = Spec(np.shape(value), y.dtype)  # a length that depends on values is known now
    model = Captured("minigrad", graph, ends, feeds, leaves, values, dict.fromkeys(leaves), ())
    seen = RunRecorder(model)
    return Explorer(Content(name, model, seen, None, first.depth, first.opened), None, first.focus)


def explorer_of(
    obj: Any, model: Captured, first: FirstView = PLAIN, loss: Callable[[Any], Any] | None = None
) -> Explorer:
    """Return the explorer of a captured model; obj: the model itself, for its name."""
    view = None, first.depth, first.opened, "" if loss is None else "model"
    content = Content(name_of(obj), model, RunRecorder(model), *view)
    if content.data["backward"] and loss is None and any(y.shape for y in model.outputs):
        content.data["about"] = list(row("explorer_from_sum"))
    return Explorer(content, verdict(model), first.focus)


def stopped_explorer(obj: Any, error: TraceError) -> Explorer | None:
    """Return the explorer of what ran before a model raised; None if that isn't known."""
    if error.before is None or (stopped := error.before()) is None:
        return None
    content = Content(name_of(obj), stopped.model, RunRecorder(stopped.model), stopped)
    content.data["failure"] = list(error.pair)
    made = Explorer(content)
    made.error = error
    return made


def name_of(obj: Any) -> str:
    """Return the name of a model: the class of a module, the name of a function."""
    named = function_name(obj) if hasattr(obj, "__name__") or hasattr(obj, "func") else ""
    return named if named and named != "<lambda>" else type(obj).__name__
