"""The tree of a model: which operators ran in which module, and how it is folded to be surveyed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from viz.words.text import row_text

MOST = 16  # parts that a group shows before equal or neighbouring ones are folded
RUN = 4  # equal neighbours that are folded
PERIOD = 64  # parts of a round that is looked for
FOLDED = {*"…–"}  # in the name of what was folded here
WRAPS = 0.8  # share of the operators from which on a module is only the wrapper of what is in it
SCOPE = re.compile(r"(?P<name>.*?)(?:: (?P<kind>[^:]*?))?(?: \((?P<visit>\d+)\))?")


@dataclass
class Module:
    """A module (or a function, or a few lines), and what ran in it, in order.

    parts: modules, and the numbers of operators; kind: its class. repeats: whether its parts are
    equal, and are shown as a strip. Of one that is a single operator `parts` is that number.
    """

    name: str
    kind: str = ""
    parts: list[Module | int] = field(default_factory=list)
    repeats: bool = False

    def operators(self) -> Iterator[int]:
        """Yield the numbers of all operators inside, in order."""
        for part in self.parts:
            yield from [part] if isinstance(part, int) else part.operators()

    def count(self) -> int:
        """Return how many operators are inside."""
        return sum(1 if isinstance(part, int) else part.count() for part in self.parts)


def module_tree(
    name: str, scopes: Sequence[str], lines: Sequence[str], computes: Sequence[str]
) -> Module:
    """Build the tree of a model that is called `name`.

    scopes: of each operator the path of its module, "layer1: Sequential/0: Block"; lines: the
    place and text of the line behind it; computes: what it computes, by which rounds of a loop are
    known to be equal.
    """
    root = Module(name)
    for number, scope in enumerate(scopes):
        here = root
        for label in filter(None, scope.split("/")):
            last = here.parts[-1] if here.parts else None
            found = _module(label)
            if isinstance(last, Module) and (last.name, last.kind) == (found.name, found.kind):
                here = last
            else:
                here.parts.append(found)
                here = found
        here.parts.append(number)
    _find_rounds(root, computes)
    root.parts = [_simplified(part) for part in root.parts]
    _unwrap(root)
    _fold(root, lines, computes)
    return root


def spread(root: Module, depth: int, opened: Collection[str]) -> None:
    """Replace modules by their parts, down to a depth and wherever a module is opened.

    opened: paths, "layer3.0". ValueError, with the names that are there, for one that is none.
    """
    for _ in range(depth - 1):
        each = [_parts(part) if _holds_modules(part) else [part] for part in root.parts]
        root.parts = [inner for parts in each for inner in parts]
    for path in opened:
        *_, around, module = module_at(root, path)
        at = around.parts.index(module)
        around.parts[at : at + 1] = _parts(module)
        around.repeats = False


def module_at(root: Module, path: str) -> list[Module]:
    """Return the module at this path, "layer3.0", after its parents; ValueError if none is."""
    found = _path_to(root, path)
    if found is None:
        names = ", ".join(p.name for p in root.parts if isinstance(p, Module))
        raise ValueError(row_text("explorer_no_module", path=path, names=names))
    return found


def _path_to(module: Module, path: str) -> list[Module] | None:
    if not path:
        return [module]
    for part in module.parts:
        if isinstance(part, Module):
            own = f"{path}.".startswith(f"{part.name}.")
            if own or FOLDED & {*part.name}:  # a fold of ours has no place in a path
                rest = _path_to(part, path[len(part.name) + 1 :] if own else path)
                if rest is not None:
                    return [module, *rest]
    return None


def _holds_modules(part: Module | int) -> bool:
    return isinstance(part, Module) and any(isinstance(p, Module) for p in part.parts)


def _parts(part: Module | int) -> list[Module | int]:
    """Return the parts of a module, each named by its path; of an operator, itself."""
    if isinstance(part, int) or part.count() == 1:
        return [part]
    for inner in part.parts:
        if isinstance(inner, Module) and part.name and not inner.name.startswith(part.name):
            inner.name = f"{part.name}.{inner.name}"
    return part.parts


def _module(label: str) -> Module:
    found = SCOPE.fullmatch(label)
    if found is None:
        return Module(label)
    visit = found["visit"]
    return Module(found["name"] + (f" ({visit})" if visit else ""), found["kind"] or "")


def _find_rounds(module: Module, computes: Sequence[str]) -> None:
    """Make a module of each round where the parts of a module repeat: calls in a loop."""
    for part in module.parts:
        if isinstance(part, Module):
            _find_rounds(part, computes)
    looks = [_repeat_key(part, computes) for part in module.parts]
    start, period, rounds = _repetition(looks)
    whole = period * rounds == len(looks)
    if rounds < (2 if whole else 3) or period < 2:
        return
    inside = [look.partition(" ")[0] for look in looks[start : start + period]]
    name = _without_number(module.name) if whole else _listed(inside)
    end = start + rounds * period
    each = [module.parts[at : at + period] for at in range(start, end, period)]
    made: list[Module | int] = [Module(str(i), name, parts) for i, parts in enumerate(each, 1)]
    called = {_without_number(p.name) for p in each[0] if isinstance(p, Module)} - {""}
    outer = Module(called.pop() if len(called) == 1 else "blocks", "", made)
    module.parts[start:end] = made if whole else [outer]


def _listed(names: Sequence[str]) -> str:
    """Join the first few names, each once."""
    names = list(dict.fromkeys(names))
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _repeat_key(part: Module | int, computes: Sequence[str]) -> str:
    if isinstance(part, int):
        return computes[part]
    return f"{part.kind or _without_number(part.name)} {part.count()}"


def _repetition(looks: Sequence[str]) -> tuple[int, int, int]:
    """Return the longest repetition: the start, the length of a round, the number of rounds."""
    best, covered = (0, 0, 0), 0
    for period in range(2, min(PERIOD, len(looks) // 2) + 1):
        run = 0
        for i in range(period, len(looks) + 1):
            if i < len(looks) and looks[i] == looks[i - period]:
                run += 1
                continue
            rounds = run // period + 1
            plain = len({*looks[i - run - period : i - run]}) == 1  # one thing, again and again
            if rounds > 1 and rounds * period > covered and not plain:
                best, covered = (i - run - period, period, rounds), rounds * period
            run = 0
    return best


def _simplified(part: Module | int) -> Module | int:
    """Replace a module that contains only one other by that one, under both names."""
    if isinstance(part, int):
        return part
    part.parts = [_simplified(p) for p in part.parts]
    while len(part.parts) == 1 and isinstance(part.parts[0], Module):
        inner = part.parts[0]
        part = Module(f"{part.name}.{inner.name}", inner.kind, inner.parts)
    return part


def _unwrap(root: Module) -> None:
    """Replace a module that contains almost everything by its parts."""
    total = root.count()
    for _ in range(8):
        large = [p for p in root.parts if isinstance(p, Module) and p.count() > WRAPS * total]
        if not large:
            return
        wrapper, at = large[0], root.parts.index(large[0])
        if len(wrapper.parts) == 1 or (_uniform(wrapper) and len(wrapper.parts) + at > MOST // 2):
            return
        for part in wrapper.parts:
            if isinstance(part, Module) and part.name.isdigit():
                part.name = f"{wrapper.name}.{part.name}"
        root.parts[at : at + 1] = wrapper.parts


def _uniform(module: Module) -> bool:
    """Return whether a module is a sequence of modules of one class."""
    kinds = {_kind(p) for p in module.parts}
    several = all(isinstance(p, Module) and p.count() > 1 for p in module.parts)
    return len(module.parts) > 1 and len(kinds) == 1 and kinds != {""} and several


def _without_number(name: str) -> str:
    """Return the name of a function without the number of its call."""
    return re.sub(r" \(\d+\)$|[=_.]?\d+$", "", name)


def _fold(module: Module, lines: Sequence[str], computes: Sequence[str]) -> None:
    """Fold what has too many parts: equal neighbours, then operators of one line, then runs."""
    module.repeats = _uniform(module)
    if len(module.parts) > MOST and not module.repeats:
        module.parts = _equal_neighbours(module.parts)
        if len(module.parts) > MOST:
            module.parts = _group_by_lines(module.parts, lines, computes)
        while len(module.parts) > MOST + MOST // 2:
            module.parts = _in_runs(module.parts)
    for part in module.parts:
        if isinstance(part, Module):
            _fold(part, lines, computes)


def _equal_neighbours(parts: Sequence[Module | int]) -> list[Module | int]:
    found: list[Module | int] = []
    run: list[Module | int] = []

    def close() -> None:
        if len(run) >= RUN:
            first, last = (p for p in (run[0], run[-1]) if isinstance(p, Module))
            found.append(Module(f"{first.name} … {last.name}", first.kind, list(run)))
        else:
            found.extend(run)
        run.clear()

    for part in parts:
        several = isinstance(part, Module) and part.count() > 1
        if not (several and run and _kind(part) == _kind(run[0])):
            close()
        (run if several else found).append(part)
    close()
    return found


def _kind(part: Module | int) -> str:
    return "" if isinstance(part, int) else part.kind or _without_number(part.name)


def _group_by_lines(
    parts: Sequence[Module | int], lines: Sequence[str], computes: Sequence[str]
) -> list[Module | int]:
    """Group neighbouring operators of one line of code, named after its result."""

    def line_of(part: Module | int) -> str:
        line = lines[part] if isinstance(part, int) else ""
        return line if line.partition("\n")[2].strip() else ""

    found: list[Module | int] = []
    for line, neighbours in groupby(parts, line_of):
        group = list(neighbours)
        kinds = {computes[part].partition(" ")[0] for part in group if isinstance(part, int)}
        name = assigned_name(line, f"{kinds.pop()} × {len(group)}" if len(kinds) == 1 else "")
        found += [Module(name, "", group)] if line and len(group) > 1 else group
    return found if len(found) > 1 else list(parts)  # a group of all of them folds nothing


def assigned_name(line: str, otherwise: str = "") -> str:
    """Return what a line of code assigns: "h" for "h = x + y"; else the line itself, cut short.

    otherwise: the name of a line that assigns nothing.
    """
    text = line.rpartition("\n")[2].strip()
    found = re.match(r"([A-Za-z_][\w.]*(?:, *[A-Za-z_]\w*)*) *[-+*/@]?= *[^=]", text)
    if found:
        return found[1]
    text = otherwise or text.removeprefix("return ")
    return text if len(text) <= 24 else text[:23] + "…"


def _in_runs(parts: Sequence[Module | int]) -> list[Module | int]:
    """Group neighbours by about a dozen, between the modules that have a class, if few do."""
    if 0 < sum(isinstance(part, Module) and bool(part.kind) for part in parts) <= MOST // 2:
        found: list[Module | int] = []
        run: list[Module | int] = []
        for part in [*parts, Module("", "end")]:
            if isinstance(part, int) or not part.kind:
                run.append(part)
                continue
            found += [Module("…", "", run)] if len(run) > 1 else run
            found.append(part)
            run = []
        if len(found) - 1 < len(parts):
            return found[:-1]
    size = max(2, min(12, round(len(parts) ** 0.5)))
    runs = [list(parts[i : i + size]) for i in range(0, len(parts), size)]
    return [
        run[0] if len(run) == 1 else Module(f"{at * size + 1} – {at * size + len(run)}", "", run)
        for at, run in enumerate(runs)
    ]
