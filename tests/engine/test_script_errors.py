"""What scripts refuse: the class of the error, the user's line, the remedy, both languages."""

# Every mistake is made on purpose.
# ruff: noqa: B905, PERF402, SIM108

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minigrad as mg
from minigrad.diagnostics import errors, messages
from minigrad.hybrid.scripting.convert import convert

Program = Callable[..., Any]
REFUSED: dict[Program, list[str]] = {}
FAILING: dict[Program, tuple[type[Exception], list[str]]] = {}
COUNT, LOG, TABLE = 0, [], {}


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with mg.Graph():
        yield
    messages.set_language("en")


def refused(*words: str) -> Callable[[Program], Program]:
    """mg.script refuses the decorated program, with these words, at the line marked `# here`."""

    def register(f: Program) -> Program:
        REFUSED[f] = list(words)
        return f

    return register


def failing(kind: type[Exception], *words: str) -> Callable[[Program], Program]:
    """The decorated program cannot be built for a node, with these words, at `# here`."""

    def register(f: Program) -> Program:
        FAILING[f] = (kind, list(words))
        return f

    return register


# ---- Refused as soon as it is read ---------------------------------------------------------------


@refused("except*", "write except")
def catches_a_group(x):
    try:  # here
        return x
    except* ValueError:
        pass
    return -x


@refused("finally would swallow", "after the try statement")
def returns_in_finally(x):
    try:  # here
        x = x * 2
    finally:
        return x  # noqa: B012


@refused("yield x", "no generators", "mg.scan")
def yields(x):
    yield x  # here


@refused("async def", "without async")
async def waits(x):  # here
    return x


@refused("(x := x - 1)", ":=", "a statement of its own")
def walrus_in_while(x):
    while (x := x - 1) > 0:  # here
        pass
    return x


@refused("x > 0 and (y := x) > 1", ":=", "may not be reached")
def walrus_behind_and(x):
    y = 0.0
    if x > 0 and (y := x) > 1:  # here
        return y
    return x


@refused("yield v", "no generators")
def nested_function_yields(x):
    def inner(v):
        yield v  # here

    return list(inner(x))


def around():
    total = 0.0

    @refused("total is changed here", "pass total to the nested function")
    def calls_what_changes_a_variable(x):
        total = x

        def adds():
            nonlocal total
            total = total + 1

        while total < 5:  # here
            adds()
        return total

    return calls_what_changes_a_variable, total


around()


@refused("locals()", "name the variables")
def looks_around(x):
    return locals()["x"]  # here


@refused("scale is changed here", "pass scale to the nested function")
def changes_what_a_nested_function_reads(x):
    scale = 1.0

    def scaled(v):
        return v * scale

    for _ in range(3):  # here
        scale = scale * 2
        x = scaled(x)
    return x


def check(error: errors.GraphError, f: Program, words: list[str]) -> None:
    """The words, the marked line, and both languages."""
    english, chinese = error.pair
    lines, first = inspect.getsourcelines(f)
    line = first + next(i for i, text in enumerate(lines) if "# here" in text)
    for word in words:
        assert word in english, f"{word!r} is not in: {english}"
    for text in (english, chinese):
        assert f"test_script_errors.py, line {line}:" in text, text
        assert "# here" in text, "the source line itself"
    assert "Remedy: " in english
    assert "解决办法：" in chinese
    messages.set_language("zh")
    assert str(error) == chinese
    messages.set_language("en")


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused_when_it_is_read(f: Program) -> None:
    with pytest.raises(mg.ScriptError) as found:
        mg.script(f)
    check(found.value, f, REFUSED[f])
    with pytest.raises(mg.ScriptError) as again:
        mg.script(f)
    assert again.value.pair == found.value.pair


# ---- Refused when a node decides -----------------------------------------------------------------


class Holder:
    total = 0.0


HOLDER = Holder()


@failing(mg.ScriptError, "variable y may have no value", "in both branches")
def assigned_in_one_branch(x):
    if x > 0:
        y = x
    return y  # here


@failing(mg.ScriptError, "variable y may have no value")
def assigned_in_a_branch_of_a_loop(x):
    for k in range(int(x)):
        if k > 2:
            y = x
    return [y]  # here


@failing(mg.ScriptError, "HOLDER.total", "assign to a plain variable")
def sets_an_attribute(x):
    if x > 0:
        HOLDER.total = x  # here
    return x


@failing(mg.ScriptError, "TABLE['x']", "changes an object from outside")
def sets_an_item(x):
    while x > 0:
        TABLE["x"] = x  # here
        x = x - 1
    return x


@failing(mg.ScriptError, "list.append", "mg.scan")
def appends(x):
    seen = []
    for v in mg.stack([x, x]):
        seen.append(v)  # here
    return seen


@failing(mg.ScriptError, "list.append", "mg.scan")
def appends_to_a_global(x):
    if x > 0:
        LOG.append("positive")  # here
    return x


@failing(mg.ScriptError, "it would always raise", "mg.Assert(condition, message)")
def raises(x):
    if x < 0:
        raise ValueError("negative")  # here
    return x


@failing(mg.ScriptError, "40 times", "never ends", "while loop")
def recurs(x):
    if x <= 1:  # here
        return 1.0
    return x * recurs(x - 1)


@failing(mg.ScriptError, "how many elements", "mg.scan")
def comprehends(x):
    return [v * 2 for v in mg.stack([x, x])]  # here


@failing(mg.ScriptError, "how many elements", "a for statement")
def comprehends_a_range(x):
    return sum(k * x for k in range(int(x)))  # here


@failing(mg.ScriptError, "how many elements")
def filters(x):
    return [v for v in [1.0, 2.0] if v < x]  # here


@failing(mg.ScriptError, "zip of nodes together with Python lists", "mg.tensor")
def zips_both(x):
    for v, w in zip(mg.stack([x, x]), [1.0, 2.0]):  # here
        x = x + v * w
    return x


@failing(mg.ScriptError, "range takes whole numbers", "float32", "int(n)")
def counts_to_a_float(x):
    for _ in range(x):  # here
        x = x + 1
    return x


@failing(mg.ScriptError, "min of a node of shape (2, 2)", "with an axis")
def smallest_of_rows(x):
    return min(mg.stack([mg.stack([x, x]), mg.stack([x, x])]))  # here


@failing(mg.ShapeError, "if: the condition has shape (2,)", "x.sum() > 0")
def decides_on_a_vector(x):
    if mg.stack([x, x]) > 0:  # here
        return x
    return -x


@failing(mg.ControlFlowError, "variable y is float32 in the one", "int64 in the other", ".astype")
def branch_of_another_type(x):
    if x > 0:  # here
        y = x
    else:
        y = x.astype(mg.int64)
    return y


@failing(mg.ControlFlowError, "variable mode is 'up' in the one", "choose between numbers")
def branch_with_text(x):
    if x > 0:  # here
        mode = "up"
    else:
        mode = "down"
    return x, mode


@failing(mg.ControlFlowError, "variable seen is [float32[]]", "and [] in the other")
def branch_with_a_longer_list(x):
    seen = []
    if x > 0:  # here
        seen += [x]
    return seen


@failing(mg.ControlFlowError, "the returned value is float32[]", "and None in the other")
def returns_on_one_way(x):
    if x > 0:  # here
        return x


@failing(mg.ControlFlowError, "the value of … if … else … is float32[]", "'a' in the other")
def expression_of_two_kinds(x):
    return x if x > 0 else "a"  # here


@failing(mg.ControlFlowError, "while: variable s is int64 before", "float32 after", "start from")
def loop_that_changes_a_type(x):
    s = mg.tensor(1)
    while x > 0:  # here
        s = s + x
        x = x - 1
    return s


@failing(mg.ShapeError, "while: variable y has shape (2,) before", "(4,) after", "mg.scan")
def loop_that_changes_a_shape(x):
    y = mg.stack([x, x])
    while y.sum() < 10:  # here
        y = mg.concatenate([y, y])
    return y


@failing(mg.ControlFlowError, "for: variable best is None before", "only numbers", "Remedy: start")
def loop_that_starts_from_none(x):
    best = None
    for v in mg.stack([x, x]):  # here
        if best is None:
            best = v
    return best


@failing(mg.ControlFlowError, "for: variable seen is [] before", "[float32[]] after")
def loop_that_grows_a_list(x):
    seen = []
    for v in mg.stack([x, x]):  # here
        seen = [*seen, v]
    return seen


@failing(mg.ControlFlowError, "while_loop: value 0 of the state is int64 before")
def loop_of_the_library_in_a_loop(x):
    while x > 0:
        x = mg.while_loop(lambda v: v < 3, lambda v: v + 0.5, mg.tensor(1))  # here
    return x


@failing(mg.ScriptError, "COUNT is assigned in a branch", "Python builds once")
def counts_in_a_branch(x):
    global COUNT
    if x > 0:
        COUNT = 1  # here
    return x


@failing(mg.ScriptError, "match compares in Python", "if, elif and else")
def matches(x):
    match x:  # here
        case 1.0:
            return x
    return -x


@failing(mg.ScriptError, "match compares in Python", "if, elif and else")
def matches_with_a_guard(x):
    match 1:
        case 1 if x > 0:  # here
            return x
    return -x


@failing(mg.ScriptError, "variable y may have no value")
def used_after_del(x):
    y = x * 2
    if x > 0:
        x = x + y
    del y
    return x + y  # noqa: F821  # here


@failing(mg.ScriptError, "it would always raise", "mg.Assert(condition, message)")
def catches_whatever_comes(x):
    try:
        if x > 0:
            raise ValueError("positive")  # here
    except Exception:  # noqa: BLE001
        x = x + 1
    return x


@failing(mg.ScriptError, "this handler needs x", "sets x", "inside the branch or the loop")
def loses_a_value(x):
    try:
        for k in range(3):
            x = x + 1
            if k == 1:
                raise ValueError("lost")
    except ValueError:
        x = x * 10  # here
    return x


@failing(mg.TraceError, "unreadable was traced as it is", "could not be rewritten", "no generators")
def unreadable(x):
    def rows():
        yield x  # here

    for v in rows():
        if v > 0:
            return v
    return -x


@pytest.mark.parametrize("f", FAILING, ids=lambda f: f.__name__)
def test_refused_when_a_node_decides(f: Program) -> None:
    kind, words = FAILING[f]
    caller = f if f is not unreadable else calls_what_cannot_be_read
    for run in (lambda: mg.script(caller)(mg.tensor(3.0)), lambda: node_for(caller)):
        with pytest.raises(kind) as found:
            run()
        check(found.value, f, words)
    assert not LOG
    assert not TABLE
    assert HOLDER.total == 0.0


def node_for(f: Program) -> Any:
    return convert(f)(mg.placeholder("x", shape=()))


def calls_what_cannot_be_read(x):
    return unreadable(x) + 1


def test_a_helper_that_cannot_be_read_is_called_as_it_is() -> None:
    assert convert(calls_what_cannot_be_read)(3.0) == 4.0


def test_plain_python_may_do_all_of_this() -> None:
    def f(x):
        box, seen = Holder(), []
        for k in range(3):
            if k == 1:
                box.total = k
                seen.append(k)
            if k > 5:
                raise ValueError(k)
        table = {}
        table["x"] = x
        if x > 0:
            own = [x]
            own.append(x * 2)
            own[0] = own[0] + box.total
            x = own[0] + own[1]
        return x + seen[0] + table["x"]

    assert f(2.0) == mg.script(f)(mg.tensor(2.0)).item() == 10.0
    with pytest.raises(ValueError, match="6"):
        convert(lambda_free(6))(1.0)


def lambda_free(k: int) -> Program:
    def f(x):
        if k > 5:
            raise ValueError(k)
        return x

    return f


def test_a_python_error_stays_a_python_error() -> None:
    def f(x, decide):
        if decide:
            y = x
        return y  # here

    assert convert(f)(1.0, True) == 1.0
    with pytest.raises(mg.ScriptError, match="variable y may have no value") as found:
        convert(f)(1.0, False)
    check(found.value, f, [])


# ---- No source -----------------------------------------------------------------------------------


def test_a_function_without_source_is_refused() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", space)
    with pytest.raises(mg.ScriptError, match=r"source of f is not to be found in <string>"):
        mg.script(space["f"])


def test_a_source_that_has_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import linecache

    space: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x\n", "<changed>", "exec"), space)
    for text in ("def f(y):\n    return y\n", "\ndef f(x):\n    return x\n", "def f(x:\n"):
        lines = text.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, "<changed>", (len(text), None, lines, "<changed>"))
        with pytest.raises(mg.ScriptError, match="run the cell again"):
            convert(space["f"])
        messages.set_language("en")


@pytest.mark.parametrize("thing", [abs, int, 3, "f", object()])
def test_what_is_no_function_of_the_users_is_refused(thing: Any) -> None:
    with pytest.raises(mg.ScriptError, match="is no function written in Python"):
        convert(thing)
    with pytest.raises(mg.GraphError, match="Remedy: pass"):
        mg.script(thing)


def test_nothing_half_done_stays_behind() -> None:
    for f in FAILING:
        with pytest.raises(mg.GraphError):
            node_for(calls_what_cannot_be_read if f is unreadable else f)
    assert not isinstance(mg.get_default_graph(), mg.Node)
    x = mg.placeholder("x", shape=())
    assert mg.run(mg.build_graph(x, convert(lambda_free(1))(x)), {x: 2.0}) == 2.0
    assert node_for(lambda_free(1)).graph is mg.get_default_graph()
