"""Tags for a PDF: what each part of a page is, in reading order, so that screen readers can tell.

ReportLab writes none. Here, what a `Tagged` flowable draws becomes content of its element, and the
rest of a page is an artifact, which screen readers leave out. `write_tags` adds the tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    IndirectObject,
    NameObject,
    NumberObject,
    PdfObject,
    TextStringObject,
)
from reportlab.pdfgen.canvas import Canvas

ARTIFACT = "/Artifact BMC"


class Element:
    """An element of the structure: "H1", "P", "LI"…; attributes as a PDF names them."""

    def __init__(self, kind: str, parent: Element | None = None, attributes: Any = ()) -> None:
        self.kind, self.parent, self.attributes = kind, parent, dict(attributes)

    def begin(self, canvas: Canvas) -> str:
        """Note one more piece of this element on the page; return the operator that begins it."""
        marks = canvas.marks[canvas.getPageNumber()]
        marks.append(self)
        return f"/{self.kind} <</MCID {len(marks) - 1}>> BDC"


Marks = dict[int, list[Element]]  # for each page, the element of each piece on it


def begin_page(canvas: Canvas, marks: Marks) -> None:
    canvas.marks = marks
    canvas.addLiteral(ARTIFACT)


def end_page(canvas: Canvas, _: object) -> None:
    canvas.addLiteral("EMC")


@contextmanager
def content_of(element: Element, canvas: Canvas) -> Iterator[None]:
    """Make what is drawn in the `with` block a piece of the element."""
    canvas.addLiteral(f"EMC {element.begin(canvas)}")
    yield
    canvas.addLiteral(f"EMC {ARTIFACT}")


class Tagged:
    """Mixed into a Flowable: draws the content of `element`.

    Drawn once more, as the head of a table is on each further page, it is an artifact.
    """

    element: Element | None

    def draw(self) -> None:
        element, self.element = self.element, None
        with content_of(element, self.canv) if element else nullcontext():
            super().draw()

    def split(self, width: float, height: float) -> list[Any]:
        parts = super().split(width, height)
        for part in parts:
            part.element = self.element
        return parts


def marked(data: bytes, begin: str) -> DecodedStreamObject:
    """Return the operators of a drawing as a piece of an element."""
    stream = DecodedStreamObject()
    stream.set_data(b"%s\n%s\nEMC" % (begin.encode(), data))
    return stream


def write_tags(writer: PdfWriter, marks: Marks) -> None:
    """Add the tree of the elements whose pieces lie on the pages, in the order of the pieces."""
    top = {"/Type": "/StructTreeRoot", "/K": [], "/ParentTree": {"/Nums": []}}
    root = written(writer, top)
    made = {
        None: written(writer, {"/Type": "/StructElem", "/S": "/Document", "/P": root, "/K": []})
    }
    root.get_object()["/K"].append(made[None])

    def of(element: Element | None) -> Any:
        if element not in made:
            above = of(element.parent)
            told = {"/Type": "/StructElem", "/S": f"/{element.kind}", "/P": above, "/K": []}
            made[element] = written(writer, {**told, **element.attributes})
            above.get_object()["/K"].append(made[element])
        return made[element]

    numbers = root.get_object()["/ParentTree"]["/Nums"]
    for key, number in enumerate(sorted(marks)):
        page = writer.pages[number - 1]
        page.update(as_pdf({"/StructParents": key, "/Tabs": "/S"}))
        above = [of(element) for element in marks[number]]
        for mark, element in enumerate(above):
            piece = {"/Type": "/MCR", "/Pg": page.indirect_reference, "/MCID": mark}
            element.get_object()["/K"].append(as_pdf(piece))
        numbers += [as_pdf(key), written(writer, above)]
    shown = {"/MarkInfo": {"/Marked": True}, "/ViewerPreferences": {"/DisplayDocTitle": True}}
    writer.root_object.update(as_pdf({"/StructTreeRoot": root, **shown}))
    writer.pdf_header = "%PDF-1.7"


def written(writer: PdfWriter, value: Any) -> IndirectObject:
    return writer._add_object(as_pdf(value))


def as_pdf(value: Any) -> Any:
    """Return a value as a PDF object; a string that begins with a slash becomes a name."""
    if isinstance(value, PdfObject):
        return value
    if isinstance(value, dict):
        return DictionaryObject({NameObject(name): as_pdf(part) for name, part in value.items()})
    if isinstance(value, list):
        return ArrayObject(as_pdf(part) for part in value)
    if isinstance(value, str):
        return NameObject(value) if value.startswith("/") else TextStringObject(value)
    kinds = {bool: BooleanObject, int: NumberObject, float: FloatObject}
    return kinds[type(value)](value)
