"""Make anew what README and notebooks begin with: `python docs/opening.py`."""

from __future__ import annotations

from pathlib import Path

import viz

FOLDER = Path(__file__).parents[1] / "notebooks" / "pictures"


def films() -> dict[str, str]:
    """The moving pictures by the names of their files: one formula both ways, in each language.

    At 5 all numbers on the way differ, and none is the answer to a question of the lessons.
    """
    return {
        f"both_ways_{language}.svg": viz.animate(
            lambda x: x * x + 3, 5.0, language=language, seconds=0.8
        ).svg
        for language in ("en", "zh")
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, svg in films().items():
        (FOLDER / name).write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
