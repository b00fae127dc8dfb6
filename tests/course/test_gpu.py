"""The lesson on GPUs: its prose quotes the stored figures; where a card is, it is measured."""

from __future__ import annotations

import contextlib
import functools
import re
import timeit
import tomllib
from types import SimpleNamespace
from typing import Any

import pytest
from lessons import LESSONS, ROOT, code_cells
from test_lessons import halves, prose

import minigrad_lessons as lessons
from minigrad_lessons.lesson import gpu

(PATH,) = (path for path in LESSONS if path.stem == "15_gpu")
STORED = lessons.on_gpu()
AT = {row["width"]: row for row in STORED["widths"]}
TOKENS = {row["tokens"]: row for row in STORED["layers"]}
STEP = STORED["step"]
H200 = lessons.on_gpu(card="H200")
COMPILED = H200["compiled"]

# The figures that the prose quotes, by how it writes them.
QUOTED = {
    "740": STEP["processor"][1],
    "669": STEP["eager"][1],
    "622": STEP["eager"][0],
    "756": STEP["eager"][2],
    "65": STEP["captured"][1],
    "62": STEP["jit"][1],
    "1,087": AT[128]["eager"][1],
    "28": AT[128]["kernels"],
    "59": AT[128]["busy"],
    "24": STEP["eager"][1] / AT[128]["kernels"],
    "2": AT[128]["busy"] / AT[128]["kernels"],
    "442": AT[32768]["busy"],
    "0.06": AT[128]["captured"][1] / AT[128]["eager"][1],
    "0.36": AT[32768]["captured"][1] / AT[32768]["eager"][1],
    "3.30": TOKENS[1]["eager"][1] / 1000,
    "0.34": TOKENS[1]["captured"][1] / 1000,
    "2.24": TOKENS[2048]["eager"][1] / 1000,
    "1.25": TOKENS[2048]["captured"][1] / 1000,
    "61": H200["step"]["captured"][1],
    "103": H200["step"]["jit"][1],
    "1,468": COMPILED["eager"][1],
    "493": COMPILED["default"][1],
    "275": COMPILED["reduce_overhead"][1],
    "6": COMPILED["first_call"]["default"],
}
# What is no figure: sizes, readings, times that the title announces, numbers to work with.
OTHERS = {"64", "784", "128", "10", "32,768", "2,048", "31", "20", "1", "3", "5", "0"}
NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])", re.ASCII)


def numbers(text: str) -> set[str]:
    """The numbers of a text, without those of headings, lists and parts."""
    text = re.sub(
        r"(?m)^(#+ )?\d\. |part \d|第 \d 节|2026-11-28|PyTorch 2\.11|CUDA 13\.0", "", text
    )
    return {found.rstrip(",") for found in NUMBER.findall(text)}


@pytest.mark.parametrize("half", [0, 1], ids=["en", "zh"])
def test_every_figure_in_the_prose_is_one_that_was_measured(half: int) -> None:
    found = set().union(*(numbers(prose(pair[half])) for pair in halves(PATH)))
    assert found - QUOTED.keys() - OTHERS == set()
    assert found >= QUOTED.keys()
    for text, value in QUOTED.items():
        decimals = len(text.partition(".")[2])
        assert f"{value:,.{decimals}f}" == text


def test_the_prose_names_the_card_the_date_and_the_versions() -> None:
    machine, opening = STORED["machine"], halves(PATH)[1]
    assert machine["card"].startswith("NVIDIA H100")
    assert machine["versions"].startswith("PyTorch 2.11.")
    assert machine["versions"].endswith("CUDA 13.0")
    for half in opening:
        for named in ("NVIDIA H100", machine["date"], "PyTorch 2.11", "CUDA 13.0"):
            assert named in half
    assert "H200" in H200["machine"]["card"]
    assert H200["machine"]["date"] == "2026-11-29", "a day later, as the lesson says"


@pytest.mark.parametrize(("language", "exam"), [("en", "For an exam"), ("zh", "考试用题")])
def test_the_page_for_teachers_quotes_them_too(language: str, exam: str) -> None:
    page = (ROOT / "docs" / "teaching" / language / "L15.md").read_text("utf-8")
    found = set(re.findall(r"([\d,.]+) µs", page.partition(f"## {exam}")[0]))
    assert {"740", "669", "59", "1,087"} <= found <= QUOTED.keys()


def test_the_questions_quote_the_same_figures() -> None:
    bank = tomllib.loads((ROOT / "minigrad_lessons/questions/L15.toml").read_text("utf-8"))
    (asked,) = (q for q in bank["question"] if q["id"] == "L15.2")
    for language in ("en", "zh"):
        assert "669 µs" in asked[language]
    assert STORED["frozen"] == H200["frozen"]
    assert STORED["frozen"]["y"] == [3.0, 21.0, 21.0]
    assert AT[128]["busy"] < STEP["eager"][1] / 10, "the right answer of L15.2"


@pytest.mark.parametrize("card", ["H100", "H200"])
def test_stored_times_are_quartiles_and_the_card_is_never_busier_than_its_step(card: str) -> None:
    stored = lessons.on_gpu(card=card)
    rows = [*stored["widths"], *stored["layers"], stored["step"]]
    times = [row[side] for row in rows for side in ("eager", "captured")]
    assert all(low <= middle <= high for low, middle, high in times)
    assert all(row["busy"] <= row["captured"][1] < row["eager"][1] for row in stored["widths"])


# ---- Where there is a card: with a stand-in for PyTorch and its clock --------------------------


class Torch:
    """What `measured` uses of PyTorch. A step takes 5 µs of a clock of its own, a replay 2."""

    __version__ = "2.0"

    def __init__(self, available: bool = True) -> None:
        self.now = 0.0
        self.version = SimpleNamespace(cuda="1.0")
        self.cuda = SimpleNamespace(
            is_available=lambda: available,
            get_device_name=lambda: "a card",
            synchronize=lambda: None,
        )
        self.profiler = SimpleNamespace(
            ProfilerActivity=SimpleNamespace(CUDA=0),
            profile=lambda activities, acc_events: self.profile(),
        )

    def takes(self, seconds: float) -> None:
        self.now += seconds

    @contextlib.contextmanager
    def profile(self) -> Any:
        cuda, cpu = SimpleNamespace(name="CUDA"), SimpleNamespace(name="CPU")
        rows = [("gemm", cuda, 1.5), ("relu", cuda, 0.25), ("Memset", cuda, 9), ("aten", cpu, 9)]
        events = [SimpleNamespace(name=n, device_type=t, device_time=d) for n, t, d in rows]
        yield SimpleNamespace(events=lambda: events)


def measured_with(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(gpu, "which", lambda name: name)
    monkeypatch.setattr(gpu, "util", SimpleNamespace(find_spec=lambda name: name))
    monkeypatch.setattr(gpu, "import_module", lambda name: torch)
    repeat = functools.partial(timeit.repeat, timer=lambda: torch.now)
    monkeypatch.setattr(gpu.timeit, "repeat", repeat)
    return lessons.on_gpu(
        lambda torch, width: lambda: torch.takes(5e-6),
        lambda torch, step: lambda: torch.takes(2e-6),
    )


def test_where_there_is_a_card_the_same_figures_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = measured_with(Torch(), monkeypatch)
    assert found["machine"].keys() == STORED["machine"].keys()
    assert found["machine"]["card"] == "a card"
    assert [row["width"] for row in found["widths"]] == [*AT]
    for row in found["widths"]:
        assert row.keys() == AT[128].keys()
        assert row["eager"] == pytest.approx([5.0] * 3)
        assert row["captured"] == pytest.approx([2.0] * 3)
        assert (row["kernels"], row["busy"]) == (2, 1.75)
    assert found["step"]["width"] == 128


def test_without_a_cuda_device_the_stored_figures_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert measured_with(Torch(available=False), monkeypatch) == STORED


def test_the_lesson_captures_after_a_warm_up_on_a_stream_of_its_own() -> None:
    (source,) = (c.source for c in code_cells(PATH) if c.source.startswith("def capture("))
    said: list[str] = []

    @contextlib.contextmanager
    def during(name: str) -> Any:
        said.append(f"begin {name}")
        yield
        said.append(f"end {name}")

    graph = SimpleNamespace(replay=lambda: said.append("replay"))
    cuda = SimpleNamespace(
        synchronize=lambda: said.append("wait"),
        Stream=lambda: "stream",
        stream=during,
        CUDAGraph=lambda: graph,
        graph=lambda made: during("graph") if made is graph else None,
    )
    names: dict[str, Any] = {}
    exec(source, names)
    names["capture"](SimpleNamespace(cuda=cuda), lambda: said.append("step"))()
    warm_up = ["wait", "begin stream", "step", "step", "step", "end stream", "wait"]
    assert said == [*warm_up, "begin graph", "step", "end graph", "replay"]
