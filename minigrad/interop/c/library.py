"""From C text to functions that can be called: through the cache, or through the compiler."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from minigrad.core.locks import Lock
from minigrad.diagnostics import files
from minigrad.diagnostics.messages import choose, fill
from minigrad.interop.c import cache, compiler
from minigrad.interop.c.compiler import FLAGS, SUFFIX, Compiler, CompilerError

PRELUDE = r"""#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define NOINLINE __attribute__((noinline))
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define ROUND_ONCE _Pragma("clang fp contract(fast)")
#define ROUND_TWICE _Pragma("clang fp contract(off)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define ROUND_ONCE _Pragma("GCC push_options") _Pragma("GCC optimize(\"fp-contract=fast\")")
#define ROUND_TWICE _Pragma("GCC pop_options")
#pragma GCC optimize("tree-vectorize", "vect-cost-model=dynamic")
#endif
"""
DEFINED = re.compile(r"static inline \w+ (\w+)\(|#define (\w+)\(|^SUM\((\w+)\)$", re.MULTILINE)
WORD = re.compile(r"\w+")
EXPORTED = re.compile(r"^EXPORT \w+ (\w+)\(", re.MULTILINE)

_lock = Lock()
_loaded: dict[str, ctypes.CDLL] = {}
_warned_once: set[str] = set()
_private: list[Path] = []


MATHEMATICS = Path(__file__).with_name("mathematics.h").read_text("utf-8")


def _paragraphs() -> list[tuple[set[str], str]]:
    """Return the functions of `mathematics.h`: what each paragraph defines, and its text."""
    found = []
    for paragraph in MATHEMATICS.split("\n\n"):
        names = {
            f"sum_{summed}" if summed else plain or macro
            for plain, macro, summed in DEFINED.findall(paragraph)
        }
        found.append((names, paragraph))
    return found


PARAGRAPHS = _paragraphs()


def mathematics(code: str) -> str:
    """Return the functions of `mathematics.h` that C text calls, and what those call."""
    needed = set(WORD.findall(code))
    chosen: list[str] = []
    for names, paragraph in reversed(PARAGRAPHS):  # what is called stands before its caller
        if names & needed:
            chosen.insert(0, paragraph)
            needed |= set(WORD.findall(paragraph))
    return "\n\n".join(chosen)


def source_of(functions: Iterable[str]) -> str:
    """Write a complete C file of these functions."""
    code = "\n\n".join(functions)
    return f"{PRELUDE}\n{mathematics(code)}\n\n{code}\n"


def available() -> Compiler | None:
    """Return the compiler; report once if there is none."""
    found = compiler.find_compiler()
    if found is None:
        warn_once("no_compiler")
    return found


def warn_once(key: str, **fields: object) -> None:
    """Print one line to the user, once in each process."""
    if key not in _warned_once:
        _warned_once.add(key)
        print(choose(fill(key, **fields)), file=sys.stderr)


def load(functions: Iterable[str]) -> ctypes.CDLL | None:
    """Load the library of these functions: from this process, the cache, or compiled now.

    None where it cannot be compiled: the user is told why, and NumPy does the work.
    """
    code = "\n\n".join(functions)
    with _lock:
        if code in _loaded:
            return _loaded[code]
        found = available()
        if found is None:
            return None
        made_by = (*found.command, found.version, *FLAGS, compiler.processor())
        key = cache.key_of([code, PRELUDE, MATHEMATICS, *made_by])
        library = _cached(cache.lookup(key), code)
        try:
            if library is None:
                content = found.library(source_of([code]))
                library = _open_library(cache.store(key, content) or _own_path(key, content), code)
        except (CompilerError, OSError) as reason:
            warn_once("compiler_failed", reason=str(reason)[:300])
            return None
        _loaded[code] = library
        return library


def _cached(path: Path | None, code: str) -> ctypes.CDLL | None:
    """Return the cached library; remove one that can't be used here."""
    if path is None:
        return None
    try:
        return _open_library(path, code)
    except (CompilerError, OSError):
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _open_library(path: Path, code: str) -> ctypes.CDLL:
    """Open the library at this path; CompilerError if a function of the C text is missing."""
    library = ctypes.CDLL(str(path))
    for name in EXPORTED.findall(code):
        if not hasattr(library, name):
            raise CompilerError(f"{name} is not in the library")
    return library


def _own_path(key: str, content: bytes) -> Path:
    """Return a path for this process alone, if there is no safe cache."""
    if not _private:
        _private.append(Path(tempfile.mkdtemp(prefix="minigrad-")))
        atexit.register(shutil.rmtree, _private[0], ignore_errors=True)
    path = _private[0] / f"{key}{SUFFIX}"
    files.write(path, content)
    return path


def function(library: ctypes.CDLL, name: str) -> Any:
    """Return a function that takes the addresses of a table of arrays and one of lengths."""
    found = getattr(library, name)
    found.argtypes, found.restype = (ctypes.c_void_p, ctypes.c_void_p), ctypes.c_int64
    return found
