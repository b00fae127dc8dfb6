"""Pythons that begin where another one stands: it has loaded what all of them need, and forks.

A kernel takes most of its start to load NumPy, IPython, Matplotlib and us, and the suite starts
some fifty. Where a system cannot fork, each starts by itself.

This file runs in three places: `Forks` in the tests, `serve` in the Python that forks, and, for a
kernel, `stand_in`, the process that Jupyter starts, asks, interrupts and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

POSSIBLE = sys.platform == "linux"
KERNEL = """
import ipykernel.ipkernel, ipykernel.kernelapp, ipykernel.zmqshell, matplotlib.backends.backend_svg
import minigrad._lazy_exports, minigrad_lessons._lazy_exports, viz._lazy_exports
"""
LAUNCH = "import ipykernel.kernelapp; ipykernel.kernelapp.launch_new_instance()"


class Forks:
    """A Python that has run `loaded`, and runs programs in forks of itself."""

    def __init__(self, loaded: str, *options: str) -> None:
        own = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUTF8": "1"}
        own |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads do not come along
        if not POSSIBLE:
            self.command, self.own = [sys.executable, *options, "-c", f"{loaded}\n"], own
            return
        self.folder = tempfile.TemporaryDirectory(prefix="forks")
        self.address = str(Path(self.folder.name, "socket"))
        file = str(Path(__file__).absolute())
        command = [sys.executable, *options, file, "serve", self.address, loaded]
        # It ends when its input does, that is also when the process of the tests is killed.
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.server = subprocess.Popen(command, env={**os.environ, **own}, **pipes)
        assert self.server.stdout
        assert self.server.stdout.readline() == b"ready\n"

    def run(self, program: str, **environment: str) -> tuple[int, str, str]:
        """How a program ends in a fork, what it prints, and what it says of errors."""
        if not POSSIBLE:
            *command, loaded = self.command
            names = {**os.environ, **self.own, **environment}
            pipes = {"capture_output": True, "encoding": "utf-8"}
            done = subprocess.run([*command, loaded + program], env=names, **pipes)
            return done.returncode, done.stdout, done.stderr
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            with Path(os.devnull).open("rb") as nothing:
                files = [file.fileno() for file in (nothing, out, err)]
                fork = asked(self.address, files, ["-c"], program, {**os.environ, **environment})
            fork.recv(20)  # who it is
            code = int(fork.recv(20) or -1)
            fork.close()
            said = []
            for file in (out, err):
                file.seek(0)
                said.append(file.read().decode("utf-8"))
        return code, *said


def asked(
    address: str, files: list[int], argv: list[str], program: str, environment: dict[str, str]
) -> socket.socket:
    """Ask for a fork: it sends its number, and how it ended, and it ends when this is closed."""
    fork = socket.socket(socket.AF_UNIX)
    fork.connect(address)
    socket.send_fds(fork, [b"."], files)
    told = {"argv": argv, "program": program, "folder": str(Path.cwd()), "names": environment}
    fork.sendall(json.dumps(told).encode() + b"\n")
    return fork


@cache
def bare() -> Forks:
    """A Python that has loaded NumPy and none of us; warnings are errors."""
    return Forks("import numpy", "-W", "error")


@cache
def kernels() -> Forks:
    """What all kernels of this process are forks of."""
    return Forks(KERNEL)


def kernel_spec() -> dict[str, Any]:
    """What Jupyter reads about a kernel that is a fork."""
    file = str(Path(__file__).absolute())
    command = [sys.executable, "-IS", file, kernels().address, "{connection_file}"]
    about = {"display_name": "Python 3 (ipykernel)", "language": "python"}
    return {**about, "argv": command, "metadata": {"debugger": True}}


# ---- In the Python that forks -----------------------------------------------------------------


def serve(address: str, loaded: str) -> None:
    """Fork for whoever asks, as long as the standard input is open."""
    import gc
    import select

    del sys.path[0]  # of this file
    exec(loaded, {})
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(20)
        print("ready", flush=True)
        while True:
            ready = select.select([door, sys.stdin], [], [])[0]
            if sys.stdin in ready:
                return
            asking = door.accept()[0]
            if os.fork() == 0:
                door.close()
                fork(asking)
            asking.close()


def fork(asking: socket.socket) -> None:
    """Become what was asked for: with its files, its folder, its environment and its program."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    _, files, _, _ = socket.recv_fds(asking, 1, 3)
    with asking.makefile("rb") as told:
        given: dict[str, Any] = json.loads(told.readline())
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(given["folder"])
    os.environ.clear()
    os.environ.update(given["names"])
    sys.argv = given["argv"]
    asking.sendall(f"{os.getpid():<20}".encode())

    def end_with_who_asked() -> None:
        asking.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_who_asked, daemon=True).start()
    code = 0
    try:
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(given["program"], vars(main))
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - as Python itself does
        sys.excepthook(*sys.exc_info())
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    asking.sendall(str(code).encode())
    os._exit(code)


# ---- In the place of a kernel -----------------------------------------------------------------


def stand_in(address: str, connection: str) -> None:
    """Have a fork be the kernel, hand on the signals that this process gets, and end as it does."""
    argv = ["ipykernel_launcher", "-f", connection]
    fork = asked(address, [0, 1, 2], argv, LAUNCH, dict(os.environ))
    kernel = int(fork.recv(20))

    def hand_on(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(kernel, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, hand_on)
    sys.exit(int(fork.recv(20) or 1))


if __name__ == "__main__":
    serve(*sys.argv[2:]) if sys.argv[1] == "serve" else stand_in(*sys.argv[1:])
