"""What the browser gets of a model that was watched: its tree, its operators, portraits of all."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

from minigrad.diagnostics.messages import one_line, well_formed
from minigrad.diagnostics.source import Location, is_user_code
from minigrad.interop.captured import Captured, Stopped
from minigrad.static import Node
from viz.explorer.findings import findings
from viz.explorer.modules import Module, module_at, module_tree, spread
from viz.explorer.portraits import short
from viz.explorer.witness import RunRecorder
from viz.picture.formula import forward, sign
from viz.words.text import row as words
from viz.words.user import OWN

LONGEST = 120  # characters of a line of code


Table = dict[Any, tuple[int, Any]]  # things that are sent once, and meant by their number


def _number(table: Table, key: Any, row: Any) -> int:
    return table.setdefault(key, (len(table), row))[0]


def _rows(table: Table) -> list[Any]:
    return [row for _, row in table.values()]


class Content:
    """All that is shown of a model, as plain JSON in `data`.

    depth, opened: which modules are seen as their parts; ValueError for a module that is not there.
    within: what a loss is put behind, whose name is left out of all others.
    nodes: the tree in preorder, each with the range of its operators [a, b); operators, inputs and
    parameters refer to portraits by number.
    """

    def __init__(
        self,
        name: str,
        model: Captured,
        seen: RunRecorder,
        stopped: Stopped | None = None,
        depth: int = 1,
        opened: Collection[str] = (),
        within: str = "",
    ) -> None:
        self.seen, self._places, self._within = seen, model.about.places, within
        more = [] if stopped is None else [stopped.scope, *stopped.rest]  # what did not run
        nodes = (*seen.operators, *more, *seen.inputs)
        self._tensors: dict[Any, int] = {n: i for i, n in enumerate(nodes)}
        for node, x in seen.same.items():
            self._tensors[node] = self._tensors[x]
        self._parameters = {n: i for i, n in enumerate(seen.parameters)}
        self._known: dict[Location, int] = {}
        self._portraits, self._lines, self._formulas = Table(), Table(), Table()
        self.operators = [self._operator(node) for node in seen.operators]
        known = _rows(self._lines)
        lines = ["{}:{}\n{}".format(*known[operator["line"]]) for operator in self.operators]
        scopes = [self._scope(n.scope) for n in seen.operators]
        computes = [f"{n.op.name} {n.shape}" for n in seen.operators]  # alike in all rounds
        if stopped is not None:
            self.operators += self._refused(stopped)
            scopes, lines = scopes + more, lines + [""] * len(more)
            computes += [f"not run {i}" for i in range(len(more))]
        self.tree = module_tree(name, scopes, lines, computes)
        spread(self.tree, depth, opened)
        self.nodes: list[dict[str, Any]] = []
        self._numbers: dict[int, int] = {}  # of modules, by id
        self._add(self.tree, None)
        self.parameters = [self._parameter(n, model) for n in seen.parameters]
        self._mark_differences(model)
        tables = {"portraits": self._portraits, "lines": self._lines, "formulas": self._formulas}
        parts = {"nodes": self.nodes, "operators": self.operators, "parameters": self.parameters}
        self.data: dict[str, Any] = {
            **parts,
            "name": well_formed(one_line(name)),
            "system": model.system,
            "inputs": [self._tensor(n) | {"name": n.name} for n in seen.inputs],
            **{key: _rows(table) for key, table in tables.items()},
            "outputs": [self._tensors[y] for y in model.outputs if y in self._tensors],
            "backward": bool(seen.gradients),
        }
        if stopped is not None:
            self.data |= {"failed": len(seen.operators), "outputs": []}
        rounds = [[took.get(n, 0.0) for n in seen.operators] for took in seen.totals]
        narrow = [x for x in model.about.notes if "float16" in x[0]]  # what that hides isn't seen
        noted = [{"text": [*note], "op": 0, "bad": False, "node": 0} for note in narrow]
        self.data["findings"] = noted + findings(self.data, rounds)

    def node_of(self, path: str) -> int:
        """Return the number of the module with this path, "layer3.0"; ValueError if none has it."""
        return self._numbers[id(module_at(self.tree, path)[-1])]

    def _tensor(self, node: Node) -> dict[str, Any]:
        found: dict[str, Any] = {"shape": list(node.shape or ()), "dtype": str(node.dtype)}
        for key, portraits in (("v", self.seen.values), ("g", self.seen.gradients)):
            if (seen := portraits.get(node)) is not None:
                found[key] = _number(self._portraits, tuple(seen.items()), seen)
        return found

    def _operator(self, node: Node) -> dict[str, Any]:
        seen = self.seen
        reads = [self._tensors[x] for x in node.inputs if x in self._tensors]
        names = [chr(ord("a") + i) for i in range(len(node.inputs))]
        row = self._tensor(node) | {
            "op": node.op.name,
            "sign": sign(node.op),
            "title": list(node.op.title),
            "formula": _number(self._formulas, node.op.name, forward(node.op, names, node.attrs)),
            "reads": list(dict.fromkeys(reads)),
            "line": self._line(self._where(node)),
            "ms": short(seen.min_time(node)),
        }
        used = [self._parameters[x] for x in node.inputs if x in self._parameters]
        back, kept = short(seen.milliseconds_back[node]), seen.kept[node]
        optional = {"weights": used, "back": back, "kept": kept, "fixed": node in seen.fixed}
        return row | {key: value for key, value in optional.items() if value}

    def _mark_differences(self, model: Captured) -> None:
        """Mark the operators that call the original, and those that stop gradients."""
        ruled = {f"{model.system}_{x}".replace(".", "_") for x, _ in model.about.own_rules}
        for node, record in zip(self.seen.operators, self.operators, strict=False):
            if node.op.name.startswith(f"{model.system}_"):
                record["mark"] = "rule" if node.op.name in ruled else "box"
            elif node.op.name == "StopGradient":
                record["mark"] = "cut"

    def _refused(self, stopped: Stopped) -> list[dict[str, Any]]:
        """Return the call that failed, and the modules after it, in the order declared."""
        reads = [x for x in stopped.operands if x in self._tensors]
        reads = reads or ([] if self.seen.operators else [*self.seen.inputs])
        line = self._line(None if stopped.line is None else Location(*stopped.line))
        unknown: dict[str, Any] = {"shape": [], "dtype": "", "unknown": True, "sign": ""}
        formula = _number(self._formulas, "", "")
        unknown |= {"line": line, "ms": 0.0, "formula": formula, "reads": []}
        unread = list(words("explorer_unread"))  # parameters, where modules aren't known
        calls = [(stopped.operator, [stopped.operator] * 2)]
        for _, colon, kind in (scope.rpartition(": ") for scope in stopped.rest):
            calls.append((kind, [kind] * 2 if colon else unread))
        rows = [{**unknown, "op": name, "title": title} for name, title in calls]
        rows[0]["reads"] = [self._tensors[x] for x in reads]
        for row, scope in zip(rows, [stopped.scope, *stopped.rest], strict=True):
            for x, i in self._parameters.items():
                own = scope and scope in (x.scope, x.name.rpartition(".")[0])
                if own or (row is rows[0] and x in {*stopped.operands}):
                    row.setdefault("weights", []).append(i)
        return rows

    def _parameter(self, node: Node, model: Captured) -> dict[str, Any]:
        record: dict[str, Any] = {
            "name": node.name.removeprefix(f"{self._within}."),
            "size": math.prod(n or 0 for n in node.shape or ()),
        }
        if node.name not in model.leaves:
            record["kept"] = "frozen" if node.name in model.about.frozen else "buffer"
        return self._tensor(node) | record

    def _scope(self, path: str) -> str:
        around, _, inside = path.partition("/")
        return inside if self._within and around.partition(":")[0] == self._within else path

    def _where(self, node: Node) -> Location:
        """Return the line of the model's own code, or of the user's that calls it."""
        return Location(self._places[node], 0) if node in self._places else node.where

    def _line(self, where: Location | None) -> int:
        """Return the number of a line of code; that of an empty line if it isn't the user's."""
        if where is None or not is_user_code(where.filename) or where.filename.startswith(OWN):
            return _number(self._lines, "", ["", 0, ""])
        if (number := self._known.get(where)) is None:
            place = Path(where.filename).name, where.lineno
            line = [*place, well_formed(where.text)[:LONGEST]]
            number = self._known[where] = _number(self._lines, place, line)
        return number

    def _add(self, part: Module | int, parent: int | None, within: Module | None = None) -> None:
        """Add a part of the tree; a module with a single operator is that operator."""
        number = len(self.nodes)
        if isinstance(part, int):
            self.nodes.append({"parent": parent, "op": part, "a": part, "b": part + 1})
            return
        self._numbers[id(part)] = number
        inside = list(part.operators())
        row: dict[str, Any] = {
            "parent": parent,
            "name": well_formed(part.name),
            "kind": well_formed(part.kind),
            "a": inside[0] if inside else 0,
            "b": inside[-1] + 1 if inside else 0,
        }
        self.nodes.append(row)
        if parent is not None and len(inside) == 1:
            row["op"] = inside[0]
            return
        row["children"] = []
        if part.repeats:
            row["repeats"] = True
        for child in part.parts:
            row["children"].append(len(self.nodes))
            self._add(child, number)
