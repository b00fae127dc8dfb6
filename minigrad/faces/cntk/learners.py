"""CNTK's learners: `C.learners.sgd(z.parameters, lr)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.variables import Parameter
from minigrad.faces.face import Compat, make_error

__all__ = ["Learner", "Schedule", "UnitType", "momentum_sgd", "sgd", "training_parameter_schedule"]


class UnitType(Enum):
    """The unit of a rate: for each sample, or for the mean of a minibatch."""

    sample = "sample"
    minibatch = "minibatch"


class Schedule:
    """A number that changes with the samples seen: `values` with the sample at which each ends."""

    def __init__(self, values: Sequence[tuple[float, float]], unit: UnitType) -> None:
        self.values, self.unit = values, unit

    def __getitem__(self, sample: int) -> float:
        """Return the scheduled number at that sample."""
        return next((value for end, value in self.values if sample < end), self.values[-1][1])


def training_parameter_schedule(
    schedule: Any, unit: Any, epoch_size: int | None = None
) -> Schedule:
    """Make a schedule from a number, one for each epoch, or pairs (epochs, number).

    epoch_size: samples in an epoch (default 1). unit: `UnitType.sample` or `UnitType.minibatch`.
    """
    kind = UnitType(unit)
    if isinstance(schedule, Schedule):
        return schedule
    if not isinstance(schedule, list):
        return Schedule([(float("inf"), float(schedule))], kind)
    pairs = [x if isinstance(x, tuple) else (1, x) for x in schedule]
    ends = np.cumsum([count * (epoch_size or 1) for count, _ in pairs]).tolist()
    return Schedule([(end, value) for end, (_, value) in zip(ends, pairs, strict=True)], kind)


class Learner:
    """A learner: changes parameters by the gradients of a minibatch's sum."""

    def __init__(self, parameters: Sequence[Parameter], lr: Any, **options: Any) -> None:
        self.parameters = tuple(parameters)
        if not self.parameters:
            raise make_error(mg.ArgumentError, "face_no_parameters")
        self._schedule = training_parameter_schedule(lr, UnitType.minibatch)
        self._gain, self._seen = 1 - options.get("momentum", 0.0), 0
        self._optimiser = mg.optim.SGD([p.tensor for p in self.parameters], lr=0.0, **options)

    def learning_rate(self) -> float:
        """Return the learning rate of the next step."""
        return self._schedule[self._seen]

    def reset_learning_rate(self, learning_rate: Any) -> None:
        """Replace the learning rate and start its schedule now."""
        self._schedule = training_parameter_schedule(learning_rate, UnitType.minibatch)
        self._seen = 0

    def update(self, gradient_values: Mapping[Parameter, Any], training_sample_count: int) -> bool:
        """Take one step with the gradients summed over this number of samples."""
        rate = self.learning_rate() * self._gain
        whole = self._schedule.unit is UnitType.minibatch
        self._optimiser.lr = rate / training_sample_count if whole else rate
        for p in self.parameters:
            value = np.asarray(gradient_values[p], np.float32).reshape(p.shape)
            p.tensor.grad = mg.tensor(value)
        self._optimiser.step()
        self._optimiser.zero_grad()
        self._seen += training_sample_count
        return True


def sgd(parameters: Sequence[Parameter], lr: Any) -> Learner:
    """Make a gradient descent learner; a plain number is the rate for a minibatch's mean."""
    return Learner(parameters, lr)


def momentum_sgd(
    parameters: Sequence[Parameter], lr: Any, momentum: Any, unit_gain: bool = True
) -> Learner:
    """Make an SGD learner with momentum; unit gain scales the gradient by 1 − momentum."""
    own = momentum[0] if isinstance(momentum, Schedule) else momentum
    learner = Learner(parameters, lr, momentum=own)
    learner._gain = 1 - own if unit_gain else 1.0
    return learner


SCHEDULES = {  # as `C.learners` and `C` have them
    "learning_parameter_schedule(schedule, minibatch_size=None, epoch_size=None)": (
        "scheduled(schedule, 'minibatch', epoch_size)"
    ),
    "learning_parameter_schedule_per_sample(schedule, epoch_size=None)": (
        "scheduled(schedule, 'sample', epoch_size)"
    ),
    "learning_rate_schedule(lr, unit, epoch_size=None)": "scheduled(lr, unit, epoch_size)",
    "momentum_schedule(momentum, epoch_size=None)": "scheduled(momentum, 'minibatch', epoch_size)",
}
__getattr__ = face = Compat(
    "C.learners",
    calls=SCHEDULES,
    lacks={
        "C.learners.momentum_sgd(parameters, lr, momentum)": (
            "adadelta adagrad adam fsadagrad nesterov rmsprop"
        )
    },
    scheduled=training_parameter_schedule,
)
__dir__ = face.names
