"""A model of the user's own, seen whole: its modules with what ran in them and what came back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import minigrad as mg
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import function_name
from minigrad.interop.captured import Captured
from minigrad.interop.models import prepared
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer
from viz.explorer.witness import SOURCES, Witness
from viz.picture.picture import brief
from viz.views.models import captured, verdict
from viz.words.text import printed, row

FEW = 25  # operators of a model that is played one by one


def seen_whole(
    obj: Any,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    fed: Sequence[Any] = (None, None),
    loss: Callable[[Any], Any] | None = None,
    focus: str = "",
    whole: bool | None = None,
) -> Explorer | Captured | None:
    """The explorer of a model of the user's; the captured model, where it is small; else None.

    fed: the feed and the session of a graph of ours, which is seen whole if that is asked for;
    whole: whether it is seen whole whatever its size. TypeError for a loss or keyword arguments of
    what is no model.
    """
    try:
        model = captured(*prepared(obj, inputs, named, loss))
    except TraceError as error:
        made = None if whole is False else stopped_explorer(obj, error, whole)
        if made is None:
            raise
        return made
    if model is None:
        if named or loss is not None:
            raise TypeError(printed("step_model_only", value=brief(obj)))
        if not whole or not isinstance(obj, (Graph, Node)):
            return None
        feed_dict, session = (*inputs, *fed[len(inputs) :])
        return graph_whole(obj, feed_dict, session, focus)
    if whole is False or (whole is None and not is_large(model)):
        return model
    return explorer_of(obj, model, focus, loss)


def is_large(model: Captured) -> bool:
    """Whether a model has more operators than are surveyed one by one."""
    return sum(n.op not in SOURCES for n in ancestors(model.outputs)) > FEW


def ends_of(graph: Graph) -> list[Node]:
    """The outputs of a graph; of one without declared outputs, the nodes that no other reads."""
    read = {x for node in graph.nodes for x in node.inputs}
    return list(graph.outputs) or [node for node in graph.nodes if node not in read]


def graph_whole(
    obj: Graph | Node, feed_dict: Mapping[Any, Any] | None, session: Any, focus: str
) -> Explorer:
    """The explorer of a graph of ours; it is copied, so nothing is added to the user's."""
    outputs = [obj] if isinstance(obj, Node) else ends_of(obj)
    graph = Graph()
    twin: dict[Node, Node] = {}
    for node in ancestors(outputs):
        twin[node] = graph.add_copy(node, tuple(twin[x] for x in node.inputs))
    fed = check_feeds(mg.build_graph([], list(outputs)), feed_dict)
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
    none = dict.fromkeys(leaves)
    model = Captured("minigrad", graph, ends, feeds, leaves, values, none, ())
    return Explorer(Content("graph", model, Witness(model)), None, focus)


def explorer_of(
    obj: Any, model: Captured, focus: str = "", loss: Callable[[Any], Any] | None = None
) -> Explorer:
    """The explorer of a model that was captured; obj: the model itself, for its name.

    focus: the module that is open at first, "layer3.0"; ValueError if there is none.
    """
    content = Content(name_of(obj), model, Witness(model))
    if content.data["backward"] and loss is None and any(y.shape for y in model.outputs):
        content.data["about"] = list(row("explorer_from_sum"))
    return Explorer(content, verdict(model), focus)


def stopped_explorer(obj: Any, error: TraceError, whole: bool | None) -> Explorer | None:
    """The explorer of what ran before a model raised; None if little did, or nothing is known."""
    stopped = None if error.before is None else error.before()
    if stopped is None or (whole is None and not is_large(stopped.model)):
        return None
    content = Content(name_of(obj), stopped.model, Witness(stopped.model), stopped)
    content.data["failure"] = list(error.pair)
    made = Explorer(content)
    made.error = error
    return made


def name_of(obj: Any) -> str:
    """What a model is called: a module by its class, a function by its name."""
    named = function_name(obj) if hasattr(obj, "__name__") or hasattr(obj, "func") else ""
    return named if named and named != "<lambda>" else type(obj).__name__
