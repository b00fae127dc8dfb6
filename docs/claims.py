"""The appendix `docs/claims.md`: each claim and example, and where a lesson shows it.

.venv/bin/python docs/claims.py writes it, from `claims.toml` and from the lessons: the metadata of
a cell says for which claims and examples it is the evidence.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "claims.md"
STATUS = {
    "true": "true · 成立",
    "conditional": "under a condition · 有条件",
    "dated": "once right · 曾经成立",
    "unverifiable": "a number without a source · 无出处的数字",
    "opinion": "an opinion · 看法",
    "wrong": "wrong as stated · 说法有误",
}


def shown_in() -> dict[str, list[str]]:
    """For each id the lessons that show it, as links."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        link = f"[L{path.name[:2]}](../notebooks/{path.name})"
        for cell in nbformat.read(path, 4).cells:  # type: ignore[no-untyped-call]
            for id in [*cell.metadata.get("claims", []), *cell.metadata.get("examples", [])]:
                if link not in found.setdefault(id, []):
                    found[id].append(link)
    return found


def cell(text: str) -> str:
    """What a row of a table can hold."""
    return re.sub(r"([|*_])", r"\\\1", text)


def row(entry: dict[str, Any], shown: dict[str, list[str]]) -> str:
    status = [STATUS[entry["status"]]] if "status" in entry else []
    places = ", ".join(shown.get(entry["id"], ["–"]))
    holds = entry.get("holds", {"en": "", "zh": ""})
    sentences = [f"{entry['en']} {holds['en']}".strip(), entry["zh"] + holds["zh"]]
    parts = [entry["id"], "<br>".join(map(cell, sentences)), *status, entry["sources"]]
    return f"| {' | '.join([*parts, places])} |"


def page() -> str:
    data = tomllib.loads((ROOT / "docs" / "claims.toml").read_text("utf-8"))
    shown = shown_in()
    claims = [row(claim, shown) for claim in data["claim"]]
    examples = [row(example, shown) for example in data["example"]]
    notes = [
        f"- **{note['id']}** "
        + " · ".join(filter(None, [f"*{note['title']}*", note["by"], note["address"]]))
        for note in data["source"]
    ]
    parts = [
        data["page"]["head"],
        "## Claims · 论断\n",
        "| | claim · 论断 | status · 判定 | source · 来源 | shown in · 展示于 |",
        "|---|---|---|---|---|",
        *claims,
        "\n## Examples · 例子\n",
        "| | example · 例子 | source · 来源 | shown in · 展示于 |",
        "|---|---|---|---|",
        *examples,
        "\n## Sources · 来源\n",
        *notes,
        "",
        data["page"]["foot"],
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
