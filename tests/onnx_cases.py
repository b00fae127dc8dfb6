"""The cases of the `onnx` package's own backend suite: how many pass, and why the others do not.

    python tests/onnx_cases.py            # prints the figures
    python tests/onnx_cases.py --write    # writes docs/onnx.md as well

A case is a model, inputs and outputs, with the tolerance that the suite gives. Where a model asks
for the value of an input while its graph is built (how to reshape, along which axes), the case is
run with that input held constant, and counted apart.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

import minigrad as mg

PAGE = Path(__file__).parents[1] / "docs" / "onnx.md"
# Whatever stops a case is its reason.
STOPS = (mg.GraphError, AssertionError, ValueError, TypeError, LookupError, AttributeError)
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")


@dataclass
class Result:
    """What became of the cases of one kind: by name whether inputs were held, or why it failed."""

    kind: str
    passed: dict[str, bool] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def reasons(self) -> list[tuple[str, list[str]]]:
        found = defaultdict(list)
        for name, reason in self.failed.items():
            found[reason].append(name.removeprefix("test_"))
        return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def run(kind: str) -> Result:
    """Run all cases of one kind."""
    result = Result(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the suite, which divides by 0 to make its data
        for case in load_model_tests(kind=kind):
            try:
                result.passed[case.name] = run_case(case)
            except STOPS as error:
                result.failed[case.name] = reason(error)
    return result


def run_case(case: Any) -> bool:
    """Run one case; whether an input was held constant."""
    model = case.model or onnx.load(Path(case.model_dir, "model.onnx"))
    held = False
    for inputs, outputs in case.data_sets or stored(Path(case.model_dir)):
        names = [x.name for x in model.graph.input]
        feeds = dict(zip(names, map(array, inputs), strict=False))
        graph, known = build(model, feeds)
        held = held or bool(known)
        found = mg.run(graph, {x.name: feeds[x.name] for x in graph.inputs})
        check([found] if graph.single else found, [array(y) for y in outputs], case)
    return held


def check(found: Sequence[Any], expected: Sequence[Any], case: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        if np.asarray(a).dtype != b.dtype:
            raise AssertionError(f"type {np.asarray(a).dtype} and not {b.dtype}")
        np.testing.assert_allclose(a, b, rtol=case.rtol, atol=case.atol)


def build(model: Any, feeds: Mapping[str, Any]) -> tuple[mg.Graph, dict[str, Any]]:
    """The graph, and the inputs that it had to know."""
    known: dict[str, Any] = {}
    while True:
        try:
            return mg.from_onnx(model, known=known), known
        except mg.FormatError as error:
            asked = {k: v for k, v in feeds.items() if k not in known and k in wanted(error, feeds)}
            if not asked:
                raise
            known.update(asked)


def wanted(error: BaseException | None, feeds: Mapping[str, Any]) -> set[str]:
    """The input whose value was asked for; all of whole numbers if it is computed from them."""
    while error is not None and getattr(error, "key", "") != "onnx_value":
        error = error.__cause__
    if error is None:
        return set()
    name = error.fields["name"].strip("'")  # type: ignore[attr-defined]
    whole = {k for k, v in feeds.items() if getattr(v, "dtype", np.dtype(float)).kind in "iub"}
    return {name} if name in feeds else whole


def array(x: Any) -> Any:
    return onnx.numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x


def stored(folder: Path) -> list[tuple[list[Any], list[Any]]]:
    """The data that lie beside a model."""
    return [
        (read(part, "input"), read(part, "output")) for part in sorted(folder.glob("test_data_*"))
    ]


def read(folder: Path, kind: str) -> list[Any]:
    found = []
    for i in range(len(list(folder.glob(f"{kind}_*.pb")))):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{kind}_{i}.pb").read_bytes())
        found.append(onnx.numpy_helper.to_array(tensor))
    return found


def reason(error: Any) -> str:
    """In a few words why a case failed."""
    while getattr(error, "key", "") in ("onnx_load", "onnx_node") and error.__cause__ is not None:
        error = error.__cause__
    key, fields = getattr(error, "key", ""), getattr(error, "fields", {})
    if key == "onnx_type":
        kind = str(fields["kind"])
        return f"values of type {kind.removesuffix('_type')}"
    if key == "onnx_operator":
        return f"no operator {fields['op']}".replace("'", "")
    if key == "onnx_value":
        return f"{fields['op']} asks for a value that is known only when the graph runs"
    if key == "onnx_unsupported":
        return f"{fields['op']}: {fields['what']}"
    if isinstance(error, AssertionError):
        return "another result"
    return f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"


def told(results: Sequence[Result]) -> str:
    """The page."""
    rows = [
        f"| {r.kind} | {len(r.passed) + len(r.failed)} | {len(r.passed)} |"
        f" {sum(r.passed.values())} | {len(r.failed)} |"
        for r in results
    ]
    parts = [
        "# ONNX in figures · ONNX 数据",
        "",
        "Written by `python tests/onnx_cases.py --write`, which runs the cases of the backend suite"
        f" that the package `onnx` brings (version {onnx.__version__}), with the suite's own"
        " tolerances. “Held” are those among the passed in which an input that says how to build"
        " the graph (axes, lengths) was given to `mg.from_onnx` as `known`.",
        "",
        "由 `python tests/onnx_cases.py --write` 写出：运行 `onnx` 包自带的后端测试，"
        "误差限也用它自己的。“固定输入”指通过的用例中，有输入决定图怎样构建（如轴、长度），"
        "因而以 `known` 交给 `mg.from_onnx`。",
        "",
        "| cases · 用例 | all · 总数 | passed · 通过 | held · 固定输入 | failed · 失败 |",
        "|---|--:|--:|--:|--:|",
        *rows,
        "",
        "Why the others fail · 其余失败的原因",
    ]
    for result in results:
        if result.failed:
            parts += [
                "",
                f"## {result.kind}",
                "",
                "| reason · 原因 | cases · 用例数 | for example · 例如 |",
            ]
            parts += ["|---|--:|---|"]
            parts += [f"| {why} | {len(names)} | `{names[0]}` |" for why, names in result.reasons]
    return "\n".join(parts) + "\n"


def main() -> None:
    results = [run(kind) for kind in KINDS]
    page = told(results)
    sys.stdout.write(page)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
