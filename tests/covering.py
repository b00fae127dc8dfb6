"""Choose a few cases of a test that has many: every value of each parameter, then pairs."""

from __future__ import annotations

import inspect
import itertools
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import hypothesis
import pytest

at_most: int | None = None  # cases of a test, as --cases says; five times as many for `each`
thorough = False  # with --all, or where a test is named: every pair, not each value once


def examples(count: int) -> hypothesis.settings:
    """So many random examples with --all, a third without; as the profile has it, more or fewer."""
    usual = hypothesis.settings.get_profile("default").max_examples
    asked = count * hypothesis.settings.default.max_examples // usual
    asked = asked if thorough else asked // 3
    return hypothesis.settings(max_examples=max(3, asked))


def each(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of many small cases: all are tried, and those that fail are named.

    As tests of their own, with what pytest does for each, they would take ten times as long. What
    the function takes beyond a case are fixtures, which all of them share. With --cases there are
    fewer, from all over the list.
    """

    known = [case if isinstance(case, tuple) else (case,) for case in cases]
    assert known

    def together(test: Callable[..., None]) -> Callable[..., None]:
        def tried(**fixtures: Any) -> None:
            failed = []
            step = -(-len(known) // (5 * at_most)) if at_most else 1
            for case in known[::step]:
                try:
                    test(*case, **fixtures)
                # The others are tried as well; what `pytest.raises` misses is no Exception.
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    failed.append(
                        f"{', '.join(map(str, case))[:200]}: {type(error).__name__}: {error}"
                    )
            assert not failed, "\n".join(failed)

        tried.__name__, tried.__doc__ = test.__name__, test.__doc__
        wanted = [*inspect.signature(test).parameters.values()][len(known[0]) :]
        tried.__signature__ = inspect.Signature(wanted)  # type: ignore[attr-defined]
        return tried

    return together


def pairs(first: Iterable[Any], second: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pair each value of one list with each of another; unless `thorough`, only some.

    The first value meets all others; each further one meets one of them, in turn.
    """
    first, second = [*first], [*second]
    if thorough or not first:
        return [*itertools.product(first, second)]
    rest = ((x, second[i % len(second)]) for i, x in enumerate(first) if i)
    return [*((first[0], y) for y in second), *rest]


def diagonal(first: Iterable[Any], second: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pair each value of the longer list with one of the other, in turn; if `thorough`, with all.

    For a test whose values are paired in other tests, too.
    """
    first, second = [*first], [*second]
    if thorough or not (first and second):
        return [*itertools.product(first, second)]
    count = max(len(first), len(second))
    return [(first[i % len(first)], second[i % len(second)]) for i in range(count)]


def covering(cases: Sequence[dict[str, int]], names: Sequence[str], most: int) -> set[int]:
    """Return the indices of at most `most` cases, chosen greedily.

    cases: for each one, which value each parameter has. A case that brings values which occur in
    none of those chosen comes first, then one that brings the most new pairs. Among equals the
    checksum of the name decides: always the same ones, and no neighbours.
    """
    order = sorted(range(len(cases)), key=lambda i: zlib.crc32(names[i].encode()))
    brings = {i: _values_and_pairs(cases[i]) for i in order}
    chosen: set[int] = set()
    seen: set[object] = set()
    while len(chosen) < min(most, len(cases)):
        rest = (i for i in order if i not in chosen)
        best = max(rest, key=lambda i: tuple(len(new - seen) for new in brings[i]))
        chosen.add(best)
        seen.update(*brings[best])
    return chosen


def _values_and_pairs(case: dict[str, int]) -> tuple[set[object], set[object]]:
    values = sorted(case.items())
    return set(values), set(itertools.combinations(values, 2))


def few(items: Sequence[pytest.Item], most: int | None) -> list[pytest.Item]:
    """Return the tests that stay: none that is exhaustive, and of many cases some that cover them.

    most: for every test; None: for those with the marker `cases`, as many as it says.
    """
    groups = defaultdict(list)
    gone = {item for item in items if item.get_closest_marker("exhaustive")}
    for item in items:
        if item in gone:
            continue
        limit = most or next((m.args[0] for m in item.iter_markers("cases")), None)
        if limit and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            groups[item.nodeid.partition("[")[0], limit].append(item)
    for (_, limit), group in groups.items():
        if len(group) > limit:
            kept = covering(_numbered(group), [item.nodeid for item in group], limit)
            gone.update(item for i, item in enumerate(group) if i not in kept)
    return [item for item in items if item not in gone]


def _numbered(group: Sequence[pytest.Function]) -> list[dict[str, int]]:
    """Number the values of each parameter; pytest numbers the cases, not the values."""
    known: dict[str, dict[int, int]] = defaultdict(dict)
    return [
        {
            name: known[name].setdefault(id(value), len(known[name]))
            for name, value in params.items()
        }
        for params in (item.callspec.params for item in group)
    ]
