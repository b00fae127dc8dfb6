"""Where values enter a static graph, and where they are kept between runs.

These records have no kernel: what they do depends on the run (its feeds, its session), so
executors handle them by name. The shape rules are here with all others.
"""

from __future__ import annotations

from typing import Any, Literal

from minigrad.core import Array, Attrs, Shape, always, float32, operator
from minigrad.diagnostics.errors import VerifyError


def _shape_attr(*shapes: Shape, **attrs: Any) -> Shape | None:
    """Return the shape that a source has as its attribute."""
    shape: Shape | None = attrs["shape"]
    return shape


def _handled_by_executors(out: Array, *arrays: Array, **attrs: Any) -> Array:
    raise VerifyError("no_kernel")


def valued(value: Array, role: Role | None = None) -> Attrs:
    """Return the attributes of a constant or a variable."""
    attrs: Attrs = {"value": value, "shape": value.shape, "dtype": value.dtype}
    return attrs if role is None else {**attrs, "role": role}


def _source(name: str, title: tuple[str, str], formula: str) -> Any:
    return operator(
        name,
        shape=_shape_attr,
        run=_handled_by_executors,
        effect=True,
        inputs=None,
        title=title,
        formula=formula,
    )


placeholder = _source("Placeholder", ("placeholder", "占位符"), "feed")
# What was a tensor has a role. It has its value without an initialiser; a buffer is not trained.
Role = Literal["parameter", "buffer"]
variable = _source("Variable", ("variable", "变量"), "variable")
constant = _source("Constant", ("constant", "常量"), "constant")
# Of a layer, with the attributes `layer` and `use`: how many times it was called so far.
run_counter = _source("RunCounter", ("number of runs so far", "已运行的次数"), "runs so far")

assign = operator(
    "Assign",
    shape=lambda variable, value: value if variable is None else variable,
    run=_handled_by_executors,
    effect=True,
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    title=("assign", "赋值"),
    formula="{0} ← {1}",
)
read_value = operator(
    "ReadValue",
    shape=lambda variable: variable,
    run=_handled_by_executors,
    effect=True,
    inputs=None,
    title=("value of a variable at this moment", "变量此刻的值"),
    formula="read {0}",
)
group = operator(
    "Group",
    shape=lambda *shapes: (0,),
    run=_handled_by_executors,
    effect=True,
    dtype=always(float32),
    inputs=None,
    title=("group of nodes to run", "一组要运行的节点"),
    formula="run all",
)
initialize = operator(
    "Initialize",
    shape=lambda *shapes, **attrs: (0,),
    run=_handled_by_executors,
    effect=True,
    dtype=always(float32),
    inputs=None,
    title=("give variables their first value", "变量初始化"),
    formula="initialise",
)
