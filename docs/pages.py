"""Pages to read, which play without a kernel: python docs/pages.py FOLDER [NOTEBOOK ...].

For each notebook and language one HTML file that brings along all it shows and asks for nothing,
and in front of them the page on which you draw a digit (digit.py).
The notebooks are run in that language, and nbconvert writes the pages with the template beside it.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import digit
import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

import minigrad as mg
from minigrad_lessons.lesson.course import Course, course
from minigrad_lessons.student import LINKS
from viz import assets
from viz.page.document import POLICY, STYLE, packed
from viz.page.stored import PLAYED, ROOM
from viz.picture.fonts import font_face

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
TEMPLATE = ROOT / "docs" / "template"
LANGUAGES = ("en", "zh")
KEPT = 300_000  # bytes for the positions of the sliders of one player; packed they take a third
# What sentences say that a page has no use for: how to run it, how to change its language.
NOTEBOOK = r"Run\sthe\scells|below\sthe\snext\scell|从上到下运行|单元格下方的按钮"
KINDS = [PLAYED, "text/html", "image/svg+xml", "image/png", "text/plain"]
HEADING = re.compile("^##+ ", re.MULTILINE)
HAN = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
WORDS = {
    "en": {
        "lang": "en",
        "site": "How deep-learning frameworks think",
        "other": "中文",
        "other_lang": "zh-Hans",
        "skip": "Skip to the text",
        "lessons": "All lessons",
        "around": "Lessons before and after",
        "parts": "On this page",
        "code": "Code",
        "all_code": "Show all code",
        "held": "Shown once you have chosen.",
        "show": "Show it",
        "exercise": "Run it, and fill in the gaps",
        "run": "Run this lesson",
        "running": "To run it",
        "how": "These pages are to read and to play with. To run the lessons and to write your own"
        " engine, get the course and type this in its folder; it opens the lesson in JupyterLab:",
        "here": "These pages are to read and to play with. The lessons themselves run in your"
        " browser, with nothing installed: there you write your own engine.",
        "begin": "Run the lessons",
        "home": "First page",
        "map": "The lessons",
        "gallery": "Gallery: every view, once",
        "start": "Start here",
    },
    "zh": {
        "lang": "zh-Hans",
        "site": "深度学习框架是怎样思考的",
        "other": "English",
        "other_lang": "en",
        "skip": "直接看正文",
        "lessons": "全部课程",
        "around": "前一课与后一课",
        "parts": "本页内容",
        "code": "代码",
        "all_code": "显示全部代码",
        "held": "选好之后再显示。",
        "show": "现在就看",
        "exercise": "运行这一课，把空填上",
        "run": "运行这一课",
        "running": "怎样运行",
        "how": "这些页面用来读，也可以动手播放。要运行课程、写自己的引擎，请下载这门课，"
        "在它的文件夹里输入下面这一行，JupyterLab 就会打开这一课：",
        "here": "这些页面用来读，也可以动手播放。课程本身就在浏览器里运行，什么都不用安装："
        "在那里写你自己的引擎。",
        "begin": "运行课程",
        "home": "首页",
        "map": "课程",
        "gallery": "图库：每种视图各一个",
        "start": "从这里开始",
    },
}


# ---- Running ----------------------------------------------------------------------------------


def ran(path: Path, language: str) -> nbformat.NotebookNode:
    """The notebook after a run from an empty kernel in this language, with what its pages play."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as learner:
        chosen = {"language": {"language": language}}  # as if the reader had chosen it
        Path(learner, ".minigrad.json").write_text(json.dumps(chosen), "utf-8")
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            store_widget_state=False,
            resources={"metadata": {"path": str(path.parent)}},
        )
        client.execute(env={**os.environ, "MINIGRAD_LEARNER": learner, ROOM: str(KEPT)})
    return notebook


# ---- From a notebook to what the template is given -----------------------------------------------


def pared(notebook: nbformat.NotebookNode, language: str) -> tuple[list[str], list[str], list[str]]:
    """Leave, in place, what a page in one language shows: neither answers nor hidden tests.

    Returns the scripts and the styles of its views, of which a page needs one copy each, and the
    programs that compute for their sliders.
    """
    scripts: dict[str, int] = {}
    styles: dict[str, int] = {}
    programs: dict[str, int] = {}
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "nbgrader" not in cell.metadata and cell.get("id") != "install"
    ]
    unfold(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = prose(cell.source, language)
            if cell.metadata["held"]:
                cell.metadata["answer"], cell.source = parted(cell.source)
            continue
        cell.metadata["exercise"] = has_gaps(cell.source)
        kept = [] if cell.metadata["exercise"] else cell.outputs
        cell.outputs = [output for output in kept if not is_of_a_learner(output)]
        for data in (output["data"] for output in cell.outputs if "data" in output):
            if made := data.pop(PLAYED, None):
                styles.setdefault(made["style"], len(styles))
                number = scripts.setdefault(made["script"], len(scripts))
                told = {"text": data["text/plain"], "values": packed(made["values"])}
                program = programs.setdefault(made["program"] or "null", len(programs))
                data[PLAYED] = {"widget": number, "program": program, **told}
    return list(scripts), list(styles), list(programs)


def unfold(cells: Sequence[Any]) -> None:
    """Mark the code that a page shows at once, and what a prediction holds back.

    Code is open where the text tells you to read it, and where a prediction is about code that the
    text doesn't quote. What its cell shows waits until the reader has chosen, and so does the text
    after it, unless it sets an exercise.
    """
    text, code, waits, answers, needed = "", list[Any](), False, False, False
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if cell.cell_type == "markdown":
            answers = answers or (waits and bool(code))
            cell.metadata["held"] = answers and not (after and has_gaps(after.source))
            answers = answers and not HEADING.search(cell.source)
            waits = waits and not code and not HEADING.search(cell.source)
            text, code = cell.source, []
            needed = bool(READ.search(text))
            continue
        answers, asks = False, cell.source.startswith(ASKING)
        cell.metadata |= {"asks": asks, "open": needed and not asks, "held": waits and not asks}
        if not asks:
            needed, code = False, [*code, cell]
            continue
        waits = cell.source.startswith("lessons.predict(")
        if waits and "```" not in text:
            needed = not code
            for before in code:
                before.metadata["open"] = True
        code = []


def prose(text: str, language: str) -> str:
    """The half of a cell in this language, without what it says of running a notebook."""
    other = "|".join(code for code in LANGUAGES if code != language)
    half = re.sub(rf'<div lang="({other})">\n.*?\n</div>\n*', "", text, flags=re.DOTALL)
    return re.sub(rf"(?<=[.。])[^.。]*(?:{NOTEBOOK})[^.。]*[.。]", "", LINKS.sub("", half))


def parted(half: str) -> tuple[str, str]:
    """What answers a prediction, up to the next heading, and the rest.

    >>> parted('<div lang="en">\\n\\nSix.\\n\\n## Next\\n\\nAdd.\\n\\n</div>')[0]
    '<div lang="en">\\n\\nSix.\\n\\n</div>'
    """
    begin, text, end = re.split(r"(\A<div[^>]*>\n\n|\n\n</div>\s*\Z)", half)[1:4]
    found = HEADING.search(text)
    cut = found.start() if found else len(text)
    answer, rest = text[:cut].strip(), text[cut:]
    return (f"{begin}{answer}{end}" if answer else "", f"{begin}{rest}{end}" if rest else "")


PRE = r'(?:<div class="\s*highlight[^>]*><pre[^>]*>(?:<span></span>)?|<pre>(?!<code))'
MARKED = re.compile(
    "(<math>(?:(?!</math>).)*</math>[，。：；、！？）])"
)  # no line begins with a mark

SHAPE = re.compile(r"(?<=\(\d,) (?=\d)|(?<=\(\d\d,) (?=\d)")  # a shape is one word
HYPHENED = re.compile("(define-(?:and|by)-run)")
SHORT = re.compile("^<code>((?:[^<&]|&[a-z]+;){1,20})</code>")  # code that no line breaks


def alive(html: str) -> str:
    """Prose as nbconvert gives it, with MathML for formulas, and buttons that play a picture again.

    nbconvert leaves formulas to a script of the network, and a picture has no address of its own.
    """
    html = re.sub(r'<img [^>]*src="data:image/svg\+xml;base64,([^"]+)"[^>]*>', stacked, html)
    html = hung(html)
    html = html.replace('href="pictures/digit.html"', 'href="../index.html"')
    html = re.sub(r'<a href="pictures/[^"]*">(.*?)</a>', AGAIN, html)
    pieces = re.split(r"(<pre.*?</pre>|<code.*?</code>)", html, flags=re.DOTALL)  # code: odd places
    pieces[::2] = (re.sub(r"\$([^$]+)\$", lambda m: mathml(m[1]), p) for p in pieces[::2])
    pieces[::2] = (MARKED.sub(r'<span class="marked">\1</span>', p) for p in pieces[::2])
    pieces[::2] = (
        re.sub(r"(?<=\d) × (?=\d)", "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}", p) for p in pieces[::2]
    )
    pieces[::2] = (SHAPE.sub("\N{NO-BREAK SPACE}", p) for p in pieces[::2])
    pieces[::2] = (HYPHENED.sub(r'<span class="marked">\1</span>', p) for p in pieces[::2])
    pieces[::2] = (p.replace(" · ", "\N{NO-BREAK SPACE}· ") for p in pieces[::2])  # ends its line
    pieces[1::2] = (SHORT.sub(r'<code class="marked">\1</code>', p) for p in pieces[1::2])
    return "".join(pieces)


def hung(html: str) -> str:
    """Code whose long lines go on further to the right than they begin."""
    return re.sub(f"(?s)({PRE})(.*?)(?=</pre>)", _hung, html)


def _hung(found: re.Match[str]) -> str:
    shown, around = found[1], ""  # the tags that are open where a line begins
    for line in found[2].splitlines():
        opened, text = list[str](), re.sub("<[^>]*>", "", line)
        for tag in re.findall("<[^>]*>", around + line):
            opened = opened[:-1] if tag.startswith("</") else [*opened, tag]
        closed = "".join(f"</{re.findall('[a-z]+', tag)[0]}>" for tag in reversed(opened))
        indent = len(text) - len(text.lstrip(" "))
        shown += f'<span class="line" style="--in:{indent}">{around}{line}{closed}\n</span>'
        around = "".join(opened)
    return shown


def stacked(found: re.Match[str]) -> str:
    """A picture that has a form for a phone, with this form for narrow pages."""
    shown = base64.b64decode(found[1])
    for narrow in NOTEBOOKS.glob("pictures/*_phone_*.svg"):
        if narrow.with_name(narrow.name.replace("_phone", "")).read_bytes() == shown:
            code = base64.b64encode(narrow.read_bytes()).decode()
            source = f'srcset="data:image/svg+xml;base64,{code}"'
            return f'<picture><source media="(max-width: 600px)" {source}>{found[0]}</picture>'
    return found[0]


ASKING = (
    "lessons.quiz(",
    "lessons.predict(",
    "lessons.order(",
)  # the code says no more than the question
# What tells a reader to read the code that comes next.
READ = re.compile(
    "Read the next cell|The first cell (?!below prepares)|comments in the next cell|Bug hunt|"
    "Is the culprit"
)
SWITCH = "<style><!--\n:is(.mg-player"  # how what `viz.language` stores begins
UNSAID = ("import ", "from ", "#", "@", ")", "viz.language(")  # what says nothing of it
AGAIN = r'<button type="button" class="again">\1</button>'


def has_gaps(source: str) -> bool:
    """Whether code waits for an answer, which a check will judge."""
    if "lessons.check(" not in source:
        return False
    constants = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return any(node.value is ... for node in constants)


def telling(source: str) -> str:
    """The line that says what folded code is about: the first that is no import and no comment.

    >>> telling("import viz\\n\\n@mg.function\\ndef score(x):\\n    return x")
    'def score(x):'
    >>> telling("viz.curves(\\n    a,\\n    b,\\n)")
    'viz.curves(…'
    """
    lines = source.strip().splitlines()
    said = (line for line in lines if line.strip() and not line.lstrip().startswith(UNSAID))
    line = next(said, lines[0] if lines else "").strip()
    return f"{line}…" if line.endswith(("(", "[", "{", ",")) else line


def is_of_a_learner(output: Any) -> bool:
    """Whether it is what `viz.language` shows, or where the parts of one's own engine are kept."""
    html = output.get("data", {}).get("text/html", "")
    return html.startswith(SWITCH) or "<b>my_engine</b>" in html


TOKENS = re.compile(
    r"\\mathrm\{(\w+)\}|(\\cdot)|([A-Za-z])|(\d+(?:\.\d+)?)|([-+=/()])|(\^)|\s+|(.)"
)


def mathml(formula: str) -> str:
    """A formula of the lessons as MathML, which browsers write without a script.

    ValueError for what no lesson has needed so far.

    >>> mathml("x^2 + 3")
    '<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mn>3</mn></math>'
    """
    parts: list[str] = []
    raised = False
    for name, dot, letter, number, sign, power, unknown in TOKENS.findall(formula):
        if unknown:
            raise ValueError(f"formula ${formula}$: {unknown!r} is not known here")
        if power:
            raised = True
            continue
        part = f"<mn>{number}</mn>" if number else f"<mo>{sign}</mo>" if sign else ""
        part = part or (
            "<mo>·</mo>" if dot else f"<mi>{name or letter}</mi>" * bool(name or letter)
        )
        if raised and part:
            part, raised = f"<msup>{parts.pop()}{part}</msup>", False
        parts += [part] if part else []
    return f"<math>{''.join(parts)}</math>"


# ---- Pages ------------------------------------------------------------------------------------


def title_of(notebook: nbformat.NotebookNode, language: str) -> str:
    found = re.findall("^# (.*)$", prose(notebook.cells[0].source, language), re.MULTILINE)
    return re.sub("`", "", found[0])


def headings(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """The parts of a page, as Markdown, whose anchors nbconvert makes of the words."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from re.findall("^## (.*)$", cell.source, re.MULTILINE)


def order() -> list[Path]:
    """The notebooks in which a reader goes through the course."""
    lessons = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    return [
        NOTEBOOKS / "index.ipynb",
        NOTEBOOKS / "tour.ipynb",
        *lessons,
        NOTEBOOKS / "gallery.ipynb",
    ]


@cache
def exporter() -> HTMLExporter:
    """What writes all pages: to compile its templates takes a third of the time of a page."""
    made = HTMLExporter(
        template_name=TEMPLATE.name,
        extra_template_basedirs=[str(TEMPLATE.parent)],
        embed_images=True,
        config={"NbConvertBase": {"display_data_priority": KINDS}},
    )
    for own in (alive, telling, hung):
        made.register_filter(own.__name__, own)
    return made


RENDERING = threading.Lock()  # the exporter notes which notebook it writes


def page(
    notebook: nbformat.NotebookNode, path: Path, language: str, run: str, slides: bool = False
) -> str:
    """The page of a notebook that has run.

    run: where a link to run it leads, with {notebook} for the name of the file. slides: whether one
    screen after another is shown.
    """
    scripts, styles, programs = pared(notebook, language)
    told = about(notebook, path, language, run)
    resources = {"page": told, "metadata": {"path": str(path.parent)}}
    with RENDERING:
        html, _ = exporter().from_notebook_node(notebook, resources=resources)
    parts = ("page", "slides") if slides else ("page",)
    css = "".join((TEMPLATE / f"{part}.css").read_text("utf-8") for part in parts)
    own = "\n".join((TEMPLATE / f"{part}.js").read_text("utf-8") for part in parts)
    css = STYLE + "".join(styles) + css
    return finished(html, css, script_of(scripts, programs, own), language)


def about(notebook: nbformat.NotebookNode, path: Path, language: str, run: str) -> dict[str, Any]:
    """What stands around the cells."""
    around = [None, *order(), None]
    place = around.index(path)
    parts = [name.replace("`", "") for name in headings(notebook)]
    return {
        "words": WORDS[language],
        "language": language,
        "other": next(code for code in LANGUAGES if code != language),
        "name": path.stem,
        "start": path.stem == "index",
        "title": title_of(notebook, language),
        "parts": [(name, name.replace(" ", "-")) for name in parts],
        "before": neighbour(around[place - 1], language),
        "after": neighbour(around[place + 1], language),
        "alone": run == RUN,
        "run": run.format(notebook=path.name),
        "policy": POLICY,
        "played": PLAYED,
        "version": mg.__version__,
    }


def script_of(modules: Sequence[str], programs: Sequence[str], own: str) -> str:
    """The one script of a page: the widgets, and what makes them play without a kernel."""
    made = (module.replace("export default", "return") for module in modules)
    widgets = ",\n".join(f"(() => {{\n{module}\n}})()" for module in made)
    given = f"const widgets = [{widgets}];\nconst programs = [{', '.join(programs)}];"
    pages = "".join(assets.source(f"{name}.js") for name in ("recompute", "page"))
    return f"{pages}\n{given}\n{own}"


def finished(html: str, css: str, script: str, language: str) -> str:
    """With style, font and script in their places, links to pages, and a policy that lets no other
    script run and asks for nothing.
    """
    names = "|".join(path.stem for path in order())
    html = re.sub(rf'href="({names})\.ipynb', r'href="\1.html', html)
    html = re.sub(r'<a class="anchor-link"[^>]*>[^<]*</a>', "", html)
    html = re.sub(r'(?:id|href)="#?[^":/]*%[^":/]*"', lambda found: unquote(found[0]), html)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = html.replace(POLICY, POLICY.format(digest=digest))
    html = html.replace("/*STYLE*/", font_face(seen(html, script, language), latin=True) + css)
    return html.replace("/*SCRIPT*/", script)


def seen(html: str, script: str, language: str) -> str:
    """What the font must be able to write: of the other language only signs.

    The script has words of its own, such as those at frames.
    """
    if language == "zh":
        return html + script
    alone = re.sub(r'<(\w+)[^>]* lang="zh[^"]*"[^>]*>.*?</\1>', "", html, flags=re.DOTALL)
    alone = re.sub(r'<script type="application/json">.*?</script>', "", alone, flags=re.DOTALL)
    return alone + HAN.sub("", html + script) + WORDS["en"]["other"]


def neighbour(path: Path | None, language: str) -> dict[str, str] | None:
    if path is None:
        return None
    title = title_of(nbformat.read(path, as_version=4), language)
    return {"name": path.stem, "title": title}


def start(language: str) -> nbformat.NotebookNode:
    """The start page: how the course begins, and its map, on which nothing is begun or done."""
    notebook = nbformat.read(NOTEBOOKS / "index.ipynb", as_version=4)
    stops = [stop._replace(parts={}, solved=False) for stop in course(NOTEBOOKS).stops]
    cell = nbformat.v4.new_code_cell("lessons.course()")
    html = Course(stops)._repr_html_()
    cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": html})]
    notebook.cells = [notebook.cells[0], cell]
    return notebook


RUN = "index.html#run"


def write_pages(
    folder: str | Path,
    notebooks: Sequence[str | Path] = (),
    languages: Sequence[str] = LANGUAGES,
    run: str = RUN,
) -> list[Path]:
    """Write a page for each notebook and language into FOLDER/LANGUAGE, and the start page.

    notebooks: all of the course, where none is named. run: the address to which links lead that run
    a lesson, seen from a page, with {notebook} for the name of its file.
    """
    chosen = [Path(path).resolve() for path in notebooks] or order()

    def write(task: tuple[Path, str]) -> Path:
        path, language = task
        made = start(language) if path.stem == "index" else ran(path, language)
        target = Path(folder, language, f"{path.stem}.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(made, path, language, run), "utf-8")
        print(f"{target}  {target.stat().st_size / 1e6:.2f} MB", flush=True)
        return target

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        written = list(pool.map(write, [(path, code) for path in chosen for code in languages]))
    entrance = Path(folder, "index.html")
    entrance.write_text(digit.page(digit.lessons_in("")), "utf-8")
    return [entrance, *written]


if __name__ == "__main__":
    write_pages(sys.argv[1], sys.argv[2:])
