"""CNTK's learners: `C.learners.sgd(z.parameters, lr)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.variables import Parameter
from minigrad.faces.face import Face, failed

__all__ = ["Learner", "Schedule", "UnitType", "momentum_sgd", "sgd", "training_parameter_schedule"]


class UnitType(Enum):
    """Whether a rate counts for each sample, or for the mean of a minibatch."""

    sample = "sample"
    minibatch = "minibatch"


class Schedule:
    """A number that changes with the samples seen: `values` with the sample at which each ends."""

    def __init__(self, values: Sequence[tuple[float, float]], unit: UnitType) -> None:
        self.values, self.unit = values, unit

    def __getitem__(self, sample: int) -> float:
        """The number at that sample."""
        return next((value for end, value in self.values if sample < end), self.values[-1][1])


def training_parameter_schedule(
    schedule: Any, unit: Any, epoch_size: int | None = None
) -> Schedule:
    """A number, numbers for an epoch each, or (how many epochs, number); of one of two units.

    epoch_size: how many samples an epoch has; 1 if it is not told.
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
    """Changes parameters by gradients of the sum of a minibatch."""

    def __init__(self, parameters: Sequence[Parameter], lr: Any, **options: Any) -> None:
        self.parameters = tuple(parameters)
        if not self.parameters:
            raise failed(mg.ArgumentError, "face_no_parameters")
        self._schedule = training_parameter_schedule(lr, UnitType.minibatch)
        self._gain, self._seen = 1 - options.get("momentum", 0.0), 0
        self._optimiser = mg.optim.SGD([p.tensor for p in self.parameters], lr=0.0, **options)

    def learning_rate(self) -> float:
        """The rate of the next step."""
        return self._schedule[self._seen]

    def reset_learning_rate(self, learning_rate: Any) -> None:
        """Another rate, which begins now."""
        self._schedule = training_parameter_schedule(learning_rate, UnitType.minibatch)
        self._seen = 0

    def update(self, gradient_values: Mapping[Parameter, Any], training_sample_count: int) -> bool:
        """One step by the gradients of so many samples together."""
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
    """Gradient descent; a rate that is a plain number counts for the mean of a minibatch."""
    return Learner(parameters, lr)


def momentum_sgd(
    parameters: Sequence[Parameter], lr: Any, momentum: Any, unit_gain: bool = True
) -> Learner:
    """The same with a velocity; with unit gain the gradient enters it times 1 − momentum."""
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
__getattr__ = face = Face(
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
