"""One command for everything: python tasks.py lab | student | test | check | docs | bench | ...

Standard library only. The first start makes .venv beside this file and installs the project into
it; later starts see from a stamp that nothing changed, and begin at once.

Any Python from 3.6 on can read this file, so an old one gets a sentence, not a SyntaxError.
"""

import glob
import hashlib
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
import urllib.parse

OLDEST, NEWEST_TESTED = (3, 11), (3, 14)
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
STAMP = os.path.join(VENV, "minigrad-stamp.json")
LOG = os.path.join(VENV, "minigrad-install.log")
NOTEBOOKS = os.path.join(ROOT, "notebooks")
YOURS = os.path.join(NOTEBOOKS, "yours")  # the copies that `lab` opens: git keeps none of them
QUESTIONS = os.path.join(ROOT, "viz", "questions")
ENGINE = os.path.join(ROOT, "viz", "lesson", "my_engine.py")

HELP = """\
python tasks.py COMMAND

  lab [WHICH]   open your copies of the lessons in JupyterLab, made in notebooks/yours;
                WHICH is part of a name: tour, 03, L03; or a folder
  student OUT   write all notebooks into OUT, without solutions, hidden tests and outputs
  handouts OUT [--language en|zh]
                write sheets to print into OUT, as PDF: one for each lesson, and the glossary
  test [ARGS]   tests, notebooks, examples in docstrings and README; ARGS go to pytest;
                --oracles installs PyTorch, JAX, TensorFlow and the extras as well, and compares
  check         format, lint, types, then test: what a change must pass
  docs          write the reference of all public names, from their docstrings, to build/api
  bench [ARGS]  measure; ARGS go to tests/bench/run.py
  format        let ruff format the code and fix what it can
  help          this text

The first command makes .venv and installs what it needs; to start afresh, delete .venv."""


class Problem(Exception):
    """Something the user can put right; the text says how."""


# ---- What can go wrong, as text: pure functions ---------------------------------------------


def python_problem(version):
    """Return why this Python cannot run the project, or None."""
    if tuple(version[:2]) >= OLDEST:
        return None
    return (
        "This is Python {}.{}, but the project needs Python {}.{} or newer. Install one from"
        " python.org, your system's packages or conda, and start this file with it, for example:"
        " python3.12 tasks.py lab".format(version[0], version[1], *OLDEST)
    )


def venv_problem(missing):
    """Return what to do when modules that make a virtual environment are missing, or None."""
    if not missing:
        return None
    return (
        "This Python cannot make a virtual environment: its module {} is missing. On Debian and"
        " Ubuntu run: sudo apt install python3-venv. Elsewhere, install a complete Python from"
        " python.org, or uv. Then run the same command again.".format(" and ".join(missing))
    )


# The first row that matches wins: a full disk may also break a download.
INSTALL_PROBLEMS = [
    (
        r"No space left on device|Errno 28\b|WinError 112\b|os error 28\b|Disk quota exceeded",
        "The disk is full: the project needs about 800 MB. Free some space",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|SSLError|certificate verify failed",
        "The secure connection to the package index was refused. A company proxy often causes"
        " this: point SSL_CERT_FILE and PIP_CERT at the proxy's certificate, and check the clock",
    ),
    (
        r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError"
        r"|Failed to establish a new connection|Connection refused|Connection reset"
        r"|Connection aborted|name resolution|Name or service not known|nodename nor servname"
        r"|getaddrinfo failed|[Nn]etwork is unreachable|No route to host|dns error"
        r"|error sending request|Failed to fetch|Could not connect|operation timed out"
        r"|connectivity is disabled|network (was|is) disabled",
        "The package index could not be reached. Check the network; behind a proxy, set"
        " HTTPS_PROXY. Set-up needs the network once, later starts do not",
    ),
    (
        r"Permission denied|Access is denied|WinError (5|32)\b|os error (5|13|32)\b",
        "A file in .venv could not be written. Close JupyterLab and every program that uses this"
        " folder, and check that the folder is yours",
    ),
    (
        r"No matching distribution|No solution found|ResolutionImpossible|[Cc]ould not find a"
        r" version|Failed (to build|building)|[Bb]uild (failed|backend)|subprocess-exited-with",
        "A package does not fit this Python or system, or could not be built. Python {} to {} on"
        " Linux, macOS and Windows are tested".format(
            ".".join(map(str, OLDEST)), ".".join(map(str, NEWEST_TESTED))
        ),
    ),
]


def install_problem(log, log_path):
    """Return one paragraph on why the installation failed, then the lines that show it."""
    reason = "The packages could not be installed"
    for pattern, text in INSTALL_PROBLEMS:
        if re.search(pattern, log):
            reason = text
            break
    return "{}. Then run the same command again. The whole log is {}; it says:\n{}".format(
        reason, log_path, excerpt(log)
    )


def excerpt(log, most=12):
    """Return the lines of an installer's log that tell what failed, the last ones if none do."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    telling = r"error|fail|fatal|no space|denied|not find|×|╰─▶|Caused by|hint:"
    chosen = [line for line in lines if re.search(telling, line, re.IGNORECASE)] or lines
    distinct = {re.sub(r"\d+", "", line): line for line in chosen}  # five retries are one line
    return "\n".join("    " + line[:200] for line in list(distinct.values())[-most:])


def choose_lesson(which, names):
    """Return the one notebook that `which` means: its number, or the start or part of its name."""
    if not names:
        raise Problem("There is no notebook in " + NOTEBOOKS)
    wanted = os.path.basename(which).lower()
    wanted = wanted[: -len(".ipynb")] if wanted.endswith(".ipynb") else wanted
    number = re.match(r"l?(\d{1,2})$", wanted)
    wanted = "{:02d}_".format(int(number.group(1))) if number else re.sub(r"^l(?=\d)", "", wanted)
    stems = {name: name[: -len(".ipynb")].lower() for name in names}
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = sorted(name for name, stem in stems.items() if fits(stem, wanted))
        if len(found) == 1:
            return found[0]
        if found:
            raise Problem("{!r} fits more than one notebook:\n".format(which) + listing(found))
    raise Problem("No notebook fits {!r}. There are:\n".format(which) + listing(sorted(names)))


def student_version(notebook):
    """Return a lesson as a learner starts it: no solutions, hidden tests or outputs."""
    notebook = json.loads(json.dumps(notebook))
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], cell["execution_count"] = [], None
        source = "".join(cell["source"])
        stub = stub_for(source, cell["metadata"]) if SOLUTION.search(source) else ""
        shown = HIDDEN.sub("", SOLUTION.sub(stub, source))
        if re.search(r"### (BEGIN|END)\b", shown):
            raise Problem(
                "A solution or hidden test has no begin or end at the left margin:\n" + source
            )
        cell["source"] = shown.rstrip("\n").splitlines(True)
        if stub:  # folded, nobody would read it
            cell["metadata"].pop("jupyter", None)
    notebook["metadata"]["student"] = sources_key(notebook)
    return notebook


# Of nbgrader; each at the start of a line, the region ends before the next line.
SOLUTION = re.compile(r"^### BEGIN SOLUTION\n.*?^### END SOLUTION$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?", re.M | re.DOTALL)
STUB = """\
# Your answer goes into the cell above. Leave this one as it is.
# 答案写在上面的单元格里，这个单元格不用改。"""


# Where ours is a part of the engine, or stands beside the check, it can be seen after a try.
OFFER = """\
# Your answer goes into the cell above. After a try, run this one to see ours.
# 答案写在上面的单元格里。试过以后，运行这个单元格，可以看我们的写法。
viz.solution({})"""


def stub_for(source, metadata):
    """Return what stands in the place of our answer."""
    ours = re.findall(r"^def our_(\w+)\(", source, re.MULTILINE)
    engine = read(ENGINE)
    parts = [name for name in ours if re.search(r"^def {}\(.*# yours".format(name), engine, re.M)]
    lesson, exercise = metadata["nbgrader"]["grade_id"].split("-")[:2]
    if not parts and "ours = " not in read(os.path.join(QUESTIONS, lesson + ".toml")):
        return STUB
    asked = ["{}.{}".format(lesson, exercise), *parts]
    return OFFER.format(", ".join('"{}"'.format(name) for name in asked))


def sources_key(notebook):
    """Return the hash of what its cells say: running them changes nothing, writing does."""
    return fingerprint(["".join(cell["source"]) for cell in notebook["cells"]])


def is_untouched(path):
    """Whether a file is a student version in which nobody has written anything yet."""
    try:
        notebook = json.loads(read(path))
        return notebook["metadata"]["student"] == sources_key(notebook)
    except (ValueError, KeyError, TypeError):
        return False


def listing(names):
    return "\n".join("    " + name for name in names)


def fingerprint(texts):
    """Return a short hash: the same texts, and only those, give the same stamp."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:20]


# ---- The environment ------------------------------------------------------------------------


def read(path):
    """Return a text file, or nothing where there is none."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def installed():
    """Return what the stamp recorded: {"key": …, "extras": […]}."""
    try:
        return dict(json.loads(read(STAMP) or "{}"))
    except ValueError:
        return {}


def current_key():
    """Return the hash of all that decides what is in .venv; the folder is in its scripts too."""
    files = [read(os.path.join(ROOT, name)) for name in ("pyproject.toml", "constraints.txt")]
    return fingerprint([*files, ROOT, "{}.{}".format(*sys.version_info)])


def prepare(extras):
    """Make .venv hold the project with these extras, beside those it has already."""
    stamp = installed()
    ready = os.path.exists(PYTHON) and stamp.get("key") == current_key()
    if ready and set(extras) <= set(stamp["extras"]):
        return
    extras = sorted(set(extras) | set(stamp.get("extras", [])))
    fault = venv_fault()
    if fault:
        print("Making .venv anew:", fault)
    uv = shutil.which("uv")
    why = "something changed" if stamp and not fault else "first time, about half a minute"
    with Progress("Setting up ({}): ".format(why)) as progress:
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
        print("Everything is installed, but without drawings. " + fault)


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
            raise Problem("The virtual environment could not be made:\n" + excerpt(text))


def remove_venv():
    try:
        if os.path.isdir(VENV):
            shutil.rmtree(VENV)
    except OSError as error:
        raise Problem(
            "The old .venv could not be removed ({}). Close JupyterLab and every program that uses"
            " it, or delete the folder by hand, and run the same command again.".format(error)
        ) from None


def venv_fault():
    """Return why an existing .venv is of no use, or None."""
    if not os.path.isdir(VENV):
        return None
    made_by = re.search(r"^version(?:_info)? *= *(\d+)\.(\d+)", read(VENV + "/pyvenv.cfg"), re.M)
    if not made_by or not os.path.exists(PYTHON):
        return "it is incomplete, or its Python is gone."
    if (int(made_by.group(1)), int(made_by.group(2))) != sys.version_info[:2]:
        return "it belongs to Python {}.{}, this is Python {}.{}.".format(
            *made_by.groups(), *sys.version_info
        )
    return None if succeeds([PYTHON, "-c", ""]) else "its Python does not start."


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
        raise Problem(install_problem(read(LOG), LOG))


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
        print("{}{:.0f} s".format(again, time.time() - self.start), end=end, flush=True)

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
    """Keep JupyterLab from asking about news in front of the first lesson."""
    folder = os.path.join(VENV, "share", "jupyter", "lab", "settings")
    news = {"fetchNews": "false", "checkForUpdates": False}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "overrides.json"), "w", encoding="utf-8") as file:
        json.dump({"@jupyterlab/apputils-extension:notification": news}, file, indent=2)


def drawing_fault():
    """Return why the Python of .venv can draw nothing and what to type, or nothing."""
    tried = subprocess.Popen(
        [PYTHON, "-c", "from viz.picture.layout import fault; print(fault() or '')"],
        cwd=ROOT,
        env=dict(os.environ, PYTHONUTF8="1"),
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
    dashes = [i for i, argument in enumerate(arguments) if argument.startswith("-")]
    end = dashes[0] if dashes else len(arguments)
    which, options = arguments[:end], arguments[end:]
    if len(which) > 1:
        raise Problem("Name one notebook, not {}: {}".format(len(which), " ".join(which)))
    folder, which = lesson_place(which[0] if which else "index")
    if folder == YOURS:
        copy_lessons()
    names = [os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.ipynb"))]
    lesson = choose_lesson(which, names)
    prepare(["lab"])
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options = ["--allow-root", *options]  # in a container everyone is root
    return run(
        "-m",
        "jupyterlab",
        "--ServerApp.root_dir=" + folder,
        # Rather than the file's path: so the address printed for a remote reader opens it as well.
        "--LabApp.default_url=/lab/tree/" + urllib.parse.quote(lesson),
        *options,
    )


def lesson_place(which):
    """Return the folder to open, and which of its notebooks: WHICH may be a folder or a file."""
    if glob.glob(os.path.join(which, "*.ipynb")):
        start = "index" if os.path.exists(os.path.join(which, "index.ipynb")) else "00"
        return os.path.abspath(which), start
    if os.path.isfile(which):
        return os.path.dirname(os.path.abspath(which)), which
    return YOURS, which


def copy_lessons():
    """Bring the copies in notebooks/yours up to date; never one that somebody has written in."""
    os.makedirs(YOURS, exist_ok=True)
    for path in glob.glob(os.path.join(NOTEBOOKS, "*.json")):
        shutil.copy(path, YOURS)
    paths = glob.glob(os.path.join(NOTEBOOKS, "*.ipynb"))
    lessons = {os.path.basename(path): student_version(json.loads(read(path))) for path in paths}
    kept = []
    for name, notebook in lessons.items():
        path = os.path.join(YOURS, name)
        if not os.path.lexists(path) or is_untouched(path):
            if handed_out(path) != notebook["metadata"]["student"]:  # else its outputs stay
                write_notebook(path, notebook)
        elif handed_out(path) != notebook["metadata"]["student"]:
            kept.append(name)
    copy_pictures(YOURS)
    if kept:
        print("There is a newer version of these; yours are kept. Rename one to get the new one:")
        print(listing(sorted(kept)))


def handed_out(path):
    """Return the key of the version that a copy was made from, None where there is no copy."""
    try:
        return json.loads(read(path))["metadata"]["student"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_notebook(path, notebook):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        json.dump(notebook, file, ensure_ascii=False, indent=1, sort_keys=True)
        file.write("\n")


def copy_pictures(folder):
    pictures = os.path.join(NOTEBOOKS, "pictures")
    if os.path.isdir(pictures):
        shutil.copytree(pictures, os.path.join(folder, "pictures"), dirs_exist_ok=True)


def student(arguments):
    """Write the notebooks as a learner starts them; never over a file somebody has worked in."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise Problem("Name one folder to write into, for example: python tasks.py student OUT")
    folder, kept = os.path.abspath(arguments[0]), os.path.realpath(NOTEBOOKS)
    if (os.path.realpath(folder) + os.sep).startswith(kept + os.sep):
        raise Problem("The lessons themselves are in {}. Name another folder.".format(kept))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise Problem("{} is not a folder. Name another one.".format(folder))
    lessons = {}
    for path in sorted(glob.glob(os.path.join(NOTEBOOKS, "*.ipynb"))):
        name = os.path.basename(path)
        lessons[os.path.join(folder, name)] = student_version(json.loads(read(path)))
    taken = [path for path in lessons if os.path.lexists(path) and not is_untouched(path)]
    if taken:
        raise Problem(
            "These files hold work of somebody, or did not come from this command. Nothing was"
            " written. Name another folder, or move them away:\n" + listing(taken)
        )
    os.makedirs(folder, exist_ok=True)
    for path, notebook in lessons.items():
        write_notebook(path, notebook)
    copy_pictures(folder)
    print("Written to {}:\n{}".format(folder, listing(map(os.path.basename, lessons))))
    print("To open them: python tasks.py lab {}".format(arguments[0]))
    return 0


def handouts(arguments):
    """Write sheets to print for all lessons, in both languages or in one."""
    chosen = {("--language", code): [code] for code in ("en", "zh")}
    languages = {(): ["en", "zh"], **chosen}.get(tuple(arguments[1:]))
    if not arguments or arguments[0].startswith("-") or not languages:
        raise Problem("Name one folder: python tasks.py handouts OUT [--language en|zh]")
    prepare(["handouts"])
    script, folder = os.path.join("docs", "handouts.py"), os.path.abspath(arguments[0])
    failed = max(run(script, folder, language) for language in languages)
    if not failed:
        print("Written to {}".format(folder))
    return failed


# The tests of dynamic mode, which run once more without what is there for its speed alone.
DYNAMIC = [
    "tests/test_{}.py".format(name)
    for name in (
        *("eager", "backprop", "inplace", "every_op", "properties", "special_values", "door"),
        *("functions", "indexing", "conv", "losses", "nn", "optim", "events", "counts", "depth"),
        *("errors", "function", "locks"),
        # Those that draw graphs or programs at random.
        *("compiled", "inner", "marking", "passes", "plan", "program_source", "schedule"),
        *("script_random", "storage"),
    )
]

# What is compared with, and the extras of which that is tested that they bring.
ORACLES = ["oracles", "caffe", "dask", "handouts", "onnx", "tensorboard"]


def test(arguments):
    """Run pytest over everything, or over the paths that the arguments name."""
    oracles = "--oracles" in arguments
    prepare(["lab", "test", *ORACLES] if oracles else ["lab", "test"])
    kinds = ["--doctest-modules", "--doctest-glob=README.md", "--nbval", "--nbval-current-env"]
    everything = ["tests", "notebooks", "minigrad", "viz", "README.md"]
    named = any(os.path.exists(os.path.join(ROOT, a.split("::")[0])) for a in arguments)
    paths = [] if named else [p for p in everything if os.path.exists(os.path.join(ROOT, p))]
    failed = run("-m", "pytest", *kinds, *processes(named), *paths, *arguments)
    if failed or named or os.environ.get("MINIGRAD_PLAIN") == "1":
        return failed
    print("\nDynamic mode once more, without its quick ways (MINIGRAD_PLAIN=1):", flush=True)
    paths = [*DYNAMIC, "tests/oracles"] if oracles else DYNAMIC
    failed = run("-m", "pytest", *processes(named), *paths, *arguments, MINIGRAD_PLAIN="1")
    return 0 if failed == NOTHING_CHOSEN else failed  # -k may choose none of these


NOTHING_CHOSEN = 5  # what pytest says then


def processes(named):
    """Return the options that share everything among processes; a named test needs no second one.

    A file stays in one process, since a notebook is one kernel; the files keep their order, since
    those that drive a browser have few tests and take long.
    """
    count = 1 if named else min(4, os.cpu_count() or 1)
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
    "test": test,
    "check": check,
    "docs": docs,
    "bench": bench,
    "format": tidy,
}


def main(arguments):
    name = arguments[0] if arguments else "help"
    if name in ("help", "-h", "--help"):
        print(HELP)
        return 0
    try:
        if name not in COMMANDS:
            raise Problem("There is no command {!r}.\n\n{}".format(name, HELP))
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
    except PermissionError as error:
        print("{}. Check that this folder is yours.".format(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
