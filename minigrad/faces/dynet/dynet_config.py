"""DyNet's settings: `dynet_config.set(autobatch=1, random_seed=1)`, or `--dynet-autobatch 1`.

DyNet reads them once, when it is imported; here they hold for the graphs that are begun afterwards.
"""

from __future__ import annotations

import sys
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["get", "set"]

SETTINGS: dict[str, Any] = {}


def set(
    mem: Any = "512",
    random_seed: int = 0,
    autobatch: Any = 0,
    profiling: int = 0,
    weight_decay: float = 0,
    shared_parameters: Any = 0,
    requested_gpus: int = 0,
    gpu_mask: Any = None,
) -> None:
    """Set all settings; only `autobatch` and `random_seed` have an effect here."""
    SETTINGS.update(mem=mem, random_seed=random_seed, autobatch=autobatch, profiling=profiling)
    SETTINGS.update(weight_decay=weight_decay, shared_parameters=shared_parameters)
    SETTINGS.update(requested_gpus=requested_gpus, gpu_mask=gpu_mask)
    if random_seed:
        mg.manual_seed(random_seed)


def get() -> dict[str, Any]:
    """Return the settings by name."""
    return dict(SETTINGS)


def from_arguments(arguments: list[str]) -> None:
    """Remove arguments that begin with --dynet- from a command line, and apply them."""
    found: dict[str, Any] = {}
    while places := [i for i, text in enumerate(arguments[:-1]) if text.startswith("--dynet-")]:
        name, value = arguments.pop(places[0]), arguments.pop(places[0])
        found[name[len("--dynet-") :]] = value
    whole = {name: int(found[name]) for name in ("autobatch", "seed") if name in found}
    if whole:
        set(random_seed=whole.get("seed", 0), autobatch=whole.get("autobatch", 0))


__getattr__ = face = Compat(
    "dynet_config", lacks={"dynet_config.set(autobatch=1, random_seed=1)": "set_gpu gpu"}
)
__dir__ = face.names
set()
from_arguments(sys.argv)
