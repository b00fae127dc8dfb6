"""A saved graph behind an address: what it answers and refuses, how it ends, and what is stored."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lessons import LESSONS, code_cells

import minigrad as mg
import minigrad_lessons as lessons
from minigrad.saving.endpoint import Endpoint
from minigrad_lessons.lesson import over_http as serving
from minigrad_lessons.questions import find_lesson

pytestmark = pytest.mark.usefixtures("english")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 2))
        w = mg.Variable([[1.0], [10.0]], name="w")
        graph = mg.build_graph(x, [x @ w, x * x])
        session.run(mg.global_variables_initializer())
        graph.save(tmp_path / "two.graph", session)
    return tmp_path / "two.graph"


def test_a_process_of_its_own_answers_with_the_bits_of_the_graph(file: Path) -> None:
    rows = np.array([[1.0, 2.0], [0.1, 0.3]], np.float32)
    reply = lessons.over_http("L14", file, rows)
    expected = rows @ np.array([[1.0], [10.0]], np.float32), rows * rows
    assert [y.astype(np.float32).tolist() for y in reply.outputs] == [y.tolist() for y in expected]
    assert reply.fresh
    assert "saving" in reply.loaded
    assert not {"nn", "optim", "compiler"} & {*reply.loaded}
    assert "ended with code 0" in str(reply)
    assert f"it loaded {', '.join(reply.loaded)}." in str(reply)


def test_what_is_wrong_is_said(file: Path) -> None:
    with pytest.raises(ValueError, match=r"refused: FeedError.*\(None, 2\)"):
        lessons.over_http("L14", file, [1.0])
    file.write_bytes(b"no graph")
    with pytest.raises(ValueError, match="refused: FormatError: "):
        lessons.over_http("L14", file, [[1.0, 2.0]])


def test_where_no_process_can_be_started_the_stored_answer_is_shown_and_said_to_be(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    reply = lessons.over_http("L14", file, [[1.0, 2.0]])
    assert not reply.fresh
    assert "stored answer, from minigrad" in str(reply)
    assert "static" in reply.loaded
    assert f"loaded {', '.join(reply.loaded)}." in str(reply)
    assert reply.outputs[0].shape == (8, 10)
    with pytest.raises(OSError, match="no processes here"):
        lessons.over_http("L00", file, [[1.0, 2.0]])


def test_what_is_stored_is_what_the_lesson_shows() -> None:
    notebook = next(path for path in LESSONS if path.name.startswith("14_"))
    cell = next(c for c in code_cells(notebook) if "lessons.over_http(" in c.source)
    shown = "".join(output.get("text", "") for output in cell.outputs)
    chances = np.asarray(find_lesson("L14").served["outputs"][0])
    assert np.allclose(chances.sum(axis=1), 1, atol=1e-3)
    assert shown.startswith(f"{chances.argmax(axis=1)} ")


def test_it_listens_to_this_machine_alone_and_goes_on_after_a_wrong_question(file: Path) -> None:
    endpoint = Endpoint(mg.load_graph(file))
    assert endpoint.server_address[0] == "127.0.0.1"
    thread = threading.Thread(target=endpoint.serve_forever)
    thread.start()
    try:

        def asked(body: str, **headers: str) -> tuple[int, Any]:
            connection = HTTPConnection("127.0.0.1", endpoint.server_port, timeout=20)
            connection.request("POST", "/", body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        assert asked("[[[1, 2]]]")[0] == 200
        for wrong in ("{", "[[[1, 2]], 3]", '["a"]', "null"):
            assert asked(wrong)[0] == 400
        assert "ValueError: zip" in asked("[]")[1], "nothing is fed to a placeholder"
        assert asked("", **{"Content-Length": "99999999999"})[0] == 400
        assert '"outputs": [[[21.0]], [[1.0, 4.0]]]' in asked("[[[1, 2]]]")[1]
    finally:
        endpoint.shutdown()
        thread.join()
        endpoint.server_close()


def test_it_ends_when_its_input_does(file: Path) -> None:
    command = [sys.executable, "-m", "minigrad.saving.endpoint", str(file)]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert int(done.stdout) > 0
    assert done.stderr == ""
    assert serving.SECONDS == 60


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_what_minigrad_trains_is_what_a_loop_by_hand_trains(mode: str) -> None:
    start, x = [np.array([4.0]), np.array([1.0])], np.array([2.0])

    def loss(x: Any, w: Any, b: Any) -> Any:
        return ((w * x + b) * (w * x + b)).sum()

    found = lessons.trained(mode, loss, start, [x], steps=3, rate=0.05, momentum=0.5)
    (w, b), speeds = start, [np.zeros(1), np.zeros(1)]
    for _ in range(3):
        y = w * x + b
        speeds = [0.5 * s + g for s, g in zip(speeds, (2 * y * x, 2 * y), strict=True)]
        w, b = w - 0.05 * speeds[0], b - 0.05 * speeds[1]
    assert np.allclose(found, [w, b], rtol=1e-12)
    assert start[0] == 4
    with pytest.raises(KeyError):
        lessons.trained("lazy", loss, start, [x])


def test_runs_agree_to_the_bit_or_nearly_or_not_at_all() -> None:
    first, near = [np.zeros(2), np.ones(3)], [np.zeros(2), np.ones(3)]
    near[1][2] += 5e-7
    assert lessons.agreement(first, first, near) == [(True, True), (True, True), (False, True)]
    assert lessons.agreement(first, near, tolerance=1e-7)[1] == (False, False)
    negative = [-first[0], first[1]]
    assert lessons.agreement(first, negative)[1] == (False, True)  # -0.0 has other bits
    with pytest.raises(ValueError, match="longer than"):
        lessons.agreement(first, first[:1])
