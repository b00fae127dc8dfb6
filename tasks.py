"""One command for everything: python tasks.py lab | student | test | check | docs | bench | ...

Standard library only. The first start makes .venv beside this file and installs the project into
it; later starts see from a stamp that nothing changed, and begin at once.

Any Python from 3.6 on can read this file, and `minigrad_lessons` with what is said and what opens a
lesson, so an old one gets a sentence, not a SyntaxError.
"""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from minigrad_lessons.opening import copy_pictures, one_per_line, prepare_command, student_versions
from minigrad_lessons.student import fingerprint, is_untouched, read_text, write_notebook
from minigrad_lessons.terminal import Problem, language, message

OLDEST, NEWEST_TESTED = (3, 11), (3, 14)
THIS = "{}.{}".format(*sys.version_info)
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
STAMP = os.path.join(VENV, "minigrad-stamp.json")
LOG = os.path.join(VENV, "minigrad-install.log")
NOTEBOOKS = os.path.join(ROOT, "notebooks")
YOURS = os.path.join(NOTEBOOKS, "yours")  # the copies that `lab` opens: git keeps none of them


# ---- What can go wrong, as text: pure functions ---------------------------------------------


def python_problem(version):
    """Return why this Python cannot run the project, or None."""
    if tuple(version[:2]) >= OLDEST:
        return None
    this, oldest = ("{}.{}".format(*found) for found in (version, OLDEST))
    return message("old_python", this=this, oldest=oldest)


def venv_problem(missing):
    """Return what to do when modules that make a virtual environment are missing, or None."""
    if not missing:
        return None
    return message("no_venv", modules=message("and").join(missing))


# The first row that matches wins: a full disk may also break a download.
INSTALL_PROBLEMS = [
    (
        "disk_full",
        r"No space left on device|Errno 28\b|WinError 112\b|os error 28\b|Disk quota exceeded",
    ),
    (
        "no_certificate",
        r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|SSLError|certificate verify failed",
    ),
    (
        "no_network",
        r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError"
        r"|Failed to establish a new connection|Connection refused|Connection reset"
        r"|Connection aborted|name resolution|Name or service not known|nodename nor servname"
        r"|getaddrinfo failed|[Nn]etwork is unreachable|No route to host|dns error"
        r"|error sending request|Failed to fetch|Could not connect|operation timed out"
        r"|connectivity is disabled|network (was|is) disabled",
    ),
    ("not_written", r"Permission denied|Access is denied|WinError (5|32)\b|os error (5|13|32)\b"),
    (
        "no_fit",
        r"No matching distribution|No solution found|ResolutionImpossible|[Cc]ould not find a"
        r" version|Failed (to build|building)|[Bb]uild (failed|backend)|subprocess-exited-with",
    ),
]


def install_problem(log, log_path):
    """Return one paragraph on why the installation failed, then the lines that show it."""
    found = (key for key, pattern in INSTALL_PROBLEMS if re.search(pattern, log))
    oldest, newest = ("{}.{}".format(*version) for version in (OLDEST, NEWEST_TESTED))
    reason = message(next(found, "install_failed"), oldest=oldest, newest=newest)
    return message("not_installed", reason=reason, path=log_path, log=excerpt(log))


def excerpt(log, most=12):
    """Return the lines of an installer's log that tell what failed, the last ones if none do."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    telling = r"error|fail|fatal|no space|denied|not find|×|╰─▶|Caused by|hint:"
    chosen = [line for line in lines if re.search(telling, line, re.IGNORECASE)] or lines
    distinct = {re.sub(r"\d+", "", line): line for line in chosen}  # five retries are one line
    return "\n".join("    " + line[:200] for line in list(distinct.values())[-most:])


# ---- The environment ------------------------------------------------------------------------


def installed():
    """Return what the stamp recorded: {"key": …, "extras": […]}."""
    try:
        return dict(json.loads(read_text(STAMP) or "{}"))
    except ValueError:
        return {}


def current_key():
    """Return the hash of all that decides what is in .venv; the folder is in its scripts too."""
    files = [read_text(os.path.join(ROOT, name)) for name in ("pyproject.toml", "constraints.txt")]
    return fingerprint([*files, ROOT, THIS])


def prepare(extras):
    """Make .venv hold the project with these extras, beside those it has already."""
    stamp = installed()
    ready = os.path.exists(PYTHON) and stamp.get("key") == current_key()
    if ready and set(extras) <= set(stamp["extras"]):
        return
    extras = sorted(set(extras) | set(stamp.get("extras", [])))
    fault = venv_fault()
    if fault:
        print(message("venv_anew", why=fault))
    uv = shutil.which("uv")
    changed = stamp and not fault
    with Progress(message("setting_up_changed" if changed else "setting_up_first")) as progress:
        if fault or not os.path.exists(PYTHON) or not (uv or bring_pip()):
            make_venv(uv, progress)
        if os.path.exists(STAMP):
            os.remove(STAMP)  # an interrupted installation must not pass for a finished one
        install(uv, extras, progress)
    settle_jupyter()
    with open(STAMP, "w", encoding="utf-8") as file:
        json.dump({"key": current_key(), "extras": extras}, file)
    fault = drawing_fault()
    if fault:
        print(message("no_drawings", why=fault))


def make_venv(uv, progress):
    """Make .venv in the place of any that is there."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    if uv:
        command = [uv, "venv", "--quiet", "--python", base, VENV]
    else:
        missing = [name for name in ("venv", "ensurepip") if not importlib.util.find_spec(name)]
        if missing:
            raise Problem(venv_problem(missing))
        command = [base, "-m", "venv", VENV]
    remove_venv()
    with tempfile.TemporaryFile() as log:
        if progress.wait(command, log):
            log.seek(0)
            text = log.read().decode(errors="replace")
            if "ensurepip is not available" in text:
                raise Problem(venv_problem(["ensurepip"]))
            raise Problem(message("venv_failed", log=excerpt(text)))


def remove_venv():
    try:
        if os.path.isdir(VENV):
            shutil.rmtree(VENV)
    except OSError as error:
        raise Problem(message("venv_stays", error=error)) from None


def venv_fault():
    """Return why an existing .venv is of no use, or None."""
    if not os.path.isdir(VENV):
        return None
    made_by = re.search(
        r"^version(?:_info)? *= *(\d+)\.(\d+)", read_text(VENV + "/pyvenv.cfg"), re.M
    )
    if not made_by or not os.path.exists(PYTHON):
        return message("venv_incomplete")
    if ".".join(made_by.groups()) != THIS:
        return message("venv_of_another", made=".".join(made_by.groups()), this=THIS)
    return None if succeeds([PYTHON, "-c", ""]) else message("venv_dead")


def bring_pip():
    """Say whether .venv has pip, after giving it one if need be: an environment by uv has none."""
    pip = [PYTHON, "-m", "pip", "--version"]
    return succeeds(pip) or (succeeds([PYTHON, "-m", "ensurepip"]) and succeeds(pip))


def succeeds(command):
    nowhere = subprocess.DEVNULL
    try:
        return not subprocess.call(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except OSError:  # it cannot even be started
        return False


def install(uv, extras, progress):
    """Install the project, editable, under the constraints; the installer's words go to a log."""
    target = ROOT + ("[{}]".format(",".join(extras)) if extras else "")
    constraints = ["--constraint", os.path.join(ROOT, "constraints.txt")]
    if uv:
        steps = [[uv, "pip", "install", "--python", PYTHON, "--editable", target]]
    else:
        # The pip that comes with an older Python resolves at half the speed of the pinned one.
        # Compiling is left to the first import, as most modules of most packages never see one.
        pip = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
        steps = [[*pip, "--upgrade", "pip"], [*pip, "--no-compile", "--editable", target]]
    with open(LOG, "wb") as log:
        failed = any(progress.wait(step + constraints, log) for step in steps)
    if failed:
        raise Problem(install_problem(read_text(LOG), LOG))


class Progress:
    """One line that says how long a set-up takes: moving on a terminal, written once in a file."""

    def __init__(self, text):
        self.text, self.start = text, time.time()
        self.moving = sys.stdout is not None and sys.stdout.isatty()

    def __enter__(self):
        print(self.text, end="", flush=True)
        return self

    def __exit__(self, *_):
        self.show("\n")

    def show(self, end=""):
        again = "\r" + self.text if self.moving else ""
        print(again + message("seconds", count=time.time() - self.start), end=end, flush=True)

    def wait(self, command, log):
        """Run an installer to its end, its words into the log; return its exit code."""
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            while process.poll() is None:
                if self.moving:
                    self.show()
                time.sleep(0.1)
        finally:
            if process.poll() is None:  # Ctrl-C
                process.terminate()
                process.wait()
        return process.returncode


def settle_jupyter():
    """Keep JupyterLab from asking about news in front of the first lesson; give it the language.

    Its menus follow where its language pack is installed.
    """
    folder = os.path.join(VENV, "share", "jupyter", "lab", "settings")
    news = {"fetchNews": "false", "checkForUpdates": False}
    settings = {"@jupyterlab/apputils-extension:notification": news}
    if language() == "zh":
        settings["@jupyterlab/translation-extension:plugin"] = {"locale": "zh_CN"}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "overrides.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=2)


def drawing_fault():
    """Return why the Python of .venv can draw nothing and what to type, or nothing."""
    tried = subprocess.Popen(
        [PYTHON, "-c", "from viz.picture.layout import layout_problem as f; print(f() or '')"],
        cwd=ROOT,
        env=dict(os.environ, PYTHONUTF8="1", MINIGRAD_LANGUAGE=language()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said, failed = (words.decode("utf-8", "replace").strip() for words in tried.communicate())
    return failed.splitlines()[-1] if tried.returncode and failed else said


# ---- The commands ---------------------------------------------------------------------------


def run(*arguments, **settings):
    """Run a module or file with the Python of .venv, and return its exit code."""
    environment = dict(os.environ, **settings)
    environment["PATH"] = BIN + os.pathsep + environment.get("PATH", "")
    environment["PYTHONUTF8"] = "1"  # Chinese output on a Windows console
    # Two threads of BLAS that wait for each other spin: on a busy machine they are far slower than
    # one. Whoever has set another number keeps it.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment.setdefault(name, "1")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each start would compile Jupyter again
    process = subprocess.Popen([PYTHON, *arguments], cwd=ROOT, env=environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # the child received it as well: JupyterLab asks, pytest ends with its summary


def lab(arguments):
    """Open a lesson; everything from the first dash on goes to JupyterLab."""
    command = prepare_command(arguments, NOTEBOOKS, YOURS)
    prepare(["lab"])
    return run(*command)


def student(arguments):
    """Write the notebooks as a learner starts them; never over a file somebody has worked in."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise Problem(message("student_usage"))
    folder, kept = os.path.abspath(arguments[0]), os.path.realpath(NOTEBOOKS)
    if (os.path.realpath(folder) + os.sep).startswith(kept + os.sep):
        raise Problem(message("the_lessons", folder=kept))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Problem(message("no_folder", folder=folder))
    made = student_versions(NOTEBOOKS)
    lessons = {os.path.join(folder, name): notebook for name, notebook in made.items()}
    taken = [path for path in lessons if os.path.lexists(path) and not is_untouched(path)]
    if taken:
        raise Problem(message("taken", files=one_per_line(taken)))
    os.makedirs(folder, exist_ok=True)
    for path, notebook in lessons.items():
        write_notebook(path, notebook)
    copy_pictures(NOTEBOOKS, folder)
    print(message("written", folder=folder) + "\n" + one_per_line(made))
    print(message("to_open", folder=arguments[0]))
    return 0


def handouts(arguments):
    """Write sheets to print for all lessons, in both languages or in one."""
    chosen = {("--language", code): [code] for code in ("en", "zh")}
    languages = {(): ["en", "zh"], **chosen}.get(tuple(arguments[1:]))
    if not arguments or arguments[0].startswith("-") or not languages:
        raise Problem(message("handouts_usage"))
    prepare(["handouts"])
    script, folder = os.path.join("docs", "handouts.py"), os.path.abspath(arguments[0])
    failed = max(run(script, folder, code) for code in languages)
    if not failed:
        print(message("written", folder=folder))
    return failed


def pages(arguments):
    """Write a page for each notebook and language; each plays by itself, without a kernel."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise Problem(message("pages_usage"))
    prepare(["lab"])
    folder = os.path.abspath(arguments[0])
    failed = run(os.path.join("docs", "pages.py"), folder)
    if not failed:
        print(message("written", folder=os.path.join(folder, "index.html")))
    return failed


def kit(arguments):
    """Write what a class gets, and what its teacher gets, in English or in Chinese."""
    chosen = {(): "en", ("--language", "en"): "en", ("--language", "zh"): "zh"}
    code = chosen.get(tuple(arguments[1:]))
    if not arguments or arguments[0].startswith("-") or not code:
        raise Problem(message("kit_usage"))
    folder = os.path.abspath(arguments[0])
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Problem(message("not_empty", folder=folder))
    prepare(["lab", "handouts"])
    handing = os.path.join(folder, "teacher", "handouts")
    failed = run(os.path.join("docs", "kit"), folder, code)
    failed = failed or run(os.path.join("docs", "handouts.py"), handing, code)
    if not failed:
        print(message("written", folder=folder))
    return failed


def site(arguments):
    """Write the course as files for any web server, which run it in the reader's browser."""
    if not arguments or arguments[0].startswith("-"):
        raise Problem(message("site_usage"))
    prepare(["lab", "site"])
    failed = run(os.path.join("docs", "lite.py"), *arguments)
    if not failed:
        print(message("written", folder=os.path.abspath(arguments[0])))
    return failed


# The tests of dynamic mode, which run once more without what is there for its speed alone.
DYNAMIC = [
    "tests/engine/test_{}.py".format(name)
    for name in (
        *("eager", "backprop", "inplace", "every_op", "properties", "special_values"),
        *("functions", "indexing", "conv", "losses", "nn", "optim", "events", "counts", "depth"),
        *("errors", "function", "locks"),
        # Random functions; what draws graphs alone never reaches the dynamic mode.
        "script_random",
    )
]

# What is compared with, and the extras of which that is tested that they bring.
ORACLES = ["oracles", "caffe", "dask", "handouts", "nbgrader", "onnx", "site"]
ORACLES += ["tensorboard"]


def test(arguments):
    """Run pytest over everything, or over the paths that the arguments name, and say how long.

    --quick leaves out what needs a browser or a kernel, and most cases of each test; --all runs all
    cases, also of tests that otherwise take a few which cover the rest.
    """
    start = time.time()
    quick, oracles = "--quick" in arguments, "--oracles" in arguments
    arguments = [argument for argument in arguments if argument != "--quick"]
    prepare(["lab", "test", *ORACLES] if oracles else ["lab", "test"])
    named = any(os.path.exists(os.path.join(ROOT, a.split("::")[0])) for a in arguments)
    if quick:
        paths, kinds = ["tests"], ["-pno:nbval", "-m", "not browser", "--cases=2", *SLOW]
        os.environ["HYPOTHESIS_PROFILE"] = "quick"
    else:
        paths = ["tests", "notebooks", "minigrad", "viz", "README.md"]
        kinds = ["--doctest-modules", "--doctest-glob=README.md", "--nbval", "--nbval-current-env"]
    paths = [] if named else [p for p in paths if os.path.exists(os.path.join(ROOT, p))]
    failed = run("-m", "pytest", *kinds, *processes(named), *paths, *arguments)
    if not (failed or named or quick or os.environ.get("MINIGRAD_PLAIN") == "1"):
        print("\n" + message("plain_tests"), flush=True)
        few = [] if "--all" in arguments else ["--cases=3", "-m", "not compiler and not once"]
        if few:
            os.environ.setdefault("HYPOTHESIS_PROFILE", "quick")
        paths = [*DYNAMIC, "tests/oracles"] if oracles else DYNAMIC
        failed = run(
            "-m", "pytest", *few, *processes(named), *paths, *arguments, MINIGRAD_PLAIN="1"
        )
        failed = 0 if failed == NOTHING_CHOSEN else failed  # -k may choose none of these
    if not (named or "--all" in arguments):
        minutes, seconds = divmod(round(time.time() - start), 60)
        print(message("quick_took" if quick else "tests_took", minutes=minutes, seconds=seconds))
    return failed


# Files of tests that start kernels, browsers or other processes, or draw and measure for long.
SLOW = [
    "--ignore-glob=tests/*/test_{}.py".format(name)
    for name in (
        *("animate", "bench", "browser_*", "charts*", "computing_pages", "core_alone", "course"),
        *("depth_static", "distribution", "document", "draw", "elsewhere", "exercises", "explorer"),
        *("extra", "fast_paths", "files", "films", "frames", "handouts", "hosting"),
        *("javascript", "kit", "large_drawings", "lazy", "lite", "live", "locks", "main", "marks"),
        *("native", "opening", "outputs", "over_http", "pages", "paint", "passes_view", "player"),
        *("properties*", "public", "recompute", "reference", "replay", "score", "script_random"),
        *("setup", "show", "shown_calls", "size", "states", "strip", "train_view", "uses"),
    )
]
NOTHING_CHOSEN = 5  # what pytest says then


def processes(named):
    """Return the options that share everything among processes; a named test needs no second one.

    A file stays in one process, since a notebook is one kernel; the files keep their order, since
    those that drive a browser have few tests and take long. There are as many processes as cores:
    each collects all tests, which takes some seconds, and a browser works beside its process.
    """
    count = 1 if named else min(6, os.cpu_count() or 1)
    shared = ["--numprocesses={}".format(count), "--dist=loadfile", "--no-loadscope-reorder"]
    return shared if count > 1 else []


def check(arguments):
    """Run all that a change must pass, and stop at the first that fails."""
    prepare(["lab", "test", "dev"])
    return (
        run("-m", "ruff", "format", "--check", ".")
        or run("-m", "ruff", "check", ".")
        or run("-m", "mypy")
        or test(arguments)
    )


def docs(arguments):
    prepare(["test"])
    return run(os.path.join("docs", "reference.py"), *arguments)


def bench(arguments):
    prepare([])
    return run(os.path.join("tests", "bench", "run.py"), *arguments)


def tidy(arguments):
    """Format, then fix what the linter can; its last word is the exit code."""
    prepare(["dev"])
    paths = arguments or ["."]
    return run("-m", "ruff", "check", "--fix", *paths) | run("-m", "ruff", "format", *paths)


COMMANDS = {
    "lab": lab,
    "student": student,
    "handouts": handouts,
    "pages": pages,
    "kit": kit,
    "site": site,
    "test": test,
    "check": check,
    "docs": docs,
    "bench": bench,
    "format": tidy,
}


def main(arguments):
    name = arguments[0] if arguments else "help"
    if name in ("help", "-h", "--help"):
        print(message("help"))
        return 0
    try:
        if name not in COMMANDS:
            raise Problem(message("no_command", name=name, help=message("help")))
        problem = python_problem(sys.version_info)
        if problem:
            raise Problem(problem)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.reconfigure(errors="replace")  # a log's arrows on an old Windows console
        return COMMANDS[name](arguments[1:])
    except Problem as problem:
        sys.stdout.flush()
        print(problem, file=sys.stderr)
        return 1
    except OSError as error:
        print(message("not_yours", error=error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # what is done stays, and what is downloaded
        print("\n" + message("stopped", command=" ".join(["python tasks.py", *arguments])))
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
