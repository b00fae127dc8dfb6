"""A graph of ours as an ONNX model: `model` walks through the graph, the others say how each of
our operators is written with theirs.
"""
