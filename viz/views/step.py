"""The verbs that make players: step, compare, timeline."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.core.events import Recording, phase_of
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing import functions_run_eagerly
from minigrad.interop.captured import Captured
from minigrad.static import Body, Graph, Node, ancestors
from minigrad.static.feeds import check_feeds
from viz.explorer.explorer import Explorer
from viz.film.foreign_film import other_film
from viz.film.frames import Film, film_and_steps, still_film, stopped_film
from viz.film.replay import numbers_of_graph, numbers_of_tape, replay_graph, replay_tape
from viz.film.score import with_final_counts
from viz.page.player import Player
from viz.page.sliders import Sliders
from viz.picture.calls import in_layer, source_names
from viz.picture.foreign_engines import is_foreign
from viz.picture.matching import matching
from viz.picture.picture import brief, graph_picture, tape_picture
from viz.picture.summary import difference_text
from viz.views.draw import names_in
from viz.views.explore import FirstView, ends_of, seen_whole
from viz.views.models import play_beside, verdict, why_no_backward
from viz.words.progress import progress
from viz.words.text import ROWS, Pair, Right, row, row_text
from viz.words.user import user

__all__ = ["compare", "step", "timeline"]

MISSING = np.empty((0,) * 9)  # in place of a result that only the other has
TWICE = 303  # operators, up to which a comparison has two calls; of more, its page is too large


def step(
    obj: Any,
    *inputs: Any,
    feed_dict: Mapping[Any, Any] | None = None,
    session: mg.Session | None = None,
    loss: Callable[[Any], Any] | None = None,
    depth: int = 1,
    open: str | Collection[str] = (),
    focus: str = "",
    whole: bool | None = None,
    **named: Any,
) -> Player | Explorer:
    """Play the forward and the backward pass, one operator at a time.

    obj: a tensor (its tape runs again and stays as it is), a graph or a node (run with `feed_dict`
    and the variables of `session`), a function with its inputs, or a node of another engine. Or a
    model of PyTorch or JAX with its inputs: it is held against the original, and steps back from
    `loss` of its results or their sum. With more than 25 operators it is an `Explorer`, as all
    else is with whole=True; what that shows first are the modules down to `depth`, the parts of
    those in `open`, and over the whole stage the one at the path `focus`, "layer3.0". Numbers
    among the inputs get sliders; a run that stops is shown as far as it got. FeedError or
    TraceError for what can't be fed or captured, ValueError for a module that is not there.

    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> print(step(x * x).text()[0])
    0. Nothing has happened yet. Press → to begin.
    1. run and recorded at once: Mul = x × x = 2 × 2 = 4
    2. backward starts at the output: ∂Mul/∂Mul = 1
    3. Mul passes back to x: upstream × local = 1 × 2 = 2
    4. Mul passes back to x, which adds it: 2 + 2 = 4
    5. done: 1 operator built, 1 operator run, 2 contributions passed back.
    """
    names = names_in(sys._getframe(1))
    with progress():
        first = FirstView.of(depth, open, focus)
        model = seen_whole(obj, inputs, named, (feed_dict, session), loss, first, whole)
        if model is not None:
            return _player_of_model(model) if isinstance(model, Captured) else model
        return player_of(*_sort_arguments(obj, names, inputs, (feed_dict, session)))


def _player_of_model(model: Captured) -> Player:
    """Return the player of a captured model; a recording of one run keeps its inputs fixed."""
    model.keep()
    said, backward, slides = verdict(model), not why_no_backward(model), not model.about.recorded
    return player_of(list(model.outputs), {}, model.feeds, None, said, backward, slides)


def _sort_arguments(
    obj: Any, names: Mapping[int, str], inputs: Sequence[Any], fed: Sequence[Any]
) -> tuple[Any, Mapping[int, str], Any, Any]:
    """Sort arguments: those after a function are its inputs, after a graph its feed and session."""
    if callable(obj) and not isinstance(obj, (Tensor, Node)):
        given = [] if inputs and inputs[0] is None else inputs  # None: no feed, as of a graph
        return functools.partial(obj, *given), names, None, None
    feed_dict, session = (*inputs, *fed[len(inputs) :])
    return obj, names, feed_dict, session


def player_of(
    obj: Any,
    names: Mapping[int, str],
    feed_dict: Mapping[Any, Any] | None,
    session: Any,
    verdict: Pair | None = None,
    backward: bool = True,
    slides: bool = True,
) -> Player:
    """Return the player of what `step` takes, with variables' names as from `names_of`.

    verdict: what was found out about it before, for the inputs that it starts with; backward:
    whether a graph is played backward, too; slides: whether its inputs may change.
    """
    if callable(obj) and not isinstance(obj, (Tensor, Node)):
        try:
            with recording(True):
                obj = obj()
        except GraphError as error:
            return Player([stopped_film(error, names)])
    items: list[Any] = list(ends_of(obj)) if isinstance(obj, Graph) else _listed(obj)
    if isinstance(obj, Graph) and not items:
        return Player([still_film(graph_picture([], set(), names), ROWS["graph_empty"])])
    if items and all(isinstance(x, Tensor) for x in items):
        return _tape_player(items, names)
    if items and all(isinstance(x, Node) for x in items):
        items = _differentiated(items)
        sliders = Sliders((p, p.name, value) for p, value in _fed(items, feed_dict) if slides)
        return _slider_player(
            sliders,
            lambda given: replay_graph(items, feed_dict, session, names, given, backward),
            lambda given: numbers_of_graph(items, dict(_fed(items, feed_dict)), given, session),
            verdict,
        )
    if items and all(map(is_foreign, items)):
        return Player([other_film(items, names)])
    raise TypeError(row_text("cannot_draw", value=brief(obj)))


def _tape_player(items: list[Tensor], names: Mapping[int, str]) -> Player:
    """Return the player of a tape, with sliders for its leaves."""
    nodes = [*ancestors(t.creator for t in items if t.creator is not None)]
    given = {**source_names(nodes), **names}
    leaves = {x: in_layer(n.scope) for n in nodes for x in n.inputs if isinstance(x, Tensor)}
    inputs = [x for x, trained in leaves.items() if not (trained and x.requires_grad)]
    sliders = Sliders((t, t.name or given.get(id(t)) or "tensor", t._array) for t in inputs)
    return _slider_player(
        sliders,
        lambda given: replay_tape(items, names, given),
        numbers=functools.partial(numbers_of_tape, items),
    )


def _differentiated(items: list[Node]) -> list[Node]:
    """Return the outputs without gradients of other outputs: the film shows those anyway."""
    forward = [n for n in items if phase_of(n) != "backward"]
    known = set(ancestors(forward))
    missed = [n for n in ancestors(items) if phase_of(n) != "backward" and n not in known]
    return items if missed or not forward else forward


def _fed(items: list[Node], feed_dict: Mapping[Any, Any] | None) -> Iterable[tuple[Node, Any]]:
    """Return the placeholders that are fed, with their values; an error names the user's line."""
    try:
        return check_feeds(mg.build_graph([], items), feed_dict).items()
    except GraphError as error:
        error.ran = user()
        raise


def _slider_player(
    sliders: Sliders,
    film: Callable[[dict[Any, Any]], Film],
    numbers: Callable[[dict[Any, Any]], Graph],
    verdict: Pair | None = None,
) -> Player:
    """Return a player of the film that is made for the values of some inputs."""

    def again(positions: list[float]) -> tuple[list[Film], None]:
        return [_finished(film(sliders.inputs(positions)))], None

    first = film({})
    player = Player(
        [first],
        verdict,
        (),
        sliders.shown,
        again,
        numbers=lambda positions: numbers(sliders.inputs(positions)),
    )
    return player.at_the_end() if first.error is not None else player


def _finished(film: Film) -> Film:
    """Return the film if its run finished; raise the error that stopped it otherwise."""
    if film.error is not None:
        raise film.error
    return film


def _listed(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def compare(model: Callable[..., Any], *inputs: Any) -> Player:
    """Play a function in both modes, side by side: dynamic on the left, static on the right.

    model: a function (or layer) of tensors or nodes; inputs: arrays or tensors for it, of which
    floating-point ones get a gradient. That both give the same bits is checked and said.
    Of a PyTorch module or function with its tensors, PyTorch's own run is on the left, operator by
    operator, and what torch.export makes of it on the right.

    >>> print(compare(lambda x: x * x, 3.0).text()[0].splitlines()[-1])
    checked: values and gradients of both graphs are equal, bit for bit
    """
    return both_ways(model, inputs, TWICE)


def both_ways(model: Callable[..., Any], inputs: Sequence[Any], twice: int) -> Player:
    """Return the player of `compare`, with two calls of a model of up to so many operators."""
    if (theirs := play_beside(model, inputs)) is not None:
        return theirs
    arrays = [np.array(getattr(x, "data", x)) for x in inputs]
    arrays = [a.astype(mg.float32) if a.dtype == mg.float64 else a for a in arrays]
    labels = argument_names(model, len(arrays))
    tensors = [
        mg.tensor(a, requires_grad=True) if a.dtype.kind == "f" else mg.tensor(a, name=label)
        for a, label in zip(arrays, labels, strict=True)
    ]
    names = {id(t): label for t, label in zip(tensors, labels, strict=True)}
    with recording(True), _eager_mode():
        computed = _listed(model(*tensors))
    with mg.Graph(), recording(True), _eager_mode():
        nodes = [
            mg.placeholder(label, shape=a.shape, dtype=a.dtype)
            for label, a in zip(labels, arrays, strict=True)
        ]
        outputs = _listed(model(*nodes))

    calls = 1 + (len(ancestors(y.creator for y in computed if y.creator is not None)) <= twice)

    def films(given: Mapping[int, Any]) -> list[Film]:
        """Return both films; the given values are inputs in both, even without a gradient."""
        fed = dict(zip(nodes, [given.get(i, a) for i, a in enumerate(arrays)], strict=True))
        new = {tensors[i]: v for i, v in given.items()}
        dynamic = replay_tape(computed, names, new, frozenset(labels), calls)
        static = replay_graph(outputs, fed, None, {}, calls=calls)
        return [with_final_counts(_finished(film).timed(), calls) for film in (dynamic, static)]

    def again(positions: list[float]) -> tuple[list[Film], Pair | None]:
        made = films(sliders.inputs(positions))
        return made, _verdict(*made)

    sliders = Sliders(zip(range(len(arrays)), labels, arrays, strict=True))
    with progress():
        dynamic, static = films({})
        links = [matching(dynamic.picture, static.picture)]
        said = _verdict(dynamic, static)

        def numbers(positions: list[float]) -> Graph:
            given = {nodes[i]: a for i, a in sliders.inputs(positions).items()}
            return numbers_of_graph(outputs, dict(zip(nodes, arrays, strict=True)), given)

        return Player([dynamic, static], said, links, sliders.shown, again, numbers=numbers)


@contextlib.contextmanager
def _eager_mode() -> Iterator[None]:
    """Run functions as plain Python: their operators are to be seen on both sides."""
    before = functions_run_eagerly()
    mg.run_functions_eagerly(True)
    try:
        yield
    finally:
        mg.run_functions_eagerly(before)


def argument_names(model: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the function's arguments; x1, x2, … if it has none."""
    try:
        named = [p.name for p in signature(model).parameters.values() if p.kind < p.VAR_POSITIONAL]
    except (TypeError, ValueError):
        named = []
    plain = ["x"] if count == 1 else [f"x{i}" for i in range(1, count + 1)]
    return named[:count] if len(named) >= count else plain


def _verdict(dynamic: Film, static: Film) -> Pair | None:
    """Compare the output and the gradients of all leaves at the end of both films."""
    left, right = dynamic.results, static.results
    pairs = [(left.get(key, MISSING), right.get(key, MISSING)) for key in {**left, **right}]
    gap = difference_text(pairs, "unequal_bits")
    return (Right(row("equal_bits")) if gap == ROWS["passes_equal"] else gap) if pairs else None


def timeline(log: Recording) -> Player:
    """Play a recording: which nodes were created when, and which ran when.

    log: from `with mg.record(values=True) as log:`; without values, nodes have "?" instead. Dynamic
    and static nodes in one recording are shown side by side, each with its clocks. TypeError for
    other things.

    >>> with mg.record(values=True) as log:
    ...     y = mg.tensor(2.0, requires_grad=True) * 3
    >>> print(timeline(log).text()[0])
    0. Nothing has happened yet. Press → to begin.
    1. run and recorded at once: y = tensor × 3 = 2 × 3 = 6
    2. done: 1 operator built, 1 operator run.
    """
    if not isinstance(log, Recording):
        raise TypeError(row_text("cannot_draw", value=brief(log)))
    names = names_in(sys._getframe(1))
    with progress():
        films = films_of(log, names)
        return Player(films, links=_match_films(*films) if len(films) > 1 else ())


def _match_films(one: Film, other: Film) -> list[dict[str, str]]:
    """Match the nodes of two films of the same computation, so that they are laid out alike."""
    found = matching(one.picture, other.picture)
    whole = all(len(film.picture.nodes) == len(found) for film in (one, other))
    return [found] if whole else []


def films_of(log: Recording, names: Mapping[int, str]) -> list[Film]:
    """Return the film of a recording's dynamic nodes, and that of the static ones, if any."""
    nodes = [e.node for e in log.events if e.node is not None and e.kind != "contributed"]
    tape = [n for n in dict.fromkeys(nodes) if isinstance(n, TapeNode)]
    graph = [n for n in dict.fromkeys(nodes) if isinstance(n, Node)]  # those of a body are in one
    graph = [n for n in graph if not (isinstance(n.graph, Body) and n.graph.outer is not None)]
    films = []
    if tape or not graph:
        used = {x for n in tape for x in n.inputs if isinstance(x, TapeNode)}
        ends = {n for n in tape if n not in used}
        films.append(film_and_steps(tape_picture(tape, ends, [], names), log.events)[0])
    if graph:
        graph = _without_gradient_nodes(graph, log)
        read = {x for n in graph for x in n.inputs}
        graph.sort(key=lambda n: n.order)
        picture = graph_picture(graph, {n for n in graph if n not in read}, names)
        films.append(film_and_steps(picture, log.events)[0])
    return [film.timed() for film in films] if len(films) > 1 else films


def _without_gradient_nodes(nodes: list[Node], log: Recording) -> list[Node]:
    """Leave out gradient nodes if the recording has contributions: the film shows those."""
    forward = [n for n in nodes if phase_of(n) != "backward"]
    hidden = {n for n in nodes if phase_of(n) == "backward"}
    has_contributions = any(
        isinstance(e.source, Node) and e.value is not None for e in log.of_kind("contributed")
    )
    return nodes if not has_contributions or any(hidden & {*n.inputs} for n in forward) else forward
