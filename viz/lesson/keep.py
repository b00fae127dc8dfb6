"""The engine that a learner builds: `engine` opens it, `keep` puts a part of the learner's into it.

`my_engine.py` beside this module is the whole of it with our parts, under a heading for each
lesson. What a learner has is the beginning of that, up to the lesson, with their functions in the
place of ours. It stands in `my_engine/` beside the notebooks, a package that imports nothing of
ours.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from io import StringIO
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, cast

from IPython import get_ipython
from IPython.display import display

from viz.lesson import my_engine
from viz.lesson.answers import has_gap, looked_up, reached
from viz.lesson.judged import passed, refused_by
from viz.lesson.wording import GRADING, MARKS, Shown
from viz.questions import checks_of
from viz.words import mine
from viz.words.text import Pair, printed, row

__all__ = ["engine", "keep"]

HEADING = re.compile(r"(?m)^# -+ (L\d\d): .* -+\n")
MARK = re.compile(r" *# (yours|ours)\b.*$")
GAP = 'raise EngineError("{name} is not written yet: the exercise of {lesson} asks for it")'
PACKAGE = '"""My engine: see engine.py."""\n\nfrom my_engine.engine import *\n'
_numbers = count(1)


class Part(NamedTuple):
    """A function that learners write: its lesson, and its lines."""

    lesson: str
    source: str


@lru_cache(maxsize=4)  # each check reads the same few texts
def functions_of(text: str) -> list[tuple[str, str, str, str]]:
    """Name, lesson, mark and lines of each marked function of an engine."""
    found = []
    lines = StringIO(text).readlines()  # as Python counts them
    headings = [(text.count("\n", 0, h.start()), h[1]) for h in HEADING.finditer(text)]
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            marked = MARK.search(lines[node.lineno - 1].rstrip("\n"))
            lesson = [lesson for line, lesson in headings if line < first][-1:]
            if marked and lesson:
                source = "".join(lines[first : node.end_lineno])
                found.append((node.name, lesson[0], marked[1], source))
    return found


@cache
def whole() -> tuple[str, Mapping[str, Part]]:
    """The engine with our parts, and those parts by their names."""
    packed: str | None = vars(my_engine).get("TEXT")  # in the wheel of a class
    text = packed or Path(my_engine.__file__).read_text("utf-8")
    return text, {name: Part(lesson, source) for name, lesson, _, source in functions_of(text)}


@cache
def taken() -> set[str]:
    """The names of all functions of the engine, those that nobody writes among them."""
    return {node.name for node in ast.parse(whole()[0]).body if isinstance(node, ast.FunctionDef)}


def assembled(lesson: str, own: Mapping[str, Part], gaps: bool = True) -> str:
    """The engine up to a lesson: our parts where the learner has none, gaps in that lesson."""
    text, parts = whole()
    own = {name: part for name, part in own.items() if part.lesson <= lesson}
    end = next((h.start() for h in HEADING.finditer(text) if h[1] > lesson), len(text))
    text = text[:end].rstrip("\n") + "\n"
    for name, part in parts.items():
        if name in own:
            new = _marked(own[name].source, name, "yours")
        elif part.lesson < lesson or not gaps:
            new = _marked(part.source, name, "ours")
        else:
            new = _marked(_gap(part.source, name, lesson), name, "ours")
        text = text.replace(part.source, new)
    for name, part in reversed(own.items()):
        if name not in parts:  # a helper stands at the head of the lesson that it was written in
            place = next(h.end() for h in HEADING.finditer(text) if h[1] == part.lesson)
            new = _marked(part.source, name, "yours").strip("\n")
            text = f"{text[:place]}\n\n{new}\n{text[place:]}"
    return text


def _marked(source: str, name: str, mark: str) -> str:
    """The lines of a function, of which the first says whose it is."""
    lines = source.rstrip("\n").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}"))
    lines[at] = f"{MARK.sub('', lines[at])}  # {mark}"
    return "\n".join(lines) + "\n"


def _gap(source: str, name: str, lesson: str) -> str:
    head = source[: source.index('"""', source.index('"""') + 3) + 3]
    return f"{head}\n    {GAP.format(name=name, lesson=lesson)}\n"


# ---- On disk ---------------------------------------------------------------------------------


def _file() -> Path:
    return mine.folder() / "my_engine" / "engine.py"


def _stored() -> tuple[str, dict[str, Part]]:
    """The last lesson that the learner's engine holds, and the learner's own functions in it."""
    text = _text()
    try:
        found = {n: Part(at, s) for n, at, mark, s in functions_of(text) if mark == "yours"}
    except (SyntaxError, ValueError) as error:  # the latter for a zero byte
        told = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        raise _unreadable(told[0], told[1] or 1) from error
    known = {h[1] for h in HEADING.finditer(whole()[0])}
    for heading in HEADING.finditer(text):
        if heading[1] not in known:
            line = 1 + text.count("\n", 0, heading.start())
            raise _unreadable(row("engine_heading", lesson=heading[1], last=max(known)), line)
    return max((h[1] for h in HEADING.finditer(text)), default=""), found


def _text() -> str:
    """What stands in the learner's file; nothing where there is none."""
    try:
        raw = _file().read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        told = printed("engine_closed", file=_file(), problem=error.strerror)
        raise ValueError(told) from error
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        raise _unreadable(row("engine_encoding"), line) from error


def _unreadable(problem: str | Pair, line: int) -> ValueError:
    return ValueError(printed("engine_unreadable", file=_file(), line=line, problem=problem))


def _store(text: str) -> tuple[bool, list[Pair]]:
    """Write the engine; returns whether that could be, and what the learner has to know."""
    file, told = _file(), []
    if _is_edited(text):
        copy = _copy(file)
        told.append(row("engine_edited", copy=f"my_engine/{copy.name}"))
        problem = mine.store(copy, file.read_bytes())
    else:
        problem = None
    problem = problem or mine.store(file, text)
    package = file.with_name("__init__.py")
    if problem is None and not package.exists():
        problem = mine.store(package, PACKAGE)
    if problem is not None:
        return False, [row("engine_unkept", reason=problem)]
    return True, told


def _is_edited(new: str) -> bool:
    """Whether the file holds changes that writing it would lose; a part may be deleted there."""
    old, (last, own) = _text(), _stored()
    if old in ("", new):
        return False
    marked = {name for name, *_ in functions_of(old)}

    def rest(text: str) -> list[str]:
        """The lines outside of the learner's functions."""
        for name, _, mark, source in functions_of(text):
            if mark == "yours" or name not in marked:
                text = text.replace(source, "")
        return [line for line in text.splitlines() if line.strip()]

    return rest(old) != rest(assembled(last, own))


def _copy(file: Path) -> Path:
    """Where a file that was edited is kept: a new place, or that of an equal copy."""
    places = (file.with_name(f"{file.stem}_edited_{i}.py") for i in count(1))
    content = file.read_bytes()
    return next(x for x in places if not x.exists() or x.read_bytes() == content)


@lru_cache(maxsize=4)
def _compiled(text: str) -> CodeType:
    """The program of an engine; what it says of lines is read from this text."""
    name = f"<my_engine {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return compile(text, name, "exec")


def _loaded(text: str) -> ModuleType:
    """The engine as a module of its own."""
    module, code = ModuleType("my_engine"), _compiled(text)
    module.__file__ = code.co_filename
    exec(code, vars(module))
    return module


def progress() -> dict[str, dict[str, bool]]:
    """For each lesson its parts of the engine, and whether the learner has written them."""
    own = _stored()[1]
    found: dict[str, dict[str, bool]] = {}
    for name, part in whole()[1].items():
        found.setdefault(part.lesson, {})[name] = name in own
    return found


# ---- What lessons call -----------------------------------------------------------------------


def engine(lesson: str, *functions: FunctionType) -> ModuleType:
    """The learner's engine as it stands when a lesson begins, as a module.

    Parts of earlier lessons that were not kept are ours, and it is said which. The parts of this
    lesson are gaps, which raise EngineError. With `functions` it is a trial that nothing keeps:
    they fill their gaps, and ours the other ones, so that an exercise needs no other one's answer.
    Without `functions` the engine is written to `my_engine/engine.py` beside the notebooks, too.
    A file that was edited is kept beside it, unless nothing but functions marked "# yours" differ;
    in a folder that cannot be written to nothing is kept, and it is said so. ValueError for an
    unknown lesson, for a function that is no part of the engine, and for a file that was edited and
    is no Python any more.

    >>> mine = engine("L02")
    … my_engine  written to my_engine/engine.py
      ours, as long as you have none: dynamic, static, topological_order, run_in_order
    >>> x = mine.Node("Placeholder", name="x")
    >>> [node.op for node in mine.topological_order([x * x + 3])]
    ['Placeholder', 'Mul', 'Constant', 'Add']
    """
    known = sorted({part.lesson for part in whole()[1].values()})
    if lesson not in known:
        raise ValueError(printed("engine_lesson", lesson=lesson, known=", ".join(known)))
    last, own = _stored()
    if functions:
        for function in functions:
            _name(function)
            own |= _written(function, lesson)
        return _loaded(assembled(lesson, own, gaps=False))
    kept, told = _store(assembled(max(last, lesson), own))
    written = [row("engine_written")] if kept else []
    shown = Shown([*written, *told, *_whose(lesson, own)], "…", "my_engine")
    cast(Any, display)(shown) if get_ipython() is not None else print(shown)
    return _loaded(assembled(lesson, own))  # who comes back from a later one, too


@cache
def _ours(lesson: str) -> str:
    return assembled(lesson, {}, gaps=False)


def reference(lesson: str) -> ModuleType:
    """Return the engine at the end of a lesson with our parts alone, whatever the learner kept."""
    return _loaded(_ours(lesson))


def replaced(lesson: str, functions: Sequence[FunctionType]) -> Callable[[], ModuleType]:
    """Return what makes the engine at the end of a lesson, these functions in the place of ours.

    What they look up in the notebook and no engine has, they find there, too.
    """
    own: dict[str, Part] = {}
    for function in functions:
        own |= _written(function, lesson)
    text = assembled(lesson, own, gaps=False)

    def made() -> ModuleType:
        module = _loaded(text)
        for function in (met for start in functions for met in reached(start)):
            for _, name in looked_up(function):
                if name not in vars(module) and name in function.__globals__:
                    vars(module)[name] = function.__globals__[name]
        return module

    return made


def keep(*functions: FunctionType) -> Shown | None:
    """Put functions of the notebook into the learner's engine, in the place of ours.

    What they call by name comes along, if it is a function of the notebook. Nothing is kept as
    long as a gap `...` is left, a check of the notebook has refused the function, or it uses what
    the engine lacks. It is said which of its checks have passed it as it is, and which have not
    run yet. ValueError for what is no function, or no part of the engine. Where nbgrader grades,
    nothing is kept.

    >>> def fit(g, x):
    ...     return ...
    >>> print(keep(fit))
    … my_engine  Something is still open: replace every `...` above and run the cell again.
    """
    if os.environ.get(GRADING):
        return None
    if any(map(has_gap, functions)):
        return Shown([row("check_gap")], "…", "my_engine")
    for function in functions:
        name = _name(function)
        if id := refused_by(function):
            return Shown([row("engine_refused", name=name, id=id)], "…", "my_engine")
    kept, notes = stored(functions)
    if not kept:
        return Shown(notes, "…", "my_engine")
    names = ", ".join(f.__name__ for f in functions)
    tested, said = _tested(functions), {True: "check_passed", False: "engine_untested"}
    told = [row(said[right], text=text) for text, right in tested.items()]
    mark, again = (MARKS[True], []) if all(tested.values()) else ("…", [row("engine_test")])
    return Shown([row("engine_kept", names=names), *notes, *told, *again], mark, "my_engine")


def stored(functions: Sequence[FunctionType]) -> tuple[bool, list[Pair]]:
    """Write functions into the learner's engine; return whether that could be, and what to say."""
    last, own = _stored()
    for function in functions:
        lesson = whole()[1][function.__name__].lesson
        own |= _written(function, lesson)
        last = max(last, lesson)
    text = assembled(last, own)
    if foreign := _foreign(functions, vars(_loaded(text))):
        return False, [foreign]
    return _store(text)


def _tested(functions: tuple[FunctionType, ...]) -> dict[Pair, bool]:
    """What the checks of these parts ask for, and whether each has passed them as they are now."""
    found: dict[Pair, bool] = {}
    for function in functions:
        for check in checks_of(function.__name__):
            found[check.text] = found.get(check.text, True) and passed(check.id, function)
    return found


def _name(function: FunctionType) -> str:
    """The name of a part of the engine. Raises ValueError for what was not written as one."""
    name, parts = getattr(function, "__name__", repr(function)), whole()[1]
    if not isinstance(function, FunctionType) or name == "<lambda>":
        found = getattr(function, "__globals__", {}).items()
        names = [*(other for other, value in found if value is function), name]
        raise ValueError(printed("engine_no_function", name=names[0]))
    if name not in parts:
        raise ValueError(printed("engine_no_part", name=name, known=", ".join(parts)))
    return name


def _written(function: FunctionType, lesson: str) -> dict[str, Part]:
    """A function of the learner's as a part of the engine, and those of the notebook it calls."""
    found = (met for met in reached(function) if not _is_frame(met))
    return {met.__name__: Part(lesson, _source(met)) for met in found}


def _is_frame(function: FunctionType) -> bool:
    """Whether it stands in the engine as it is. Raises ValueError for another of that name."""
    text, parts = whole()
    name = function.__name__
    if name in parts or name not in taken():
        return False
    if _source(function) not in text:
        raise ValueError(printed("engine_taken", name=name))
    return True


def _source(function: FunctionType) -> str:
    return textwrap.dedent(inspect.getsource(function))


def _foreign(functions: Sequence[FunctionType], there: Mapping[str, Any]) -> Pair | None:
    """What is said of the first name that a function looks up and the engine does not have."""
    for function in (met for start in functions for met in reached(start)):
        names = {name for kind, name in looked_up(function) if kind != "LOAD_DEREF"}
        for name in sorted(names - {*there, *dir(builtins)}):
            return row("engine_foreign", function=function.__name__, name=name)
    return None


def _whose(lesson: str, own: Mapping[str, Part]) -> list[Pair]:
    """Which functions of the lessons before are the learner's, and which are ours."""
    before = [name for name, part in whole()[1].items() if part.lesson < lesson]
    told = []
    for key, names in {
        "engine_yours": [name for name in before if name in own],
        "engine_ours": [name for name in before if name not in own],
    }.items():
        if names:
            told.append(row(key, names=", ".join(names)))
    return told
