"""Programs for the tests of `mg.script`: one or more for each construct, with inputs.

They are ordinary Python. `PROGRAMS` maps each to inputs that take every way through it; numbers
become tensors (floats float32, integers int64), lists become vectors.
"""

# The programs are written as learners write them: every construct is there on purpose.
# ruff: noqa: B905, RUF021, SIM108

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import minigrad as mg

PROGRAMS: dict[Callable[..., Any], list[tuple[Any, ...]]] = {}


def on(*inputs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Try the decorated program on these inputs: tuples, or single values."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[f] = [x if isinstance(x, tuple) else (x,) for x in inputs]
        return f

    return register


SIGNS = (2.0, 0.0, -3.0)
PAIRS = [(a, b) for a in SIGNS for b in SIGNS]


# ---- Branches -----------------------------------------------------------------------------------


@on([1.0, 2.0], [-3.0, 1.0], [-3.0, -3.0])
def e10(x):
    if x.sum() > 0:
        return 2 * x
    return x - 1


@on(*SIGNS)
def if_else(x):
    if x > 0:
        y = x * x
        z = 1.0
    else:
        z = x
        y = x + z
    return y * z


@on(*SIGNS)
def if_alone(x):
    y = x
    if x > 0:
        y = y * 3
    return y


@on(5.0, 1.0, -1.0, -5.0)
def if_elif_else(x):
    if x > 3:
        y = x
    elif x > 0:
        y = x * 2
    elif x > -3:
        y = x * 3
    else:
        y = x * 4
    return y


@on(*PAIRS)
def nested_ifs(x, y):
    if x > 0:
        if y > 0:
            z = x
        else:
            z = y
    elif y > 0:
        z = x * y
    else:
        z = x - y
    return z


@on(*PAIRS)
def swapped(x, y):
    if x > y:
        x, y = y, x
    return x - 2 * y


@on(*PAIRS)
def augmented(x, y):
    s, d = x + y, x - y  # tensors of their own: += changes them in place
    s += x
    if s > 0:
        s *= 2
        d -= s
    return s - d


@on(*PAIRS)
def numbers_only(x, y):
    if x > y:
        k, m = 1, 2.5
    else:
        k, m = 3, 0.5
    return x * k + m


@on(*PAIRS)
def structures(x, y):
    if x > 0:
        pair, table = (x, y), {"a": [x, 1.0], "b": "same"}
    else:
        pair, table = (y, x), {"a": [y, 2.0], "b": "same"}
    return pair[0] - 2 * pair[1] + table["a"][0] * table["a"][1] + len(table["b"])


@on(*SIGNS)
def python_decides(x):
    flags = {"double": True, "negate": None}
    if flags["double"] and not flags["negate"]:
        x = x * 2
    if flags["negate"]:
        x = -x
    return x


@on(*SIGNS)
def pass_and_docstring(x):
    """A docstring stays the first statement."""
    if x > 0:
        pass
    else:
        x = x - 1
    y: Any
    z: Any = x * 2
    y = z
    return y


@on(*SIGNS)
def local_to_a_branch(x):
    if x > 0:
        t = x * 2
        y = t + 1
    else:
        t = x * 3
        y = t * t
    return y


# ---- Expressions --------------------------------------------------------------------------------


@on(*PAIRS)
def conditional_expression(x, y):
    return (x if x > y else y) + (1.0 if x > 0 else 2.0 if y > 0 else 3.0)


@on(*PAIRS)
def boolean_operators(x, y):
    a = 1.0 if x > 0 and y > 0 else 0.0
    b = 1.0 if x > 0 or y > 0 else 0.0
    c = 1.0 if not x > 0 else 0.0
    d = 1.0 if x > 0 and y > 0 or not (x < 0 or y == 0) and x != y else 0.0
    return a + 10 * b + 100 * c + 1000 * d + x


@on(*PAIRS)
def values_of_boolean_operators(x, y):
    return (x and y) + 10 * (x or y) + 100 * (x and y or 7.0)


@on(*PAIRS)
def truth_of_numbers(x, y):
    if x or y > 1:
        return x + 1
    return y - 1


@on(*[(x, y, z) for x, y in PAIRS for z in (-1.0, 1.0)])
def chained(x, y, z):
    return 1.0 if x < y < z else 2.0 if x < y + z <= z * 2 != y else 3.0


@on(*SIGNS)
def python_and(x):
    n = 3
    return x * 2 if n > 2 and x > 0 else x if n > 5 or x < -1 else -x


@on(*PAIRS)
def assigned_in_a_condition(x, y):
    if (s := x + y) > 0:
        return s * 2
    return s - 1


@on((2, 3.5), (0, 0.0), (-1, -1.5))
def built_in_functions(n, x):
    whole, fraction, truth = int(x), float(n), bool(n)
    return min(x, fraction, 1.0) + max(whole, n) + abs(x) + (1.0 if truth else 0.0)


@on([3.0, -1.0, 2.0], [0.0, 0.0, 0.5])
def built_in_functions_of_a_vector(xs):
    total = sum(xs) + sum(xs, 1.0) + min(xs) + max(xs) + len(xs)
    if any(xs > 2) or all(xs < 1):
        total = total + 100
    return total + sum(v * 2 for v in [xs[0], xs[1]])


@on(*PAIRS)
def any_and_all(x, y):
    return 1.0 if any([x > 0, y > 0]) else 2.0 if all(v < 0 for v in (x, y)) else 3.0


# ---- while --------------------------------------------------------------------------------------


@on((2.0, 5), (3.0, 0), (-1.5, 3))
def power(x, n):
    y = 1.0
    while n > 0:
        y = y * x
        n = n - 1
    return y


@on(27, 1, 7)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@on((0, 5), (5, 5), (1, 10))
def fibonacci(a, n):
    b = a + 1
    for _ in range(n):
        a, b = b, a + b
    return a


@on(2.0, 9.0, 0.25)
def newton(x):
    y = x
    for _ in range(50):
        new = (y + x / y) / 2
        if abs(new - y) < 1e-5:
            break
        y = new
    return y


@on(100.0, 0.5, 3.0)
def while_true(x):
    while True:
        x = x / 2
        if x < 1:
            return x


@on(5.0, 0.0, 12.0)
def while_with_both_jumps(x):
    total = 0.0
    while x > 0:
        x = x - 1
        if x == 3:
            continue
        total = total + x
        if total > 20:
            break
    return total + x


@on((3, 2), (0, 2), (2, 0))
def nested_whiles(n, m):
    count = 0
    while n > 0:
        k = m
        while k > 0:
            count += n * k
            k = k - 1
        n = n - 1
    return count


@on((10, 3), (2, 3), (0, 3))
def while_and(n, m):
    steps = 0
    while n > 0 and steps < m or n > 8:
        n = n - 1
        steps += 1
    return n * 100 + steps


@on(3.0, 0.0)
def python_while(x):
    k = 0
    while k < 3:
        x = x + k
        k += 1
    return x


@on((7.0, 2.0), (0.0, 2.0))
def local_to_a_loop(x, y):
    while x > 0:
        t = x * y
        y = t - x
        x = x - 3
    return y


# ---- for ----------------------------------------------------------------------------------------


@on(4, 0, 1)
def for_range(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@on((1, 7, 2), (7, 1, -2), (3, 3, 1), (0, 5, 5))
def for_range_with_step(start, stop, step):
    total = 0
    for i in range(start, stop, step):
        total = total * 10 + i
    return total


@on(4, 0, 1)
def for_range_downwards(n):
    total = 0
    for i in range(n, -2, -2):
        total = total * 10 + i
    return total


@on(*SIGNS)
def for_python_range(x):
    for i in range(3):
        if x > i:
            x = x - 1
        else:
            x = x + i
    return x


@on(1.0, 3.0, 100.0)
def for_python_range_with_break(x):
    last = -1
    for i in range(2, 20, 3):
        x = x - i
        last = i
        if x < 0:
            break
    return x + last


@on((3.0, 1.0), (3.0, -1.0), (-3.0, 1.0))
def continue_on_some_ways(x, y):
    total = 0.0
    for k in range(4):
        if x > k:
            if y * k > 1:
                continue
            total = total + 1
        else:
            total = total * 2 - y
        x = x - y
    return total + x


@on([1.0, -2.0, 3.0], [0.0, 0.0, 0.0])
def for_rows(xs):
    total = 0.0
    for x in xs:
        if x > 0:
            total = total + x * x
    return total


@on(([1.0, -2.0, 3.0, 4.0], 3.0), ([1.0, 1.0, 1.0, 1.0], 9.0), ([5.0, 0.0, 0.0, -1.0], 3.0))
def for_rows_with_jumps(xs, limit):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        if total > limit:
            break
        total = total + x
    return total


@on(([1.0, -2.0, 3.0], [4.0, 5.0, 6.0]))
def for_enumerated_rows(xs, ys):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys), start=1):
        total = total + i * x * y
    for k, x in enumerate(xs):
        total = total * 2 + k * x
    for x in reversed(xs):
        total = total * 3 + x
    return total


@on(*PAIRS)
def for_python_things(x, y):
    for k, (name, value) in enumerate(zip(["a", "b"], [x, y], strict=True)):
        if value > 0 and name == "a":
            x = x + k * value
        else:
            y = y - value
    for key, scale in {"p": 2.0, "q": 3.0}.items():
        if x > y:
            x, y = y, x * scale + len(key)
    return x + 10 * y


@on(*PAIRS)
def for_list_with_break(x, y):
    total = 0.0
    for v in [x, y, x * y]:
        if v < 0:
            break
        total = total + v
    return total


@on(*PAIRS)
def collected_in_a_list(x, y):
    seen = []
    for k in range(3):
        x = x + k if x > y else x - k
        seen.append(x)
    return sum(seen) + seen[-1]


@on((4, 3), (4, 100), (0, 0))
def return_from_nested_loops(n, limit):
    for i in range(n):
        for j in range(n):
            if i * j > limit:
                return 10 * i + j
    return -1


@on((4, 3), (4, 100), (3, 1))
def break_from_the_inner_loop(n, limit):
    total = 0
    for i in range(n):
        for j in range(n):
            if i * j > limit:
                break
            if i == j:
                continue
            total += i * j
        total += 1
    return total


@on(([2.0, -1.0, 4.0], 1.0), ([-1.0, -1.0, -1.0], 1.0))
def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x
    return limit


@on(3, 1)
def loop_variable_afterwards(n):
    last = 0
    for i in range(n):
        last = i * 2
    return i + last


@on((3, 2), (0, 2), (2, 1))
def value_that_only_a_step_gives(n, m):
    found = False
    for i in range(n):
        for j in range(m):
            last = 10 * i + j
        found = True
    if found:
        last += 1
        return last
    return -1


@on([2, 0, 0], [1, 3, 0])
def value_kept_over_empty_loops(lengths):
    for n in lengths:
        for j in range(n):
            last = j * 10 + n

    def look():
        return last + 1

    return look()


@on((3.0, 2.0), (-1.0, 2.0), (9.0, 1.0))
def first_value_in_the_loop(x, y):
    k = 0
    while k < y:
        best = x * k
        k += 1
    return best


# ---- return -------------------------------------------------------------------------------------


@on(*PAIRS)
def early_returns(x, y):
    if x > 0:
        if y > 0:
            return x
        t = x * 2
    else:
        if y < 0:
            return y
        t = y * 3
    t = t + 1
    if t > 3:
        return t
    return t * 10


@on(*SIGNS)
def return_in_the_middle(x):
    y = x * 2
    if y > 0:
        return y
    y = y - 1
    for k in range(3):
        if y < -k * 3:
            return y * k
        y = y + 1
    return y


@on(*PAIRS)
def several_results(x, y):
    if x > y:
        return x, {"rest": [y, 1.0]}
    return y, {"rest": [x, 2.0]}


@on(*SIGNS)
def return_that_python_decides_in_a_loop(x, at_once=True):
    k = 1.0
    while x > 0:
        k = k + x
        if at_once:
            return k
        x = x - 1
    return -k


# ---- Functions ----------------------------------------------------------------------------------


def sign(x):
    if x > 0:
        return 1.0
    if x < 0:
        return -1.0
    return 0.0


def clipped(x, low, high):
    return low if x < low else high if x > high else x


def scaled(x, *rest, by=2.0, **more):
    for r in rest:
        x = clipped(x, -r, r)
    return x * by * sign(x) + len(more)


@on(*PAIRS)
def tree_of_functions(x, y):
    if sign(x) == sign(y):
        return scaled(x + y, 1.5, 3.0, by=3.0)
    return scaled(x, 2.5, name="y") - scaled(*[y, 1.0])


@on(*SIGNS)
def nested_functions(x):
    k = 2.0

    def inner(v, w=1.0):
        if v > w:
            return v * k
        return v - k

    square = lambda v: v * v if v > 1 else v  # noqa: E731
    return inner(x) + inner(square(x), w=3.0)


@on(*SIGNS)
def nested_function_reads_what_a_branch_set(x):
    k = 2.0

    def times(v):
        return v * k

    if x > 0:
        k = 3.0
    return times(x) + 1


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@on(*SIGNS)
def recursion_on_a_number(x):
    return x * factorial(5) if x > 0 else x - factorial(3)


def running(xs, step):
    return mg.scan(step, 0.0, xs)


@on([1.0, -2.0, 3.0])
def function_given_to_a_library(xs):
    def step(total, x):
        if x > 0:
            total = total + x
        else:
            total = total - 1
        return total, total * 2

    last, all_ = running(xs, step)
    return last + all_.sum()


class Gate(mg.nn.Module):
    """A layer with a branch in `forward`, and a private name."""

    __floor = 0.5

    def __init__(self):
        super().__init__()
        self.limit = 1.0

    def forward(self, x):
        if x.sum() > self.limit:
            return x * 2
        return x + self.__floor


class Double(Gate):
    def forward(self, x):
        if x.sum() < -5:
            return x * 0
        y = super().forward(x)
        if y.sum() > 3:
            y = y - 1
        return y


GATE, DOUBLE = Gate(), Double()


@on([1.0, 2.0], [0.0, -1.0], [-9.0, 1.0], [0.5, 0.6])
def layers(x):
    return GATE(x) + DOUBLE(x)


# ---- Contexts, printing and checking ------------------------------------------------------------


@on(*SIGNS)
def own_contexts(x):
    with mg.no_grad():
        if x > 0:
            k = x * 2
        else:
            k = x * 3
    with mg.name_scope("scaled"):
        y = x * k
        if y > 50:
            return y
    return y + 1


@on((0.5, 4), (2.0, 3), (6.0, 2), (-9.0, 3))
def jumps_out_of_a_context(x, n):
    for _ in range(n):
        with mg.name_scope("step"):
            if x > 5:
                break
            if x < 1:
                x = x + 3
                continue
            x = x * 2
        x = x + 0.25
    return x * 10


@on((2.0, 1.0), (2.0, -1.0), (0.5, 1.0), (-3.0, 1.0))
def value_given_unless_it_returned(x, y):
    if x > 0:
        if x > 1:
            if y > 0:
                return x
            x = x + 1
        z = x * 2
    else:
        z = x
    return z + y


@on((0.5, 6), (2.0, 1), (9.0, 3), (15.0, 4), (30.0, 2))
def jumps_of_two_kinds_before_a_rest(x, n):
    for _ in range(n):
        if x > 1:
            if x > 20:
                break
            if x > 10:
                x = x + 3
                continue
            x = x + 1
        x = x * 2
    return x


@on(1.0, 2.0)
def checked(x):
    assert x > 0, "positive, please"
    assert len("abc") == 3
    return x * 2


# ---- Statements of Python that stay what they are ------------------------------------------------


@on(1.0, 20.0)
def deleted_in_a_loop(x):
    while x < 10:
        t = x * x
        x = x + t
        del t
    return x


@on(*SIGNS)
def deleted_and_given_again(x):
    t, d = x * 2, {"a": x, "b": x * 3}
    del t, d["a"]
    if x > 0:
        t = d["b"]
    else:
        t = x
    return t + len(d)


@on(*SIGNS)
def cleaned_up(x):
    try:
        if x > 0:
            x = x * 2
    finally:
        x = x + 1
    return x


@on(*SIGNS)
def caught(x):
    try:
        if x > 0:
            x = x * 2
        int("three")
    except ValueError as error:
        x = x + len(error.args)
    else:
        x = x * 100
    finally:
        x = x - 0.5
    return x


@on(*SIGNS)
def not_raised(x):
    try:
        y = x * 2
    except ValueError:
        y = x
    else:
        if x > 0:
            y = y + 1
    return y


@on(*SIGNS)
def returned_from_try(x):
    try:
        if x > 0:
            return x * 2
        x = x + 5
    except KeyError:
        x = x * 100
    else:
        x = x - 1
    finally:
        x = x + 1
    return x


@on((1.0, 4), (0.25, 3), (40.0, 2))
def jumps_out_of_try(x, n):
    for k in range(n):
        try:
            x = x * 2
            if x > 20:
                break
            if k == 1:
                continue
            x = x + 1
        finally:
            x = x + 0.5
    return x


@on(1.0, 6.0)
def raised_in_a_step(x):
    for k in range(3):
        try:
            if x > 5:
                x = x - 1
            {0: 1}[k]
        except KeyError:
            x = x + 10
    return x


@on(*SIGNS)
def own_manager(x):
    with contextlib.suppress(ValueError):
        if x > 0:
            x = x * 2
        int("three")
        x = x * 100
    return x


@contextlib.contextmanager
def scaled_by(k):
    yield k


@on(*SIGNS)
def returned_from_a_manager(x):
    with scaled_by(3) as k, scaled_by(2):
        while x < -1:
            x = x + 1
        if x > 0:
            return x * k
    return x - k


CALLS = 0


@on(*SIGNS)
def counted_calls(x):
    global CALLS
    CALLS = 0
    for _ in range(3):
        CALLS += 1
    if x > 0:
        x = x + CALLS
    return x


@on(*SIGNS)
def set_by_a_nested_function(x):
    total = x * 0

    def add(v):
        nonlocal total
        if v > 0:
            total = total + v

    add(x)
    add(x + 1)
    return total


@on(*SIGNS)
def imported_inside(x):
    import math as m
    from math import e

    if x > 0:
        x = x * m.floor(e)
    return x


@on(*SIGNS)
def class_inside(x):
    class Scale:
        factor = 2.0

        def __init__(self, extra):
            self.extra = extra

        def of(self, v):
            if v > 0:
                return v * self.factor + self.extra
            return v

    return Scale(1.0).of(x)


@on((1.0, 20.0), (30.0, 20.0), (1.0, 1000.0))
def loop_with_else(x, limit):
    for _ in range(5):
        x = x * 2
        if x > limit:
            break
    else:
        x = x + 100
    while x > 3:
        x = x / 2
    else:
        x = -x
    return x


@on(*SIGNS)
def matched(x):
    for kind in (1, 2, (1, 5), {"k": 4, "other": 1}, "?"):
        match kind:
            case 1 | 7:
                x = x + 3
            case 2 if kind > 1:
                if x > 0:
                    x = x * 2
            case (a, b):
                x = x * b - a
            case {"k": k, **rest}:
                for _ in range(k):
                    x = x + len(rest)
            case _:
                x = x - 1
    return x
