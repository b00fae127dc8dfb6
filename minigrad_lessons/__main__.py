"""`minigrad-lessons [WHICH]`: the lessons in JupyterLab, as copies in a folder of the learner's."""

import importlib.util
import os
import signal
import subprocess
import sys
from typing import Optional, Sequence

from minigrad_lessons.clash import name_clash_message
from minigrad_lessons.opening import prepare_command
from minigrad_lessons.terminal import Problem, language, message

HERE = os.path.dirname(os.path.abspath(__file__))
# What the wheel brings lies beside this file; in a checkout the lessons have a folder of their own.
BROUGHT = os.path.join(HERE, "notebooks")
LESSONS = BROUGHT if os.path.isdir(BROUGHT) else os.path.join(os.path.dirname(HERE), "notebooks")
YOURS = os.path.join(os.path.expanduser("~"), "minigrad-lessons")


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Open a lesson, and return the exit code of JupyterLab; 1 where something is missing."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    if given and given[0] in ("help", "-h", "--help"):
        print(message("lessons_help", folder=YOURS))
        return 0
    try:
        problem = name_clash_message() or missing_jupyterlab_message()
        if problem:
            raise Problem(problem)
        command = prepare_command(given, LESSONS, YOURS)
    except (Problem, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(message("your_copies", folder=YOURS))
    # No question about news; menus in Chinese where JupyterLab's language pack is installed.
    chinese = os.path.join(HERE, "jupyter", "zh") if language() == "zh" else ""
    paths = (chinese, os.path.join(HERE, "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH"))
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    return run_command([sys.executable, *command])


def missing_jupyterlab_message() -> str:
    """Return the line to type where JupyterLab is not installed, or nothing."""
    if importlib.util.find_spec("jupyterlab"):
        return ""
    return message("no_jupyterlab", python=sys.executable)


def run_command(command: Sequence[str]) -> int:
    """Run a command until it ends; Ctrl-C also reaches JupyterLab, which asks for confirmation."""
    process = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())  # it must not outlive us
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    sys.exit(main())
