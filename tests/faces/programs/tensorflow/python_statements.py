"""Statements of Python in a tf.function: del, try, with, import, global, nonlocal, class."""

import contextlib

import tensorflow as tf

CALLS = 0
answers, seen = {}, []


@contextlib.contextmanager
def scaled_by(k):
    seen.append("in")
    yield k
    seen.append("out")


@tf.function
def deleted(x):
    while x < 10.0:
        t = x * x
        x = x + t
        del t
    d = {"a": x, "b": x * 2.0}
    del d["a"]
    if x > 0.0:
        x = d["b"]
    return x


@tf.function
def cleaned_up(x):
    try:
        if x > 0.0:
            x = x * 2.0
    finally:
        x = x + 1.0
    return x


@tf.function
def caught(x):
    try:
        while x < 10.0:
            x = x * 2.0
        int("three")
    except ValueError as error:
        if x > 10.0:
            x = x + float(len(error.args))
    return x


@tf.function
def left_early(x):
    while x < 100.0:
        try:
            x = x * 2.0
            if x > 5.0:
                break
        finally:
            x = x + 0.5
    for i in tf.range(4):
        try:
            if i == 2:
                continue
            x = x * 2.0
        finally:
            x = x + 0.5
    return x


@tf.function
def managed(x):
    with scaled_by(2.0) as k, contextlib.suppress(KeyError):
        while x < 5.0:
            x = x * k
    with scaled_by(3.0) as k:
        if x > 0.0:
            return x * k
        return x


@tf.function
def counted(x):
    global CALLS
    CALLS = CALLS + 1
    if x > 0.0:
        x = x * 2.0
    return x + float(CALLS)


@tf.function
def nested(x):
    n = 0.0

    def add():
        nonlocal n
        n = n + 1.0

    add()
    add()
    if x > 0.0:
        x = x + n
    return x


@tf.function
def defined_inside(x):
    import math

    class Scale:
        factor = 2.0

    if x > 0.0:
        x = x * Scale.factor + math.floor(2.5)
    return x


one_line = tf.function(lambda x: x * 2.0 if x > 0.0 else -x)
for f in (deleted, cleaned_up, caught, left_early, managed, counted, nested, defined_inside):
    answers[f.__name__] = float(f(tf.constant(1.0)))
answers["a lambda"] = [float(one_line(tf.constant(x))) for x in (1.0, -3.0)]
answers["the managers ran while it was traced"] = seen
