"""Both halves of a pair deny equally often, and the Chinese one is Chinese.

What a program can see of the meaning. The rest is for a reader of both languages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from lessons import NOTEBOOKS, ROOT, from_toml
from test_lessons import halves, prose
from test_text import TABLES

QUESTIONS = sorted((ROOT / "minigrad_lessons" / "questions").glob("*.toml"))

DENIES = re.compile(
    r"\b(?:not|no|(?-i:none|None(?= of))|nothing|never|nobody|nowhere|neither|nor|cannot|without"
    r"|unless|lacks?|\w+n't)\b",
    re.I,
)
ZH_DENIES = re.compile("不|没|无|未|非|别|勿")
# Words in which the character does not deny.
IDIOMS = re.compile(
    "无穷|不同|不小于|不大于|不超过|不少于|不止|不变|不断|不等|是不是|能不能|要不要|有没有|在不在|会不会|分别|类别|级别"
    "|差别|区别|识别|特别|别处|别的|别人|个别|别名|无论|非常|未来|不过|不仅|不但|不管|不论|不妨|非零|非线性|未知"
)
# Pairs that are right although one half denies more often than the other: how often each does.
UNEQUAL = from_toml(ROOT / "tests" / "denials.toml")


def denials(en: str, zh: str) -> list[int]:
    """Return how often each half denies something."""
    return [len(DENIES.findall(prose(en))), len(ZH_DENIES.findall(IDIOMS.sub("", prose(zh))))]


def unequal(where: str, key: str, en: str, zh: str) -> Iterator[str]:
    """Say where one half denies more often than the other, unless it is known to."""
    found, listed = denials(en, zh), UNEQUAL[where].get(key)
    if found != listed and (listed or found[0] != found[1]):
        line = f"{json.dumps(key, ensure_ascii=False)} = {found}"
        yield (
            f"{en}\n{zh}\nIt denies {found[0]} times, 中文 {found[1]} 次. If both"
            f" say the same, write under [{where}] in tests/denials.toml: {line}"
        )


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
    return [*pairs(from_toml(path))]


def keyed(path: Any) -> dict[str, tuple[str, str]]:
    """The pairs of a lesson's data by the beginning of their Chinese halves."""
    return {zh[:24]: (en, zh) for en, zh in pairs(from_toml(path))}


PAIRS = {"rows": TABLES, **{path.stem: keyed(path) for path in QUESTIONS}}


@pytest.mark.parametrize("where", PAIRS)
def test_both_halves_deny_equally_often(where: str) -> None:
    assert [x for key, pair in PAIRS[where].items() for x in unequal(where, key, *pair)] == []
    assert UNEQUAL[where].keys() - PAIRS[where].keys() == set(), "take them out of denials.toml"
    assert [key for key, (en, zh) in UNEQUAL[where].items() if en == zh] == []


@pytest.mark.parametrize("where", PAIRS)
def test_no_english_words_are_left_in_chinese_sentences(where: str) -> None:
    assert [run for _, zh in PAIRS[where].values() for run in untranslated(zh)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_english_words_are_left_in_chinese_prose(path: Any) -> None:
    assert [run for _, zh in halves(path) for run in untranslated(zh)] == []


@pytest.mark.parametrize("where", PAIRS)
def test_every_sentence_that_is_turned_into_its_opposite_is_found(where: str) -> None:
    """A denial is taken out of each that has one, in either language, and put into each."""
    for key, pair in PAIRS[where].items():
        if [*unequal(where, key, *pair)]:
            continue  # the test above says what to do about it
        en, zh = map(prose, pair)
        changed = [(en, f"{zh}。没有"), (f"{en} It does not.", zh)]
        if denials(en, zh)[1]:
            places = [m.span() for m in IDIOMS.finditer(zh)]
            at = next(
                m.start()
                for m in ZH_DENIES.finditer(zh)
                if not any(a <= m.start() < b for a, b in places)
            )
            changed.append((en, zh[:at] + zh[at + 1 :]))
        if denials(en, zh)[0]:
            changed.append((DENIES.sub("", en, count=1), zh))
        for pair in changed:
            assert [*unequal(where, key, *pair)], pair


@pytest.mark.parametrize("where", PAIRS)
def test_english_words_in_the_place_of_chinese_ones_are_found(where: str) -> None:
    for _, zh in PAIRS[where].values():
        changed, done = re.subn(
            "[一-鿿]{4,}", "some other words", ASIDE.sub("", prose(zh)), count=1
        )
        assert not done or untranslated(changed), changed


def test_english_words_in_a_chinese_sentence_are_found() -> None:
    assert untranslated("把 every gap 填好，再 run the cell again。") == [
        "every gap",
        "run the cell again",
    ]
