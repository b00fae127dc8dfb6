"""The engine that a learner builds: `engine` opens it, `stored` puts parts of theirs into it.

`my_engine.py` beside this module is the whole of it with our parts, under a heading for each
lesson. What a learner has is the beginning of that, up to the lesson, with their functions in the
place of ours. It is in `my_engine/` beside the notebooks, a package that imports nothing of
ours.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
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

from minigrad_lessons.lesson import my_engine
from minigrad_lessons.lesson.answers import looked_up, reached
from minigrad_lessons.lesson.wording import Shown
from viz.words import user_files
from viz.words.text import Pair, row, row_text

__all__ = ["engine"]

HEADING = re.compile(r"(?m)^# -+ (L\d\d): .* -+\n")
MARK = re.compile(r" *# (yours|ours)\b.*$")
GAP = 'raise EngineError("{name} is not written yet: the exercise of {lesson} asks for it")'
PACKAGE = '"""My engine: see engine.py."""\n\nfrom my_engine.engine import *\n'
_numbers = count(1)


class EnginePart(NamedTuple):
    """A function that learners write: its lesson, and its lines."""

    lesson: str
    source: str


@lru_cache(maxsize=4)  # each check reads the same few texts
def functions_of(text: str) -> list[tuple[str, str, str, str]]:
    """Return the name, lesson, mark and lines of each marked function of an engine."""
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
def whole() -> tuple[str, Mapping[str, EnginePart]]:
    """Return the source of the engine with our parts, and those parts by their names."""
    packed: str | None = vars(my_engine).get("TEXT")  # in the wheel of a class
    text = packed or Path(my_engine.__file__).read_text("utf-8")
    return text, {
        name: EnginePart(lesson, source) for name, lesson, _, source in functions_of(text)
    }


@cache
def taken() -> set[str]:
    """Return the names of all functions of the engine, including those not in any exercise."""
    return {node.name for node in ast.parse(whole()[0]).body if isinstance(node, ast.FunctionDef)}


def assembled(lesson: str, own: Mapping[str, EnginePart], gaps: bool = True) -> str:
    """Assemble the engine up to a lesson: the learner's parts, else ours, or gaps in the lesson."""
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
    """Return the lines of a function with a comment on its def line that says whose it is."""
    lines = source.rstrip("\n").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}"))
    lines[at] = f"{MARK.sub('', lines[at])}  # {mark}"
    return "\n".join(lines) + "\n"


def _gap(source: str, name: str, lesson: str) -> str:
    head = source[: source.index('"""', source.index('"""') + 3) + 3]
    return f"{head}\n    {GAP.format(name=name, lesson=lesson)}\n"


# ---- On disk ---------------------------------------------------------------------------------


def _file() -> Path:
    return user_files.folder() / "my_engine" / "engine.py"


def _stored() -> tuple[str, dict[str, EnginePart]]:
    """Return the last lesson in the learner's engine, and the learner's own functions in it."""
    text = _text()
    try:
        found = {n: EnginePart(at, s) for n, at, mark, s in functions_of(text) if mark == "yours"}
    except (SyntaxError, ValueError) as error:  # the latter for a zero byte
        problem = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        raise _unreadable(problem[0], problem[1] or 1) from error
    known = {h[1] for h in HEADING.finditer(whole()[0])}
    for heading in HEADING.finditer(text):
        if heading[1] not in known:
            line = 1 + text.count("\n", 0, heading.start())
            raise _unreadable(row("engine_heading", lesson=heading[1], last=max(known)), line)
    return max((h[1] for h in HEADING.finditer(text)), default=""), found


def _text() -> str:
    """Return the text of the learner's file; "" if there is none."""
    try:
        raw = _file().read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        text = row_text("engine_closed", file=_file(), problem=error.strerror)
        raise ValueError(text) from error
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        raise _unreadable(row("engine_encoding"), line) from error


def _unreadable(problem: str | Pair, line: int) -> ValueError:
    return ValueError(row_text("engine_unreadable", file=_file(), line=line, problem=problem))


def _store(text: str) -> tuple[bool, list[Pair]]:
    """Write the engine; returns whether that could be, and what the learner has to know."""
    file, notes = _file(), []
    if _is_edited(text):
        copy = _copy(file)
        notes.append(row("engine_edited", copy=f"my_engine/{copy.name}"))
        problem = user_files.store(copy, file.read_bytes())
    else:
        problem = None
    problem = problem or user_files.store(file, text)
    package = file.with_name("__init__.py")
    if problem is None and not package.exists():
        problem = user_files.store(package, PACKAGE)
    if problem is not None:
        return False, [row("engine_unkept", reason=problem)]
    return True, notes


def _is_edited(new: str) -> bool:
    """Return whether writing the file would lose changes in it; a deleted part is not one."""
    old, (last, own) = _text(), _stored()
    if old in ("", new):
        return False
    marked = {name for name, *_ in functions_of(old)}

    def rest(text: str) -> list[str]:
        """Return the lines outside the learner's functions."""
        for name, _, mark, source in functions_of(text):
            if mark == "yours" or name not in marked:
                text = text.replace(source, "")
        return [line for line in text.splitlines() if line.strip()]

    return rest(old) != rest(assembled(last, own))


def _copy(file: Path) -> Path:
    """Return the path for a copy of an edited file: a new one, or that of an equal copy."""
    places = (file.with_name(f"{file.stem}_edited_{i}.py") for i in count(1))
    content = file.read_bytes()
    return next(x for x in places if not x.exists() or x.read_bytes() == content)


@lru_cache(maxsize=4)
def _compiled(text: str) -> CodeType:
    """Compile the source of an engine, and register it so that tracebacks can show its lines."""
    name = f"<my_engine {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return compile(text, name, "exec")


def _loaded(text: str) -> ModuleType:
    """Load the engine as a new module."""
    module, code = ModuleType("my_engine"), _compiled(text)
    module.__file__ = code.co_filename
    exec(code, vars(module))
    return module


def progress() -> dict[str, dict[str, bool]]:
    """Return for each lesson its parts of the engine, and whether the learner has written them."""
    own = _stored()[1]
    found: dict[str, dict[str, bool]] = {}
    for name, part in whole()[1].items():
        found.setdefault(part.lesson, {})[name] = name in own
    return found


# ---- What lessons call -----------------------------------------------------------------------


def engine(lesson: str, *functions: FunctionType) -> ModuleType:
    """Return the learner's engine at the beginning of a lesson, as a module.

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
      ours, until you've written your own: dynamic, static, topological_order, run_in_order
    >>> x = user_files.Node("Placeholder", name="x")
    >>> [node.op for node in user_files.topological_order([x * x + 3])]
    ['Placeholder', 'Mul', 'Constant', 'Add']
    """
    known = sorted({part.lesson for part in whole()[1].values()})
    if lesson not in known:
        raise ValueError(row_text("engine_lesson", lesson=lesson, known=", ".join(known)))
    last, own = _stored()
    if functions:
        for function in functions:
            part_name(function)
            own |= _written(function, lesson)
        return _loaded(assembled(lesson, own, gaps=False))
    kept, notes = _store(assembled(max(last, lesson), own))
    written = [row("engine_written")] if kept else []
    shown = Shown([*written, *notes, *_whose(lesson, own)], "…", "my_engine")
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
    own: dict[str, EnginePart] = {}
    for function in functions:
        own |= _written(function, lesson)
    text = assembled(lesson, own, gaps=False)

    def made() -> ModuleType:
        module = _loaded(text)
        vars(module)["engine"] = module  # what the notebook calls it
        for function in (met for start in functions for met in reached(start)):
            for _, name in looked_up(function):
                if name not in vars(module) and name in function.__globals__:
                    vars(module)[name] = function.__globals__[name]
        return module

    return made


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


def part_name(function: FunctionType) -> str:
    """Return the name of a part of the engine; raise ValueError if it was not written as one."""
    name, parts = getattr(function, "__name__", repr(function)), whole()[1]
    if not isinstance(function, FunctionType) or name == "<lambda>":
        found = getattr(function, "__globals__", {}).items()
        names = [*(other for other, value in found if value is function), name]
        raise ValueError(row_text("engine_no_function", name=names[0]))
    if name not in parts:
        raise ValueError(row_text("engine_no_part", name=name, known=", ".join(parts)))
    return name


def _written(function: FunctionType, lesson: str) -> dict[str, EnginePart]:
    """Return a learner's function, and those of the notebook it calls, as parts of the engine."""
    found = (met for met in reached(function) if not _is_frame(met))
    return {met.__name__: EnginePart(lesson, _source(met)) for met in found}


def _is_frame(function: FunctionType) -> bool:
    """Return whether the engine provides this function; raise ValueError for a namesake."""
    text, parts = whole()
    name = function.__name__
    if name in parts or name not in taken():
        return False
    if _source(function) not in text:
        raise ValueError(row_text("engine_taken", name=name))
    return True


def _source(function: FunctionType) -> str:
    return textwrap.dedent(inspect.getsource(function))


def _foreign(functions: Sequence[FunctionType], there: Mapping[str, Any]) -> Pair | None:
    """Return a message about the first name that a function reads and the engine lacks, if any."""
    for function in (met for start in functions for met in reached(start)):
        names = {name for kind, name in looked_up(function) if kind != "LOAD_DEREF"}
        for name in sorted(names - {*there, *dir(builtins)}):
            return row("engine_foreign", function=function.__name__, name=name)
    return None


def _whose(lesson: str, own: Mapping[str, EnginePart]) -> list[Pair]:
    """List which functions of earlier lessons are the learner's, and which are ours."""
    before = [name for name, part in whole()[1].items() if part.lesson < lesson]
    lines = []
    for key, names in {
        "engine_yours": [name for name in before if name in own],
        "engine_ours": [name for name in before if name not in own],
    }.items():
        if names:
            lines.append(row(key, names=", ".join(names)))
    return lines
