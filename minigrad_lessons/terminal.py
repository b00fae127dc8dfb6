"""Messages for the terminal, in the reader's language."""

import ctypes
import locale
import os
import sys

from minigrad_lessons.words import SENTENCES


class Problem(Exception):
    """Something the user can put right; the text says how."""


def message(key: str, **fields: object) -> str:
    """Return a row of the table, filled in, in the reader's language."""
    english, chinese = SENTENCES[key]
    return (chinese if language() == "zh" else english).format(**fields)


def language() -> str:
    """Return "en" or "zh": MINIGRAD_LANGUAGE decides, else the locale, else Windows.

    A terminal that has no Chinese characters is spoken to in English.
    """
    names = ("MINIGRAD_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    requested = next(filter(None, map(os.environ.get, names)), "") or windows_language()
    return "zh" if requested.lower().startswith("zh") and can_print_chinese() else "en"


def windows_language() -> str:
    """Return the language of the user interface there, such as zh_CN, and nothing elsewhere."""
    system = getattr(ctypes, "windll", None)
    number = system.kernel32.GetUserDefaultUILanguage() if system else 0
    return locale.windows_locale.get(number, "")


def can_print_chinese() -> bool:
    """Return whether the output streams can print Chinese characters."""
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            "中文".encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
