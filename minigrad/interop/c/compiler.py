"""The C compiler of this machine: finding it, and running it."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT = 120  # seconds
# No -ffast-math: NaN, infinities and −0 are to come out as from NumPy. Products and sums are joined
# only where the text says so, integers wrap round, and memory may be used again for another type.
FLAGS = (
    *("-std=gnu11", "-O2", "-march=native", "-fno-math-errno", "-fno-trapping-math"),
    *("-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-shared", "-w"),
    *(() if sys.platform == "win32" else ("-fPIC",)),
)
LIBRARIES = () if sys.platform == "win32" else ("-lm",)
SUFFIX = ".dll" if sys.platform == "win32" else ".so"


class CompilerError(Exception):
    """A compilation that failed, with the first line of the compiler's message."""


@dataclass(frozen=True)
class Compiler:
    """The command of a compiler, and a fingerprint of its version."""

    command: tuple[str, ...]
    version: str

    def library(self, source: str, flags: tuple[str, ...] = FLAGS) -> bytes:
        """Compile C text to a shared library; CompilerError if that fails."""
        try:
            return self._run(source, flags)
        except CompilerError:
            if "-march=native" not in flags:
                raise
            return self._run(source, tuple(f for f in flags if f != "-march=native"))

    def _run(self, source: str, flags: tuple[str, ...]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="minigrad-") as name:
            folder = Path(name)
            code, made = folder / "kernels.c", folder / f"kernels{SUFFIX}"
            code.write_text(source, "utf-8")
            command = [*self.command, *flags, str(code), "-o", str(made), *LIBRARIES]
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    cwd=folder,
                    timeout=TIME_LIMIT,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise CompilerError(f"timed out after {TIME_LIMIT} s") from None
            except OSError as reason:
                raise CompilerError(str(reason)) from None
            if done.returncode or not made.exists():
                said = done.stderr.decode(errors="replace").strip().splitlines()
                said = [line for line in said if "error" in line] or said
                raise CompilerError(said[0] if said else f"exit code {done.returncode}")
            return made.read_bytes()


def find_compiler() -> Compiler | None:
    """Find $CC, or cc, gcc or clang on PATH, or the wheel `ziglang`; None without any."""
    return _find_command(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@functools.lru_cache(maxsize=8)
def _find_command(command: str, places: str) -> Compiler | None:
    for words in (shlex.split(command, posix=sys.platform != "win32"), ["cc"], ["gcc"], ["clang"]):
        path = shutil.which(words[0], path=places) if words else None
        if path is not None:
            return Compiler((path, *words[1:]), _fingerprint(Path(path)))
    if importlib.util.find_spec("ziglang") is not None:
        version = importlib.metadata.version("ziglang")
        return Compiler((sys.executable, "-m", "ziglang", "cc"), f"ziglang {version}")
    return None


def _fingerprint(path: Path) -> str:
    """Identify the version of a program without starting it."""
    real = path.resolve()
    about = real.stat()
    return f"{real} {about.st_size} {about.st_mtime_ns}"


@functools.cache
def processor() -> str:
    """Describe the processor as -march=native sees it, as far as that is quick to read."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    kinds = ("model name", "flags", "Features", "CPU part")
    first = text.split("\n\n", 1)[0].splitlines()
    return "\n".join([platform.machine(), *(line for line in first if line.startswith(kinds))])
