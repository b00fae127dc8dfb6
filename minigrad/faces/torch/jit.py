"""TorchScript's words: `torch.jit.trace`, `script`, `save`, `load`."""

from minigrad.faces.face import Face, by_order, ordered

__getattr__ = face = Face(
    "torch.jit",
    "script",
    calls={
        "load(f)": "by_order(mg.load_graph(f))",
        "save(m, f)": "m.save(f)",
        "trace(func, example_inputs)": "mg.trace(func, *ordered(example_inputs))",
    },
    lacks={"a function without it": "ignore unused export"},
    by_order=by_order,
    ordered=ordered,
)
__dir__ = face.names
