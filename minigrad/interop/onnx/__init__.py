"""ONNX import and export: other systems' models as minigrad graphs, and the reverse.

`call` has the table of operators, which the modules beside it fill, family by family; `reader`
walks through a model, `proto` reads its file, `lengths` computes with shapes. `writing` goes the
other way.
"""
