"""The fast paths of dynamic mode, and how to do without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad as mg
from minigrad import ops
from minigrad.core import context, events
from minigrad.dynamic.fast_paths import PLAIN
from minigrad.dynamic.fast_paths.reader import FastReader
from minigrad.dynamic.recorder import TapeReader

ROOT = Path(__file__).parents[2]
# A step of training, then which files of the fast paths it entered, and what these prepared.
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
print(sorted(os.path.basename(f) for f in entered if os.path.join("dynamic", "fast_paths") in f))
prepared = lambda op: [x for x in op.memo.values() if type(x).__name__ == "PreparedPullback"]
print(sorted(op.name for op in mg.REGISTRY.values() if prepared(op)))
"""


def step(plain: str) -> list[str]:
    """What the step prints in a fresh process, with that value of MINIGRAD_PLAIN."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), "MINIGRAD_PLAIN": plain}
    command = [sys.executable, "-c", STEP]
    return subprocess.run(
        command, env=given, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_the_plain_code_enters_no_fast_path_and_gives_the_same_bits() -> None:
    plain, fast = step("1"), step("0")  # which only 1 turns off
    assert plain[0] == fast[0]
    assert plain[1:] == ["[]", "[]"]
    assert "reader.py" in fast[1]
    assert "'MatMul'" in fast[2]


def test_the_reader_of_tensors_is_the_one_that_was_chosen() -> None:
    assert (os.environ.get("MINIGRAD_PLAIN") == "1") is PLAIN
    assert type(mg.Tensor.reader) is (TapeReader if PLAIN else FastReader)


class Metres(mg.Tensor):
    """A subclass of tensors."""


def products(x: mg.Tensor) -> tuple[set[str], list[mg.Tensor]]:
    """Compute something in several ways; return the modules of dynamic mode that ran, and it."""
    ran: set[str] = set()
    sys.settrace(lambda frame, *_: ran.add(Path(frame.f_code.co_filename).stem))
    results = [x * x, 2.0 * x, -x, mg.exp(x), x.exp(), ops.mul(x, x), x.T, x.T * Metres(x.data)]
    sys.settrace(None)
    return ran & {"reader", "recorder"}, results


@pytest.mark.speed
def test_set_fast_chooses_the_code_that_runs_and_changes_no_bit() -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    products(x)  # what is met for the first time is prepared by plain code
    fast, expected = products(x)
    try:
        mg.set_fast(False)
        plain, found = products(x)
        with mg.lazy_batch():
            waiting = x * x
        assert waiting.data.tolist() == [[1.0, 4.0], [9.0, 16.0]]
        found[0].sum().backward()
    finally:
        mg.set_fast(True)
    again, _ = products(x)
    assert (fast, plain, again) == ({"reader", "recorder"}, {"recorder"}, {"reader", "recorder"})
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        assert one.data.tobytes() == other.data.tobytes()
    assert x.grad is not None
    assert x.grad.data.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert type(found[-1]) is Metres


def test_set_fast_takes_a_flag() -> None:
    with pytest.raises(mg.ArgumentError, match="set_fast"):
        mg.set_fast("off")  # type: ignore[arg-type]


def test_a_reader_that_takes_the_place_of_the_tape_gives_it_back() -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    seen = []

    def f(x: mg.Tensor) -> mg.Tensor:
        seen.append((context.now.active_reader, *events.listeners))
        with mg.Graph():  # no body: tensors are tensors again
            seen.append((context.now.active_reader, *events.listeners))
            assert isinstance(w * 2, mg.Tensor)
        with mg.lazy_batch():  # nothing waits where nodes are built
            assert isinstance(w * 2, mg.Node)
        return x * w

    with mg.lazy_batch():
        collector = context.now.active_reader
        mg.trace(f, w)
        assert context.now.active_reader is collector
    assert context.now.active_reader is None
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
