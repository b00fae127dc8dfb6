"""TensorFlow's modules, which track their variables: `class Model(tf.Module):`."""

from __future__ import annotations

from minigrad.faces.tensorflow.tensors import Variable, leaves

__all__ = ["Module"]


class Module:
    """A container of variables and other modules, also in lists and dicts."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, in the order in which they were set."""
        found: list[Variable] = []
        for x in leaves(vars(self)):
            found += [x] if isinstance(x, Variable) else getattr(x, "variables", ())
        return tuple({id(v): v for v in found}.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that training changes."""
        return tuple(v for v in self.variables if v.trainable)
