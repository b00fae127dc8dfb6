"""How TensorFlow runs: `tf.config.run_functions_eagerly(True)`."""

from __future__ import annotations

from minigrad.faces.face import Compat

__all__ = ["functions_run_eagerly", "run_functions_eagerly"]

EAGERLY: list[bool] = [False]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run functions as plain Python from now on, or as graphs again."""
    EAGERLY[0] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Return whether functions run as plain Python."""
    return EAGERLY[0]


__getattr__ = face = Compat("tf.config", calls={"list_physical_devices(device_type=None)": "[]"})
__dir__ = face.names
