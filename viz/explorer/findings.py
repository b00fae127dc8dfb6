"""What is worth a look in a model that was played: rules over the numbers that were measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

from viz.words.text import Pair, row

CLEAR = 1.2  # how many times as long as the next one the slowest takes, to be named
APART = 1e4  # how many times larger an element of one gradient is, to be worth a look
ROUNDING = 1e-7  # share of the largest gradient below which one is 0, but for rounding
SILENT = 0.9  # share of zeros behind a ReLU that hardly fires

Finding = dict[str, Any]


def findings(data: Mapping[str, Any], rounds: Sequence[Sequence[float]] = ()) -> list[Finding]:
    """Return the findings, troubles first: each is about one operator, given by its number.

    rounds: how long each operator took in several runs.
    """
    found = _find_nonfinite(data) or [*_uneven_calls(data), *_uneven_gradients(data)]
    found += [*_find_silent(data), *_find_unusual(data)]
    if "failed" not in data:
        found += _find_slowest(data, rounds or [[*map(_time, data["operators"])]])
    return sorted(found, key=lambda x: not x["bad"])


def _finding(key: str, op: int, bad: bool, **fields: object) -> Finding:
    return {"text": list(row(key, **fields)), "op": op, "bad": bad, "about": key[9:]}


def _time(operator: Mapping[str, Any]) -> float:
    return float(operator["ms"] + operator.get("back", 0.0))


def path_of(data: Mapping[str, Any], op: int) -> str:
    """Return the modules around an operator, and its name: "layer1.0.conv1"."""
    nodes, here, names = data["nodes"], 0, []
    while "children" in nodes[here]:
        here = next(c for c in nodes[here]["children"] if nodes[c]["a"] <= op < nodes[c]["b"])
        names.append(nodes[here].get("name") or data["operators"][op]["op"])
    return ".".join(names)


def _find_nonfinite(data: Mapping[str, Any]) -> list[Finding]:
    """Find the first value, and the first gradient of the backward pass, that is not finite."""
    operators, portraits = data["operators"], data["portraits"]

    def bad(i: int, key: str) -> int:
        return portraits[operators[i][key]].get("bad", 0) if key in operators[i] else 0

    found = []
    for key, of, order in (("explorer_nan", "v", 1), ("explorer_nan_back", "g", -1)):
        if broken := [i for i in range(len(operators))[::order] if bad(i, of)]:
            file, number, _ = data["lines"][operators[broken[0]]["line"]]
            line = f"{file}:{number}" if file else operators[broken[0]]["op"]
            fields = {"name": path_of(data, broken[0]), "count": bad(broken[0], of)}
            found.append(_finding(key, broken[0], True, **fields, line=line))
    if data["backward"] and data.get("system") == "PyTorch":
        passed = [i for i, o in enumerate(operators) if o["op"] == "ReLU" and bad(i, "v")][-1:]
        found[1:1] = [_finding("explorer_nan_relu", i, True, name=path_of(data, i)) for i in passed]
    return found


def _uneven_calls(data: Mapping[str, Any]) -> Iterator[Finding]:
    """Find a module called again and again whose gradients vanish or explode from call to call."""
    nodes, operators = data["nodes"], data["operators"]
    for node in (node for node in nodes if node.get("repeats")):
        calls = [range(nodes[c]["a"], nodes[c]["b"]) for c in node["children"]]
        used = {str([operators[i].get("weights") for i in call]) for call in calls}
        ends = [operators[call[-1]] for call in (calls[0], calls[-1])]
        norms = [data["portraits"][o["g"]].get("norm", nan) for o in ends if "g" in o]
        first, last = [*norms, nan, nan][:2]
        if len(used) == 1 and max(first, last) > APART * min(first, last):
            key = "explorer_vanishing_calls" if first < last else "explorer_exploding_calls"
            fields = {"name": node["name"], "first": f"{first:.3g}", "last": f"{last:.3g}"}
            yield _finding(key, calls[0][-1], True, **fields, count=len(calls))


def _uneven_gradients(data: Mapping[str, Any]) -> list[Finding]:
    """Find how the gradients of the weights differ from layer to layer."""
    readers = {w: i for i, o in enumerate(data["operators"]) for w in o.get("weights", ())}
    norms, sizes = [], []
    for i, p in enumerate(data["parameters"]):
        if i in readers and "g" in p:
            found = data["portraits"][p["g"]]
            if isinstance(norm := found.get("norm"), float) and not found.get("bad"):
                sizes.append((norm, readers[i], p["name"]))
                if len(p["shape"]) > 1:  # a bias in front of a norm has none to speak of
                    norms.append((norm / p["size"] ** 0.5, readers[i], p["name"], norm))
    if not norms:
        return []
    (low, at, name, least), (high, top, other, most) = min(norms), max(norms)
    if low == 0:
        dead = sum(norm == 0 for norm, *_ in norms)
        return [_finding("explorer_no_gradient", at, True, name=name, count=dead)]
    key, op = ("explorer_vanishing", at) if at < top else ("explorer_exploding", top)
    if not (bad := high > APART * low):  # no element of one is that much larger than one of another
        key, (most, op, other) = "explorer_gradients", max(sizes)
        least, _, name = min(x for x in sizes if not 0 < x[0] <= ROUNDING * most)
    fields = {"name": name, "low": f"{least:.3g}", "other": other, "high": f"{most:.3g}"}
    return [_finding(key, op, bad, ratio=f"{high / low:.2g}", **fields)]


def _find_silent(data: Mapping[str, Any]) -> list[Finding]:
    """Find ReLUs whose outputs are almost all zero."""
    relus = [(o["v"], i) for i, o in enumerate(data["operators"]) if "v" in o and o["op"] == "ReLU"]
    zeros = [(data["portraits"][v].get("zeros", 0), i) for v, i in relus]
    dead = [(share, i) for share, i in zeros if share > SILENT]
    key, shown = ("explorer_silent", dead[:5]) if dead else ("explorer_alive", sorted(zeros)[-1:])
    said = [(i, {"name": path_of(data, i), "share": f"{100 * share:.0f}"}) for share, i in shown]
    return [_finding(key, i, bool(dead), **fields) for i, fields in said]


def _find_unusual(data: Mapping[str, Any]) -> list[Finding]:
    """Find what differs from a plain model: frozen parameters, cut-off gradients, boxes."""
    found = []
    operators, parameters = data["operators"], data["parameters"]
    reads = {w: i for i, o in enumerate(operators) for w in o.get("weights", ())}
    alone = [w for w in reads if "g" not in (p := parameters[w]) and p.get("dtype", "f")[0] == "f"]
    for key, kept in (("explorer_frozen", "frozen"), ("explorer_unreached", None)):
        places = sorted(w for w in alone if parameters[w].get("kept") == kept)
        if places and (kept or data["backward"]):
            fields = {"name": parameters[places[0]]["name"], "count": len(places)}
            found.append(_finding(key, reads[places[0]], False, **fields))
    cut = "explorer_cut" if data.get("system") == "PyTorch" else "explorer_stop_gradient"
    for mark, key in (("cut", cut), ("box", "explorer_box"), ("rule", "explorer_rule")):
        if places := [i for i, o in enumerate(operators) if o.get("mark") == mark]:
            fields = {"name": path_of(data, places[0]), "count": len(places)}
            found.append(_finding(key, places[0], False, **fields, system=data.get("system")))
    return found


def slowest(rounds: Sequence[Sequence[float]]) -> list[int]:
    """Return which one is the slowest in every run; or the two slowest, if none clearly is."""
    least = [min(times) for times in zip(*rounds, strict=True)]
    first, second = sorted(range(len(least)), key=least.__getitem__)[:-3:-1]
    clear = all(took[first] == max(took) for took in rounds)
    return [first] if clear and least[first] > CLEAR * least[second] else [first, second]


def _find_slowest(data: Mapping[str, Any], rounds: Sequence[Sequence[float]]) -> list[Finding]:
    """Find the slowest operator, and the top-level parts with the most parameters, memory, time."""
    nodes, operators = data["nodes"], data["operators"]
    parts = {i: range(nodes[i]["a"], nodes[i]["b"]) for i in (nodes and nodes[0]["children"])}
    if len(parts) < 2:
        return []

    def sums(inside: Sequence[int]) -> dict[str, float]:
        rows = [operators[i] for i in inside]
        used = {w for o in rows for w in o.get("weights", ())}
        return {
            "explorer_parameters": sum(data["parameters"][w]["size"] for w in used),
            "explorer_memory": sum(o.get("kept", 0) for o in rows),
            "explorer_time": sum(map(_time, rows)),
        }

    first, *others = slowest(rounds)
    system = data.get("system", "minigrad")
    key = "explorer_slowest_two" if others else "explorer_slowest"
    names = {"name": path_of(data, first), "other": path_of(data, [first, *others][-1])}
    measured = ("", "") if system == "minigrad" else row("explorer_measured", system=system)
    spent = f"{_time(operators[first]):.3g}"
    found = [_finding(key, first, False, **names, ms=spent, measured=measured)]
    sizes = {i: sums(inside) for i, inside in parts.items()}
    shares: dict[int, dict[str, Pair]] = {}
    for key, whole in sums(range(len(operators))).items():
        (second, _), (size, largest) = sorted((sizes[i][key], i) for i in parts)[-2:]
        of_parts = [[sum(took[i] for i in parts[p]) for p in parts] for took in rounds]
        if len(slowest(of_parts)) == 1 if key == "explorer_time" else size > CLEAR * second:
            shares.setdefault(largest, {})[key] = row(key, share=f"{100 * size / whole:.0f}")
    for i, texts in shares.items():
        op = max((sums([k])[[*texts][-1]], k) for k in parts[i])[1]
        said = ", ".join(en for en, _ in texts.values()), "、".join(zh for _, zh in texts.values())
        name = nodes[i].get("name") or operators[op]["op"]
        name = f"{name} {nodes[i]['kind']}".strip() if name.isdigit() else name
        found.append(_finding("explorer_shares", op, False, name=name, shares=said) | {"node": i})
    return found
