"""What PyTorch's layers compute: `import minigrad.faces.torch.nn.functional as F`."""

from minigrad.faces.face import Face

__getattr__ = face = Face(
    "torch.nn.functional",
    "avg_pool2d batch_norm binary_cross_entropy_with_logits conv2d cross_entropy dropout embedding"
    " gelu l1_loss layer_norm log_softmax max_pool2d mse_loss nll_loss one_hot pad relu sigmoid"
    " softmax softplus tanh",
    of="nn.functional",
    calls={
        "binary_cross_entropy(input, target)": (
            "-mg.mean(target * mg.log(input) + (1 - target) * mg.log(1 - input))"
        ),
        "elu(input, alpha=1.0)": (
            "mg.where(input > 0, input, alpha * (mg.exp(mg.minimum(input, 0)) - 1))"
        ),
        "leaky_relu(input, negative_slope=0.01)": (
            "mg.where(input > 0, input, negative_slope * input)"
        ),
        "linear(input, weight, bias=None)": (
            "input @ mg.transpose(weight) if bias is None else input @ mg.transpose(weight) + bias"
        ),
        "silu(input)": "input * mg.sigmoid(input)",
    },
)
__dir__ = face.names
