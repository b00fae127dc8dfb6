"""The reference of all public names, from their docstrings: python docs/reference.py [FOLDER].

pdoc writes the pages. What it cannot see is added here: the record of the operator that a function
stands for, with the derivative that its gradient rule gives when it is called on symbols; and what
the few values mean that have no docstring of their own. A warning is an error.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pdoc.doc
import pdoc.render

from minigrad import ops
from minigrad.core import REGISTRY, Op, Sample, spec_of
from minigrad.diagnostics.errors import GraphError
from viz.picture import formula

FOLDER = Path(__file__).parents[1] / "build" / "api"
MODULES = (
    "minigrad",
    "minigrad.nn",
    "minigrad.nn.functional",
    "minigrad.optim",
    "minigrad.data",
    "minigrad.passes",
    "minigrad_lessons",
    "viz",
)
VALUES = {
    "INEXACT": "Passes that may change rounding, NaN or infinities; they run only when named.",
    "PASSES": "The optimiser passes by name: those of the pipeline, and the inexact ones.",
    "PIPELINE": "The passes that `Graph.optimize` applies when none are named, in this order.",
    "bool_": "The data type of truth values.",
    "float32": "The data type of numbers with a fraction, unless another one is asked for.",
    "float64": "The data type with twice the digits, in which gradients are checked.",
    "int32": "The data type of integers below 2³¹.",
    "int64": "The data type of integers, unless another one is asked for.",
    "REGISTRY": "All operators by name. ∂ is the gradient that comes from above.",
}
# Functions that are called otherwise than the operator they stand for.
OTHERWISE = {"Print": "print_value", "Assert": "assert_true", "embedding": "take"}
OTHERWISE |= {"subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg"}
DTYPES = ("bool", "int64", "float32", "float64")


# ---- The record of an operator ----------------------------------------------------------------


def record_of(name: str) -> Op | None:
    """The operator that a public function of this name hands its operands to."""
    found = getattr(ops, OTHERWISE.get(name, name), None)
    return found if isinstance(found, Op) else None


def operands(sample: Sample, dtype: str = "float32") -> list[np.ndarray]:
    """Ones of a data type; positions and conditions in their own."""
    kinds = [
        "int64" if i in sample.integers else "bool" if i in sample.bools else dtype
        for i in range(len(sample.shapes))
    ]
    return [np.ones(shape, kind) for shape, kind in zip(sample.shapes, kinds, strict=True)]


def names(sample: Sample) -> Sequence[str]:
    count = len(sample.shapes)
    return "abcdefgh"[:count] if count > 1 else "x"


def facts(op: Op) -> str:
    """What the record says, as a list in Markdown."""
    sample = op.samples[0]
    rows = [
        f"operator {op}: {op.title[0]}, {op.title[1]}",
        f"computes `{formula.forward(op, names(sample), sample.attrs)}`",
        f"shapes: {shapes(op, sample)}",
        f"data types: {', '.join(data_types(op, sample))}",
        f"gradients: {', '.join(gradients(op, sample)) or 'none'}",
    ]
    return "".join(f"\n- {row}" for row in rows)


def shapes(op: Op, sample: Sample) -> str:
    given = operands(sample)
    result = op.spec([spec_of(x) for x in given], sample.attrs).shape
    options = "".join(f", {key}={value!r}" for key, value in sample.attrs.items())
    example = f"{', '.join(map(str, sample.shapes))}{options} → {result}"
    stretched = op.elementwise and len(given) > 1
    return f"broadcast against each other, for example {example}" if stretched else example


def data_types(op: Op, sample: Sample) -> Iterator[str]:
    """What becomes of operands that are all of one data type."""
    for dtype in DTYPES:
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # of Print
                result = op(*operands(sample, dtype), **sample.attrs)
            yield f"{dtype} → {result.dtype}"
        except GraphError:
            yield f"{dtype} is refused"


def gradients(op: Op, sample: Sample) -> Iterator[str]:
    """The derivative for each operand, spelled out from what the rule builds."""
    specs = [spec_of(x) for x in operands(sample)]
    specs.insert(0, op.spec(specs, sample.attrs))
    for i, name in enumerate(names(sample)):
        text = formula.local(op, i, specs, sample.attrs, ["y", *names(sample)])
        if text:
            yield f"for {name} `{text}`"


def table() -> str:
    """All records, one line each."""
    head = ["", "", "| operator | | computes | gradients |", "|---|---|---|---|"]
    rows = []
    for name, op in sorted(REGISTRY.items()):
        computes, found = op.formula.format(*"abcdefgh"), ""
        if op.samples:
            sample = op.samples[0]
            computes = formula.forward(op, names(sample), sample.attrs)
            found = ", ".join(gradients(op, sample))
        rows.append(f"| {name} | {op.title[0]}, {op.title[1]} | `{computes}` | {found} |")
    return "\n".join([*head, *rows]).replace("`|", "`\\|").replace("|`", "\\|`")


# ---- The pages --------------------------------------------------------------------------------


def documented(module: ModuleType) -> pdoc.doc.Module:
    """A module with the docstrings of its public names completed."""
    for name in module.__all__:
        getattr(module, name, None)  # many load when asked for, and pdoc sees what is loaded
    page = pdoc.doc.Module(module)
    page.submodules = [  # not the modules whose names are those of functions
        pdoc.doc.Module(importlib.import_module(name))
        for name in MODULES
        if name.rpartition(".")[0] == module.__name__
    ]
    for name, member in page.members.items():
        op = record_of(name) if module.__name__.startswith("minigrad") else None
        if name in VALUES:
            member.docstring = VALUES[name] + (table() if name == "REGISTRY" else "")
            member.default_value = pdoc.doc.empty
        elif op is not None and isinstance(member, pdoc.doc.Function):
            member.docstring += "\n" + facts(op)
        if isinstance(member, pdoc.doc.Class):
            adopt(member)
        for function in (member, *getattr(member, "members", {}).values()):
            if isinstance(function, pdoc.doc.Function):
                shorten(function)
    return page


def adopt(page: pdoc.doc.Class) -> None:
    """Show what a class has from a private parent, its constructor above all, as its own."""
    for name, member in page.members.items():
        module, qualname = member.taken_from
        if qualname.startswith("_") and module.startswith(("minigrad", "viz")):
            member.taken_from = (page.modulename, f"{page.qualname}.{name}")


class AsWritten:
    """An annotation as it stands in the source."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shorten(page: pdoc.doc.Function) -> None:
    """NumPy's long types by the names that they go by."""
    written = getattr(page.obj, "__annotations__", {})
    shorter = [
        p.replace(annotation=AsWritten(written[name].replace("npt.", "")))
        if "npt." in str(written.get(name))
        else p
        for name, p in page.signature.parameters.items()
    ]
    page.signature = page.signature.replace(parameters=shorter)


def build(folder: Path = FOLDER) -> list[Path]:
    """Write one page for each module, and those that pdoc adds."""
    pdoc.render.configure(docformat="markdown")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pages = {name: documented(importlib.import_module(name)) for name in MODULES}
        texts = {
            f"{name.replace('.', '/')}.html": pdoc.render.html_module(page, pages)
            for name, page in pages.items()
        }
        texts["index.html"] = pdoc.render.html_index(pages)
        texts["search.js"] = pdoc.render.search_index(pages)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


if __name__ == "__main__":
    print(build(*map(Path, sys.argv[1:2]))[0])
