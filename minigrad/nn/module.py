"""The base class of all layers, and containers of layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from minigrad.core import Array, context, entered, in_body, next_call
from minigrad.diagnostics import foreign
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import GraphError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Node, tensors_as_nodes


class Tensors(list[Tensor]):
    """A list that is an iterator as well, as PyTorch's `parameters()` is one.

    Once `next` has begun, a loop goes on from there; otherwise a list begins anew in each loop,
    where an iterator would be used up without a word.
    """

    _walk: Iterator[Tensor] | None = None

    def __next__(self) -> Tensor:
        if self._walk is None:
            self._walk = super().__iter__()
        return next(self._walk)

    def __iter__(self) -> Iterator[Tensor]:
        return super().__iter__() if self._walk is None else self._walk


@foreign.answer_names(foreign.MODULES)
class Module:
    """A part of a model: its parameters, its sub-modules, and how it computes.

    Write `forward`; call the module. Called with a tensor it computes; called with a node it adds
    to that node's graph, where its parameters become variables with their present values.
    Attributes that are modules are sub-modules, attributes that are tensors with requires_grad are
    parameters; both are found in lists, tuples and dicts, too.

    >>> import minigrad as mg
    >>> class Residual(mg.nn.Module):
    ...     def __init__(self, width):
    ...         super().__init__()
    ...         self.body = mg.nn.Linear(width, width)
    ...
    ...     def forward(self, x):
    ...         return x + self.body(x)
    >>> [name for name, _ in Residual(3).named_parameters()]
    ['body.weight', 'body.bias']
    """

    name = "module"
    training = True

    def __init__(self) -> None:
        self.name, self.training = type(self).__name__.lower(), True

    def __init_subclass__(cls, **options: Any) -> None:
        """Give the class a name for its calls even if it forgets super().__init__()."""
        super().__init_subclass__(**options)
        cls.name = cls.__name__.lower()

    def forward(self, *xs: Any) -> Any:
        """Compute the result; subclasses implement this, users call the module."""
        name = type(self).__name__
        raise GraphError("method", op=name, method="forward(self, x)", defined=here())

    def __call__(self, *xs: Any, **options: Any) -> Any:
        now = context.now
        outer = now.scope
        now.scope = entered(outer, self.name, next_call())
        try:
            if xs and type(xs[0]) is Node and not in_body():
                with tensors_as_nodes(xs[0].graph):
                    return self.forward(*xs, **options)
            return self.forward(*xs, **options)
        finally:
            now.scope = outer

    def __setattr__(self, name: str, value: Any) -> None:
        for place, part in _spread(name, value):
            if isinstance(part, Module):
                part.name = place
            elif isinstance(part, Tensor) and part.requires_grad:
                part.name = part.name or place
                self._names("_parameters").add(place)  # stays one when it is frozen
        super().__setattr__(name, value)

    def _names(self, kind: str) -> set[str]:
        names: set[str] = self.__dict__.setdefault(kind, set())
        return names

    def register_buffer(self, name: str, value: Tensor) -> None:
        """Register a tensor that is part of the state but not changed by training.

        A running mean, for example: it is saved with the parameters, and has no gradient.
        """
        self._names("_buffers").add(name)
        value.name = value.name or name
        setattr(self, name, value)

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """Yield modules and tensors by attribute name; those in lists as layers.0."""
        for name, value in vars(self).items():
            if isinstance(value, (Module, Tensor)):
                yield name, value
            elif isinstance(value, (list, tuple, dict)):
                yield from _spread(name, value)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the direct submodules with their attribute names, each once."""
        seen = set()
        for name, part in self._parts():
            if isinstance(part, Module) and id(part) not in seen:
                seen.add(id(part))
                yield name, part

    def children(self) -> Iterator[Module]:
        """Yield the direct submodules, each once."""
        return (module for _, module in self.named_children())

    def modules(self) -> Iterator[Module]:
        """Yield this module and all within it, each once."""
        return (module for _, module in self.named_modules())

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """Yield this module and all within it with dotted names, each once; its own is ""."""
        seen = {id(self)}
        waiting: list[tuple[str, Module]] = [("", self)]
        while waiting:
            name, module = waiting.pop()
            yield name, module
            inner = []
            for own, child in module.named_children():
                if id(child) not in seen:
                    seen.add(id(child))
                    inner.append((f"{name}.{own}" if name else own, child))
            waiting += reversed(inner)

    def _tensors(self, kind: str) -> Iterator[tuple[str, Tensor]]:
        """Yield the parameters or buffers of this module and of all within it, each once."""
        seen = set()
        for prefix, module in self.named_modules():
            known = module._names(kind)
            for name, part in module._parts():
                free = kind == "_parameters" and isinstance(part, Tensor) and part.requires_grad
                if (free or name in known) and isinstance(part, Tensor) and id(part) not in seen:
                    seen.add(id(part))
                    yield f"{prefix}.{name}" if prefix else name, part

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Yield all parameters with their dotted names, this module's own first; each once."""
        return self._tensors("_parameters")

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """Yield all buffers with their dotted names."""
        return self._tensors("_buffers")

    def parameters(self) -> Tensors:
        """Return all tensors that training changes, as a list that `next` goes through, too."""
        return Tensors(p for _, p in self.named_parameters())

    def buffers(self) -> Tensors:
        """Return all tensors that are kept without a gradient, such as running means."""
        return Tensors(b for _, b in self.named_buffers())

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset all gradients to None; without `set_to_none`, set those that exist to 0."""
        for p in self.parameters():
            p.zero_grad(set_to_none)

    def train(self, mode: bool = True) -> Self:
        """Switch to training: dropout drops, batch norm takes the statistics of the batch.

        In a static graph this is settled when the module is called, not when the graph is run.
        """
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Switch to inference: dropout does nothing, batch norm takes its running statistics."""
        return self.train(False)

    def state_dict(self) -> dict[str, Array]:
        """Return copies of all parameters and buffers by name."""
        return {name: np.array(x._array) for name, x in self._state().items()}

    def _state(self) -> dict[str, Tensor]:
        return dict([*self.named_parameters(), *self.named_buffers()])

    def load_state_dict(self, values: Mapping[str, Any] | Any) -> None:
        """Overwrite all parameters and buffers, or none if a name or a shape doesn't fit."""
        if not isinstance(values, Mapping):
            name = type(self).__name__
            raise refuse(f"{name}.load_state_dict", "values", values, fill("expect_state_dict"))
        own = self._state()
        missing, unknown = own.keys() - values.keys(), values.keys() - own.keys()
        if missing or unknown:
            raise GraphError(
                "state_names",
                op=type(self).__name__,
                missing=", ".join(sorted(missing)) or "-",
                unknown=", ".join(sorted(unknown)) or "-",
                defined=here(),
            )
        for name, x in own.items():
            shape = np.shape(values[name])
            if shape != x.shape:
                raise ShapeError(
                    "state_shape", name=name, expected=x.shape, shape=shape, defined=here()
                )
        for name, x in own.items():
            x._array = np.array(values[name], dtype=x.dtype)[()]

    def extra_repr(self) -> str:
        """Return what `repr` shows of this module besides its submodules."""
        return ""

    def __repr__(self) -> str:
        inner = [
            line for name, m in self.named_children() for line in f"({name}) {m!r}".splitlines()
        ]
        facts = self.extra_repr()
        head = type(self).__name__ + (f"({facts})" if facts or not inner else "")
        return "\n  ".join([head, *inner])


class ModuleList(Module):
    """Modules in a list, which has no `forward`: a module that holds it calls them in its own.

    A plain list of modules as an attribute does the same.

    >>> import minigrad as mg
    >>> layers = mg.nn.ModuleList(mg.nn.Linear(n, n) for n in (2, 3))
    >>> len(layers), layers[1], [name for name, _ in layers.named_parameters()][:2]
    (2, Linear(3 → 3), ['0.weight', '0.bias'])
    """

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.layers: list[Module] = []
        self.extend(modules)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        return self.extend([module])

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end."""
        for module in modules:
            if not isinstance(module, Module):
                raise refuse("ModuleList", "modules", module, fill("expect_module"))
            self.layers.append(module)
        self.name = self.name  # which names them
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "name":
            for i, module in enumerate(vars(self).get("layers", ())):
                module.name = f"{value}.{i}"

    def _parts(self) -> Iterator[tuple[str, Any]]:
        return ((str(i), module) for i, module in enumerate(self.layers))

    def __iter__(self) -> Iterator[Module]:
        return iter(self.layers)

    def __getitem__(self, index: int) -> Module:
        return self.layers[index]

    def __len__(self) -> int:
        return len(self.layers)


class Sequential(Module):
    """Modules applied in order, named by kind and number: linear1, relu1, linear2.

    >>> import minigrad as mg
    >>> model = mg.nn.Sequential(mg.nn.Linear(64, 32), mg.nn.ReLU(), mg.nn.Linear(32, 10))
    >>> model(mg.zeros(5, 64)).shape
    (5, 10)
    >>> [name for name, _ in model.named_parameters()]
    ['linear1.weight', 'linear1.bias', 'linear2.weight', 'linear2.bias']
    """

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        self.layers: dict[str, Module] = {}
        kinds: Counter[str] = Counter()
        for module in modules:
            if not isinstance(module, Module):
                raise refuse("Sequential", "modules", module, fill("expect_module"))
            kind = type(module).__name__.lower()
            kinds[kind] += 1
            module.name = f"{kind}{kinds[kind]}"
            self.layers[module.name] = module

    def _parts(self) -> Iterator[tuple[str, Any]]:
        return ((name.removeprefix("layers."), part) for name, part in super()._parts())

    def forward(self, x: Any) -> Any:
        for module in self.layers.values():
            x = module(x)
        return x

    def __call__(self, *xs: Any, **options: Any) -> Any:
        return self.forward(*xs, **options)  # no scope of its own: its layers are in the outer one

    def __iter__(self) -> Iterator[Module]:
        return iter(self.layers.values())

    def __getitem__(self, index: int) -> Module:
        return list(self.layers.values())[index]

    def __len__(self) -> int:
        return len(self.layers)


def _spread(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value, or what a list, tuple or dict holds, by name: layers.0, layers.1."""
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from _spread(f"{name}.{i}", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _spread(f"{name}.{key}", part)
    else:
        yield name, value
