"""Train the two networks of the page on which you draw: python docs/digit/train.py.

Ten seconds on one core. The parameters are rounded to float16, which loses no test image and halves
the page, and stored in networks.npz beside this file; the page is made of them (docs/digit.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg

STORED = Path(__file__).with_name("networks.npz")
SIZE = 16  # of an image, in pixels each way
SHAPES: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "mlp": {"W1": (256, 32), "b1": (32,), "W2": (32, 10), "b2": (10,)},
    "convnet": {
        "K1": (6, 1, 3, 3),
        "c1": (6, 1, 1),
        "K2": (12, 6, 3, 3),
        "c2": (12, 1, 1),
        "W3": (192, 10),
        "b3": (10,),
    },
}


def mlp(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    """Return the scores of images of shape (N, 256)."""
    return mg.relu(x @ W1 + b1) @ W2 + b2


def convnet(x: Any, K1: Any, c1: Any, K2: Any, c2: Any, W3: Any, b3: Any) -> Any:
    """Return the scores of images of shape (N, 1, 16, 16)."""
    x = mg.max_pool2d(mg.relu(mg.conv2d(x, K1, padding=1) + c1), 2)
    x = mg.max_pool2d(mg.relu(mg.conv2d(x, K2, padding=1) + c2), 2)
    return mg.reshape(x, (-1, 192)) @ W3 + b3


NETWORKS: Mapping[str, Callable[..., Any]] = {"mlp": mlp, "convnet": convnet}
INPUTS: Mapping[str, tuple[int, ...]] = {"mlp": (256,), "convnet": (1, SIZE, SIZE)}


def stored() -> dict[str, dict[str, NDArray[np.float32]]]:
    """Return the parameters of both networks, as they were stored."""
    with np.load(STORED, allow_pickle=False) as file:
        return {
            network: {name: file[f"{network}.{name}"].astype(np.float32) for name in names}
            for network, names in SHAPES.items()
        }


def drawn_by_others(images: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float32]:
    """Slant, turn, stretch and shift each image a little, and change the width of its strokes."""
    count = len(images)
    turn, slant = rng.normal(0, 0.14, count), rng.normal(0, 0.18, count)
    wide, high = (1 / rng.uniform(0.75, 1.15, count) for _ in range(2))
    y, x = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
    across = wide[:, None, None] * (x + (slant + turn)[:, None, None] * y)
    down = high[:, None, None] * (y - turn[:, None, None] * x)
    across += (SIZE - 1) / 2 + rng.normal(0, 0.8, count)[:, None, None]
    down += (SIZE - 1) / 2 + rng.normal(0, 0.8, count)[:, None, None]
    padded = np.pad(images, ((0, 0), (1, 2), (1, 2)))
    across, down = (np.clip(each, -1, SIZE) + 1 for each in (across, down))
    left, top = across.astype(int), down.astype(int)
    u, v = across - left, down - top
    each = np.arange(count)[:, None, None]
    upper = (1 - u) * padded[each, top, left] + u * padded[each, top, left + 1]
    lower = (1 - u) * padded[each, top + 1, left] + u * padded[each, top + 1, left + 1]
    ink = (1 - v) * upper + v * lower
    return (ink ** rng.uniform(0.6, 1.5, count)[:, None, None]).astype(np.float32)


def trained(network: str, epochs: int = 60, batch: int = 64) -> dict[str, NDArray[Any]]:
    """Return the parameters of a network after training, by a static graph that is built once."""
    rng = np.random.default_rng(1)
    data = mg.data.digits(size=SIZE)
    with mg.Graph(), mg.Session() as session:
        variables = {}
        for name, shape in SHAPES[network].items():
            fan_in = np.prod(shape[1:]) if name[0] == "K" else shape[0]
            scale = 0 if name[0] in "bc" else np.sqrt(2 / fan_in)
            start = rng.normal(0, 1, shape) * scale
            variables[name] = mg.Variable(start.astype(np.float32), name=name)
        x = mg.placeholder("x", shape=(batch, *INPUTS[network]))
        label = mg.placeholder("label", shape=(batch,), dtype=np.int64)
        loss = mg.cross_entropy(NETWORKS[network](x, *variables.values()), label)
        steps = [mg.optim.Adam(lr=lr).minimize(loss) for lr in (0.003, 0.0005)]
        session.run(mg.global_variables_initializer())
        for epoch in range(epochs):
            images = drawn_by_others(data.x_train, rng)
            chosen = rng.permutation(len(images))
            step = steps[epoch >= epochs * 2 // 3]
            for start in range(0, len(chosen) - batch + 1, batch):
                part = chosen[start : start + batch]
                fed = {x: images[part].reshape(x.shape), label: data.y_train[part]}
                session.run(step, feed_dict=fed)
        return {name: session.run(variable) for name, variable in variables.items()}


def accuracy(network: str, parameters: Mapping[str, NDArray[Any]]) -> float:
    """Return the share of the test images that the network reads correctly."""
    data = mg.data.digits(size=SIZE)
    images = mg.tensor(data.x_test.reshape(-1, *INPUTS[network]))
    with mg.no_grad():
        scores = NETWORKS[network](images, *map(mg.tensor, parameters.values()))
    return float(np.mean(scores.numpy().argmax(axis=1) == data.y_test))


def main() -> None:
    made = {}
    for network in NETWORKS:
        parameters = {k: v.astype(np.float16) for k, v in trained(network).items()}
        made |= {f"{network}.{name}": value for name, value in parameters.items()}
        rounded = {k: v.astype(np.float32) for k, v in parameters.items()}
        print(f"{network}: {accuracy(network, rounded):.2%} of the test images")
    np.savez_compressed(STORED, **made)


if __name__ == "__main__":
    main()
