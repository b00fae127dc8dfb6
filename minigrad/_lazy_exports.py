"""The public names that tensors don't need, loaded when the first of them is used."""

from minigrad.methods import *  # first, as it changes what is imported below

# isort: split

from minigrad import data as data
from minigrad import nn as nn
from minigrad import optim as optim
from minigrad import passes as passes
from minigrad.batching import lazy_batch as lazy_batch
from minigrad.compiler.program import *
from minigrad.compiler.schedule.schedule import Schedule as Schedule
from minigrad.control import cond as cond
from minigrad.control import scan as scan
from minigrad.control import while_loop as while_loop
from minigrad.control.recurrent import dynamic_rnn as dynamic_rnn
from minigrad.core import REGISTRY as REGISTRY  # whose last records are in what loads here
from minigrad.dynamic.check import check_grads as check_grads
from minigrad.hybrid.scripting.script import script as script
from minigrad.hybrid.tracing.baking import TraceWarning as TraceWarning
from minigrad.hybrid.tracing.baking import trace as trace
from minigrad.hybrid.tracing.function import function as function
from minigrad.hybrid.tracing.function import run_functions_eagerly as run_functions_eagerly
from minigrad.hybrid.tracing.keys import TensorSpec as TensorSpec
from minigrad.hybrid.tracing.making import make_graph as make_graph
from minigrad.interop.caffe.net import from_caffe as from_caffe
from minigrad.interop.dask import to_dask as to_dask
from minigrad.interop.onnx.reader import from_onnx as from_onnx
from minigrad.interop.onnx.writing.model import to_onnx as to_onnx
from minigrad.nn.functional import avg_pool2d as avg_pool2d
from minigrad.nn.functional import batch_norm as batch_norm
from minigrad.nn.functional import conv2d as conv2d
from minigrad.nn.functional import dropout as dropout
from minigrad.nn.functional import embedding as embedding
from minigrad.nn.functional import layer_norm as layer_norm
from minigrad.nn.functional import max_pool2d as max_pool2d
from minigrad.optim import clip_by_global_norm as clip_by_global_norm
from minigrad.passes import optimize as optimize
from minigrad.saving.loading import *
from minigrad.saving.writing import *
from minigrad.static.build import *
from minigrad.static.default import *
from minigrad.static.gradients import *
from minigrad.static.graph import *
from minigrad.static.node import *
from minigrad.static.run import *
from minigrad.static.session import *
from minigrad.static.theano import theano_function as theano_function
