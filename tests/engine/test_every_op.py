"""The walk over the registry: what every operator promises, whichever it is.

A new operator is tested by existing. It brings `samples`, and every check below runs on each of
them; an operator without samples fails. At the end, records that are wrong on purpose show that
each check can fail.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import covering
import numpy as np
import pytest
from covering import each, pairs
from directions import check_gradients

import minigrad as mg
from minigrad import core
from minigrad.backprop import rules, saved_for_backward
from minigrad.core import REGISTRY, Op, Sample, spec_of
from minigrad.diagnostics.errors import ShapeError

# Operators that executors handle by name, because they keep or change state, or have no kernel.
STATE = {
    *("Placeholder", "Variable", "Constant", "Assign", "Group", "Initialize"),
    *("ReadValue", "RunCounter"),
}
CONTROL = {"Cond", "While", "Scan", "History", "Output"}  # see test_control.py
MADE_BY_PASSES = {"Fused"}  # see test_passes.py
EFFECTS = STATE | CONTROL

FLOATS = (np.float32, np.float64)
# Operators whose kernel refuses a data type, as NumPy and PyTorch do.
REFUSED = {(name, np.bool_) for name in ("Sub", "Neg", "Sign", "Floor", "Ceil", "Round")}
SENSELESS = {
    ("Assert", np.bool_),  # some are false, and then it raises
    ("FloorDivide", np.bool_),  # some are false, and then it divides by 0
    ("Mod", np.bool_),
}

# Where NaN does not make a floating-point result NaN: the weights that gradient rules multiply by.
NOT_NAN = {"Step", "Within", "ShareOfMaximum", "MaxPool2dInput", "MaxPool2dPick"}
# Where it stays in its own place, beside what came from elsewhere.
IN_PLACE = {
    *("Where", "Concatenate", "Stack", "Piece", "Pad", "Unslice", "AddAt", "ScatterAdd"),
    *("PickRows", "PutRows", "PutSlice", "Put"),
}

# Operators without a sample that still fits with 0 in the place of every 2 and 4.
NEVER_EMPTY = {"ReshapeLike"}

# Gradient rules that need the number of axes while the graph is built.
RANK_NEEDED = {"MatMul"}

# How much of an operand's shape a placeholder knows.
FORMS: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "full": lambda shape: shape,
    "open": lambda shape: (None, *shape[1:]) if shape else (),
    "last": lambda shape: (*shape[:-1], None) if shape else (),
    "lengths": lambda shape: (None,) * len(shape),
    "unknown": lambda shape: None,
}

Check = Callable[[Op, Sample], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Add a check to the walk; it is called with each sample of each operator."""
    CHECKS[function.__name__] = function
    return function


def walk(op: Op, name: str) -> None:
    """Run one check on every sample of an operator."""
    assert op.samples, f"{op} has no samples, so nothing of it would be tested: add some"
    for sample in op.samples:
        CHECKS[name](op, sample)


# ---- Operands and the ways to run an operator -----------------------------------------------


def draw(sample: Sample, dtype: Any = np.float64, seed: int = 0) -> list[Any]:
    """Operands for a sample: uniform in its range, or class numbers where it says so."""
    kinds = (tuple(sample.shapes), tuple(sample.integers), tuple(sample.bools))
    return [a.copy() for a in drawn(*kinds, sample.low, sample.high, np.dtype(dtype), seed)]


@functools.cache
def drawn(
    shapes: Any, integers: Any, bools: Any, low: float, high: float, dtype: Any, seed: int
) -> list[Any]:
    """Draw them once, as many checks begin with the same ones."""
    random = np.random.default_rng(seed)
    operands = []
    for i, shape in enumerate(shapes):
        if i in integers:
            values = random.integers(0, 3, shape)
        elif i in bools or dtype == np.bool_:
            values = random.random(shape) < 0.5
        elif dtype.kind == "f":
            values = random.uniform(low, high, shape).astype(dtype)
        else:
            values = random.integers(int(np.ceil(low)), int(np.floor(high)) + 1, shape)
            values = values.astype(dtype)
        operands.append(np.asarray(values)[()])
    return operands


def dtypes(op: Op) -> Iterator[Any]:
    for dtype in (np.float32, np.float64, np.int64, np.bool_):
        if (op.name, dtype) not in REFUSED | SENSELESS:
            yield dtype


def in_turn(op: Op, sample: Sample, dtypes: Iterable[Any]) -> list[tuple[Any, str]]:
    """Pair data types with forms: the first sample meets every form, the others take turns.

    A sample that was emptied begins one form earlier, the first one where nothing is known.
    """
    if covering.thorough or sample is op.samples[0]:
        return pairs(dtypes, FORMS)
    place = next((i for i, s in enumerate(op.samples) if s is sample), None)
    if place is None:
        place = [s.attrs is sample.attrs for s in op.samples].index(True) - 1
    forms = itertools.islice(itertools.cycle(FORMS), place % len(FORMS), None)
    return [*zip(dtypes, forms, strict=False)]


def by_type(cases: list[tuple[Any, str]]) -> Iterator[tuple[Any, list[str]]]:
    """Yield each data type with its forms, for what needs the type alone."""
    for dtype, group in itertools.groupby(cases, operator.itemgetter(0)):
        yield dtype, [form for _, form in group]


def kernel_operands(op: Op, operands: list[Any]) -> list[Any]:
    """Operands as the kernel gets them: in the data type the operator works in."""
    return core.unify(op, list(operands), core.cast_array)


def kernel(op: Op, *operands: Any, **attrs: Any) -> Any:
    """The result of the kernel alone; log(False) and the like make no noise."""
    return core.silently(op.run, None, *operands, **attrs)


def eager(op: Op, operands: list[Any], attrs: Any, wants: tuple[int, ...] = ()) -> tuple[Any, Any]:
    """The operator on tensors; those at the positions `wants` require a gradient."""
    xs = [mg.tensor(a, requires_grad=i in wants) for i, a in enumerate(operands)]
    return op(*xs, **attrs), xs


def static(op: Op, operands: list[Any], attrs: Any, form: str) -> tuple[Any, list[Any]]:
    """The operator on placeholders that know as much of their shape as `form` says."""
    shapes = [FORMS[form](np.shape(a)) for a in operands]
    xs = [mg.placeholder(None, s, a.dtype) for s, a in zip(shapes, operands, strict=True)]
    try:
        return op(*xs, **attrs), xs
    except TypeError as error:
        if isinstance(error, mg.GraphError):
            raise
        raise AssertionError(
            f"{op}: the shape rule or the type rule fails on {shapes}, of which None is a length or"
            f" a shape that nobody knows yet; it must answer None in its place ({error})"
        ) from error


def same_bits(actual: Any, expected: Any, what: str) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), what
    assert actual.tobytes() == expected.tobytes(), what


def ruled(op: Op, operands: list[Any]) -> tuple[int, ...]:
    """The positions that have a gradient rule and hold floating-point numbers."""
    return tuple(i for i, x in enumerate(operands) if op.has_rule(i) and x.dtype.kind == "f")


def empty(sample: Sample) -> Sample:
    """The sample with nothing along the axes of length 2 and 4."""
    shapes = [tuple(0 if n in (2, 4) else n for n in shape) for shape in sample.shapes]
    return dataclasses.replace(sample, shapes=shapes)


# ---- The checks -----------------------------------------------------------------------------


@check
def rules_agree_with_kernel(op: Op, sample: Sample) -> None:
    for dtype in dtypes(op):
        operands = kernel_operands(op, draw(sample, dtype))
        spec = op.spec([spec_of(a) for a in operands], sample.attrs)
        result = kernel(op, *operands, **sample.attrs)
        assert result.shape == spec.shape, f"{op}: shape rule against kernel"
        assert result.dtype == spec.dtype, f"{op} on {np.dtype(dtype)}: type rule against kernel"


@check
def kernel_writes_where_it_is_told(op: Op, sample: Sample) -> None:
    for dtype in dtypes(op):
        operands = kernel_operands(op, draw(sample, dtype))
        before = [np.array(a) for a in operands]
        expected = kernel(op, *operands, **sample.attrs)
        out = np.full(expected.shape, 77, expected.dtype)
        result = core.silently(op.run, out, *operands, **sample.attrs)
        assert result is out, f"{op}: the kernel must return `out`"
        same_bits(out, expected, f"{op}: with and without out=")
        for a, b in zip(operands, before, strict=True):
            same_bits(a, b, f"{op}: the kernel changed an operand")


@check
def eager_equals_static(op: Op, sample: Sample) -> None:
    for dtype, forms in by_type(in_turn(op, sample, dtypes(op))):
        operands = draw(sample, dtype)
        expected, _ = eager(op, operands, sample.attrs)
        same_bits(op(*operands, **sample.attrs), expected.data, f"{op}: arrays against tensors")
        for form in forms:
            with mg.Graph():
                y, xs = static(op, operands, sample.attrs, form)
                graph = mg.build_graph(xs, y).verify()
            actual = mg.run(graph, dict(zip(xs, operands, strict=True)))
            same_bits(actual, expected.data, f"{op}: eager against static, {form} shapes")
            assert y.dtype == expected.dtype
            known = y.shape is None or len(y.shape) == expected.ndim
            assert known, f"{op}: {form} shapes"
            for n, length in zip(y.shape or (), expected.shape, strict=False):
                assert n is None or n == length, f"{op}: {form} shapes"


def free(op: Op, sample: Sample) -> list[int]:
    """The positions whose data type the operator unifies with the others'."""
    fixed = {*sample.integers, *sample.bools}
    places = [i for i in range(len(sample.shapes)) if i not in fixed and i not in op.shape_only]
    return places if op.inputs is not None else []


@check
def mixed_data_types_are_those_of_pytorch(op: Op, sample: Sample) -> None:
    """A float wins over integers and bools, the wider float over the other; nothing else counts."""
    places = free(op, sample)
    known = [*dtypes(op)]
    every = [*itertools.permutations(known, 2)]
    some = every if sample is op.samples[0] else pairs(known, known[::-1])
    for few, other in some if len(places) > 1 else ():
        common = core.promote(np.dtype(few), np.dtype(other))
        if (op.name, common.type) in REFUSED:
            continue
        operands = draw(sample, few)
        operands[places[-1]] = draw(sample, other)[places[-1]]
        same = [a.astype(common) if i in places else a for i, a in enumerate(operands)]
        expected, _ = eager(op, same, sample.attrs)
        actual, xs = eager(op, operands, sample.attrs)
        what = f"{op} on {np.dtype(few)} and {np.dtype(other)}"
        same_bits(actual.data, expected.data, what)
        same_bits(op(*operands, **sample.attrs), expected.data, f"{what}: arrays")
        with mg.Graph():
            y, xs = static(op, operands, sample.attrs, "full")
            graph = mg.build_graph(xs, y)
        same_bits(mg.run(graph, dict(zip(xs, operands, strict=True))), expected.data, what)


@check
def python_numbers_take_the_type_beside_them(op: Op, sample: Sample) -> None:
    """Except that a float among integers makes them float32, and an int among bools int64."""
    places = free(op, sample)
    for dtype, number in itertools.product(dtypes(op), (1.25, 2)):
        if not op.elementwise or len(places) < 2:
            return
        strong = np.dtype(dtype)
        if strong.kind != "f":
            weak = np.dtype(np.float32 if isinstance(number, float) else np.int64)
            strong = core.promote(strong, weak) if strong == core.bool_ else strong
            strong = weak if weak.kind == "f" else strong
        operands = draw(sample, dtype)
        for i in places:
            given, typed = list(operands), list(operands)
            given[i] = number
            for j in places:
                typed[j] = strong.type(number) if i == j else operands[j].astype(strong)
            xs = [mg.tensor(a) if j != i else a for j, a in enumerate(given)]
            expected, _ = eager(op, typed, sample.attrs)
            same_bits(op(*xs, **sample.attrs).data, expected.data, f"{op}: {number} beside {dtype}")
            with mg.Graph():
                nodes = [mg.constant(a) if j != i else a for j, a in enumerate(given)]
                graph = mg.build_graph(None, op(*nodes, **sample.attrs))
            same_bits(mg.run(graph), expected.data, f"{op}: {number} beside a node of {dtype}")


@check
def python_signs_do_the_same(op: Op, sample: Sample) -> None:
    """`a * b`, which takes a shorter way, for values, numbers, and arrays on the left."""
    if op.symbol is None:
        return
    for dtype in dtypes(op):
        operands = draw(sample, dtype)
        expected, xs = eager(op, operands, sample.attrs)
        same_bits(op.symbol(*xs).data, expected.data, f"{op} on {np.dtype(dtype)}: sign")
        if len(xs) == 2:
            for i, other in itertools.product((0, 1), (2, 1.25, operands[1], operands[0])):
                given = [other, xs[i]] if i else [xs[i], other]
                same_bits(op.symbol(*given).data, op(*given).data, f"{op}: sign beside {other!r}")


@check
def operands_are_stretched(op: Op, sample: Sample) -> None:
    """Broadcasting is repeating."""
    if op.elementwise and len(sample.shapes) > 1:
        operands = draw(sample)
        whole = [np.array(a) for a in np.broadcast_arrays(*operands)]
        expected, _ = eager(op, whole, sample.attrs)
        same_bits(eager(op, operands, sample.attrs)[0].data, expected.data, f"{op}: broadcasting")


@check
def eager_gradients_equal_static(op: Op, sample: Sample) -> None:
    for dtype, forms in by_type(in_turn(op, sample, FLOATS)):
        operands = draw(sample, dtype)
        wants = ruled(op, operands)
        if not wants:
            continue
        y, xs = eager(op, operands, sample.attrs, wants)
        seed = np.random.default_rng(1).standard_normal(y.shape).astype(y.dtype)
        y.backward(seed)
        for form in forms:
            if form == "unknown" and op.name in RANK_NEEDED:
                continue
            with mg.Graph():
                node, inputs = static(op, operands, sample.attrs, form)
                grads = mg.gradients(node, [inputs[i] for i in wants], grad_ys=seed)
                graph = mg.build_graph(inputs, grads).verify()
            found = mg.run(graph, dict(zip(inputs, operands, strict=True)))
            for i, g in zip(wants, found, strict=True):
                same_bits(g, xs[i].grad.data, f"{op}: gradient {i}, {form} shapes")
                assert g.dtype == operands[i].dtype, f"{op}: gradient {i} has its operand's type"
                assert g.shape == operands[i].shape, f"{op}: gradient {i} has its operand's shape"


@check
def gradients_of_both_orders_are_right(op: Op, sample: Sample) -> None:
    operands = draw(sample)
    wants = ruled(op, operands)
    if not wants:
        return

    def f(*xs: Any) -> Any:
        values: list[Any] = list(operands)
        for i, x in zip(wants, xs, strict=True):
            values[i] = x
        return op(*values, **sample.attrs)

    check_gradients(f, *[operands[i] for i in wants])


@check
def rules_build_nodes_only(op: Op, sample: Sample) -> None:
    """A rule reads shapes, never data: nothing is computed, nothing is asked for its value."""
    with mg.Graph(), mg.record() as log:
        y, xs = static(op, draw(sample), sample.attrs, "full")
        g = mg.placeholder(None, y.shape, y.dtype)
        ruled = [i for i in range(len(xs)) if op.has_rule(i)]
        for result in rules.pull_back(op, ruled, g, [y, *xs], sample.attrs):
            assert isinstance(result, mg.Node), f"{op}: a rule returns a value, not {result!r}"
    assert log.counts.run == 0


@check
def what_is_retained_is_the_same_for_all_samples(op: Op, sample: Sample) -> None:
    """It is derived once for each choice of operands with gradients, and remembered."""
    first = next(s for s in op.samples if len(s.shapes) == len(sample.shapes))
    if isinstance(op.vjp, tuple):
        assert len(op.vjp) == len(sample.shapes), f"{op}: one rule (or None) for each operand"
    for mask in itertools.product((False, True), repeat=len(sample.shapes)):
        derived = []
        for one in (first, sample):
            operands = kernel_operands(op, draw(one))
            specs = [spec_of(a) for a in operands]
            specs.insert(0, op.spec(specs, one.attrs))
            derived.append(saved_for_backward.retained(op, mask, specs, one.attrs))
        assert derived[0] == derived[1], f"{op}: what is kept for {mask} depends on the sample"


@check
def views_are_taken_like_contiguous_arrays(op: Op, sample: Sample) -> None:
    operands = draw(sample, np.float32)
    views = [np.repeat(a, 2, axis=-1)[..., ::2] if np.ndim(a) else a for a in operands]
    turned = [np.array(a, order="F")[()] for a in operands]
    expected, _ = eager(op, operands, sample.attrs)
    for given in (views, turned):
        same_bits(eager(op, given, sample.attrs)[0].data, expected.data, f"{op}: eager")
        with mg.Graph():
            y, xs = static(op, operands, sample.attrs, "full")
            feeds = dict(zip(xs, given, strict=True))
            same_bits(mg.run(mg.build_graph(xs, y), feeds), expected.data, f"{op}: static")
        # plain arrays keep their layout, and so BLAS may add up in another order
        units = 8 * np.finfo(np.float32).eps * np.abs(expected.data.astype(float)).max(initial=1)
        np.testing.assert_allclose(op(*given, **sample.attrs), expected.data, 1e-6, units)


@check
def nothing_goes_in_nothing_comes_out(op: Op, sample: Sample) -> None:
    """Zero-size operands: the same in both modes, forward and backward."""
    nothing = empty(sample)
    if nothing.shapes == sample.shapes or not fits(op, nothing):
        return  # the other checks had it; that some sample does fit is tested below
    rules_agree_with_kernel(op, nothing)
    kernel_writes_where_it_is_told(op, nothing)
    eager_equals_static(op, nothing)
    eager_gradients_equal_static(op, nothing)


def fits(op: Op, sample: Sample) -> bool:
    """Does the operator take these shapes?"""
    try:
        op.spec([spec_of(a) for a in draw(sample)], sample.attrs)
    except ShapeError:
        return False
    return op.name not in NEVER_EMPTY


@check
def nan_stays_nan(op: Op, sample: Sample) -> None:
    for i in range(len(sample.shapes)):
        if op.name in NOT_NAN or i in op.shape_only or i in sample.integers or i in sample.bools:
            continue
        operands = draw(sample)
        operands[i] = np.full(operands[i].shape, np.nan)[()]
        result = np.asarray(op(*operands, **sample.attrs))
        if result.dtype.kind == "f" and operands[i].size:
            found = np.isnan(result)
            stays = found.any() if op.name in IN_PLACE else found.all()
            assert stays or result.size < 2, f"{op}: NaN in operand {i} is lost"


@check
def results_share_no_memory_with_variables(op: Op, sample: Sample) -> None:
    with mg.Graph(), mg.Session() as session:
        variables = [mg.Variable(a) for a in draw(sample, np.float32)]
        y = op(*variables, **sample.attrs)
        session.run(mg.global_variables_initializer())
        result = session.run(y)
        for value in session.variables.values():
            assert not np.shares_memory(result, value), f"{op}: the result is the variable"


@check
def has_both_titles_and_a_formula(op: Op, sample: Sample) -> None:
    assert all(op.title), f"{op}: a title in both languages"
    assert op.formula, f"{op}: a formula"
    names = [f"operand{i}" for i in range(len(sample.shapes))]
    assert op.formula.format(*names) != op.formula or not names, f"{op}: {{0}} for the operand"


# ---- The walk -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - EFFECTS - MADE_BY_PASSES))
def test_every_operator(name: str) -> None:
    assert REGISTRY[name].name == name

    @each(CHECKS)
    def holds(check: str) -> None:
        walk(REGISTRY[name], check)

    holds()


def test_operators_with_effects_are_listed() -> None:
    assert {name for name, op in REGISTRY.items() if op.effect} == EFFECTS
    for name in EFFECTS:
        assert all(REGISTRY[name].title), name
        assert REGISTRY[name].formula, name
    for name in STATE:
        assert not REGISTRY[name].vjp, f"{name}: an executor handles it, no gradient flows"


@pytest.mark.parametrize(("name", "dtype"), sorted(REFUSED, key=str))
def test_refused_data_types_are_refused_in_both_modes(name: str, dtype: Any) -> None:
    op = REGISTRY[name]
    operands = draw(op.samples[0], dtype)
    with pytest.raises(mg.GraphError, match=name):
        eager(op, operands, {})
    with mg.Graph(), pytest.raises(mg.GraphError, match=name):  # while the graph is built
        static(op, operands, {}, "full")


def test_every_operator_meets_an_operand_without_elements() -> None:
    def met(op: Op) -> bool:
        shrunk = [empty(sample) for sample in op.samples]
        return any(fits(op, s) and any(a.size == 0 for a in draw(s)) for s in shrunk)

    walked = set(REGISTRY) - EFFECTS - MADE_BY_PASSES
    never = {name for name in walked if not met(REGISTRY[name])}
    assert never == NEVER_EMPTY


# ---- Each check can fail --------------------------------------------------------------------


def record(**changes: Any) -> Op:
    """An operator that doubles, with something wrong about it; not entered in the registry."""
    fields: dict[str, Any] = {
        "run": lambda out, x: np.multiply(x, x.dtype.type(2), out=out),
        "vjp": (lambda g, y, x: g * 2,),
        "shape": lambda x: x,
        "samples": [Sample([(2, 3)])],
        "title": ("t", "题"),
        "formula": "{0}",
        **changes,
    }
    return Op("Double", **fields)


class Alternating:
    """A kernel that gives another result at each call."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, out: Any, x: Any) -> Any:
        self.calls += 1
        return np.multiply(x, x.dtype.type(self.calls), out=out)


def _out_ignored(out: Any, x: Any) -> Any:
    return x + x


def _writes_operand(out: Any, x: Any) -> Any:
    np.copyto(x, 0)
    return np.multiply(x, x.dtype.type(2), out=out)


def _nan_lost(out: Any, x: Any) -> Any:
    return np.multiply(np.nan_to_num(x), x.dtype.type(2), out=out)


def _reads_data(g: Any, y: Any, x: Any) -> Any:
    return g * 2 * (float(x.sum()) > 0)


def _by_rank(g: Any, y: Any, x: Any, deep: bool = False) -> Any:
    return g * x if deep else g * 2


def _wide_when_alone(*dtypes: Any) -> Any:
    return dtypes[0] if len(dtypes) == 2 else core.float64


def pair(**changes: Any) -> Op:
    """An operator that adds, with something wrong about it."""
    fields: dict[str, Any] = {
        "run": lambda out, a, b: np.add(a, b, out=out),
        "vjp": (lambda g, y, a, b: g, lambda g, y, a, b: g),
        "shape": lambda a, b: core.broadcast_shapes("Plus", a, b),
        "symbol": operator.add,
        "broadcasts": True,
        "elementwise": True,
        "samples": [Sample([(2, 3), (2, 1)])],
        "title": ("t", "题"),
        "formula": "{0} + {1}",
        **changes,
    }
    return Op("Plus", **fields)


def _counts_columns(out: Any, a: Any, b: Any) -> Any:
    return np.add(a, b * b.dtype.type(np.shape(b)[-1]), out=out)


TWO = [Sample([(2, 3)]), Sample([(2, 3)], {"deep": True})]
BAD: list[tuple[str, Op]] = [
    ("rules_agree_with_kernel", record(shape=lambda x: x[:-1])),
    ("rules_agree_with_kernel", record(dtype=core.always(core.float64))),
    ("kernel_writes_where_it_is_told", record(run=_out_ignored)),
    ("kernel_writes_where_it_is_told", record(run=_writes_operand)),
    ("eager_equals_static", record(run=Alternating())),
    ("mixed_data_types_are_those_of_pytorch", pair(inputs=lambda *dtypes: dtypes[0])),
    ("python_numbers_take_the_type_beside_them", pair(inputs=_wide_when_alone)),
    ("python_signs_do_the_same", pair(symbol=operator.sub)),
    ("operands_are_stretched", pair(run=_counts_columns, symbol=None)),
    ("eager_gradients_equal_static", record(vjp=(lambda g, y, x: g.sum(),))),
    ("gradients_of_both_orders_are_right", record(vjp=(lambda g, y, x: g * 3,))),
    ("rules_build_nodes_only", record(vjp=(_reads_data,))),
    (
        "what_is_retained_is_the_same_for_all_samples",
        record(shape=lambda x, deep=False: x, vjp=(_by_rank,), samples=TWO),
    ),
    ("views_are_taken_like_contiguous_arrays", record(run=Alternating())),
    ("nothing_goes_in_nothing_comes_out", record(run=lambda out, x: np.full((2, 3), x.max()))),
    ("nan_stays_nan", record(run=_nan_lost)),
    ("results_share_no_memory_with_variables", record(run=lambda out, x: x)),
    ("has_both_titles_and_a_formula", record(title=("double", ""))),
    ("has_both_titles_and_a_formula", record(formula="")),
]


@pytest.mark.parametrize(("check", "op"), BAD, ids=[name for name, _ in BAD])
def test_each_check_can_fail(check: str, op: Op) -> None:
    if check != "what_is_retained_is_the_same_for_all_samples":
        walk(record(), check)
        walk(pair(), check)
    with pytest.raises((AssertionError, mg.GraphError, ValueError)):
        walk(op, check)


def test_each_check_is_shown_to_fail() -> None:
    assert {name for name, _ in BAD} == set(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
def test_a_record_without_samples_fails_the_walk(check: str) -> None:
    with pytest.raises(AssertionError, match="Double has no samples"):
        walk(record(samples=()), check)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="there is an operator Add already"):
        core.operator("Add", shape=lambda x: x, run=None)
