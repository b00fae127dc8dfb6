"""`viz.language`: the state, the switch, and what a page shows without one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

import minigrad as mg
import viz
from minigrad.diagnostics.messages import get_language, set_language
from viz import assets
from viz import language as function
from viz.page import stored
from viz.page.document import SHEETS
from viz.page.language import LanguageSwitch, _fallback_rules
from viz.page.sheets import sheets
from viz.picture import theme
from viz.words import user_files

module: Any = sys.modules["viz.page.language"]
CODES = ["en", "zh", "both"]


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(module, "_switch", None)
    monkeypatch.setenv(user_files.FOLDER, str(tmp_path))
    set_language("en")
    yield
    set_language("en")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """As in a notebook: what was displayed."""
    displayed: list[Any] = []
    monkeypatch.setattr(module, "get_ipython", lambda: "a shell")
    monkeypatch.setattr(module, "display", displayed.append)
    return displayed


@pytest.mark.parametrize("code", CODES)
def test_a_script_speaks_the_chosen_language(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert function is viz.language
    assert viz.language(code) is None
    assert get_language() == code
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("code", ["fr", "", "EN", 3, ["en"]])
def test_another_code_is_refused_and_changes_nothing(code: Any, shown: list[Any]) -> None:
    set_language("zh")
    with pytest.raises(ValueError, match="只接受"):
        viz.language(code)
    assert (get_language(), shown) == ("zh", [])
    set_language("en")
    with pytest.raises(ValueError, match='"en", "zh" or "both"'):
        viz.language(code)


def test_a_notebook_has_one_switch_for_all_calls(shown: list[Any]) -> None:
    for code in ("zh", "both", "en"):
        viz.language(code)
        assert (get_language(), shown[-1].language) == (code, code)
    assert len(shown) == 3
    assert len({id(switch) for switch in shown}) == 1


def test_a_click_is_followed_by_the_kernel(shown: list[Any]) -> None:
    viz.language("en")
    shown[0].language = "zh"  # as the browser sets it
    assert get_language() == "zh"


def test_what_a_reader_chose_stays_when_the_same_cell_runs_again(shown: list[Any]) -> None:
    def set_up() -> None:
        viz.language("en")

    set_up()
    set_up()
    assert get_language() == "en"
    shown[0].language = "zh"  # as the browser sets it
    set_up()
    assert (get_language(), shown[-1].language) == ("zh", "zh")
    viz.language("both")  # another line, which somebody wrote just now
    assert (get_language(), shown[-1].language) == ("both", "both")
    set_up()
    assert (get_language(), shown[-1].language) == ("en", "en"), "nobody chose since"


def test_a_choice_stays_after_a_restart_and_in_the_next_notebook(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    viz.language("en")
    shown[0].language = "zh"  # as the browser sets it
    for _ in range(2):
        monkeypatch.setattr(module, "_switch", None)  # another kernel
        set_language("en")
        viz.language("en")
        assert (get_language(), shown[-1].language) == ("zh", "zh")
    viz.language("both")  # a line that asks for something else
    assert get_language() == "both"
    monkeypatch.setattr(module, "_switch", None)
    viz.language("en")
    assert get_language() == "en"


@pytest.mark.parametrize(
    ("variables", "first", "guessed"),
    [
        ({}, "en", True),
        ({"LANG": "zh_CN.UTF-8"}, "zh", True),
        ({"LANG": "zh_CN.UTF-8", "MINIGRAD_LANGUAGE": "en"}, "en", False),
    ],
)
def test_the_first_language_is_the_readers_and_what_was_typed_holds_everywhere(
    variables: dict[str, str], first: str, guessed: bool, shown: list[Any], monkeypatch: Any
) -> None:
    for name in ("MINIGRAD_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(module.terminal, "windows_language", lambda: "")
    viz.language()
    assert (shown[0].language, shown[0].guessed, get_language()) == (first, guessed, first)
    assert user_files.choices() == {}, "a guess is not a choice"
    other = "en" if first == "zh" else "zh"
    shown[0].set_state({"guessed": True, "language": other})  # as a browser reports its own
    monkeypatch.setattr(module, "_switch", None)  # another notebook, perhaps in another browser
    viz.language()
    guesses = other if guessed else first
    assert (shown[-1].language, shown[-1].guessed, get_language()) == (guesses, guessed, guesses)
    shown[-1].set_state({"guessed": False, "language": other})  # as a click
    for _ in range(2):
        viz.language()
        assert (shown[-1].language, shown[-1].guessed) == (other, False)
        monkeypatch.setattr(module, "_switch", None)  # another notebook
    viz.language("both")
    monkeypatch.setattr(module, "_switch", None)
    viz.language()
    assert (shown[-1].language, shown[-1].guessed, get_language()) == ("both", False, "both")


@pytest.mark.parametrize(
    "spoilt", ["", "{", "[1]", '{"language": {"language": "fr"}}', "null", '{"language": 3}']
)
def test_a_spoilt_file_of_choices_is_none(spoilt: str, shown: list[Any]) -> None:
    (user_files.folder() / ".minigrad.json").write_text(spoilt, "utf-8")
    viz.language("en")
    assert get_language() == "en"


def test_where_nothing_can_be_written_a_choice_holds_as_long_as_the_kernel(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(user_files.FOLDER, str(tmp_path / "missing"))
    viz.language("en")
    shown[0].language = "zh"
    viz.language("en")
    assert get_language() == "zh"


def test_the_font_is_sent_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    switch = LanguageSwitch()
    monkeypatch.setattr(switch, "send", lambda content, buffers: sent.append((content, buffers)))
    switch._answer(switch, {"kind": "something else"}, [])
    assert sent == []
    switch._answer(switch, {"kind": "font"}, [])
    assert sent == [({"kind": "font"}, [theme.FONT_PATH.read_bytes()])]
    assert len(str(switch.get_state())) < 15_000, "the font is not part of the saved state"


@pytest.mark.parametrize(
    ("code", "said"),
    [("en", "Language: English"), ("zh", "语言：中文"), ("both", "Language: English\n语言：中文")],
)
def test_what_is_stored_in_the_notebook(code: Any, said: str) -> None:
    set_language(code)
    switch = LanguageSwitch()
    switch.language = code
    bundle: Any = switch._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"] == said
    assert data["text/html"] == assets.style(_fallback_rules(code))


def test_where_a_style_is_stripped_its_rules_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that clean HTML strip the tag, and would show what was in it."""
    monkeypatch.setattr(stored, "widgets_run", lambda: False)
    drawn = viz.draw(mg.tensor(2.0, name="x") * 3)._repr_mimebundle_()
    switch: Any = LanguageSwitch()._repr_mimebundle_()
    for bundle in (drawn, switch):
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data)])
        made = HTMLExporter(template_name="basic", sanitize_html=True)
        html, _ = made.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
        assert "&lt;style&gt;&lt;/style&gt;" in html
        assert "--mg-" not in html.replace("<style>", "")


def hidden(rules: str) -> set[str]:
    """Which language a page without a living switch hides."""
    alone = r":not\(\[data-mg-language\]\) \[lang\|=\"(\w+)\"\](?:,\s[^{]*)? \{ display: none"
    return set(re.findall(alone, re.sub(r"/\*.*?\*/", "", rules, flags=re.DOTALL)))


@pytest.mark.parametrize(("code", "hides"), [("en", {"zh"}), ("zh", {"en"}), ("both", set())])
def test_without_a_switch_the_rules_alone_show_the_language(code: str, hides: set[str]) -> None:
    rules = _fallback_rules(code)
    assert hidden(rules) == hides
    for other in {"en", "zh"} - {code}:
        assert f'[data-mg-language="{other}"]' in rules, "a switch that wakes up wins"
    assert rules.count("{") == rules.count("}") == sheets(*SHEETS, drawings=False).count("{")
