"""Nets of Caffe: as graphs the same as the model in Python, with the values of another reader.

The other reader is OpenCV's (before version 5), whose importer for Caffe is not ours; where it is
not installed its tests are skipped.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.diagnostics.messages import set_language

pytest.importorskip("google.protobuf")
from minigrad.interop.caffe import files, net
from minigrad.interop.caffe.schema import messages

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("english")]

LENET = Path(__file__).parent / "caffe" / "lenet.prototxt"
Blobs = Mapping[str, list[np.ndarray]]


def caffemodel(path: Path, blobs: Blobs) -> Path:
    """A file of weights, as Caffe writes one."""
    model = messages()["Net"](name="made")
    for name, arrays in blobs.items():
        layer = model.layer.add(name=name)
        for array in arrays:
            blob = layer.blobs.add()
            blob.shape.dim.extend(array.shape)
            blob.data.extend(array.ravel().tolist())
    path.write_bytes(model.SerializeToString())
    return path


def written(path: Path, layers: str, shape: tuple[int, ...] = (2, 3, 9, 8)) -> Path:
    """A prototxt with one input, `x`, and these layers."""
    dims = " ".join(f"dim: {n}" for n in shape)
    head = f'layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ {dims} }} }} }}\n'
    path.write_text(head + layers, "utf-8")
    return path


def random_blobs(graph: mg.Graph) -> Blobs:
    """Weights of the right shapes for a graph, layer by layer."""
    rng, found = np.random.default_rng(1), dict[str, list[np.ndarray]]()
    for v in graph.variables:
        values = rng.standard_normal(v.shape).astype(np.float32) / np.sqrt(np.prod(v.shape[1:]) + 1)
        found.setdefault(v.name.split("/")[0], []).append(values)
    return found


def reader(prototxt: Path, weights: Path) -> Any:
    """The net as OpenCV reads it."""
    cv2 = pytest.importorskip("cv2")
    if not hasattr(cv2.dnn, "readNetFromCaffe"):
        pytest.skip("this OpenCV reads no Caffe")
    return cv2.dnn.readNetFromCaffe(str(prototxt), str(weights))


def theirs(prototxt: Path, weights: Path, x: np.ndarray) -> np.ndarray:
    """What OpenCV computes."""
    model = reader(prototxt, weights)
    model.setInput(x)
    return model.forward()


# ---- LeNet ---------------------------------------------------------------------------------------


def lenet(blobs: Blobs) -> mg.Graph:
    """The same model in Python, with these weights."""
    nn = mg.nn
    model = nn.Sequential(
        nn.Conv2d(1, 20, 5),
        nn.MaxPool2d(2, stride=2),
        nn.Conv2d(20, 50, 5),
        nn.MaxPool2d(2, stride=2),
        nn.Flatten(),
        nn.Linear(800, 500),
        nn.ReLU(),
        nn.Linear(500, 10),
    )
    for p, array in zip(model.parameters(), (a for b in blobs.values() for a in b), strict=True):
        p.data[...] = array
    x = mg.placeholder("data", shape=(64, 1, 28, 28))
    return mg.build_graph(x, mg.softmax(model(x), axis=1))


def test_lenet_is_the_graph_of_the_model_in_python(tmp_path: Path) -> None:
    blobs = random_blobs(mg.from_caffe(LENET))
    graph = mg.from_caffe(LENET, caffemodel(tmp_path / "w", blobs))
    assert graph.hash() == lenet(blobs).hash()
    assert {v.name for v in graph.variables} >= {"conv1/weight", "conv1/bias", "ip2/weight"}
    assert [x.name for x in graph.inputs] == ["data"]


def test_lenet_has_the_values_of_another_reader(tmp_path: Path) -> None:
    blobs = random_blobs(mg.from_caffe(LENET))
    weights = caffemodel(tmp_path / "w.caffemodel", blobs)
    x = np.random.default_rng(0).random((64, 1, 28, 28), np.float32)
    graph, other = mg.from_caffe(LENET, weights), reader(LENET, weights)
    for variable in graph.variables:
        layer, _, name = variable.name.partition("/")
        blob = other.getParam(layer, ["weight", "bias"].index(name))
        assert np.array_equal(blob.ravel(), np.ravel(variable.attrs["value"]))
    ours = mg.run(graph, {"data": x})
    assert np.abs(ours - theirs(LENET, weights, x)).max() < 2e-6
    assert np.ptp(ours) > 0.01


def test_an_open_batch_can_be_asked_for_and_gradients_flow() -> None:
    graph = mg.from_caffe(LENET, shapes={"data": (None, 1, 28, 28)})
    assert graph.outputs[0].shape == (None, 10)
    assert mg.run(graph, {"data": np.zeros((3, 1, 28, 28))}).shape == (3, 10)
    (w,) = [v for v in graph.variables if v.name == "conv1/weight"]
    (g,) = mg.gradients(graph.outputs[0].sum(), [w])
    assert g.shape == (20, 1, 5, 5)


# ---- Layers --------------------------------------------------------------------------------------

LAYERS = {
    "groups": "type: 'Convolution' convolution_param { num_output: 6 kernel_size: 3 group: 3 }",
    "pads": "type: 'Convolution' convolution_param { num_output: 4 kernel_h: 3 kernel_w: 2 pad_h: 2"
    " pad_w: 1 stride: 2 bias_term: false }",
    "dilated": "type: 'Convolution' convolution_param { num_output: 2 kernel_size: 3 dilation: 2 }",
    "max": "type: 'Pooling' pooling_param { pool: MAX kernel_size: 3 stride: 2 }",
    "max over": "type: 'Pooling' pooling_param { pool: MAX kernel_size: 2 stride: 3 pad: 1 }",
    "mean": "type: 'Pooling' pooling_param { pool: AVE kernel_size: 3 stride: 2 }",
    "mean pads": "type: 'Pooling' pooling_param { pool: AVE kernel_size: 4 stride: 3 pad: 1 }",
    "global": "type: 'Pooling' pooling_param { pool: AVE global_pooling: true }",
    "product": "type: 'InnerProduct' inner_product_param { num_output: 5 }",
    "relu": "type: 'ReLU' relu_param { negative_slope: 0.1 }",
    "sigmoid": "type: 'Sigmoid'",
    "tanh": "type: 'TanH'",
    "softmax": "type: 'Softmax'",
    "flatten": "type: 'Flatten'",
    "dropout": "type: 'Dropout'",
    "lrn": "type: 'LRN' lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 }",
    "lrn within": "type: 'LRN' lrn_param { local_size: 3 alpha: 0.5 norm_region: WITHIN_CHANNEL }",
    "scale": "type: 'Scale' scale_param { bias_term: true }",
    "concat": "type: 'Concat' bottom: 'x'",
    "sum": "type: 'Eltwise' bottom: 'x' eltwise_param { operation: SUM coeff: 2 coeff: -0.5 }",
    "prod": "type: 'Eltwise' bottom: 'x' eltwise_param { operation: PROD }",
    "largest": "type: 'Eltwise' bottom: 'x' eltwise_param { operation: MAX }",
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_has_the_values_of_another_reader(name: str, tmp_path: Path) -> None:
    layer = f"layer {{ name: 'a' bottom: 'x' top: 'a' {LAYERS[name]} }}"
    prototxt = written(tmp_path / "net.prototxt", layer)
    weights = caffemodel(tmp_path / "w.caffemodel", random_blobs(mg.from_caffe(prototxt)))
    x = np.random.default_rng(0).standard_normal((2, 3, 9, 8)).astype(np.float32)
    ours, other = mg.run(mg.from_caffe(prototxt, weights), {"x": x}), theirs(prototxt, weights, x)
    assert ours.shape == other.shape
    np.testing.assert_allclose(ours, other, rtol=1e-5, atol=2e-6)


def test_normalisation_by_what_was_seen(tmp_path: Path) -> None:
    prototxt = written(
        tmp_path / "net.prototxt", "layer { name: 'a' type: 'BatchNorm' bottom: 'x' top: 'a' }"
    )
    mean, variance = np.float32([1, 2, 3]), np.float32([4, 1, 9])
    kept = {"a": [mean * 8, variance * 8, np.float32([8])]}
    weights = caffemodel(tmp_path / "w.caffemodel", kept)
    x = np.random.default_rng(0).standard_normal((2, 3, 9, 8)).astype(np.float32)
    ours = mg.run(mg.from_caffe(prototxt, weights), {"x": x})
    expected = (x - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-5)
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours, theirs(prototxt, weights, x), rtol=1e-5, atol=1e-6)


def test_a_padded_blob_has_no_more_elements_than_caffe_counts(tmp_path: Path) -> None:
    pooling = "bottom: 'x' top: 'p' pooling_param { kernel_size: 4000 stride: 4000 pad: PAD }"
    layer = f"layer {{ name: 'p' type: 'Pooling' {pooling} }}"
    most, more = (
        written(tmp_path / pad, layer.replace("PAD", pad), (1, 1, 40_000, 40_000))
        for pad in ("3000", "3500")
    )
    assert mg.from_caffe(most).outputs[0].shape == (1, 1, 11, 11)
    with pytest.raises(mg.FormatError, match="elements: 2209000000, the limit is 2147483647"):
        mg.from_caffe(more)


BOTH = """
layer { name: "d" type: "Data" top: "data" top: "label" data_param { batch_size: 4 } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
        inner_product_param { num_output: 3 weight_filler { type: "msra" } } }
layer { name: "drop" type: "Dropout" bottom: "ip" top: "ip" }
layer { name: "right" type: "Accuracy" bottom: "ip" bottom: "label" top: "right"
        include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss"
        exclude { phase: TEST stage: "never" } loss_weight: 2 }
"""


def test_a_phase_chooses_its_layers(tmp_path: Path) -> None:
    (tmp_path / "both").write_text(BOTH)
    shapes = {"data": (4, 6)}
    test = mg.from_caffe(tmp_path / "both", shapes=shapes)
    assert len(test.outputs) == 2
    x, labels = np.random.default_rng(0).random((4, 6), np.float32), np.arange(4) % 3
    right, loss = mg.run(test, {"data": x, "label": labels})
    scores = x @ np.array(test["ip/weight"].attrs["value"]).T
    assert right == np.mean(scores.argmax(1) == labels)
    chances = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert loss == pytest.approx(2 * -np.log(chances[np.arange(4), labels]).mean(), rel=1e-5)
    train = mg.from_caffe(tmp_path / "both", shapes=shapes, phase="train")
    assert train.single
    assert "Dropout" in {n.op.name for n in train.nodes} - {n.op.name for n in test.nodes}


TWINS = """
input: "a" input_shape { dim: 2 dim: 3 }
input: "b" input_shape { dim: 2 dim: 3 }
layer { name: "left" type: "InnerProduct" bottom: "a" top: "p" param { name: "w" }
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "right" type: "InnerProduct" bottom: "b" top: "q" param { name: "w" }
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
"""


def test_layers_share_a_parameter_that_has_a_name(tmp_path: Path) -> None:
    net = tmp_path / "twins.prototxt"
    net.write_text(TWINS, "utf-8")
    graph = mg.from_caffe(net)
    assert {v.name for v in graph.variables} == {"left/weight", "left/bias", "right/bias"}
    a, b = np.eye(2, 3, dtype=np.float32), np.ones((2, 3), np.float32)
    w = np.array(graph["left/weight"].attrs["value"])
    p, q = mg.run(graph, {"a": a, "b": b})
    assert np.array_equal(p, a @ w.T)
    assert np.array_equal(q, b @ w.T)


@pytest.mark.parametrize("change", [("num_output: 4", "num_output: 5"), None])
def test_what_cannot_be_shared_is_refused(change: Any, tmp_path: Path) -> None:
    net, weights = tmp_path / "twins.prototxt", None
    start, _, end = TWINS.rpartition("layer {")
    net.write_text(start + "layer {" + (end.replace(*change) if change else end), "utf-8")
    if change is None:
        shapes = {"left": [(4, 3), (4,)], "right": [(4, 3), (4,)]}
        draw = np.random.default_rng(0)
        blobs = {k: [draw.random(s, np.float32) for s in of] for k, of in shapes.items()}
        weights = caffemodel(tmp_path / "w", blobs)
    with pytest.raises(mg.FormatError, match="made the parameter w, of shape") as told:
        mg.from_caffe(net, weights)
    assert "layer right, param" in str(told.value)


# ---- What is refused, by name --------------------------------------------------------------------

TEXT = LENET.read_text("utf-8")
REFUSED = {
    "field": (("kernel_size: 2", "kernal: 2"), "line 30, layer pool1, kernal", "no field named"),
    "value": (("pool: MAX", "pool: MAXX"), "line 29, layer pool1", "no value named MAXX"),
    "number": (("num_output: 20", "num_output: -3"), "line 16, layer conv1", "out of range"),
    "end": ((TEXT[500:], ""), "line 28", "cannot be read"),
    "type": (('"Softmax"', '"Swish"'), "layer prob, type", "type Swish is not known"),
    "stride": (("stride: 1", "stride: 0"), "line 18, layer conv1, stride", "expected ≥ 1"),
    "window": (("dim: 28 dim: 28", "dim: 3 dim: 3"), "layer conv1", "5 × 5"),
    "groups": (("stride: 1", "group: 3"), "line 18, layer conv1, group", "3 groups cannot share"),
    "missing": (('bottom: "conv1"', 'bottom: "conv7"'), "layer pool1, bottom", "no layer of this"),
    "cycle": (('bottom: "conv1"', 'bottom: "prob"'), "layer pool1, bottom", "only prob makes"),
    "itself": (('bottom: "conv1"', 'bottom: "pool1"'), "layer pool1, bottom", "only pool1 makes"),
    "twice": (('top: "conv2"', 'top: "conv1"'), "layer conv2, top", "was made by conv1"),
    "name": (('name: "conv2"', 'name: "conv1"'), "layer conv1, name", "has the name conv1, too"),
    "ends": (('top: "prob"', 'top: "prob" top: "b"'), "layer prob, bottom", "1 → 2"),
    "large": (("num_output: 20", "num_output: 4000000000"), "layer conv1", "more than 268435456"),
    "dilated": (("stride: 1", "dilation: 999999999"), "layer conv1", "more than 268435456"),
    "padded": (("stride: 1", "pad: 999999999"), "layer conv1", "limit is 2147483647"),
    "pooled": (("kernel_size: 2", "kernel_size: 2 pad: 2"), "layer pool1, pad", "< (2, 2)"),
    "beyond": (
        ("kernel_size: 2\n    stride: 2", "kernel_size: 1 stride: 10"),
        "layer pool1, stride",
        "≤ (1, 1)",
    ),
    "long": (("dim: 28 dim: 28", "dim: 2000000 dim: 5"), "layer conv1, bottom", "2000000"),
    "elements": (("dim: 64", "dim: 99999999999"), "layer data", "limit is 2147483647"),
    "dim": (("dim: 64", "dim: -1"), "layer data, dim", "-1"),
    "filler": (('type: "xavier"', 'type: "magic"'), "layer conv1, type", "filler magic"),
    "old": ((TEXT, 'layers { name: "a" }'), "line 1", "upgrade_net_proto_text"),
    "empty": ((TEXT, 'name: "none"'), "line 1", "nothing comes out"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_named_with_line_layer_and_field(name: str, tmp_path: Path) -> None:
    (before, after), where, why = REFUSED[name]
    wrong = TEXT.replace(before, after, 1)
    assert wrong != TEXT
    (tmp_path / "net.prototxt").write_text(wrong, "utf-8")
    with pytest.raises(mg.FormatError) as told:
        mg.from_caffe(tmp_path / "net.prototxt")
    said = str(told.value)
    assert where in said
    assert why in said
    assert "net.prototxt" in said
    set_language("zh")
    assert re.search(r"net\.prototxt 第 \d+ 行", str(told.value))


def weights_of_lenet() -> dict[str, list[np.ndarray]]:
    return {k: list(v) for k, v in random_blobs(mg.from_caffe(LENET)).items()}


def test_weights_of_another_net_are_refused(tmp_path: Path) -> None:
    right = weights_of_lenet()
    wrong = {
        "holds 0 blobs": {k: v for k, v in right.items() if k != "ip1"},
        "holds 1 blob ": {**right, "conv1": right["conv1"][:1]},
        "holds 3 blobs": {**right, "ip2": [*right["ip2"], right["ip2"][0]]},
        r"shape \(20, 1, 5, 4\)": {
            **right,
            "conv1": [right["conv1"][0][..., :4], right["conv1"][1]],
        },
    }
    for says, blobs in wrong.items():
        path = caffemodel(tmp_path / "w", blobs)
        with pytest.raises(mg.FormatError, match=f"lenet.prototxt, line .*{says}"):
            mg.from_caffe(LENET, path)


def test_a_blob_whose_numbers_are_not_those_of_its_shape_is_refused(tmp_path: Path) -> None:
    model = messages()["Net"].FromString(
        caffemodel(tmp_path / "w", weights_of_lenet()).read_bytes()
    )
    del model.layer[0].blobs[0].data[100:]
    (tmp_path / "w").write_bytes(model.SerializeToString())
    with pytest.raises(mg.FormatError, match=r"has shape \(20, 1, 5, 5\) and 100 numbers"):
        mg.from_caffe(LENET, tmp_path / "w")


def test_weights_in_the_older_form_are_read(tmp_path: Path) -> None:
    blobs = weights_of_lenet()
    model = messages()["Net"]()
    for name, arrays in blobs.items():
        layer = model.layers.add(name=name)
        for array in arrays:
            old = dict(zip(("num", "channels", "height", "width"), (1, 1, 1, 1), strict=True))
            axes = ("num", "channels", "height", "width")[4 - array.ndim :]
            blob = layer.blobs.add(**{**old, **dict(zip(axes, array.shape, strict=True))})
            blob.data.extend(array.ravel().tolist())
    (tmp_path / "w").write_bytes(model.SerializeToString())
    assert mg.from_caffe(LENET, tmp_path / "w").hash() == lenet(blobs).hash()


@pytest.mark.parametrize(
    "raw",
    [
        b"\xa2\x06\xff\xff\xff\xff\x07",
        b"\x0b",
        b"\x12" * 3,
        b"\xa2\x06\x00" * ((1 << 20) + 1),
        b"\xff" * 20,
    ],
    ids=["a length beyond the end", "a group", "cut off", "a million layers", "no number"],
)
def test_a_damaged_file_of_weights_is_refused(raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(raw)
    with pytest.raises(mg.FormatError, match=r"from_caffe: file w: .*damaged or too large"):
        mg.from_caffe(LENET, tmp_path / "w")


def test_files_too_large_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_TEXT", 100)
    with pytest.raises(mg.FormatError, match=r"too large \(bytes"):
        mg.from_caffe(LENET)
    monkeypatch.undo()
    (tmp_path / "net").write_bytes(b"name: '\xff'")
    with pytest.raises(mg.FormatError, match="no text in UTF-8"):
        mg.from_caffe(tmp_path / "net")
    with pytest.raises(mg.ArgumentError, match='"test" or "train"'):
        mg.from_caffe(LENET, phase="both")


def test_a_shape_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "both").write_text(BOTH)
    with pytest.raises(mg.FormatError, match=r'shapes=\{"data": \(64, 1, 28, 28\)\}'):
        mg.from_caffe(tmp_path / "both")


@pytest.mark.parametrize("seed", range(40))
def test_a_file_changed_at_random_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    """Words exchanged, left out, doubled; odd numbers: nothing else happens."""
    rng = random.Random(seed)
    layer = rng.choice([*LAYERS.values()])
    text = TEXT.replace("num_output: 500", "num_output: 7").replace("dim: 64", "dim: 2")
    text += f"layer {{ name: 'x' bottom: 'prob' top: 'a' {layer} }}"
    odd = ["-1", "0", "4294967295", "9" * 25, "nan", "{", "}", '"', "MAX", "1e30"]
    for _ in range(10):
        words = re.split(r"(\W+)", text)
        i, j = rng.randrange(len(words)), rng.randrange(len(words))
        words[i] = rng.choice([words[j], "", rng.choice(odd), words[i] * 2])
        (tmp_path / "net").write_text("".join(words))
        with contextlib.suppress(mg.FormatError):
            assert mg.from_caffe(tmp_path / "net").outputs
    weights = bytearray(b"\xa2\x06\x0a\x0a\x05conv1\x3a\x01\x00" * 3)
    for _ in range(30):
        weights[rng.randrange(len(weights))] = rng.randrange(256)
        (tmp_path / "w").write_bytes(weights)
        with pytest.raises(mg.FormatError):
            mg.from_caffe(LENET, tmp_path / "w")


def test_every_kind_of_layer_is_compared() -> None:
    named = set(re.findall(r"type: ['\"](\w+)['\"]", " ".join(LAYERS.values()) + BOTH))
    assert set(net.layers.KINDS) - {"Input", "BatchNorm"} == named - {"msra"}
