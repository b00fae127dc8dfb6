"""The same lines in other systems' words, beside what the real ones print: `beside`.

The code of a box is that of the real system. It runs on our compatibility layer for that
system, with only the import line replaced; what the real one printed is kept, with its version. If
our layer does not support it (processes, devices), only the kept output is shown, with a note.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from collections.abc import Sequence
from html import escape

import minigrad as mg
from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.wording import bilingual, bilingual_lines
from minigrad_lessons.questions import PeerCode, System, find_lesson
from viz.page.document import Document
from viz.words.text import ROWS, row, row_text

__all__ = ["beside"]

# What the system is called, how it is imported, and how our face of it is.
SYSTEMS = {
    "minigrad": ("minigrad", "import minigrad as mg", "import minigrad as mg"),
    "torch": ("PyTorch", "import torch", "import minigrad.faces.torch as torch"),
    "tensorflow1": (
        "TensorFlow 1",
        "import tensorflow.compat.v1 as tf",
        "import minigrad.faces.tensorflow1 as tf",
    ),
    "tensorflow": (
        "TensorFlow 2",
        "import tensorflow as tf",
        "import minigrad.faces.tensorflow as tf",
    ),
    "jax": ("JAX", "import jax", "import minigrad.faces.jax as jax"),
    "theano": (
        "Theano",
        "import theano, theano.tensor as T",
        "import minigrad.faces.theano as theano, minigrad.faces.theano.tensor as T",
    ),
    "dynet": ("DyNet", "import dynet as dy", "import minigrad.faces.dynet as dy"),
    "cntk": ("CNTK", "import cntk as C", "import minigrad.faces.cntk as C"),
    "paddle": ("PaddlePaddle", "import paddle", ""),  # of these two we have none
    "mindspore": ("MindSpore", "import mindspore as ms", ""),
}


MANY = 5  # boxes; beyond it, those of other systems than the first are folded


def run_and_capture_output(code: str, imports: str) -> str:
    """Return what a program prints after these imports, ending with the error that stops it."""
    file = f"<{imports.rpartition(' ')[2]}>"
    source = f"{imports}\n{code}"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), mg.Graph():  # the lesson's own nodes stay out of it
        try:
            exec(compile(source, file, "exec"), {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001 - what stops a program is what is shown
            first = str(error).strip().splitlines()[:1]
            print(f"{type(error).__name__}: {''.join(first)}")
    return said.getvalue().rstrip("\n")


class Boxes(Document):
    """Boxes of other systems: code, what the real one printed, what ours prints, what differs."""

    def __init__(self, boxes: Sequence[PeerCode]) -> None:
        self.boxes = tuple(boxes)
        self.here = [_output_of_our_layer(box) for box in self.boxes]

    @property
    def columns(self) -> list[list[str]]:
        """For each system, in order, the lines of all its boxes: what it printed, or we did.

        Of an error, only its kind. Made for `lessons.table`.
        """
        found: dict[str, list[str]] = {}
        for box, here in zip(self.boxes, self.here, strict=True):
            lines = (box.prints or here or "").splitlines()
            found.setdefault(box.system, []).extend(
                re.sub(r"^(\w+Error): .*", r"\1", x) for x in lines
            )
        return list(found.values())

    @property
    def counts(self) -> dict[str, int]:
        """The cards of the boxes, counted by several rules: quote a share with its rule.

        systems: all that have a card; alive: those still developed. By the beginning: began, all
        that began static; still, those of them that are alive. By what is possible today: able,
        those alive that can build a static graph, on its own or beside a dynamic one.

        >>> counts = beside("L14").counts
        >>> print(counts["systems"], counts["began"], counts["alive"], counts["able"])
        9 4 5 5
        """
        cards = [box.card for box in self.boxes if box.card]
        alive = [card for card in cards if card.today != "ended"]
        return {
            "systems": len(cards),
            "alive": len(alive),
            "began": [card.began for card in cards].count("static"),
            "still": [card.began for card in alive].count("static"),
            "able": sum(card.today != "dynamic" for card in alive),
        }

    def __repr__(self) -> str:
        parts = []
        for box, here in zip(self.boxes, self.here, strict=True):
            name, line, _ = SYSTEMS[box.system]
            parts.append(row_text("beside_in", system=name))
            parts += [bilingual_lines(_card_html(box.card), "  ")] if box.card else []
            parts += _indent(f"{line}\n{box.code}")
            if box.version:
                parts.append(row_text("beside_prints", version=box.version))
                parts += _indent(box.prints)
            if here is None:
                parts.append(row_text("beside_none"))
            elif here != box.prints:
                parts += [row_text("beside_here"), *_indent(here)]
            parts += [bilingual_lines(box.text, "  "), ""]
        return "\n".join(parts).rstrip("\n")

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _page(self) -> tuple[Pair, str]:
        found: dict[str, str] = {}
        for box, here in zip(self.boxes, self.here, strict=True):
            found[box.system] = found.get(box.system, "") + _box_html(box, here)
        inside, *others = found.values()
        if len(self.boxes) > MANY and not self.boxes[0].card:
            heads = [bilingual(row("beside_in", system=SYSTEMS[x][0])) for x in found][1:]
            folded = map("<details><summary>{}</summary>{}</details>".format, heads, others)
            others = ["<div>", *folded, "</div>"]
        inside += "".join(others)
        return row("beside_title"), f'<div class="mg-shown mg-beside">{inside}</div>'


def _indent(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.splitlines()]


def _output_of_our_layer(box: PeerCode) -> str | None:
    """Return what our compatibility layer prints; None if it does not support the program."""
    return run_and_capture_output(box.code, SYSTEMS[box.system][2]) if box.face else None


def _card_html(card: System) -> Pair:
    """Return when a system appeared, which mode it used then and now, and its state today."""
    began, today = (ROWS[f"beside_{mode}"] for mode in (card.began, card.today))
    return row("beside_card", first=card.first, began=began, today=today, state=card.state)


def _box_html(box: PeerCode, here: str | None) -> str:
    name, line, face = SYSTEMS[box.system]
    code = f"{line}\n{box.code}"
    parts = [f"<h4>{bilingual(row('beside_in', system=name))}</h4>"]
    parts += [f"<p>{bilingual(_card_html(box.card))}</p>"] if box.card else []
    parts.append(f"<pre>{escape(code)}</pre>")
    if box.version:
        parts.append(f"<p>{bilingual(row('beside_prints', version=box.version))}</p>")
        parts.append(f'<pre class="mg-beside-printed">{escape(box.prints)}</pre>')
    if here is None:
        note = row("beside_none")
    else:
        note = row("beside_same" if here == box.prints else "beside_other", line=f"`{face}`")
        note = note if line != face else row("beside_here")
    parts.append(f"<p>{bilingual(note)}</p>")
    if here not in (None, box.prints):
        parts.append(f'<pre class="mg-beside-printed">{escape(str(here))}</pre>')
    return f"<section>{''.join(parts)}<p>{bilingual(box.text)}</p></section>"


def beside(lesson: str) -> Boxes:
    """Show how PyTorch, TensorFlow and JAX write what a lesson is about.

    UnknownIdError for an unknown lesson.

    >>> print("\\n".join(str(beside("L00")).splitlines()[:11]))
    In PyTorch
        import torch
        x = torch.tensor(2.0, requires_grad=True)
        y = x * x + 3
        print(y)
        y.backward()
        print(x.grad)
    printed by torch 2.13.0+cpu
        tensor(7., grad_fn=<AddBackward0>)
        tensor(4.)
    printed here
    """
    return Boxes(find_lesson(lesson).beside)
