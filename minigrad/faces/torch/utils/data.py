"""PyTorch's data loading: `DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)`."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.torch.tensors import as_torch

__all__ = ["DataLoader", "Dataset", "Subset", "TensorDataset", "random_split"]


class Dataset(ABC):
    """Examples by index; subclasses define `__len__` and `__getitem__`."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Any: ...


class TensorDataset(Dataset):
    """A data set of tensors of equal length; an example is one row of each."""

    def __init__(self, *tensors: Any) -> None:
        if len({len(x) for x in tensors}) > 1:
            shapes = [x.shape for x in tensors]
            raise mg.ShapeError("broadcast", op="TensorDataset", shapes=shapes)
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """A subset of a data set's examples."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float]) -> list[Subset]:
    """Split a dataset at random into parts of these lengths or fractions, without overlap."""
    n, shares = len(dataset), sum(lengths) <= 1
    counts = [int(n * share) if shares else int(share) for share in lengths]
    for i in range(n - sum(counts) if shares else 0):
        counts[i % len(counts)] += 1
    order, ends = random_order(n), [*itertools.accumulate(counts)]
    return [Subset(dataset, order[end - k : end]) for k, end in zip(counts, ends, strict=True)]


def random_order(n: int) -> list[int]:
    """Return the numbers below n in random order, reproducible with `torch.manual_seed`."""
    drawn = mg.rand(n).tolist()
    return sorted(range(n), key=drawn.__getitem__)


def default_collate(examples: list[Any]) -> Any:
    """Collate examples to a batch: tensors along a new first axis, numbers as a tensor."""
    first = examples[0]
    if isinstance(first, (tuple, list)):
        return [default_collate([*column]) for column in zip(*examples, strict=True)]
    if isinstance(first, dict):
        return {key: default_collate([example[key] for example in examples]) for key in first}
    if isinstance(first, mg.Tensor):
        return mg.stack(examples)
    return examples if isinstance(first, str) else as_torch(mg.tensor(examples))


class DataLoader:
    """Batches of a data set, in order or reshuffled each epoch; all in this process."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] = default_collate,
        pin_memory: bool = False,
        drop_last: bool = False,
    ) -> None:
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self._shuffle, self.collate_fn = shuffle, collate_fn

    def __len__(self) -> int:
        whole, rest = divmod(len(self.dataset), self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def __iter__(self) -> Iterator[Any]:
        n, size = len(self.dataset), self.batch_size
        order = random_order(n) if self._shuffle else [*range(n)]
        for i in range(len(self)):
            yield self.collate_fn([self.dataset[k] for k in order[i * size : (i + 1) * size]])


__getattr__ = face = Compat("torch.utils.data")
__dir__ = face.names
