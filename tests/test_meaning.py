"""Both halves of a pair deny the same, and the Chinese one is Chinese.

What a program can see of the meaning. The rest is for a reader of both languages.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from covering import each
from lessons import NOTEBOOKS, ROOT
from test_lessons import halves, prose
from test_text import TABLES

QUESTIONS = sorted((ROOT / "viz" / "questions").glob("*.toml"))

# What denies, and what may stand for it in the other language: "from 0" is 不小于 0.
DENIES = re.compile(
    r"\b(?:not|no|(?-i:none|None(?= of))|nothing|never|nobody|nowhere|neither|nor|cannot|without"
    r"|unless|lacks?|\w+n't)\b",
    re.I,
)
MAY_DENY = re.compile(
    r"\b(?:\w+less|lacks?|missing|unless|impossible|refus\w+|invalid|only|another|other|apart|absent"
    r"|empty|except\w*|instead|too|fail\w*|differ\w*|several|more than|rather|past|beyond|stop\w*"
    r"|avoid\w*|prevent\w*|ignor\w+|forget\w*|forgot\w*|miss\w*|un\w+|in(?:complete|finite\w*|exact)"
    r"|gone|hardly|few\w*|outside|lost|lose\w*|safe\w*|still|incomplete|disagree\w*"
    r"|wrong|from|skip\w*|limps|easy|false|wasted|run out|mind|below|refut\w+|within|every one)\b",
    re.I,
)
ZH_DENIES = re.compile("不|没|无|未|非|别|勿")
ZH_MAY_DENY = re.compile(
    "不|没|无|未|非|别|勿|只|仅|才|缺|空|除|失|拒|太|超出|免|否|多了|完全|None"
)
# Words in which the character does not deny.
IDIOMS = re.compile(
    "无穷|不同|不小于|不大于|不超过|不少于|不止|不变|不断|不等|是不是|能不能|要不要|有没有|在不在|会不会|分别|类别|级别"
    "|差别|区别|识别|特别|别处|别的|别人|个别|别名|无论|非常|未来|不过|不仅|不但|不管|不论|不妨|非零|非线性|未知"
)


def denials(en: str, zh: str) -> Iterator[str]:
    """Say where one half denies something and nothing in the other could mean that."""
    plain = IDIOMS.sub("", zh)
    if (found := DENIES.search(en)) and not ZH_MAY_DENY.search(zh):
        yield f"{found[0]!r} has nothing for it in: {zh}"
    if (found := ZH_DENIES.search(plain)) and not (DENIES.search(en) or MAY_DENY.search(en)):
        yield f"{plain[max(0, found.start() - 4) : found.end() + 4]!r} has nothing for it in: {en}"


# English that stands in a Chinese sentence on purpose: code, commands, the words of a system.
ENGLISH = {
    *("as log", "as sess", "in grads if", "is not", "sudo apt install", "pip install"),
    *("pip uninstall", "pip install jupyterlab", "is not allowed", "leaked tracer"),
    *("to backward through the graph", "second time", "small cats sleep"),
}
RUN = re.compile(r"(?<![\w./`<=(\"-])[a-z]{2,}(?:,? [a-z]{2,})+(?![\w./`=(\[-])")
ASIDE = re.compile(r"\{[^}]*\}|“[^”]*”|（[^）]*）|\([^)]*\)")


def untranslated(zh: str) -> list[str]:
    """Return the runs of English words in a Chinese text."""
    return [run for run in RUN.findall(ASIDE.sub("", prose(zh))) if run not in ENGLISH]


def pairs(data: Any) -> Iterator[tuple[str, str]]:
    """Find the pairs in what a data file of a lesson holds."""
    if isinstance(data, dict):
        if isinstance(data.get("en"), str) and isinstance(data.get("zh"), str):
            yield data["en"], data["zh"]
        data = [*data.values()]
    if isinstance(data, list):
        for item in data:
            yield from pairs(item)


def asked(path: Any) -> list[tuple[str, str]]:
    return [*pairs(tomllib.loads(path.read_text("utf-8")))]


# Pairs that are right and worded too differently to be compared: a piece of their Chinese.
FREE = (
    *("此时还什么都没有运行", "素的顺序没有变", "占了课程的位置", "你的没有动", "还不存在时"),
    *("留不留操作数", "什么让行数不定", "每一行还差几个", "因为形状未定", "就算没人读", "次数不定"),
    *(
        "长度未定时",
        "不读",
        "一个不多",
        "不低于",
        "都不一样",
        "不改动",
        "长短不一",
        "现已不推荐使用",
    ),
    *("少了带副作用", "下记录了", "2019 年以前"),
)


def wrong(en: str, zh: str) -> list[str]:
    free = any(piece in zh for piece in FREE)
    return [*untranslated(zh), *(() if free else denials(prose(en), prose(zh)))]


@each(TABLES)
def test_a_sentence_denies_the_same_in_both_languages(key: str) -> None:
    assert wrong(*TABLES[key]) == []


@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_questions_deny_the_same_in_both_languages(path: Any) -> None:
    assert [fault for pair in asked(path) for fault in wrong(*pair)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_english_words_are_left_in_chinese_prose(path: Any) -> None:
    assert [run for _, zh in halves(path) for run in untranslated(zh)] == []


def test_most_sentences_that_are_turned_into_their_opposite_are_found() -> None:
    """A denial is taken out of each that has one, and put into each that has none."""
    rows = [(en, IDIOMS.sub("", zh)) for en, zh in TABLES.values()]
    denied = [(en, zh) for en, zh in rows if ZH_DENIES.search(zh)]
    without = [(en, ZH_DENIES.sub("", zh, count=1)) for en, zh in denied]
    with_one = [(en, f"{zh}不会") for en, zh in rows if not ZH_DENIES.search(zh)]
    for changed, share in ((without, 0.6), (with_one, 0.7)):
        assert sum(any(denials(*pair)) for pair in changed) > share * len(changed)


def test_english_words_in_a_chinese_sentence_are_found() -> None:
    assert untranslated("把 every gap 填好，再 run the cell again。") == [
        "every gap",
        "run the cell again",
    ]
