"""PyTorch's gradients without `.grad`: `torch.autograd.grad`."""

from minigrad.faces.face import Face, ordered

__getattr__ = face = Face(
    "torch.autograd",
    "detect_anomaly no_grad enable_grad",
    calls={
        "backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False)": (
            "tensors.backward(grad_tensors, bool(retain_graph), create_graph)"
        ),
        "grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,"
        " allow_unused=False)": (
            "tuple(mg.grad(outputs, [*ordered(inputs)], grad_outputs, retain_graph, create_graph,"
            " allow_unused))"
        ),
        "gradcheck(func, inputs, eps=1e-06, atol=1e-05)": (
            "mg.check_grads(func, *ordered(inputs), tolerance=atol, step=eps) <= atol"
        ),
    },
    lacks={"mg.check_grads(f, x)": "functional", "mg.stop_gradient(x)": "Function"},
    ordered=ordered,
)
__dir__ = face.names
