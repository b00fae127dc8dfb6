"""What is worth a look in a model that was played: rules over the numbers that were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from viz.words.text import row

APART = 1e4  # how many times larger an element of one gradient is, to be worth a look
SILENT = 0.9  # share of zeros behind a ReLU that hardly fires
RECTIFIERS = ("ReLU",)

Finding = dict[str, Any]


def findings(data: Mapping[str, Any]) -> list[Finding]:
    """The list, troubles first: each says something of one operator, whose number it gives."""
    found = [*_broken(data), *_gradients(data), *_silent(data), *_marked(data), *_shares(data)]
    return sorted(found, key=lambda x: not x["bad"])


def _finding(key: str, op: int, bad: bool, **fields: object) -> Finding:
    return {"text": list(row(key, **fields)), "op": op, "bad": bad}


def path_of(data: Mapping[str, Any], op: int) -> str:
    """The modules around an operator, and its name: "layer1.0.conv1"."""
    nodes = data["nodes"]
    here, names = 0, []
    while "children" in nodes[here]:
        here = next(c for c in nodes[here]["children"] if nodes[c]["a"] <= op < nodes[c]["b"])
        names.append(nodes[here].get("name") or data["operators"][op]["op"])
    return ".".join(names)


def _broken(data: Mapping[str, Any]) -> list[Finding]:
    """The first value, and the first gradient on the way back, that is not finite."""
    operators, portraits = data["operators"], data["portraits"]

    def bad(i: int, key: str) -> int:
        number = operators[i].get(key)
        return 0 if number is None else int(portraits[number].get("bad", 0))

    found = []
    for key, of, order in (("explorer_nan", "v", 1), ("explorer_nan_back", "g", -1)):
        if broken := [i for i in range(len(operators))[::order] if bad(i, of)]:
            file, number, _ = data["lines"][operators[broken[0]]["line"]]
            told = {"name": path_of(data, broken[0]), "count": bad(broken[0], of)}
            found.append(_finding(key, broken[0], True, **told, line=f"{file}:{number}"))
    return found


def _gradients(data: Mapping[str, Any]) -> list[Finding]:
    """How the gradients of the weights differ from layer to layer."""
    if not data["backward"]:
        return []
    readers = {w: i for i, o in enumerate(data["operators"]) for w in o.get("weights", ())}
    norms = []
    for i, p in enumerate(data["parameters"]):
        if i in readers and "g" in p and len(p["shape"]) > 1:
            norm = data["portraits"][p["g"]].get("norm")
            if isinstance(norm, float):
                norms.append((norm / p["size"] ** 0.5, readers[i], p["name"], norm))
    if not norms:
        return []
    (low, at, name, least), (high, top, other, most) = min(norms), max(norms)
    told = {"name": name, "low": f"{least:.3g}", "other": other, "high": f"{most:.3g}"}
    if low == 0:
        dead = sum(norm == 0 for norm, *_ in norms)
        return [_finding("explorer_no_gradient", at, True, name=name, count=dead)]
    if high > APART * low:  # an element of one is that much larger than an element of the other
        key, op = ("explorer_vanishing", at) if at < top else ("explorer_exploding", top)
        return [_finding(key, op, True, ratio=f"{high / low:.2g}", **told)]
    sizes = [(norm, i, name) for _, i, name, norm in norms]
    (least, _, name), (most, top, other) = min(sizes), max(sizes)
    told = {"name": name, "low": f"{least:.3g}", "other": other, "high": f"{most:.3g}"}
    return [_finding("explorer_gradients", top, False, **told)]


def _silent(data: Mapping[str, Any]) -> list[Finding]:
    """ReLUs that hardly let anything through."""
    operators, portraits = data["operators"], data["portraits"]
    zeros = [
        (portraits[o["v"]].get("zeros", 0), i)
        for i, o in enumerate(operators)
        if o["op"] in RECTIFIERS and "v" in o
    ]
    dead = [(share, i) for share, i in zeros if share > SILENT]

    def said(key: str, share: float, i: int) -> Finding:
        fields = {"name": path_of(data, i), "share": f"{100 * share:.0f}"}
        return _finding(key, i, key == "explorer_silent", **fields)

    if dead:
        return [said("explorer_silent", *one) for one in dead[:5]]
    return [said("explorer_alive", *max(zeros))] if zeros else []


def _marked(data: Mapping[str, Any]) -> list[Finding]:
    """What differs from a plain model: frozen parameters, gradients that are cut off, boxes."""
    found = []
    operators, frozen = data["operators"], "frozen"
    reads = {w: i for i, o in enumerate(operators) for w in o.get("weights", ())}
    kept = [i for i, p in enumerate(data["parameters"]) if p.get("kept") == frozen and i in reads]
    if kept:
        told = {"name": data["parameters"][kept[0]]["name"], "count": len(kept)}
        found.append(_finding("explorer_frozen", reads[kept[0]], False, **told))
    for mark, key in (("cut", "explorer_cut"), ("box", "explorer_box")):
        places = [i for i, o in enumerate(operators) if o.get("mark") == mark]
        if places:
            told = {"name": path_of(data, places[0]), "count": len(places)}
            told["system"] = data.get("system", "")
            found.append(_finding(key, places[0], False, **told))
    return found


def _shares(data: Mapping[str, Any]) -> list[Finding]:
    """The slowest operator, and which top-level part holds or takes most, with its largest one."""
    nodes, operators = data["nodes"], data["operators"]
    parts = [nodes[i] for i in nodes[0]["children"]] if nodes else []
    if len(parts) < 2:
        return []

    def weights(inside: Sequence[Mapping[str, Any]]) -> float:
        used = {w for o in inside for w in o.get("weights", ())}
        return float(sum(data["parameters"][w]["size"] for w in used))

    measures = (
        ("explorer_parameters", weights),
        ("explorer_time", lambda inside: sum(o["ms"] for o in inside)),
        ("explorer_memory", lambda inside: sum(o.get("kept", 0) for o in inside)),
    )
    slowest = max(range(len(operators)), key=lambda i: operators[i]["ms"])
    told = {"name": path_of(data, slowest), "ms": f"{operators[slowest]['ms']:.3g}"}
    found = [_finding("explorer_slowest", slowest, False, **told)]
    for key, measure in measures:
        sizes = [measure(operators[p["a"] : p["b"]]) for p in parts]
        if whole := sum(sizes):
            largest = sizes.index(max(sizes))
            part = parts[largest]
            name = part.get("name") or operators[part["op"]]["op"]
            share = f"{100 * sizes[largest] / whole:.0f}"
            inside = range(part["a"], part["b"])
            op = max(inside, key=lambda i: measure(operators[i : i + 1]))
            found.append(_finding(key, op, False, name=name, share=share))
            if "children" in part:
                found[-1]["node"] = nodes[0]["children"][largest]
    return found
