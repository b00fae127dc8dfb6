"""A bare machine: a root with a minimal Debian, its Python and venv, and this checkout in it.

The tests build one of the running Debian. By hand, the whole suite on the Python of another one:

    python tests/bare.py FOLDER trixie

With the packages of a Debian for 32 bits, the engine's tests there: python tests/bits32.py FOLDER.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEFT_OUT = (".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "build")
OWN = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]  # mounts and processes end with it
# How this machine reaches package indexes, which is no part of what is bare.
SETTINGS = ["/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"]
SETTINGS += [str(Path.home() / name) for name in (".config/pip/pip.conf", ".pip/pip.conf")]
VARIABLES = re.compile(r"PIP_|SSL_CERT_|REQUESTS_CA|(HTTPS?|ALL|NO)_PROXY$", re.IGNORECASE)
SCRIPTS = Path("/usr/share/debootstrap/scripts")


def release() -> str:
    """The name of the running Debian or Ubuntu."""
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def mirror() -> str:
    """The address from which this machine installs its own packages, or nothing."""
    command = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return next((uri for name, uri in map(str.split, lines) if name == release()), "")


def obstacle() -> str | None:
    """What would have to be done before a bare machine can be built here; None when it can."""
    if not (sys.platform == "linux" and shutil.which("apt-get") and os.geteuid() == 0):
        return "be root on Debian or Ubuntu"
    if not shutil.which("debootstrap"):
        return "install debootstrap"
    if subprocess.run([*OWN, "true"], capture_output=True, check=False).returncode:
        return "allow namespaces and mounts, as in a container with --privileged"
    try:
        with urllib.request.urlopen(f"{mirror()}dists/{release()}/Release", timeout=20):
            return None
    except (OSError, ValueError):
        return "connect this machine to the mirror of its packages"


class Machine:
    """Built below a folder, which must not be there yet; raises CalledProcessError with a log."""

    def __init__(
        self, folder: Path, suite: str = "", packages: str = "python3-venv", *options: str
    ) -> None:
        self.root, self.home = folder, folder / "srv" / "minigrad"
        suite = suite or release()
        script = [] if (SCRIPTS / suite).exists() else [str(SCRIPTS / "sid")]
        kind = ["--variant=minbase", f"--include={packages}", *options]
        build = ["debootstrap", *kind, suite, str(folder), mirror(), *script]
        subprocess.run([*OWN, *build], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for setting in filter(os.path.exists, SETTINGS):
            copy = Path(f"{folder}{setting}")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.unlink(missing_ok=True)  # a link of its own would lead out
            shutil.copyfile(setting, copy)
        shutil.copytree(ROOT, self.home, ignore=shutil.ignore_patterns(*LEFT_OUT))

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command there, in the checkout; what it says goes to one pipe."""
        inside = 'mount -t tmpfs tmpfs /dev/shm && cd /srv/minigrad && exec "$@"'
        return subprocess.Popen(
            [*OWN, "--mount-proc", f"--root={self.root}", "sh", "-c", inside, "sh", *command],
            env={
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": "/root",
                "PIP_NO_CACHE_DIR": "1",
                **{name: value for name, value in os.environ.items() if VARIABLES.match(name)},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )

    def run(self, *command: str) -> tuple[int, str]:
        """Run a command there to its end; its exit code and what it said."""
        process = self.start(*command)
        said, _ = process.communicate()
        return process.returncode, said


def main(folder: str, suite: str = "", *options: str) -> int:
    """Run the whole suite on a bare machine, and say where it stands."""
    machine = Machine(Path(folder).resolve(), suite)
    process = machine.start("python3", "tasks.py", "test", *options)
    for line in process.stdout or ():
        print(line, end="", flush=True)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
