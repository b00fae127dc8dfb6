"""What dynamic mode has for its speed alone, and how to do without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import minigrad as mg
from minigrad.core import context, events
from minigrad.dynamic.quick.ways import QuickReader
from minigrad.dynamic.recorder import TapeReader
from minigrad.dynamic.tensor import PLAIN

ROOT = Path(__file__).parents[1]
# A step of training, then which files of the quick ways it entered, and what these prepared.
STEP = """
import os, sys
import minigrad as mg

entered = set()

def follow(frame, event, argument):
    entered.add(frame.f_code.co_filename)

model = mg.nn.Sequential(mg.nn.Linear(3, 4, seed=0), mg.nn.Tanh(), mg.nn.Linear(4, 1, seed=1))
optimizer = mg.optim.Adam(model.parameters(), 0.1)
x = mg.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
sys.settrace(follow)
for _ in range(3):
    loss = ((model(x) - 1.0) ** 2 + x.sum() / 7).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
sys.settrace(None)
print(loss.numpy().tobytes().hex(), *[p.numpy().tobytes().hex() for p in model.parameters()])
print(sorted(os.path.basename(f) for f in entered if os.path.join("dynamic", "quick") in f))
print(sorted(op.name for op in mg.REGISTRY.values() if op.prepared))
"""


def step(plain: str | None) -> list[str]:
    """What the step prints in a fresh process, with that value of MINIGRAD_PLAIN."""
    given = {k: v for k, v in os.environ.items() if k != "MINIGRAD_PLAIN"}
    given |= {"PYTHONPATH": str(ROOT)} | ({} if plain is None else {"MINIGRAD_PLAIN": plain})
    command = [sys.executable, "-c", STEP]
    return subprocess.run(
        command, env=given, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_the_shut_door_enters_nothing_that_is_there_for_speed_and_gives_the_same_bits() -> None:
    shut, opened = step("1"), step(None)
    assert shut[0] == opened[0]
    assert shut[1:] == ["[]", "[]"]
    assert "ways.py" in opened[1]
    assert "'MatMul'" in opened[2]


def test_only_1_shuts_the_door() -> None:
    assert step("0") == step(None)


def test_the_reader_of_tensors_is_the_one_that_was_chosen() -> None:
    assert type(mg.Tensor.reader) is (TapeReader if PLAIN else QuickReader)


def test_whoever_reads_tensors_in_the_place_of_the_tape_gives_the_place_back() -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    seen = []

    def f(x: mg.Tensor) -> mg.Tensor:
        seen.append((context.taker, *events.listeners))
        with mg.Graph():  # no body: tensors are tensors again
            seen.append((context.taker, *events.listeners))
            assert isinstance(w * 2, mg.Tensor)
        with mg.lazy_batch():  # nothing waits where nodes are built
            assert isinstance(w * 2, mg.Node)
        return x * w

    with mg.lazy_batch():
        collector = context.taker
        mg.trace(f, w)
        assert context.taker is collector
    assert context.taker is None
    assert seen == [(mg.Node.reader,), (None,)]


def test_a_layer_that_enters_its_graph_once_more_builds_on() -> None:
    class Doubling(mg.nn.Module):
        def forward(self, x: mg.Node) -> mg.Node:
            with x.graph:
                twice = w * 2
            assert isinstance(twice, mg.Node)
            with mg.Graph():
                assert isinstance(w * 2, mg.Tensor)
            return x * twice

    w = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        y = Doubling()(x)
        assert mg.run(mg.build_graph(x, y), {x: [1.0, 1.0]}).tolist() == [2.0, 4.0]
