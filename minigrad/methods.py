"""The methods of graphs and programs that are functions of packages above them.

`graph.optimize()` is `mg.optimize(graph)`. Graphs are data and import none of these packages: the
functions become methods here, when the first public name beyond tensors is used. Then graphs, nodes
and control flow also answer to other frameworks' names, of which they know nothing either.
"""

from __future__ import annotations

from types import FunctionType

from minigrad import control, passes, saving
from minigrad.compiler import program
from minigrad.control import recurrent
from minigrad.diagnostics import foreign
from minigrad.interop import dask
from minigrad.interop.onnx.writing import model
from minigrad.static import Graph, Node

__all__: list[str] = []


class GraphMethods:
    """What is added to `Graph`."""

    compile = program.compile
    optimize = passes.optimize
    save = saving.save
    to_onnx = model.to_onnx


class ProgramMethods:
    """What is added to `Program`."""

    to_dask = dask.to_dask
    _run_on_dask = dask.run_schedule


for _kind, _methods in ((Graph, GraphMethods), (program.Program, ProgramMethods)):
    for _name, _function in vars(_methods).items():
        if isinstance(_function, FunctionType):
            setattr(_kind, _name, _function)
foreign.answer_names(foreign.GRAPHS)(Graph)
foreign.answer_names(foreign.NODES)(Node)
foreign.answer_keywords(control)
foreign.answer_keywords(recurrent)
