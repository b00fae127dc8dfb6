"""The words of TensorFlow 1: the same lines, run by `tf.compat.v1` and by ours.

Each program is a function of the module that it finds `placeholder`, `gradients`, … in; what it
returns is compared, bit for bit where nothing but exact numbers is computed. What TensorFlow
refuses is refused here, too.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tensorflow = pytest.importorskip("tensorflow")
tf1 = tensorflow.compat.v1

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

Lines = Callable[[Any], Any]
PROGRAMS: dict[str, Lines] = {}
REFUSED: dict[str, tuple[Lines, type[Exception], type[Exception]]] = {}


def program(lines: Lines) -> Lines:
    """Enter lines that give the same in both."""
    PROGRAMS[lines.__name__] = lines
    return lines


def refused(theirs: Any, ours: type[Exception]) -> Callable[[Lines], Lines]:
    """Enter lines that are an error in both."""

    def enter(lines: Lines) -> Lines:
        REFUSED[lines.__name__] = lines, theirs, ours
        return lines

    return enter


def plain(x: Any) -> Any:
    """Lists, tuples and dicts as they are, arrays as lists of numbers."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(map(plain, x))
    return x if x is None or isinstance(x, str) else np.asarray(x).tolist()


def run(tf: Any, lines: Lines) -> Any:
    """The lines in a graph of their own."""
    graph = tf.Graph()
    with graph if tf is mg else graph.as_default():
        return plain(lines(tf))


def model(tf: Any) -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, (2,), name="x")
    W = tf.Variable([1.0, 2.0], name="W")
    return x, W, (W - x) * (W - x)


# ---- The same -----------------------------------------------------------------------------------


@program
def the_commonest_line(tf: Any) -> Any:
    x, W, loss = model(tf)
    dW = tf.gradients(loss, W)[0]
    step = tf.assign(W, W - 0.25 * dW)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        seen = [sess.run([step, dW], feed_dict={x: [3.0, 3.0]}) for _ in range(3)]
        return seen, sess.run(W)


@program
def a_list_of_gradients(tf: Any) -> Any:
    x, W, loss = model(tf)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feeds = {x: [3.0, 3.0]}
        alone = sess.run(tf.gradients(loss, W), feeds)
        nested = sess.run([loss, tf.gradients(loss, [W, x])], feeds)
        joined = sess.run([loss] + tf.gradients(loss, [x]), feeds)  # noqa: RUF005
        named = sess.run({"loss": loss, "slopes": tf.gradients([loss, x], (x, W))}, feeds)
        return alone, nested, joined, named


@program
def gradients_that_are_none(tf: Any) -> Any:
    x, W, loss = model(tf)
    alone = tf.placeholder(tf.float32, (2,))
    return [g is None for g in tf.gradients(loss, [alone, W, x])]


@program
def gradients_of_gradients(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, ())
    (first,) = tf.gradients(x * x * x, x)
    (second,) = tf.gradients(first, x)
    with tf.Session() as sess:
        return sess.run([first, second], {x: 2.0})


@program
def weights_of_outputs(tf: Any) -> Any:
    x, W, loss = model(tf)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        slopes = tf.gradients([loss, W], [W], grad_ys=[[1.0, 10.0], [1.0, 1.0]])
        return sess.run(slopes, {x: [0.0, 0.0]})


@program
def assignments_read_what_control_says(tf: Any) -> Any:
    w = tf.Variable(1.0, name="w")
    with tf.control_dependencies([tf.assign(w, w + 1.0)]):
        after = w.read_value() if tf is not mg else tf.read_value(w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(after), sess.run(w), sess.run(after), sess.run(w)]


@program
def a_group_runs_all(tf: Any) -> Any:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    both = tf.group(tf.assign(a, 5.0), tf.assign(b, 6.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(both), sess.run([a, b])


@program
def sessions_are_apart(tf: Any) -> Any:
    w = tf.Variable(1.0, name="w")
    grow = tf.assign(w, w * 2.0)
    start = tf.global_variables_initializer()
    first, second = tf.Session(), tf.Session()
    first.run(start)
    second.run(start)
    first.run(grow)
    return first.run(grow), second.run(w)


@program
def a_branch_and_its_gradient(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, ())
    y = tf.cond(x > 0, lambda: x * x, lambda: -3.0 * x)
    with tf.Session() as sess:
        return [sess.run([y] + tf.gradients(y, x), {x: v}) for v in (2.0, -2.0)]  # noqa: RUF005


@program
def the_other_branch_spoils_the_gradient(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, ())
    steep = 1.0 / x
    y = tf.cond(x > 0, lambda: steep * 1.0, lambda: x * 2.0)
    with tf.Session() as sess:
        return [str(g) for g in sess.run(tf.gradients(y, x), {x: 0.0})]


@program
def a_loop_and_its_gradient(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, ())
    i, y = tf.while_loop(
        cond=lambda i, y: i < 5, body=lambda i, y: [i + 1, y * x], loop_vars=[tf.constant(0), x]
    )
    with tf.Session() as sess:
        return sess.run([i, y] + tf.gradients(y, x), {x: 2.0})  # noqa: RUF005


@program
def a_loop_that_is_stopped(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, ())
    y, z = tf.while_loop(
        lambda y, z: y < 100.0, lambda y, z: (y * 2.0, z + y), (x, x), maximum_iterations=3
    )
    with tf.Session() as sess:
        return sess.run([y, z], {x: 1.0})


@program
def a_cell_that_ran_again(tf: Any) -> Any:
    for _ in range(3):
        x, _, loss = model(tf)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(loss, {x: [3.0, 3.0]})


# ---- Refused ------------------------------------------------------------------------------------


@refused(tf1.errors.InvalidArgumentError, mg.NotFedError)
def not_fed(tf: Any) -> Any:
    x, _, _ = model(tf)
    return tf.Session().run(x * 2.0)


@refused(tf1.errors.FailedPreconditionError, mg.UninitializedError)
def not_initialised(tf: Any) -> Any:
    _, W, _ = model(tf)
    return tf.Session().run(W * 2.0)


@refused((ValueError, RuntimeError), mg.GraphError)
def an_initialiser_of_another_graph(tf: Any) -> Any:
    model(tf)
    start = tf.global_variables_initializer()
    return tf.Session(graph=tf.Graph()).run(start)


@refused((ValueError, RuntimeError), mg.GraphError)
def a_node_of_another_graph(tf: Any) -> Any:
    x, _, loss = model(tf)
    return tf.Session(graph=tf.Graph()).run(loss, {x: [1.0, 1.0]})


@refused(TypeError, mg.GraphError)
def none_is_fetched(tf: Any) -> Any:
    _, _, loss = model(tf)
    return tf.Session().run(tf.gradients(loss, tf.placeholder(tf.float32, ())))


@refused(ValueError, mg.ShapeError)
def another_shape_is_assigned(tf: Any) -> Any:
    _, W, _ = model(tf)
    return tf.assign(W, [1.0, 2.0, 3.0])


@refused(ValueError, mg.FeedError)
def another_shape_is_fed(tf: Any) -> Any:
    x, _, _ = model(tf)
    return tf.Session().run(x * 2.0, {x: [1.0, 2.0, 3.0]})


@refused(TypeError, mg.GraphError)
def a_list_of_gradients_times_a_number(tf: Any) -> Any:
    _, W, loss = model(tf)
    return W - 0.1 * tf.gradients(loss, W)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_lines_give_the_same(name: str) -> None:
    assert run(mg, PROGRAMS[name]) == run(tf1, PROGRAMS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_tensorflow_refuses_is_refused(name: str) -> None:
    lines, theirs, ours = REFUSED[name]
    with pytest.raises(theirs):
        run(tf1, lines)
    with pytest.raises(ours):
        run(mg, lines)
