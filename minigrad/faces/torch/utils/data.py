"""PyTorch's way through data: `DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)`."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.torch.tensors import as_torch

__all__ = ["DataLoader", "Dataset", "Subset", "TensorDataset", "random_split"]


class Dataset(ABC):
    """Examples by their numbers; a class of one's own has `__len__` and `__getitem__`."""

    @abstractmethod
    def __getitem__(self, index: Any) -> Any: ...


class TensorDataset(Dataset):
    """Tensors of one length, whose rows belong together."""

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
    """Some examples of a data set."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float]) -> list[Subset]:
    """Parts of these lengths, or of these shares, drawn without overlap."""
    n, shares = len(dataset), sum(lengths) <= 1
    counts = [int(n * share) if shares else int(share) for share in lengths]
    for i in range(n - sum(counts) if shares else 0):
        counts[i % len(counts)] += 1
    order, ends = shuffled(n), [*itertools.accumulate(counts)]
    return [Subset(dataset, order[end - k : end]) for k, end in zip(counts, ends, strict=True)]


def shuffled(n: int) -> list[int]:
    """The numbers below n in any order, which `torch.manual_seed` repeats."""
    drawn = mg.rand(n).tolist()
    return sorted(range(n), key=drawn.__getitem__)


def stacked(examples: list[Any]) -> Any:
    """Examples as a batch: tensors along a new first axis, numbers as a tensor."""
    first = examples[0]
    if isinstance(first, (tuple, list)):
        return [stacked([*column]) for column in zip(*examples, strict=True)]
    if isinstance(first, dict):
        return {key: stacked([example[key] for example in examples]) for key in first}
    if isinstance(first, mg.Tensor):
        return mg.stack(examples)
    return examples if isinstance(first, str) else as_torch(mg.tensor(examples))


class DataLoader:
    """Batches of a data set, in order or shuffled anew each time; all in this process."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] = stacked,
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
        order = shuffled(n) if self._shuffle else [*range(n)]
        for i in range(len(self)):
            yield self.collate_fn([self.dataset[k] for k in order[i * size : (i + 1) * size]])


__getattr__ = face = Face("torch.utils.data")
__dir__ = face.names
