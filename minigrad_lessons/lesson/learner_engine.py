"""The engine that a learner builds: `engine` opens it, `store_functions` puts their parts into it.

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
import sys
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
from minigrad_lessons.lesson.answers import called_functions, function_asts, lookups
from minigrad_lessons.lesson.wording import Message
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
def find_functions(text: str) -> list[tuple[str, str, str, str]]:
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
def template() -> tuple[str, Mapping[str, EnginePart]]:
    """Return the source of the engine with our parts, and those parts by their names."""
    packed: str | None = vars(my_engine).get("TEXT")  # in the wheel of a class
    text = packed or Path(my_engine.__file__).read_text("utf-8")
    return text, {n: EnginePart(lesson, s) for n, lesson, _, s in find_functions(text)}


@cache
def engine_function_names() -> set[str]:
    """Return the names of all functions of the engine, including those not in any exercise."""
    body = ast.parse(template()[0]).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def assemble_engine(lesson: str, own: Mapping[str, EnginePart], gaps: bool = True) -> str:
    """Assemble the engine up to a lesson: the learner's parts, else ours, or gaps in the lesson."""
    text, parts = template()
    own = {name: part for name, part in own.items() if part.lesson <= lesson}
    end = next((h.start() for h in HEADING.finditer(text) if h[1] > lesson), len(text))
    text = text[:end].rstrip("\n") + "\n"
    for name, part in parts.items():
        if name in own:
            new = _with_owner_comment(own[name].source, name, "yours")
        elif part.lesson < lesson or not gaps:
            new = _with_owner_comment(part.source, name, "ours")
        else:
            new = _with_owner_comment(_unwritten_stub(part.source, name, lesson), name, "ours")
        text = text.replace(part.source, new)
    for name, part in reversed(own.items()):
        if name not in parts:  # a helper stands at the head of the lesson that it was written in
            place = next(h.end() for h in HEADING.finditer(text) if h[1] == part.lesson)
            new = _with_owner_comment(part.source, name, "yours").strip("\n")
            text = f"{text[:place]}\n\n{new}\n{text[place:]}"
    return text


def _with_owner_comment(source: str, name: str, mark: str) -> str:
    """Return the lines of a function with a comment on its def line that says whose it is."""
    lines = source.rstrip("\n").split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}"))
    lines[at] = f"{MARK.sub('', lines[at])}  # {mark}"
    return "\n".join(lines) + "\n"


def _unwritten_stub(source: str, name: str, lesson: str) -> str:
    head = source[: source.index('"""', source.index('"""') + 3) + 3]
    return f"{head}\n    {GAP.format(name=name, lesson=lesson)}\n"


# ---- On disk ---------------------------------------------------------------------------------


def _engine_file() -> Path:
    return user_files.folder() / "my_engine" / "engine.py"


def _load_learner_parts() -> tuple[str, dict[str, EnginePart]]:
    """Return the last lesson in the learner's engine, and the learner's own functions in it."""
    text = _read_engine_text()
    try:
        found = {n: EnginePart(at, s) for n, at, mark, s in find_functions(text) if mark == "yours"}
    except (SyntaxError, ValueError) as error:  # the latter for a zero byte
        problem = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        raise _load_error(problem[0], problem[1] or 1) from error
    known = {h[1] for h in HEADING.finditer(template()[0])}
    for heading in HEADING.finditer(text):
        if heading[1] not in known:
            line = 1 + text.count("\n", 0, heading.start())
            raise _load_error(row("engine_heading", lesson=heading[1], last=max(known)), line)
    return max((h[1] for h in HEADING.finditer(text)), default=""), found


def _read_engine_text() -> str:
    """Return the text of the learner's file; "" if there is none."""
    try:
        raw = _engine_file().read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        text = row_text("engine_closed", file=_engine_file(), problem=error.strerror)
        raise ValueError(text) from error
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        raise _load_error(row("engine_encoding"), line) from error


def _load_error(problem: str | Pair, line: int) -> ValueError:
    text = row_text("engine_unreadable", file=_engine_file(), line=line, problem=problem)
    return ValueError(text)


def _write_engine(text: str) -> tuple[bool, list[Pair]]:
    """Write the engine; returns whether that could be, and what the learner has to know."""
    file, notes = _engine_file(), []
    if _would_lose_edits(text):
        copy = _backup_path(file)
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


def _would_lose_edits(new: str) -> bool:
    """Return whether writing the file would lose changes in it; a deleted part is not one."""
    old, (last, own) = _read_engine_text(), _load_learner_parts()
    if old in ("", new):
        return False
    marked = {name for name, *_ in find_functions(old)}

    def rest(text: str) -> list[str]:
        """Return the lines outside the learner's functions."""
        for name, _, mark, source in find_functions(text):
            if mark == "yours" or name not in marked:
                text = text.replace(source, "")
        return [line for line in text.splitlines() if line.strip()]

    return rest(old) != rest(assemble_engine(last, own))


def _backup_path(file: Path) -> Path:
    """Return the path for a copy of an edited file: a new one, or that of an equal copy."""
    places = (file.with_name(f"{file.stem}_edited_{i}.py") for i in count(1))
    content = file.read_bytes()
    return next(x for x in places if not x.exists() or x.read_bytes() == content)


@lru_cache(maxsize=4)
def _compile_engine(text: str) -> CodeType:
    """Compile the source of an engine, and register it so that tracebacks can show its lines."""
    name = f"<my_engine {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return compile(text, name, "exec")


def _load_engine(text: str) -> ModuleType:
    """Load the engine as a new module, in which `@dataclass` can look up the types of fields."""
    code = _compile_engine(text)
    module = sys.modules["my_engine.loaded"] = ModuleType("my_engine.loaded")
    module.__file__ = code.co_filename
    try:
        exec(code, vars(module))
    except NameError as error:
        raise ValueError(row_text("engine_early", name=error.name)) from error
    return module


def parts_written() -> dict[str, dict[str, bool]]:
    """Return for each lesson its parts of the engine, and whether the learner has written them."""
    own = _load_learner_parts()[1]
    found: dict[str, dict[str, bool]] = {}
    for name, part in template()[1].items():
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
    >>> x = mine.Node("Placeholder", name="x")
    >>> [node.op for node in mine.topological_order([x * x + 3])]
    ['Placeholder', 'Mul', 'Constant', 'Add']
    """
    known = sorted({part.lesson for part in template()[1].values()})
    if lesson not in known:
        raise ValueError(row_text("engine_lesson", lesson=lesson, known=", ".join(known)))
    last, own = _load_learner_parts()
    if functions:
        for function in functions:
            part_name(function)
            own |= _as_engine_parts(function, lesson)
        return _load_engine(assemble_engine(lesson, own, gaps=False))
    kept, notes = _write_engine(assemble_engine(max(last, lesson), own))
    written = [row("engine_written")] if kept else []
    shown = Message([*written, *notes, *_ownership_lines(lesson, own)], "…", "my_engine")
    cast(Any, display)(shown) if get_ipython() is not None else print(shown)
    return _load_engine(assemble_engine(lesson, own))  # who comes back from a later one, too


@cache
def _reference_source(lesson: str) -> str:
    return assemble_engine(lesson, {}, gaps=False)


def reference_engine(lesson: str) -> ModuleType:
    """Return the engine at the end of a lesson with our parts alone, whatever the learner kept."""
    return _load_engine(_reference_source(lesson))


def engine_factory_with(lesson: str, functions: Sequence[FunctionType]) -> Callable[[], ModuleType]:
    """Return what makes the engine at the end of a lesson, these functions in the place of ours.

    What they look up in the notebook and no engine has, they find there, too.
    """
    own = {n: part for f in functions for n, part in _as_engine_parts(f, lesson).items()}
    text = assemble_engine(lesson, own, gaps=False)
    called = (met for start in functions for met in called_functions(start))
    read = [(name, met.__globals__) for met in called for _, name in lookups(met)]

    def made() -> ModuleType:
        module = _load_engine(text)
        vars(module)["engine"] = module  # what the notebook calls it
        for name, notebook in read:
            if name not in vars(module) and name in notebook:
                vars(module)[name] = _counterpart(notebook[name], module)
        return module

    return made


def _counterpart(value: Any, module: ModuleType) -> Any:
    """Return what an engine has in the place of something of the notebook's engine.

    It may have a second name there, as in `Error = EngineError`, or be what a class derives from.
    """
    if isinstance(value, type) and value.__module__ != module.__name__:
        bases = tuple(_counterpart(base, module) for base in value.__bases__)
        return value if bases == value.__bases__ else type(value.__name__, bases, {**vars(value)})
    known = getattr(value, "__module__", None) == module.__name__
    return vars(module).get(getattr(value, "__name__", ""), value) if known else value


def store_functions(functions: Sequence[FunctionType]) -> tuple[bool, list[Pair]]:
    """Write functions into the learner's engine; return whether that could be, and what to say."""
    last, own = _load_learner_parts()
    for function in functions:
        lesson = template()[1][function.__name__].lesson
        own |= _as_engine_parts(function, lesson)
        last = max(last, lesson)
    text = assemble_engine(last, own)
    if foreign := _unknown_name(functions, vars(_load_engine(text))):
        return False, [foreign]
    return _write_engine(text)


def part_name(function: FunctionType) -> str:
    """Return the name of a part of the engine; raise ValueError if it was not written as one."""
    name, parts = getattr(function, "__name__", repr(function)), template()[1]
    if not isinstance(function, FunctionType) or name == "<lambda>":
        found = getattr(function, "__globals__", {}).items()
        names = [*(other for other, value in found if value is function), name]
        raise ValueError(row_text("engine_no_function", name=names[0]))
    if name not in parts:
        raise ValueError(row_text("engine_no_part", name=name, known=", ".join(parts)))
    return name


def _as_engine_parts(function: FunctionType, lesson: str) -> dict[str, EnginePart]:
    """Return a learner's function, and those of the notebook it calls, as parts of the engine."""
    found = [met for met in called_functions(function) if not _is_provided_by_engine(met)]
    return {name: EnginePart(lesson, text) for name, text in map(_name_and_source, found)}


def _name_and_source(function: FunctionType) -> tuple[str, str]:
    """Return the name and the text of a function; a lambda gets a def line, as all parts have."""
    code, name = function.__code__, function.__name__
    if name != "<lambda>":
        return name, _dedented_source(function)
    names = [name for name, x in function.__globals__.items() if x is function]
    for made in function_asts(code) if names else []:
        if isinstance(made, ast.Lambda):
            alone = compile(ast.Expression(made), "", "eval", dont_inherit=True).co_consts[0]
            if alone.replace(co_flags=code.co_flags) == code:
                head = f"def {names[0]}({ast.unparse(made.args)}):"
                return names[0], f"{head}\n    return {ast.unparse(made.body)}\n"
    raise ValueError(row_text("engine_no_function", name=[*names, name][0]))


def _is_provided_by_engine(function: FunctionType) -> bool:
    """Return whether the engine provides this function; raise ValueError for a namesake."""
    (text, parts), name = template(), function.__name__
    if name in parts or name not in engine_function_names():
        return False
    if _dedented_source(function) not in text:
        raise ValueError(row_text("engine_taken", name=name))
    return True


def _dedented_source(function: FunctionType) -> str:
    return textwrap.dedent(inspect.getsource(function))


def _unknown_name(functions: Sequence[FunctionType], there: Mapping[str, Any]) -> Pair | None:
    """Return a message about the first name that a function reads and the engine lacks, if any."""
    for function in (met for start in functions for met in called_functions(start)):
        names = {name for kind, name in lookups(function) if kind != "LOAD_DEREF"}
        for name in sorted(names - {*there, *dir(builtins)}):
            return row("engine_foreign", function=function.__name__, name=name)
    return None


def _ownership_lines(lesson: str, own: Mapping[str, EnginePart]) -> list[Pair]:
    """List which functions of earlier lessons are the learner's, and which are ours."""
    before = [name for name, part in template()[1].items() if part.lesson < lesson]
    yours = ", ".join(name for name in before if name in own)
    ours = ", ".join(name for name in before if name not in own)
    found = {"engine_yours": yours, "engine_ours": ours}
    return [row(key, names=names) for key, names in found.items() if names]
