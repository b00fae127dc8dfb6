"""The rows of the lessons in the README, from notebooks and data files: python docs/lessons.py.

A title and its minutes stand in the first cell of a notebook, and what a learner can do afterwards
in `minigrad_lessons/questions/LNN.toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MINUTES = ("{} min", "{} 分钟")
TIME = re.compile(r"(\d+)(?: \+ (?:about|约) (\d+))? (?:minutes|分钟)")
ROW = re.compile(r"^\| \[L\d\d .*\n", re.MULTILINE)


def rows() -> Iterator[tuple[str, str]]:
    """For each lesson its row in both languages."""
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        titles = re.findall(r"^# (L(\d\d) .*)$", first, re.MULTILINE)
        minutes = [" + ".join(filter(None, found)) for found in TIME.findall(first)]
        data = ROOT / "minigrad_lessons" / "questions" / f"L{titles[0][1]}.toml"
        can = tomllib.loads(data.read_text("utf-8"))["lesson"]["can"]
        english, chinese = (
            f"| [{title}](notebooks/{path.name}) | {words.format(count)} | {can[language]} |\n"
            for (title, _), count, words, language in zip(
                titles, minutes, MINUTES, ("en", "zh"), strict=True
            )
        )
        yield english, chinese


def written(readme: str) -> str:
    """The README with its two tables of lessons as they should be."""
    english, chinese = ("".join(halves) for halves in zip(*rows(), strict=True))
    tables = iter((english, chinese))
    return re.sub(rf"(?:{ROW.pattern})+", lambda _: next(tables), readme, flags=re.MULTILINE)


if __name__ == "__main__":
    README.write_text(written(README.read_text("utf-8")), "utf-8")
