"""Recursion over trees: shared weights get the sum of all their gradients."""

import torch

W = torch.tensor([[0.5, -0.2, 0.1, 0.3], [0.2, 0.4, -0.3, 0.1]], requires_grad=True)
words = {"a": torch.tensor([1.0, 0.0]), "b": torch.tensor([0.0, 1.0])}


def encode(tree):
    if isinstance(tree, str):
        return words[tree]
    left, right = tree
    return torch.tanh(W @ torch.cat([encode(left), encode(right)]))


answers = {}
for tree in ["ab", (("a", "b"), "a"), ("b", ("a", ("b", "b")))]:
    W.grad = None
    encode(tree if isinstance(tree, tuple) else tuple(tree)).sum().backward()
    answers[str(tree)] = W.grad
