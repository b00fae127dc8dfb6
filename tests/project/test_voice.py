"""Turns of phrase that readers stumbled over do not come back, in what a person reads.

Each pattern is one that no sentence here needs; the message says what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from lessons import NOTEBOOKS, ROOT, read

PREPOSITION = "In|On|At|Under|Behind|Beside|Before|After|With|From"
PLACED = r"stands?|lies?|comes?|goes|is|are|was|were"
HABITS = {
    "en": {
        r"(?i)\bwho(m)?ever\b": "the thing itself, you, or we: “if you want …”, “the reader …”",
        r"\bshall\b": "will",
        r"(?<!as it )\bstands?\b(?!-| (for|in for|in \w+ way|still|alone|out)\b)": "is",
        r"\b(lie|lies)\b": "is, are",
        r"\b(it is|is|are) said (of|that|to|in|at|on)\b": "people say, we say, the text says",
        r"\b(is|are|was|were) to be\b": "will be, has to be, should be",
        r"(?i)\bat fault\b": "the culprit is",
        r"(^|[.!?:;] )Who (?!is\b|else\b)[^?!.\n]*[.;]": "if you …, then you …",
        rf"(^|[.!?] )({PREPOSITION}) (the |an? |each |every )?`?[\w.]+`? ({PLACED}) "
        r"(an?|the|which|what|no|one|two)\b": "the subject first, then the verb",
    },
    "zh": {
        r"被[^，。；：]{1,12}所(?!有|以|在|谓|需)": "由…来…，或者写成主动句",
        r"(?<![分总反])之(?![前后间一内外类中上下所比和差])": "的",
        r"其(?![余他中实次])[\u4e00-\u9fff]{1,6}者": "写出主语：……的那个",
        r"(?<![事缘无典变])故(?![障事意])": "所以",
        r"乃|即为": "是，就是",
        "面孔": "兼容接口",
    },
}
WORDS = ("viz/words/text.toml", "minigrad/diagnostics/messages.toml", "docs/claims.toml")
PAGES = ("*.md", "docs/**/*.md", "minigrad/README.md", "viz/README.md")
OTHERS = ("CHANGELOG.md", "claims.md")  # what has been written stays; what is made from claims.toml


def lines() -> Iterator[tuple[str, str]]:
    """Every line of prose, and where it is."""
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            if cell.cell_type == "markdown":
                for number, line in enumerate(cell.source.splitlines(), 1):
                    yield f"{path.name}, cell {cell.id}, line {number}", line
    tomls = [*(ROOT / "minigrad_lessons" / "questions").glob("*.toml"), *map(ROOT.joinpath, WORDS)]
    for path in sorted(tomls):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if re.match(r"(\w+\.)*(en|zh) = ", line):
                yield f"{path.relative_to(ROOT)}:{number}", line.partition(" = ")[2].strip('"')
    for path in sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        if path.name not in OTHERS:
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                yield f"{path.relative_to(ROOT)}:{number}", line


def found(line: str) -> Iterator[tuple[str, str]]:
    """What in a line sounds translated, and what to write instead."""
    for habits in HABITS.values():
        for pattern, instead in habits.items():
            for match in re.finditer(pattern, line):
                yield match[0].strip(), instead


def test_no_sentence_sounds_translated() -> None:
    assert [
        f"{place}: “{habit}”. Write instead: {instead}"
        for place, line in lines()
        for habit, instead in found(line)
    ] == []


BAD = """
In `feed_dict` stands which number to take.
Whoever wants more reads on.
The model shall learn to read.
The step that is to be done.
It is said that static graphs are fast.
Who wants a high number takes the first reading.
At fault is line 2.
The cell lies in the folder.
这个值被后面的算子所读取。
两者之别在于时间。
其先到者先运行。
形状不符，故报错。
这乃是原因。
这一行即为答案。
一张面孔认得常用的名字。
"""
GOOD = """
In each drawing `w` is one node, and the stand-in for `x` has no value.
Every `...` may stand for several lines. In a browser there are no threads.
Whose turn is it? Who reads the graph? People say that it's fast.
之前、之后、两者之间、三分之一、比值之和，总之都可以；所有的值被保存下来，所以其余的读者也能读。
因为故障，名字是无缘无故变的。
"""


@pytest.mark.parametrize("line", BAD.strip().splitlines())
def test_a_habit_is_found(line: str) -> None:
    assert [*found(line)]


@pytest.mark.parametrize("line", GOOD.strip().splitlines())
def test_plain_sentences_pass(line: str) -> None:
    assert [*found(line)] == []
