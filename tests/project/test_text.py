"""The table of sentences: complete, bilingual, used, well set, and never read as markup."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from string import Formatter

import pytest
from covering import each
from test_lessons import BANNED, BANNED_FOR, TRADITIONAL

from minigrad.diagnostics import messages
from minigrad.diagnostics.messages import ERRORS, Sentences, choose, fill, set_language
from minigrad_lessons.words import SENTENCES
from viz.explorer.explorer import words
from viz.words import text
from viz.words.text import ROWS, bilingual, both, html, row, row_text

pytestmark = pytest.mark.usefixtures("english")

VIZ = Path(text.__file__).parents[1]
TABLES_OF_SENTENCES = [Path(module.__file__).with_suffix(".toml") for module in (messages, text)]
TABLES = {**ROWS, **{f"error_{key}": pair for key, pair in ERRORS.items()}}
TERMINAL = {f"terminal_{key}": pair for key, pair in SENTENCES.items()}
TERMINAL.pop("terminal_help")  # set in columns
TABLES |= TERMINAL
HAN = "\u4e00-\u9fff"
FULL = "，。：；？！（）、「」"
# What Chinese typography forbids, and an example of it.
WRONG = {
    "half-width punctuation after Chinese": (rf"[{HAN}][,;:!?()]|[{HAN}]\.(?!\.)", "语言."),
    "half-width punctuation before Chinese": (rf"[,;:!?)][{HAN}]", ")语"),
    "no space between Chinese and Latin": (rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]", "语A"),
    "no space between Chinese and a field": (rf"[{HAN}]\{{|\}}[{HAN}]", "语{x}"),
    "space beside full-width punctuation": (rf"[{FULL}] (?!=)|(?<!=) [{FULL}]", "语， 言"),
    "space inside Chinese": (rf"[{HAN}]\s+[{HAN}]", "语 言"),
    "two spaces": (r"\S  ", "a  b"),
}
# Fields filled with Chinese words stand without a space; charts set Latin names apart themselves.
CHINESE_FIELD = rf"(?<=[{HAN}])\{{(?:kind|use)\}}"
OF_CHARTS = re.compile("curve_|chart_(curves|quicker|ratios|regimes)")
NAMED_FIELD = r"\{(?:name|low|high|side|against|one|x|y)\}"


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def faults(chinese: str, key: str = "") -> list[str]:
    """What is wrong with the typography of a Chinese sentence."""
    chinese = re.sub(NAMED_FIELD if OF_CHARTS.match(key) else CHINESE_FIELD, "字", chinese)
    return [name for name, (pattern, _) in WRONG.items() if re.search(pattern, chinese)]


@each(TABLES)
def test_both_halves_say_the_same(key: str) -> None:
    english, chinese = TABLES[key]
    assert english.strip()
    assert chinese.strip()
    assert fields(english) == fields(chinese)
    assert not re.search(rf"[{HAN}{FULL}]", english)
    if re.search("[a-z]{2}", re.sub(r"\{\w+\}", "", english)):
        assert re.search(f"[{HAN}]", chinese)


@each(TABLES)
def test_chinese_is_set_and_worded_as_the_glossary_says(key: str) -> None:
    english, chinese = TABLES[key]
    assert faults(chinese, key) == []
    assert [word for word in BANNED if word in chinese] == []
    assert [c for c in TRADITIONAL if c in chinese] == []
    for topic, word in BANNED_FOR.items():
        assert not (topic in english.lower() and word in chinese)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_typography_would_be_found(name: str) -> None:
    assert name in faults(WRONG[name][1])


def sources() -> str:
    """Return the code that may ask for a sentence, of the viewer and of the course."""
    packages = (VIZ, VIZ.with_name("minigrad_lessons"))
    paths = [p for each in packages for p in each.rglob("*") if p.suffix in (".py", ".js")]
    return "".join(p.read_text("utf-8") for p in paths)


def uses() -> tuple[set[str], set[str]]:
    """Every key that the package asks for, in Python or in the browser, and every prefix."""
    code = sources()
    keys = set(re.findall(r'"([a-z_0-9]+)"', code))
    keys |= set(re.findall(r"(?<!viz\.)(?:words|labels)\.([a-z_0-9]+)", code))
    keys |= {f"explorer_{name}" for name in words()}
    prefixes = set(re.findall(r'(?:row|html|row_text)\(f"([a-z_]+)\{', code))
    prefixes |= set(re.findall(r'(?:= |ROWS\[)f"([a-z_]+_)\{', code)) - {"cluster_"}
    return keys, prefixes


def test_sentences_are_read_when_the_first_is_needed() -> None:
    table = Sentences(Path(__file__).with_name("missing.toml"))
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        table["broadcast"]
    place = "minigrad.diagnostics.messages"
    program = f"import viz; from {place} import ERRORS; print(vars(ERRORS).keys())"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout == "dict_keys(['_path'])\n", said.stderr


@pytest.mark.parametrize("table", TABLES_OF_SENTENCES)
def test_a_row_holds_both_languages_and_nothing_else(table: Path) -> None:
    for key, halves in tomllib.loads(table.read_text("utf-8")).items():
        assert [*halves] == ["en", "zh"], key
        assert all(isinstance(half, str) for half in halves.values()), key


def test_every_row_is_used() -> None:
    keys, prefixes = uses()
    assert {"alt_", "kind_"} <= prefixes
    assert [k for k in ROWS if k not in keys and not k.startswith(tuple(prefixes))] == []


def test_no_row_is_missing() -> None:
    code = sources()
    asked = set(re.findall(r'\b(?:row|html|row_text|LayoutError)\(\s*"(\w+)"', code))
    asked |= set(re.findall(r'ROWS\["(\w+)"\]', code))
    asked |= set(re.findall(r"(?<!viz\.)\b(?:words|labels)\.(\w+)", code)) - {"right", "wrong"}
    asked |= {f"{what}_{kind}" for what in ("alt", "kind") for kind in ("dynamic", "static")}
    assert len(asked) > 60
    assert asked - set(ROWS) == set()


def test_a_row_is_filled_in_and_a_pair_is_filled_in_by_halves() -> None:
    assert row("alt_path", start="x", end="y") == ("From x to y.", "从 x 到 y。")
    clock = ROWS["clock_run"]
    assert row("tick", clock=clock, number=2) == ("run 2", "运行 2")
    assert row("table") == ROWS["table"]
    assert row("alt_path", start="{end}", end="%s") == ("From {end} to %s.", "从 {end} 到 %s。")
    with pytest.raises(KeyError):
        row("alt_path", start="x")
    with pytest.raises(KeyError, match=r"text.toml has no row \[alt_paths\]: add it"):
        row("alt_paths")


@pytest.mark.parametrize("count", [0, 1, 2, 300])
def test_what_is_counted_is_singular_where_it_is_one(count: int) -> None:
    assert row("traces_cache", function="f", traces=count)[0] == (
        f"f(): {count} trace in the cache" if count == 1 else f"f(): {count} traces in the cache"
    )
    assert row("traces_cache", function="f", traces=count)[1] == f"f()：缓存中有 {count} 个追踪"


def test_a_node_without_a_name_of_its_own_is_named_once() -> None:
    where = {"op": "Greater", "shape": "()", "use": fill("use_bool")}
    english, chinese = fill("symbolic_bool", name="Greater", **where)
    assert english.startswith("Greater (shape ()) is a node of a static graph")
    assert chinese.startswith("Greater（形状 ()）是静态图的节点")
    assert fill("symbolic_bool", name="a", **where)[0].startswith("a (Greater, shape ())")
    english, chinese = fill("node_backward", name="Greater", **where)
    assert " Greater is a node" in english
    assert "Greater是" not in chinese


def test_no_row_writes_a_plural_after_a_number_itself() -> None:
    """`{steps:step}`, not `{steps} steps`; what is counted anywhere is known to be a number."""
    counted = {spec for en, _ in ROWS.values() for _, _, spec, _ in Formatter().parse(en) if spec}
    assert len(counted) > 10
    nouns = "|".join(sorted(counted))
    assert {
        key: found
        for key, (en, _) in ROWS.items()
        if (found := re.findall(rf"\}} (?:{nouns})s\b", en))
    } == {}


@pytest.mark.parametrize(
    ("pair", "tag", "said"),
    [
        (
            ("a", "甲"),
            "span",
            '<span lang="en"><i>EN: </i>a<br></span> <span lang="zh"><i>中文：</i>甲<br></span>',
        ),
        (
            ("a", "甲"),
            "td",
            '<td lang="en"><i>EN: </i>a</td> <td lang="zh"><i>中文：</i>甲</td>',
        ),
        (("7", "7"), "span", "<span>7</span>"),
        (("<b>", "<b>"), "p", "<p>&lt;b&gt;</p>"),
        (
            ("<script>", '"&'),
            "i",
            '<i lang="en"><i>EN: </i>&lt;script&gt;</i> <i lang="zh"><i>中文：</i>&quot;&amp;</i>',
        ),
    ],
)
def test_a_pair_as_html_is_escaped_and_marked_with_its_languages(pair, tag, said) -> None:
    assert bilingual(pair, tag) == said


def test_a_row_as_html_on_one_line_and_in_the_chosen_language() -> None:
    assert html("column_node", "th") == bilingual(("node", "节点"), "th")
    assert "&lt;x&gt;" in html("alt_path", start="<x>", end="y")
    assert both(("a", "甲")) == "a / 甲"
    assert both(("7", "7")) == "7"
    said = {}
    for language in ("en", "zh", "both"):
        set_language(language)
        said[language] = row_text("first")
    assert said == {"en": "first step", "zh": "第一步", "both": "first step\n第一步"}
    assert choose(("a", "甲"), " / ") == "a / 甲"
