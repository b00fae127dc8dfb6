"""The command that installs a missing package."""

import sys
from importlib.util import find_spec


def to_install(requirement: str) -> str:
    """Return the command that installs a package for this Python, also without pip (uv)."""
    python = f'"{sys.executable}"'
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{pip} {requirement}"
