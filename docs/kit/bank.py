"""The questions of the lessons as a bank: Moodle's XML, and QTI 2.1 for other systems."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zipfile
from html import escape
from pathlib import Path

from minigrad_lessons.questions import Question, all_lessons

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
PROCESSING = """\
<responseProcessing><responseCondition><responseIf>
<match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>
<setOutcomeValue identifier="SCORE"><baseValue baseType="float">1</baseValue></setOutcomeValue>
</responseIf></responseCondition>
<setOutcomeValue identifier="FEEDBACK"><variable identifier="RESPONSE"/></setOutcomeValue>
</responseProcessing>"""
SIDES = {"en": 0, "zh": 1}


def asked() -> dict[str, list[Question]]:
    """The questions with one right letter, lesson by lesson; putting lines in order is left out."""
    return {
        name: [q for q in lesson.questions.values() if sum(o.right for o in q.options) == 1]
        for name, lesson in all_lessons().items()
    }


def html(text: str) -> str:
    """Text with `code` in it, and what stands alone in lines of its own, as HTML."""
    told = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return f"<p>{told.strip()}</p>".replace("\n", "<br/>")


def moodle(language: str) -> str:
    """All questions as one file that Moodle imports, a category for each lesson."""
    side, quiz = SIDES[language], ET.Element("quiz")
    for lesson, questions in asked().items():
        category = ET.SubElement(ET.SubElement(quiz, "question", type="category"), "category")
        ET.SubElement(category, "text").text = f"$course$/minigrad/{lesson}"
        for question in questions:
            entry = ET.SubElement(quiz, "question", type="multichoice")
            ET.SubElement(ET.SubElement(entry, "name"), "text").text = question.id
            _text(entry, "questiontext", question.text[side])
            ET.SubElement(entry, "single").text = "true"
            ET.SubElement(entry, "shuffleanswers").text = "true"
            ET.SubElement(entry, "answernumbering").text = "ABCD"
            for option in question.options:
                answer = _text(entry, "answer", option.text[side])
                answer.set("fraction", "100" if option.right else "0")
                _text(answer, "feedback", option.feedback[side])
    ET.indent(quiz)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(quiz, "unicode") + "\n"


def _text(parent: ET.Element, tag: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, tag, format="html")
    ET.SubElement(element, "text").text = html(text)
    return element


def qti(language: str, path: Path) -> None:
    """All questions as a package of QTI 2.1: a manifest, and a file for each question."""
    side, manifest = SIDES[language], ET.Element("manifest", xmlns=PACKAGE, identifier="minigrad")
    ET.SubElement(manifest, "organizations")
    resources = ET.SubElement(manifest, "resources")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for question in (q for questions in asked().values() for q in questions):
            name = f"Q{question.id.replace('.', '-')}"
            told = {"identifier": name, "type": "imsqti_item_xmlv2p1", "href": f"{name}.xml"}
            ET.SubElement(ET.SubElement(resources, "resource", told), "file", href=f"{name}.xml")
            package.writestr(f"{name}.xml", _document(item(question, name, side)))
        package.writestr("imsmanifest.xml", _document(manifest))


def item(question: Question, name: str, side: int) -> ET.Element:
    """One question with its options, the right one, and what is said to each."""
    about = {"identifier": name, "title": question.id, "adaptive": "false"}
    entry = ET.Element("assessmentItem", about | {"xmlns": QTI, "timeDependent": "false"})
    single = {"cardinality": "single", "baseType": "identifier"}
    declared = ET.SubElement(entry, "responseDeclaration", {"identifier": "RESPONSE", **single})
    right = next(
        letter for letter, o in zip(question.letters, question.options, strict=True) if o.right
    )
    ET.SubElement(ET.SubElement(declared, "correctResponse"), "value").text = right
    score = {"identifier": "SCORE", "cardinality": "single", "baseType": "float"}
    ET.SubElement(entry, "outcomeDeclaration", score)
    ET.SubElement(entry, "outcomeDeclaration", {"identifier": "FEEDBACK", **single})
    body = ET.SubElement(entry, "itemBody")
    body.append(ET.fromstring(f"<div>{html(question.text[side])}</div>"))
    options = {"responseIdentifier": "RESPONSE", "shuffle": "true", "maxChoices": "1"}
    choices = ET.SubElement(body, "choiceInteraction", options)
    entry.append(ET.fromstring(PROCESSING))
    for letter, option in zip(question.letters, question.options, strict=True):
        choice = ET.SubElement(choices, "simpleChoice", identifier=letter)
        choice.append(ET.fromstring(html(option.text[side])))
        shown = {"outcomeIdentifier": "FEEDBACK", "identifier": letter, "showHide": "show"}
        told = ET.SubElement(entry, "modalFeedback", shown)
        told.append(ET.fromstring(html(option.feedback[side])))
    return entry


def _document(root: ET.Element) -> bytes:
    ET.indent(root)
    return ET.tostring(root, "utf-8", xml_declaration=True)
