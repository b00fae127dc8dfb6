"""What to type for a package that is not there."""

import sys
from importlib.util import find_spec


def to_install(requirement: str) -> str:
    """The line that installs it for this very Python; an environment made by uv has no pip."""
    python = f'"{sys.executable}"'
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{pip} {requirement}"
