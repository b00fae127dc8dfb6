"""What PyTorch's layers compute: `import minigrad.faces.torch.nn.functional as F`."""

from minigrad.faces.face import Face

__getattr__ = face = Face(
    "torch.nn.functional",
    "avg_pool2d batch_norm binary_cross_entropy_with_logits conv2d cross_entropy dropout embedding"
    " gelu l1_loss layer_norm log_softmax max_pool2d mse_loss nll_loss one_hot pad relu sigmoid"
    " softmax softplus tanh",
    of="nn.functional",
)
__dir__ = face.names
