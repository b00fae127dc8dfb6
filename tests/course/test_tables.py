"""`viz.tape` and `lessons.gradient_check`: what stands in the tables, in both languages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import set_language
from viz.words.text import bilingual

pytestmark = pytest.mark.usefixtures("english")


def layer(W: Any, x: Any, b: Any) -> Any:
    return mg.relu(W @ x + b).sum()


VALUES = ([[1.0, -2.0], [3.0, 4.0]], [1.0, 1.0], [0.5, -1.0])

TAPE = """\
tape: 4 nodes, {count} of them with saved values
node | saved | gradient function
MatMul = W @ x | {operands} | to W: expand(∂) × x; to x: Wᵀ @ ∂
Add = MatMul + b | nothing | to MatMul: ∂; to b: ∂
ReLU = max(Add, 0) | {result} | to Add: (ReLU > 0) ? ∂ : 0
total = Σ ReLU | nothing | to ReLU: repeat(∂)"""


def test_a_tape_is_consumed_by_backward() -> None:
    W, x, b = (mg.tensor(v, requires_grad=True) for v in VALUES)
    total = layer(W, x, b)
    full = TAPE.format(
        count=2, operands="W = [[1, -2], [3, 4]], x = [1, 1]", result="ReLU = [0, 6]"
    )
    assert str(viz.tape(total)) == full
    total.backward(retain_graph=True)
    assert str(viz.tape(total)) == full
    total.backward()
    used = TAPE.format(count=0, operands="used and dropped", result="used and dropped")
    assert str(viz.tape(total)) == used
    assert b.grad is not None


def test_a_tape_tells_no_gradient_where_none_flows() -> None:
    W = mg.tensor([2.0, 3.0], requires_grad=True)
    x = mg.tensor([5.0, 6.0], name="x")
    y = W * x * 3
    lines = str(viz.tape(y)).splitlines()
    assert lines[2:] == [
        "Mul = W × x | x = [5, 6] | to W: ∂ × x",
        "y = Mul × 3 | 3 | to Mul: ∂ × cast(3)",
    ]


def test_several_tensors_share_one_tape_and_a_leaf_has_none() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    h = x * x
    a, b = h + 1, h + 2
    assert str(viz.tape(a, b)).startswith("tape: 3 nodes, 1 of them")
    assert str(viz.tape(x)).startswith("tape: 0 nodes")


@pytest.mark.parametrize("wrong", [(), (3,), ("x",)])
def test_what_is_no_tensor_has_no_tape(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"mg\.gradients"):
        viz.tape(*wrong)
    with mg.Graph(), pytest.raises(TypeError, match=r"mg\.gradients"):
        viz.tape(mg.placeholder("x"))


CHECK = """\
gradient check: {agreeing} of 3 agree
input | backward | central differences | difference
W | {W}
x | [3, 4] | [3, 4] | ✓ < 1e-06
b | [0, 1] | [0, 1] | ✓ < 1e-06"""


def test_right_gradients_agree() -> None:
    told = CHECK.format(agreeing=3, W="[[0, 0], [1, 1]] | [[0, 0], [1, 1]] | ✓ < 1e-06")
    assert str(lessons.gradient_check(layer, *VALUES)) == told
    tensors = [mg.tensor(v, requires_grad=True) for v in VALUES]
    assert str(lessons.gradient_check(layer, *tensors)) == told
    assert [x.grad for x in tensors] == [None] * 3


def test_a_gradient_that_does_not_arrive_is_not_zero() -> None:
    def cut(W: Any, x: Any, b: Any) -> Any:
        return layer(mg.stop_gradient(W), x, b)

    told = CHECK.format(agreeing=2, W="not computed | [[0, 0], [1, 1]] | –")
    assert str(lessons.gradient_check(cut, *VALUES)) == told


def test_a_wrong_gradient_is_found() -> None:
    def half(x: Any) -> Any:
        return x * x.detach()

    last = str(lessons.gradient_check(half, 3.0)).splitlines()[-1]
    assert last == "x | 3 | 6 | ✗ 3"
    assert str(lessons.gradient_check(half, 3.0, tolerance=4.0)).endswith("✓ < 4e+00")


def test_what_records_nothing_and_what_has_no_gradient() -> None:
    table = lessons.gradient_check(lambda x: mg.tensor(1.0), 3.0)
    assert str(table).splitlines()[-1] == "x | not computed | 0 | –"
    labels = np.array([0, 1])
    table = lessons.gradient_check(lambda x, i: mg.take(x, i).sum(), [1.0, 2.0, 3.0], labels)
    assert [line[0][0] for line in table.rows] == ["x"]


def test_the_result_must_be_one_number() -> None:
    with pytest.raises(mg.GradientError, match="single number"):
        lessons.gradient_check(lambda x: x * 2, [1.0, 2.0])
    with pytest.raises(TypeError, match="returns a tensor"):
        lessons.gradient_check(lambda x: 3.0, 1.0)


def test_a_page_has_both_languages_and_text_the_chosen_one() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="<b>")
    table = viz.tape(x * x)
    page = table._repr_html_()
    assert bilingual(("saved", "保存的值")) in page
    assert page.count('<th scope="row"') == 1
    assert "<b>" not in page
    assert "&lt;b&gt; × &lt;b&gt;" in page
    set_language("zh")
    assert str(table).splitlines()[1] == "节点 | 保存的值 | 梯度函数"


def test_a_tuple_or_a_list_is_one_cell_in_both_languages() -> None:
    told = lessons.table("examples.squares", [((720, 64), [True, None], (25, ValueError("x")))])
    assert str(told).splitlines()[-1] == "720 / 64 | ✓ / – | 25 / ValueError"
    set_language("zh")
    assert str(told).splitlines()[-1] == "720 / 64 | ✓ / – | 25 / ValueError"
