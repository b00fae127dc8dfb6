"""Formulas in words of the operators: what a node computes, and its local derivative.

The derivative is not written down anywhere: the operator's gradient rule is called on symbols,
and the nodes that it builds are spelled out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from string import Formatter

from minigrad.backprop.rules import pull_back
from minigrad.core import REGISTRY, Attrs, Op, Spec
from minigrad.diagnostics.errors import GraphError
from minigrad.ops import state
from minigrad.static import Graph, Node, without_listeners
from viz.picture.boxes import GIVEN, Picture, paths, repeated
from viz.picture.calls import LOOPS
from viz.words.text import Pair, row

LONGEST = 60  # characters of a formula that is read at a glance
MOST = 4  # operands of an operator that takes any number of them, and operators of a round
EVERY = "{all}"
OPENING, CLOSING = ("(", "[", "|", ", "), (")", "]", "|", ",")  # around what needs no parentheses
SIGNS = ("+", "@", "^", "=", ">", "<", "||", "?:", ">0", "&", "|", "~")
UPSTREAM = "∂"  # how the incoming gradient is written


def sign(op: Op) -> str:
    """Return the sign in an operator's formula, such as ×, + or Σ; "" if it is a word."""
    left = "".join(before for before, *_ in Formatter().parse(op.formula))
    left = "".join(c for c in left if c not in " (),…[]")
    return left if (len(left) <= 2 and not left.isascii()) or left in SIGNS else ""


def forward(op: Op | str, operands: Sequence[str], attrs: Attrs) -> str:
    """Return the operator's formula for operands with these names: "x × x".

    Of another engine's operator only the name is known: one of ours of that name says how to write
    it.
    """
    if isinstance(op, str):
        record = REGISTRY.get(op)
        return forward(record, operands, {}) if record else f"{op}({', '.join(operands)})"
    named = [
        f"{name}ᵀ" if attrs.get(f"transpose_{letter}") else name
        for name, letter in zip(operands, "abcdefgh", strict=False)
    ]
    parts = []
    pieces = list(Formatter().parse(op.formula.replace("{0}, …", EVERY)))
    after = [literal for literal, *_ in pieces[1:]] + [""]
    for (before, field, *_), follows in zip(pieces, after, strict=True):
        parts.append(before)
        if field == "all":
            parts.append(", ".join(named[:MOST]) + (", …" if len(named) > MOST else ""))
        elif field is not None and int(field) < len(named):
            alone = before.endswith(OPENING) and follows.startswith(CLOSING)
            parts.append(named[int(field)] if alone else _parenthesized(named[int(field)]))
        elif field is not None:
            return f"{op.name}({', '.join(named)})"
    return "".join(parts)


def whole(picture: Picture) -> str:
    """Return the whole computation as one formula: "y = x × x + 3"; "" if it would be long.

    An output without a name is y; the name of an operator would refer to no value.
    """
    outputs = [n for n in picture.nodes if n.is_output]
    if len(outputs) != 1 or outputs[0].kind != "operator":
        return ""
    texts = _texts(picture)
    taken = {n.label for n in picture.nodes}
    called = outputs[0].name or next(c for c in "yzfghuv" if c not in taken)
    text = texts[outputs[0].id]
    return f"{called} = {text}" if text not in ("", called) else ""


def _texts(picture: Picture, body: str = "", given: Sequence[str] = ()) -> dict[str, str]:
    """Return the formula of each node outside all bodies, or of a body with these inputs."""
    engine, inputs = {i: node for node, i in picture.ids.items()}, iter(given)
    texts: dict[str, str] = {}
    owned = picture.owners.keys()
    own = (n for n in picture.nodes if max({*paths(n.group)} & owned, key=len, default="") == body)
    for n in own:
        texts[n.id] = next(inputs, n.label) if body and n.kind == "input" else n.label
        if n.kind == "operator" and n.id in engine:
            node, read = engine[n.id], [texts[i] for i in n.inputs]
            bodies = [path for path, i in picture.owners.items() if i == n.id and n.op == "Cond"]
            # Which of several operands an arm reads is not told.
            arms = [[*_texts(picture, p, read[1:]).values()][-1] for p in bodies if not read[2:]]
            text = forward(node.op, read, node.attrs)
            text = "{0} if {2} else {1}".format(*arms, read[0]) if arms else text
            # Of what is too long its name is written, if it has one.
            texts[n.id] = text if len(text) <= LONGEST and all([*read, *arms]) else n.name
    return texts


def heading(picture: Picture, kind: Pair) -> Pair:
    """Return the kind of graph, and its formula, or else what repeats in it."""
    ops = dict.fromkeys(n.op for n in picture.nodes if n.id in picture.owners.values())
    formula = (_loop if ops.keys() - {"Cond"} else whole)(picture) or ", ".join(ops)
    said = (formula, formula) if formula else _repeating(picture)
    return row("heading", title=kind, formula=said) if said else kind


def _loop(picture: Picture) -> str:
    """Return the only loop as code: "while i < 3: i, a = i + 1, a × x"; "" if it would be long."""
    inside = [_texts(picture, path) for path in picture.owners]
    carried = [(e.source, e.target) for e in picture.edges if e.kind == "loop" and e.index == 1]
    if len(inside) != 2 or not carried:
        return ""
    test, names = [*inside[0].values()][-1], {n.id: n.label for n in picture.nodes}
    steps, taken = [inside[1][i] for i, _ in carried], ", ".join(names[i] for _, i in carried)
    text = f"while {test}: {taken} = {', '.join(steps)}"
    return text if all([test, *steps]) and len(text) <= LONGEST else ""


def _repeating(picture: Picture) -> Pair | None:
    """Describe what is called or looped most often: its strip has all but the first and last."""
    sizes = Counter(n.group.partition("/")[0] for n in picture.nodes)
    strip = next((path for path, _ in sizes.most_common() if repeated(path)), "")
    if not strip:
        return None
    name, _, count = strip.partition(" × ")
    times = int(count.split()[0])
    if name not in LOOPS:
        return row("heading_calls", name=name, count=times + 2)
    ops = [n.op for n in picture.nodes if n.group.startswith(strip) and n.kind not in GIVEN]
    each = ops[: len(ops) // times]
    key = "heading_loop" if each[MOST:] else "heading_round"
    gap = "\N{NO-BREAK SPACE}" if 2 * len("".join(each)) < LONGEST else " "  # one line of a phone
    return row(key, each=len(each), round=f"{gap}→{gap}".join(each), count=times + 2)


def _parenthesized(text: str) -> str:
    """Put a text in parentheses if it has several parts, not counting those in brackets."""
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == " " and not depth:
            return f"({text})"
    return text


def local(op: Op, index: int, specs: Sequence[Spec], attrs: Attrs, names: Sequence[str]) -> str:
    """Return the formula of operand `index`'s gradient, such as "∂ × x"; "" if it has none.

    `specs` are those of the result and the operands, `names` what these are called.
    """
    if not op.has_rule(index) or op.effect:  # of a branch, a loop or a call: too long to read
        return ""
    with without_listeners():
        scratch = Graph()
        symbols = [
            scratch.add(state.placeholder, (), {"shape": s.shape, "dtype": s.dtype})
            for s in (specs[0], *specs)
        ]
        called = dict(zip(symbols, (UPSTREAM, *names), strict=True))
        try:
            (result,) = pull_back(op, [index], symbols[0], symbols[1:], attrs)
        except GraphError:  # a rule that needs shapes which are not known
            return ""
    text = _node_formula(result, called)
    return summed(text) if op.elementwise and stretched(specs[0], specs[index + 1]) else text


def stretched(result: Spec, operand: Spec) -> bool:
    """Return whether an operand was broadcast to the result's shape, if shapes are known."""
    shapes = [spec.shape for spec in (result, operand)]
    return shapes[0] != shapes[1] and not any(s is None or None in s for s in shapes)


def summed(text: str) -> str:
    """Return the gradient of a broadcast operand: the sum over all places it was copied to."""
    return f"Σ {_parenthesized(text)}"


def _node_formula(node: object, called: dict[Node, str]) -> str:
    """Return a node as a formula; rules are only a few nodes deep."""
    if not isinstance(node, Node):
        return str(node)
    if node in called:
        return called[node]
    if node.op is state.constant:
        return f"{node.attrs['value']:g}"
    return forward(node.op, [_node_formula(x, called) for x in node.inputs], node.attrs)
