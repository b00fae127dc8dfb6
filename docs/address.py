"""Say who hosts the course: python docs/address.py OWNER/REPOSITORY (no argument prints it).

The address is in `[project.urls]` of pyproject.toml. This writes it there and into every file
that quotes it: the links of the lessons, the README, the citation. A test compares them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUOTING = ("pyproject.toml", "README.md", "CITATION.cff", "docs/deploy/README.md")
PLACES = r"(?<=github\.com/)|(?<=/gh/)|(?<=/github/)"


def hosted_at() -> str:
    """Return OWNER/REPOSITORY."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    return str(urls["Repository"]).removeprefix("https://github.com/")


def moved(text: str, old: str, new: str) -> str:
    """Return a text with the addresses of the repository and of its site changed."""
    text = re.sub(rf"(?:{PLACES}){re.escape(old)}(?![\w.-])", new, text)
    sites = (f"https://{'.github.io/'.join(name.split('/'))}/" for name in (old, new))
    return text.replace(*sites)


def main(new: str) -> None:
    old = hosted_at()
    for path in [*(ROOT / name for name in QUOTING), *(ROOT / "notebooks").glob("*.ipynb")]:
        path.write_text(moved(path.read_text("utf-8"), old, new), "utf-8", newline="\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            print(hosted_at())
        case [name] if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
            main(name)
        case _:
            raise SystemExit(__doc__)
