"""Theano's settings: `theano.config.floatX`, the data type of `T.matrix()`."""

from minigrad.faces.face import Compat

__all__ = ["device", "floatX"]

floatX = "float64"
device = "cpu"

__getattr__ = face = Compat("theano.config")
__dir__ = face.names
