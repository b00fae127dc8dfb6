"""Films, step by step: what lights up, what it is worth, and that nothing large is dumped."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from examples import e1, e2, e5

import minigrad as mg
import viz
from viz.film.frames import Film, summarize
from viz.page.payload import payload
from viz.page.player import Player
from viz.page.rooms import card_spaces
from viz.picture.cards import GAP, PAD, Card, wide
from viz.picture.swatch import COLUMNS, ROWS, WIDE, drawn, encoded, raster, scale
from viz.picture.theme import LARGE, SMALL

B, R, G = "clock_built", "clock_run", "clock_gradient"


def told(film: Film) -> list[str]:
    return [frame.caption[0] for frame in film.frames]


def film_of(_thing: Any, feed: Any = None) -> Film:  # underlined: its name names no node
    return viz.step(_thing, feed).films[0]


def test_e1_dynamic_step_by_step() -> None:
    film = film_of(e1())
    assert told(film) == [
        "Nothing has happened yet. Press → to begin.",
        "run and recorded at once: Mul = x × x = 2 × 2 = 4",
        "run and recorded at once: Add = Mul + 3 = 4 + 3 = 7",
        "backward starts at the output: ∂Add/∂Add = 1",
        "Add passes back to Mul: upstream × local = 1 × 1 = 1",
        "Mul passes back to x: upstream × local = 1 × 2 = 2",
        "Mul passes back to x, which adds it: 2 + 2 = 4",
        "done: 2 operators built, 2 operators run, 3 contributions passed back.",
    ]
    active = [frame.active for frame in film.frames]
    assert active == [(), ("n2",), ("n4",), ("n4",), ("n2",), ("n1",), ("n1",), ()]
    assert [{i: flow.text for i, flow in frame.flows.items()} for frame in film.frames] == [
        {},
        {"e1": "2", "e2": "2"},
        {"e3": "4", "e4": "3"},
        {},
        {"e3": "1 × 1 = 1"},
        {"e1": "1 × 2 = 2"},
        {"e2": "1 × 2 = 2"},
        {},
    ]
    assert [flow.sum for frame in film.frames for flow in frame.flows.values()][-3:] == [
        "",
        "",
        "2 + 2 = 4",
    ]
    assert [frame.marks for frame in film.frames] == [
        ((B, "n1", "input"),),
        ((B, "n2", "operator"), (R, "n2", "operator")),
        ((B, "n3", "input"), (B, "n4", "operator"), (R, "n4", "operator")),
        ((G, "n4", "seed"),),
        ((G, "n2", "operator"),),
        ((G, "n1", "operator"),),
        ((G, "n1", "operator"),),
        (),
    ]


def test_e2_static_step_by_step() -> None:
    film = film_of(e2(), {"x": 2})
    assert told(film)[1:] == [
        "declared: the input x. It has no value, and even its shape is not known yet.",
        "built: Mul = x × x. It has no value, and even its shape is not known yet.",
        "declared: the constant 3, whose value the graph holds.",
        "built: Add = Mul + 3. It has no value, and even its shape is not known yet.",
        "built: 8 gradient nodes for the way back, before anything runs",
        "x receives its value: 2",
        "run: Mul = x × x = 2 × 2 = 4",
        "the constant 3 is read",
        "run: Add = Mul + 3 = 4 + 3 = 7",
        "backward starts at the output: ∂Add/∂Add = 1",
        "Add passes back to Mul: upstream × local = 1 × 1 = 1",
        "Mul passes back to x: upstream × local = 1 × 2 = 2",
        "Mul passes back to x, which adds it: 2 + 2 = 4",
        "done: 2 operators built, 8 gradient nodes built, 2 operators run, "
        "3 contributions passed back.",
    ]
    assert film.frames[5].active == ("n4", "n2", "n1"), "those that gradients are built for"
    assert all(frame.active for frame in film.frames[1:-1]), "something lights up at every step"


def clocks(film: Film, *sorts: str) -> list[str]:
    marks = [mark for frame in film.frames for mark in frame.marks]
    return [clock.removeprefix("clock_") for clock, _, sort in marks if sort in sorts]


def test_eager_interleaves_the_clocks_and_static_builds_first() -> None:
    dynamic, static = film_of(e1()), film_of(e2(), {"x": 2})
    assert clocks(dynamic, "operator") == ["built", "run"] * 2 + ["gradient"] * 3
    assert clocks(static, "operator") == ["built"] * 2 + ["run"] * 2 + ["gradient"] * 3
    assert clocks(static, "input") == ["built"] * 2 + ["run"] * 2
    assert clocks(static, "operator", "gradient") == (
        ["built"] * 2 + ["built"] * 3 + ["run"] * 2 + ["gradient"] * 3
    ), "gradient nodes are built before anything runs"
    assert clocks(dynamic, "seed") == clocks(static, "seed") == ["gradient"]
    assert "gradient" not in {m.sort for frame in dynamic.frames for m in frame.marks}


def test_e5_with_its_gradients() -> None:
    film = film_of(e5())
    assert told(film)[1:4] == [
        "run and recorded at once: MatMul = W @ x = [[1, -2], [3, 4]] @ [1, 1] = [-1, 7]",
        "run and recorded at once: Add = MatMul + b = [-1, 7] + [0.5, -1] = [-0.5, 6]",
        "run and recorded at once: ReLU = max(Add, 0) = max([-0.5, 6], 0) = [0, 6]",
    ]
    gradients = {k[2]: v.tolist() for k, v in film.results.items() if k[0] == "gradient"}
    assert gradients == {"W": [[0, 0], [1, 1]], "b": [0, 1], "x": [3, 4]}
    assert [v.tolist() for k, v in film.results.items() if k[0] == "output"] == [[0, 6]]
    assert "ReLU passes back to Add: upstream × local = [1, 1] × [0, 1] = [0, 1]" in told(film)
    assert any("x: Wᵀ @ ∂ = [3, 4] (∂: the upstream gradient)" in line for line in told(film))


def test_what_takes_several_words_is_multiplied_in_parentheses() -> None:
    x = mg.tensor(np.linspace(-1, 1, 20), requires_grad=True, name="x")
    film = film_of((x * x + x).sum())
    captions = " ".join(told(film))
    assert "upstream × local = [1, 1, …] × [1, 1, …] = [1, 1, …]" in captions
    assert "x, which adds it: [1, 1, …] + (-1 … 1) = 0 … 2" in captions
    flows = [flow for f in film.frames for flow in f.flows.values()]
    assert "[1, 1, …] × (-1 … 1) = -1 … 1" in [flow.text for flow in flows]
    assert "[1, 1, …] + (-1 … 1) = 0 … 2" in [flow.sum for flow in flows]


def test_the_life_of_a_node() -> None:
    film = film_of(e1())
    leaf, product = film.tracks["n1"], film.tracks["n2"]
    assert (leaf.born, [i for i, _ in leaf.values]) == (0, [0])
    assert [(i, s.short) for i, s in leaf.gradients] == [(5, "2"), (6, "4")]
    assert (product.born, [(i, s.short) for i, s in product.values]) == (1, [(1, "4")])
    facts = product.facts
    assert facts.formula == "x × x"
    assert facts.rules == (("x", "∂ × x"), ("x", "∂ × x"))
    assert facts.kept == (("x", ("x",)),)
    assert facts.line.startswith("examples.py, line")
    static = film_of(e2(), {"x": 2}).tracks["n2"]
    assert static.values[0][0] > static.born


def test_a_step_shows_the_expression_that_made_the_node() -> None:
    place, before, inside, after = film_of(e1()).frames[1].code
    assert place.startswith("examples.py, line")
    assert (before, inside, after) == ("return ", "x * x", " + 3")


def test_a_gradient_that_was_not_computed_is_none_and_not_zero() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    fixed = mg.tensor([3.0], name="fixed")
    film = film_of((fixed * x).sum())
    label = {n.label: n.id for n in film.picture.nodes}
    assert film.tracks[label["fixed"]].gradients == []
    assert film.tracks[label["x"]].gradients[-1][1].short == "3"


def test_a_number_used_three_times_is_summed_up_in_words() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    sums = [line for line in told(film_of((x + x) + x)) if "which adds it" in line]
    assert [line.rpartition(": ")[2] for line in sums] == ["1 + 1 = 2", "2 + 1 = 3"]


@pytest.mark.parametrize(
    ("value", "short", "long"),
    [
        (2.0, "2", "2"),
        (True, "True", "True"),
        ([1.0, 2.0], "[1, 2]", "[1, 2]"),
        (np.zeros((100, 100)), "[0, 0, …]", "(100, 100), every element 0"),
        (np.arange(10), "0 … 9", "(10,), min 0 … max 9, mean 4.5"),
        (np.arange(4) > 1, "0 … 1", "(4,), min 0 … max 1, mean 0.5"),
        (np.array([[1, math.nan], [math.inf, 2]]), "NaN/∞", "(2, 2), 2 NaN or infinite"),
        (np.full(5, -math.inf), "NaN/∞", "(5,), 5 NaN or infinite"),
        (math.nan, "NaN", "NaN"),
        (np.zeros((0, 3)), "∅", "(0, 3), no elements"),
        (np.float32([3e38] * 9 + [0]), "0 … 3e+38", "(10,), min 0 … max 3e+38, mean 2.7e+38"),
        (np.array([1e308] * 9 + [0]), "0 … 1e+308", "(10,), min 0 … max 1e+308, mean inf"),
        (np.array([1.5, -2, 0.25]), "[1.5, -2, 0.25]", "[1.5, -2, 0.25]"),
        (
            np.array([-1.2345e-7, 1234567.0, 1 / 3]),
            "-1.2e-07 … 1.2e+06",
            "(3,), min -1.23e-07 … max 1.23e+06, mean 4.12e+05",
        ),
    ],
)
def test_a_value_of_any_size_in_a_few_words(value: Any, short: str, long: str) -> None:
    summary = summarize(value)
    assert (summary.short, summary.long[0]) == (short, long)
    assert summary.bad == (not np.isfinite(np.asarray(value)).all())


def test_several_values_in_a_few_words() -> None:
    long = np.array([1 / 3, -2 / 3, 1e-5])
    assert summarize((np.float64(2), np.arange(9.0))).short == "(2, 0 … 8)"
    assert summarize((long, np.float64(2), long)).short == "(…, …, …)"
    assert summarize(long).text == "[0.3333, -0.6667, 1e-05]", "a caption has room for them"


def test_a_card_has_room_for_all_that_it_will_show() -> None:
    x = mg.tensor([1 / 3, -2 / 3, 123456.0], requires_grad=True, name="weights")
    (film,) = viz.step((x * mg.tensor([-0.12345, 23456.0, 1 / 7])).sum()).films
    for box, room in card_spaces(film, film.picture).items():
        card = Card(next(n for n in film.picture.nodes if n.id == box), room)
        inside = card.size[0] - 2 * PAD
        for _, value in film.tracks[box].values:
            if value.raster:
                assert room.swatch
                assert wide(value.beside, SMALL) <= inside, value.short
                assert wide(card.sign, LARGE) + GAP + WIDE <= inside
            else:
                assert wide(card.sign, LARGE) + GAP + wide(value.short, LARGE) <= inside
        for _, gradient in film.tracks[box].gradients:
            assert room.back == bool(gradient.raster)
            assert wide(f"∂ {gradient.beside}", SMALL) <= inside, gradient.short


@pytest.mark.parametrize(
    ("shape", "kind", "cells", "part"),
    [
        ((5,), "bars", (1, 5), (1, 1)),
        ((1, 5, 1), "bars", (1, 5), (1, 1)),
        ((10_000,), "bars", (1, 28), (1, 357)),
        ((3, 4), "cells", (3, 4), (1, 1)),
        ((1000, 7), "cells", (14, 7), (71, 1)),
        ((2, 10, 1), "cells", (2, 10), (1, 1)),
        ((2, 3, 4), "tiles", (3, 9), (1, 1)),
        ((1, 8, 3, 3), "tiles", (7, 15), (1, 1)),
        ((4, 1, 28, 28), "tiles", (10, 43), (3, 3)),
        ((1, 64, 16, 16), "tiles", (14, 39), (4, 4)),
        ((16, 1, 4, 84), "tiles", (8, 42), (2, 2)),
    ],
)
def test_a_tensor_of_any_shape_is_bars_cells_or_tiles(
    shape: tuple[int, ...], kind: str, cells: tuple[int, int], part: tuple[int, int]
) -> None:
    made = raster(np.arange(math.prod(shape), dtype=float).reshape(shape))
    assert made is not None
    assert (made.kind, made.part) == (kind, part)
    assert (len(made.cells), len(made.cells[0])) == cells
    assert len(made.cells) <= ROWS
    assert kind == "tiles" or len(made.cells[0]) <= COLUMNS
    assert (made.reduction is None) == (part == (1, 1) and made.tiles[0] == made.tiles[1])


def test_a_pixel_is_free_between_bars() -> None:
    made = raster(np.array([1.0, 2.0, 3.0, -1.0, -2.0]))
    assert made is not None
    svg = drawn(encoded(made, 3.0))
    places = sorted(float(x) for x in re.findall(r"M([\d.]+),[\d.]+V", svg))
    widths = [float(x) for x in re.findall(r'mg-(?:above|below)" stroke-width="([\d.]+)', svg)]
    assert widths == pytest.approx([places[1] - places[0] - 1] * 2)


def test_a_number_has_no_swatch_and_nothing_has_none() -> None:
    assert [raster(np.zeros(shape)) for shape in ((), (1,), (1, 1), (0, 3))] == [None] * 4


def test_what_is_too_large_is_averaged_and_keeps_its_nan() -> None:
    x = np.arange(56.0)
    made = raster(x)
    assert made is not None
    assert made.cells == (tuple(x.reshape(28, 2).mean(axis=1)),)
    assert made.reduction is not None
    assert made.reduction[0] == "One cell shows the mean of 2 numbers."
    x[[0, 5, 9]] = math.nan, math.inf, -math.inf
    spoilt = raster(x)
    assert spoilt is not None
    assert encoded(spoilt, 1.0)[4:9] == "NuIuI"
    assert spoilt == raster(x.copy()), "NaN is not equal to itself, and yet it is the same picture"
    json.dumps(encoded(spoilt, 1.0), allow_nan=False)


def test_a_large_tensor_counts_as_much_as_a_small_one_for_the_scale() -> None:
    large, small = raster(np.full((20, 20), 0.25)), raster(np.full(4, 8.0))
    assert large is not None
    assert small is not None
    assert scale([large, small]) == 8.0, "half of the numbers, though 4 of 404"


def test_a_scale_is_shared_and_no_outlier_makes_it() -> None:
    small = [raster(np.full((20, 20), -0.5)) for _ in range(3)]
    wild = np.ones((10, 20))
    wild[0, 0] = 1e9
    labels = raster(np.arange(900))
    found = [x for x in (*small, raster(wild), labels) if x]
    assert scale(found) == 1.0, "neither the outlier nor the labels"
    assert scale([]) == scale([found[-1]]) == 1.0
    assert set(encoded(found[0], 1.0)[4:]) == {"4"}, "the root of one half, below zero"
    assert encoded(found[-1], 1.0).endswith("u"), "labels have a scale of their own"


def test_a_million_numbers_stay_small() -> None:
    x = mg.tensor(np.ones((1000, 1000), np.float32), requires_grad=True, name="x")
    film = film_of((x * 2).sum())
    assert len(json.dumps(payload([film], None, "p"), allow_nan=False)) < 60_000
    assert max(len(line) for line in told(film)) < 200


def test_nan_and_infinity_are_said_and_can_be_sent() -> None:
    x = mg.tensor([[-1.0, 0.0, 3, 4], [1.0, 2.0, 5, 6]], requires_grad=True, name="x")
    with np.errstate(all="ignore"):
        film = film_of(mg.log(x).sum())
    told_so = "Log gave NaN: log(-1) (NaN or infinite: 2 of 8)"
    assert any(line.startswith(told_so) for line in told(film))
    json.dumps(Player([film]).data, allow_nan=False)


def test_an_empty_tensor_can_be_stepped_through() -> None:
    x = mg.tensor(np.zeros((0, 3), np.float32), requires_grad=True, name="x")
    assert "(0, 3), no elements" in told(film_of((x * 2).sum()))[1]


def test_a_second_backward_pass_starts_anew() -> None:
    with mg.record(values=True) as log:
        x = mg.tensor(2.0, requires_grad=True, name="x")
        for _ in range(2):
            (x * x).backward()
    shares = [f.caption[0] for f in viz.timeline(log).films[0].frames if "passes" in f.caption[0]]
    assert [line.rpartition(": ")[2] for line in shares] == [
        "upstream × local = 1 × 2 = 2",
        "2 + 2 = 4",
    ] * 2


def test_both_languages_count_the_same_steps() -> None:
    english, chinese = (half.splitlines() for half in film_of(e1()).text())
    assert [line.partition(".")[0] for line in english] == [str(i) for i in range(8)]
    assert [line.partition(".")[0] for line in chinese] == [str(i) for i in range(8)]
    assert chinese[6] == "6. Mul 向 x 回传，x 把这一份加到已有的梯度上：2 + 2 = 4"


def test_without_gradients_nothing_is_said_of_them() -> None:
    with mg.record(values=True) as log:
        x = mg.tensor(2.0, requires_grad=True)
        x * x
    assert told(viz.timeline(log).films[0])[-1] == "done: 1 operator built, 1 operator run."
