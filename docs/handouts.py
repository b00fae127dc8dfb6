"""Hand-outs as PDF: python docs/handouts.py FOLDER en|zh [LESSON ...].

For each lesson a sheet or two to print: what one can do afterwards, its picture, the recap, the new
terms, the exercise without its answer, room to write; and the glossary. The text is that of the
notebooks, the pictures are drawn by `viz`, and the letters are those of the font that it ships.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import glossary
import handout_pictures
import matplotlib

import viz
from viz.picture import theme

try:
    from pypdf import PdfReader, PdfWriter, Transformation
    from pypdf.generic import NameObject
    from reportlab.lib import textsplit
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import (
        BaseDocTemplate,
        Flowable,
        Frame,
        KeepTogether,
        PageTemplate,
        Paragraph,
        Preformatted,
        Spacer,
        Table,
        paragraph,
    )
    from tags import Element, Marks, Tagged, begin_page, content_of, end_page, marked, write_tags
except ImportError as error:
    raise SystemExit(
        f'{error}. Hand-outs need ReportLab and pypdf: pip install -e ".[handouts]", or'
        " python tasks.py handouts OUT, which installs it."
    ) from None

LESSONS = sorted((glossary.ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PROJECT = tomllib.loads((glossary.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
AUTHORS = ", ".join(author["name"] for author in PROJECT["authors"])
MARGIN = 20 * mm
WIDTH = A4[0] - 2 * MARGIN
TEXT, CODE = "text", "code"
WORDS = {
    "en": {
        "glossary": "Glossary",
        "columns": ("English", "Chinese", "lesson"),
        "terms": "New terms: ",
        "room": "Room for drafts, drawings and questions",
        "term": "{0}",
        "comma": ", ",
    },
    "zh": {
        "glossary": "术语表",
        "columns": ("中文", "英文", "课"),
        "terms": "新术语：",
        "room": "打草稿、画图、写下问题",
        "term": "{1} {0}",
        "comma": "、",
    },
}
# Marks that must not begin a line and so hang in the margin; ReportLab knows the Japanese ones.
HANGING = "，。、；：！？）】》」』”’"
FORMULAS = {r"\cdot": "·", "^2": "²", r"\mathrm": "", "{": "", "}": ""}


class Lesson(NamedTuple):
    """What of a notebook goes on paper, in one language: Markdown, and code with gaps."""

    title: str
    promise: str
    recap: list[str]
    terms: list[tuple[str, str]]
    heading: str
    exercise: list[tuple[str, str]]


# ---- From the notebook ------------------------------------------------------------------------


def half(text: str, language: str) -> str:
    """One language of a cell of prose, without folded hints and pictures."""
    found = re.search(rf'<div lang="{language}">\n(.*?)\n</div>', text, re.DOTALL)
    kept = re.sub(r"<details>.*?</details>", "", found[1] if found else "", flags=re.DOTALL)
    return re.sub(r"^!?\[.*\n?", "", kept, flags=re.MULTILINE).strip()


def lesson(path: Path, language: str) -> Lesson:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    told = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in cells]
    first, last = told[0][0], told[-1][0]
    part = re.findall(r"\]\(#(\d+)\.-", first)[0]
    title, *rest = half(first, language).split("\n\n")
    english, chinese = (
        re.findall(r"\*\*(?:New terms:|新术语)\*\*[：]? ?(.*)", half(last, k))[0]
        for k in ("en", "zh")
    )
    blocks = [*section(told, part, language)]
    return Lesson(
        title.removeprefix("# "),
        rest[0],
        half(last, language).split("\n\n"),
        [*zip(english.split(", "), chinese.split("、"), strict=True)],
        blocks[0][1],
        blocks[1:],
    )


def section(told: list[tuple[str, bool]], part: str, language: str) -> Iterator[tuple[str, str]]:
    """The heading of a part, its paragraphs, the functions that have gaps.

    And the code that a paragraph leads to with a colon, which would lead to nothing otherwise.
    """
    inside = leads = False
    for source, is_code in told:
        if is_code:
            if inside:
                alone = leads and "### BEGIN" not in source
                found = [*with_gaps(source)] or [source] * alone
                yield from (("code", text) for text in found)
                leads = False
            continue
        for block in re.split(r"\n\n+(?![^`]*```(?!\w))", half(source, language)):
            if block.startswith("## "):
                inside = block.startswith(f"## {part}. ")
                if inside:
                    yield "heading", block.removeprefix("## ")
            elif inside and block:
                leads = block.endswith((":", "："))
                yield "text", block


def with_gaps(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        dots = (part for part in ast.walk(node) if isinstance(part, ast.Constant))
        if isinstance(node, ast.FunctionDef) and any(part.value is ... for part in dots):
            yield ast.get_source_segment(source, node) or ""


# ---- Onto paper -------------------------------------------------------------------------------


def letters() -> None:
    """Make both fonts known, one shipped by viz, the other by matplotlib, and the Chinese marks."""
    mono = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"
    pdfmetrics.registerFont(TTFont(TEXT, str(theme.FONT_PATH)))
    pdfmetrics.registerFont(TTFont(CODE, str(mono)))
    textsplit.ALL_CANNOT_START = paragraph.ALL_CANNOT_START = HANGING


def lacking(text: str, font: str) -> str:
    """The characters of a text that a font has no glyph for."""
    known = pdfmetrics.getFont(font).face.charToGlyph
    return "".join(c for c in text if ord(c) not in known and c != "\n")


def markup(text: str) -> str:
    """Markdown as the markup of ReportLab: code in its own font, what is bold underlined."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.replace("\n", " "))
    marked = []
    for i, piece in enumerate(re.split(r"`([^`]+)`", text)):
        font = CODE if i % 2 and not lacking(piece, CODE) else TEXT
        if lacking(piece, font):
            raise ValueError(f"The font has no {lacking(piece, font)!r}, in: {piece}")
        if not i % 2:
            piece = re.sub(r"\$([^$]+)\$", lambda m: formula(m[1]), piece)
        piece = escape(piece, quote=False)
        if not i % 2:
            piece = re.sub(r"\*\*(.+?)\*\*", r"<u>\1</u>", piece)
            piece = re.sub(r"\*(.+?)\*", r"<u>\1</u>", piece)
        marked.append(f'<font name="{font}" size="-1">{piece}</font>' if i % 2 else piece)
    return "".join(marked)


def formula(text: str) -> str:
    for old, new in FORMULAS.items():
        text = text.replace(old, new)
    return text


def style(size: float, language: str, **more: object) -> ParagraphStyle:
    wrap = {"wordWrap": "CJK"} if language == "zh" else {}
    return ParagraphStyle(
        "", fontName=TEXT, fontSize=size, leading=size * 1.5, spaceAfter=6, **wrap, **more
    )


class Text(Tagged, Paragraph):
    """A paragraph that belongs to an element of the document, to a new one if none is named."""

    def __init__(self, *told: Any, element: Element | None = None, **more: Any) -> None:
        super().__init__(*told, **more)
        self.element = element or Element("P")


class Code(Tagged, Preformatted):
    def __init__(self, *told: Any) -> None:
        super().__init__(*told)
        self.element = Element("Code", Element("P"))


def flow(block: str, language: str) -> Iterator[Flowable]:
    """A block of Markdown: a small heading, a paragraph, a list, or lines of code."""
    if block.startswith("### "):
        small = style(11.5, language, keepWithNext=1)
        yield Text(markup(block.removeprefix("### ")), small, element=Element("H3"))
    elif fenced := re.fullmatch(r"```\w*\n(.*?)\n?```", block, re.DOTALL):
        yield lines_of_code(fenced[1])
    elif re.match(r"- |\d+\. ", block):
        whole = Element("L")
        for mark, item in re.findall(r"^(-|\d+\.) (.*(?:\n  .*)*)", block, re.MULTILINE):
            indented = style(10.5, language, leftIndent=14, bulletIndent=0)
            mark = "•" if mark == "-" else mark
            body = Element("LBody", Element("LI", whole))
            yield Text(markup(item), indented, bulletText=mark, element=body)
    else:
        yield Text(markup(block), style(10.5, language))


def lines_of_code(text: str) -> Flowable:
    """Code as it is typed, on a ground of its own."""
    plain = ParagraphStyle("", fontName=CODE, fontSize=8.5, leading=12, spaceAfter=0)
    table = Table([[Code(text, plain)]], colWidths=[WIDTH], spaceAfter=8)
    table.setStyle([("BACKGROUND", (0, 0), (-1, -1), "#F3F4F6")])
    return table


class Room(Flowable):
    """Ruled lines down to the end of the page; none where little is left, and no page for them."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width, self.height = width, height - 1 if height > 30 * mm else 0
        return self.width, self.height

    def draw(self) -> None:
        if not self.height:
            return
        with content_of(Element("H2"), self.canv):
            self.canv.setFont(TEXT, 13)
            self.canv.drawString(0, self.height - 22, self.title)
        self.canv.setStrokeGray(0.7)
        for i in range(2, int(self.height / (9 * mm)) + 1):
            y = self.height - 9 * mm * i
            self.canv.line(0, y, self.width, y)


class Picture(Flowable):
    """Room for a drawing; `stamp` puts its page there, whose lines and letters stay such.

    alt: what a screen reader says that it shows.
    """

    def __init__(self, path: Path, alt: str) -> None:
        super().__init__()
        self.alt = alt
        self.page = PdfReader(path).pages[0]
        wide, high = (float(length) for length in self.page.mediabox[2:])
        self.scale = min(1, WIDTH / wide, 90 * mm / high)
        self.width, self.height = wide * self.scale, high * self.scale

    def draw(self) -> None:
        self.number = self.canv.getPageNumber()
        x, y = self.place = self.canv.absolutePosition(0, 0)
        box = [x, y, x + self.width, y + self.height]
        attributes = {"/Alt": self.alt, "/A": {"/O": "/Layout", "/BBox": box}}
        self.begin = Element("Figure", None, attributes).begin(self.canv)


def stamp(path: Path, story: list[Flowable], marks: Marks) -> None:
    """Put the drawings into the places that were left for them, and say what all pieces are."""
    writer = PdfWriter(clone_from=path)
    for part in story:
        if isinstance(part, Picture):
            drawn = marked(part.page.get_contents().get_data(), part.begin)
            part.page[NameObject("/Contents")] = drawn
            moved = Transformation().scale(part.scale).translate(*part.place)
            writer.pages[part.number - 1].merge_transformed_page(part.page, moved)
    write_tags(writer, marks)
    writer.write(path)


def picture(name: str, folder: Path, language: str) -> Iterator[Flowable]:
    """The picture of a lesson at its own size, or as wide as the page."""
    if name in handout_pictures.DRAWN:
        drawing = handout_pictures.DRAWN[name]()
        alt = drawing.picture.alt()[language == "zh"]
        yield from (Picture(Path(drawing.save(folder / f"{name}.pdf")), alt), Spacer(1, 10))


def sheet(path: Path, language: str, folder: Path) -> list[Flowable]:
    """Everything on the hand-out of a lesson."""
    about, words = lesson(path, language), WORDS[language]
    big, head = style(20, language), style(13, language, spaceBefore=8, keepWithNext=1)
    story = [Text(markup(about.title), big, element=Element("H1")), *flow(about.promise, language)]
    story += picture(f"L{path.name[:2]}", folder, language)
    title, *recap = about.recap
    story.append(Text(markup(title.removeprefix("## ")), head, element=Element("H2")))
    for block in recap[:-2]:
        story += flow(block, language)
    terms = words["comma"].join(words["term"].format(*pair) for pair in about.terms)
    story.append(Text(words["terms"] + markup(terms), style(10.5, language)))
    exercise = [Text(markup(about.heading), head, element=Element("H2"))]
    for kind, block in about.exercise:
        exercise += [lines_of_code(block)] if kind == "code" else flow(block, language)
    exercise.append(Text(markup(recap[-1]), style(8, language, textColor="#57606A")))
    # Where it doesn't fit below the rest, it begins a page: a line or two alone fill none.
    high = sum(part.wrapOn(None, WIDTH, A4[1])[1] + 8 for part in exercise)
    kept = [KeepTogether(exercise)] if high < A4[1] - 2 * MARGIN else exercise
    return [*story, *kept, Room(words["room"])]


def terms_of(language: str) -> list[Flowable]:
    """The glossary as a table, in the alphabet of its language."""
    words, plain = WORDS[language], style(9.5, language)
    told = [(en, zh, link[1:4]) for en, zh, link in glossary.rows()]
    if language == "zh":
        # This encoding has the common characters in the order of their sound.
        told = sorted(((zh, en, name) for en, zh, name in told), key=lambda r: r[0].encode("gbk"))
    whole, other = Element("Table"), "en" if language == "zh" else "zh"

    def line(kind: str, row: Sequence[str], attributes: Sequence[dict[str, Any]]) -> list[Text]:
        above = Element("TR", whole)
        elements = [Element(kind, above, told) for told in attributes]
        return [Text(markup(c), plain, element=e) for c, e in zip(row, elements, strict=True)]

    heads = [{"/A": {"/O": "/Table", "/Scope": "/Column"}}] * 3
    cells = [line("TH", words["columns"], heads)]
    cells += (line("TD", row, [{}, {"/Lang": other}, {}]) for row in told)
    table = Table(cells, colWidths=[WIDTH * part for part in (0.48, 0.4, 0.12)], repeatRows=1)
    lines = [("LINEBELOW", (0, 0), (-1, -1), 0.4, "#D0D7DE"), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    table.setStyle(lines)
    return [Text(words["glossary"], style(20, language), element=Element("H1")), table]


def write(path: Path, title: str, story: list[Flowable], language: str) -> None:
    marks: Marks = defaultdict(list)

    def foot(canvas: Canvas, document: BaseDocTemplate) -> None:
        begin_page(canvas, marks)
        canvas.setFont(TEXT, 8)
        canvas.drawString(MARGIN, 10 * mm, title)
        canvas.drawRightString(A4[0] - MARGIN, 10 * mm, str(document.page))

    told = {"title": title, "author": AUTHORS, "lang": language}
    document = BaseDocTemplate(str(path), pagesize=A4, invariant=1, **told)
    frame = Frame(MARGIN, MARGIN, WIDTH, A4[1] - 2 * MARGIN, 0, 0, 0, 0)
    document.addPageTemplates(PageTemplate(frames=[frame], onPage=foot, onPageEnd=end_page))
    document.build(list(story))  # which it takes out of the list
    stamp(path, story, marks)


def main(folder: Path, language: str, *names: str) -> None:
    letters()
    viz.language(language)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as pictures:
        for path in LESSONS:
            name = f"L{path.name[:2]}"
            if not names or name in names:
                story = sheet(path, language, Path(pictures))
                title = lesson(path, language).title
                write(folder / f"{name}_{language}.pdf", title, story, language)
    if not names or "glossary" in names:
        title = WORDS[language]["glossary"]
        write(folder / f"glossary_{language}.pdf", title, terms_of(language), language)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
