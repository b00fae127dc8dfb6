"""What a board shows at each step, as plain data: panels, scenes, a table; marks in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from minigrad.diagnostics.messages import one_line
from viz.picture.cards import CardSpace, State
from viz.picture.drawing import LAYOUT_LIMIT
from viz.picture.marks import note
from viz.picture.picture import Picture
from viz.picture.summary import Summary
from viz.picture.theme import MARKS
from viz.words.text import ROWS, Pair, bilingual, listed, row

# Nodes; of a larger picture only the marked ones and their neighbours are drawn. Eight drawings of
# so many, one for each pass, are as much as a page of 1 MB holds.
FOCUS = 100


@dataclass(frozen=True)
class Panel:
    """One drawing, or a few lines of code, and the marks on them at one step.

    marks: kinds out of `theme.MARKS` by id of a node or an arrow; notes: values by node id, in
    words; held: what cards and inspector show of them, tensors as pictures; among: the union of
    pictures where each node of this one has its place; code: lines, each with its mark ("" for
    none); svg: a finished drawing that has no nodes; message: a sentence beneath, or instead of a
    drawing. alike: marked as at the step before, so that the text can leave it out. rooms, states:
    of a picture that is shown as it is elsewhere, what its cards hold.
    """

    title: Pair
    picture: Picture | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, Summary] = field(default_factory=dict)
    code: tuple[tuple[str, str], ...] = ()
    svg: str = ""
    message: Pair | None = None
    alike: bool = False
    among: Picture | None = None
    rooms: Mapping[str, CardSpace] = field(default_factory=dict)
    states: Mapping[str, State] = field(default_factory=dict)
    omitted: tuple[str, ...] = ()  # kinds of marks that the text leaves out, so that it stays short

    @property
    def card_texts(self) -> dict[str, str]:
        """The text in the cards: the sign of a mark, and a value."""
        notes = self.written
        texts = {i: note(self.marks.get(i, ""), notes.get(i, "")) for i in (*self.marks, *notes)}
        return {i: words for i, words in texts.items() if words}

    @property
    def written(self) -> dict[str, str]:
        """The texts on the cards: for a tensor, what is beside its picture."""
        return {**self.notes, **{i: x.beside for i, x in self.held.items()}}

    def text(self, i: int) -> list[str]:
        """Return the panel as lines of text in language i: its title, and what is marked."""
        lines = [f"  {self.title[i]}"]
        for node in self.picture.nodes if self.picture else ():
            kind, value = self.marks.get(node.id, ""), self.notes.get(node.id, "")
            if (kind or value) and kind not in self.omitted:
                name = f"{node.name} = {node.op}" if node.name and node.inputs else node.label
                shown = f"{MARKS[kind].sign if kind else ' '} {node.id} {name}"
                lines.append(one_line(f"    {shown}: {value}" if value else f"    {shown}"))
        lines += [f"    {MARKS[kind].sign if kind else ' '} {line}" for kind, line in self.code]
        if self.message:
            lines += [f"    {line}" for line in self.message[i].splitlines()]
        return lines


@dataclass(frozen=True)
class Scene:
    """One step: what happened, the panels, facts beneath them, and the row of the table.

    place: the label beside the slider instead of the number of the step.
    inputs: the positions of the sliders of the inputs, if the board has any.
    """

    caption: Pair
    panels: tuple[Panel, ...] = ()
    facts: tuple[Pair, ...] = ()
    row: int | None = None
    place: str = ""
    inputs: tuple[float, ...] = ()

    @property
    def drawing_count(self) -> int:
        """The number of drawings side by side."""
        return max(1, sum(panel.picture is not None for panel in self.panels))


@dataclass(frozen=True)
class Sheet:
    """A table of all steps; folds: the column, counted from the end, that a phone leaves out."""

    head: tuple[Pair, ...]
    rows: tuple[tuple[Pair, ...], ...]
    folds: int = 0

    def text(self, i: int) -> list[str]:
        return [" | ".join(cell[i] for cell in line) for line in (self.head, *self.rows)]

    def html(self, now: int | None = None) -> str:
        head = "".join(f'<th scope="col">{bilingual(cell)}</th>' for cell in self.head)
        body = "".join(
            ('<tr class="mg-row">' if k == now else "<tr>")
            + "".join(f"<td>{bilingual(cell)}</td>" for cell in line)
            + "</tr>"
            for k, line in enumerate(self.rows)
        ).replace(" → ", "&nbsp;→&nbsp;")  # no line ends there
        return (
            f'<table class="mg-table mg-folds-{self.folds}">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def spoken(panel: Panel) -> Pair:
    """Describe the marks in words, for screen readers."""
    kinds = dict.fromkeys(panel.marks.values())
    nodes = panel.picture.nodes if panel.picture else ()
    named = {k: [n.label for n in nodes if panel.marks.get(n.id) == k] for k in kinds}
    english, chinese = (
        semicolon.join(ROWS[f"mark_{k}"][i] + colon + comma.join(named[k]) for k in kinds)
        for i, (colon, comma, semicolon) in enumerate([(": ", ", ", "; "), ("：", "、", "；")])
    )
    return row("alt_marks", marks=(english, chinese)) if kinds else ("", "")


def legend(scene: Scene) -> Pair:
    """Explain the signs in the drawings of one step; words need no legend."""
    found = {kind for panel in scene.panels for kind in panel.marks.values()}
    kinds = [kind for kind, mark in MARKS.items() if kind in found and not mark.worded]
    said = ((MARKS[kind].sign, *ROWS[f"mark_{kind}"]) for kind in kinds)
    return listed(((f"{sign} {en}", f"{sign} {zh}") for sign, en, zh in said), "; ", "；")


def focus(picture: Picture, chosen: Mapping[str, str]) -> Picture:
    """Reduce a large picture to the chosen nodes and their neighbours, or to its layers.

    Of neighbours that are too many to lay out the layers, too.
    """
    if len(picture.nodes) <= FOCUS:
        return picture
    if not chosen:
        return picture.fold()
    kept = set(chosen)
    for edge in picture.edges:
        if edge.source in chosen or edge.target in chosen:
            kept |= {edge.source, edge.target}
    kept |= {end for e in picture.edges if e.id in chosen for end in (e.source, e.target)}
    part = picture.part(kept)
    return part if len(part.nodes) <= LAYOUT_LIMIT else part.fold()
