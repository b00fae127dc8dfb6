"""What an extra brings is imported when it is first used, and says what to type where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import minigrad as mg
import viz
from minigrad.diagnostics import packages
from minigrad.diagnostics.messages import set_language
from minigrad.interop.extra import import_extra

ROOT = Path(__file__).parents[2]
INTEROP = sorted(
    ".".join(p.relative_to(ROOT).with_suffix("").parts)
    for p in (ROOT / "minigrad" / "interop").rglob("*.py")
    if p.stem != "__init__"
)
BROUGHT = {"onnx", "google", "tensorboard", "dask", "distributed", "torch", "jax"}


def test_what_is_there_is_given() -> None:
    assert import_extra("xml.dom.minidom", extra="dask") is sys.modules["xml.dom.minidom"]


@pytest.mark.usefixtures("english")
def test_what_is_missing_names_the_line_to_type() -> None:
    with pytest.raises(mg.MissingPackageError, match="unheard_of is not installed") as caught:
        import_extra("unheard_of.part", extra="dask")
    line = f'"{sys.executable}" -m pip install "minigrad-lessons[dask]"'
    assert all(line in half for half in caught.value.pair)
    assert isinstance(caught.value, ImportError)
    assert caught.value.defined.file == Path(__file__).name
    set_language("zh")
    assert "没有安装 unheard_of" in str(caught.value)


def test_an_environment_by_uv_is_told_to_use_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(mg.MissingPackageError, match="uv pip install --python"):
        import_extra("unheard_of", extra="dask")


@pytest.mark.usefixtures("english")
def test_what_cannot_be_loaded_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torn.py").write_text("import libtorn_of_the_system\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(mg.MissingPackageError, match="torn cannot be loaded: No module named 'lib"):
        import_extra("torn", extra="dask")


def test_nothing_of_it_is_imported_before() -> None:
    """Neither with all public names nor with any module that speaks to other systems."""
    asked = ", ".join(["minigrad._lazy_exports", "viz._lazy_exports", *INTEROP])
    program = f"import sys, {asked}; print(*{{m.partition('.')[0] for m in sys.modules}})"
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert BROUGHT.isdisjoint(said.stdout.split())


@pytest.mark.parametrize("extra", ["caffe", "dask", "onnx", "tensorboard"])
def test_both_halves_of_the_readme_say_what_an_extra_brings(extra: str) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme.count(f'`pip install "minigrad-lessons[{extra}]"`') == 2


@pytest.mark.skipif(bool(find_spec("tensorboard")), reason="TensorBoard is installed")
def test_without_tensorboard_its_line_is_told(tmp_path: Path) -> None:
    with pytest.raises(mg.MissingPackageError, match=r'"minigrad-lessons\[tensorboard\]"'):
        viz.tensorboard(mg.tensor(2.0), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(bool(find_spec("google")), reason="protobuf is installed")
def test_without_protobuf_its_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.prototxt").write_text("")
    with pytest.raises(mg.MissingPackageError, match=r'"minigrad-lessons\[caffe\]"'):
        mg.from_caffe(tmp_path / "net.prototxt")


@pytest.mark.skipif(bool(find_spec("dask")), reason="Dask is installed")
def test_without_dask_its_line_is_told() -> None:
    with mg.Graph():
        program = mg.build_graph(None, mg.constant([1.0]) * 2).compile()
    with pytest.raises(mg.MissingPackageError, match=r'"minigrad-lessons\[dask\]"'):
        program.to_dask()


@pytest.mark.skipif(bool(find_spec("onnx")), reason="onnx is installed")
def test_without_onnx_its_line_is_told(tmp_path: Path) -> None:
    graph = mg.build_graph(None, mg.constant(2.0) * 3)
    for use in (lambda: mg.from_onnx(b""), lambda: graph.to_onnx(tmp_path / "model.onnx")):
        with pytest.raises(mg.MissingPackageError, match=r'"minigrad-lessons\[onnx\]"'):
            use()
    assert not list(tmp_path.iterdir())
