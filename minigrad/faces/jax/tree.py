"""JAX's trees by their short names: `jax.tree.map`, `jax.tree.leaves`."""

from minigrad.faces.face import Compat
from minigrad.faces.jax import tree_util

SHORT = {"flatten": "tree", "leaves": "tree", "map": "f, tree, *rest", "reduce": "function, tree"}
SHORT |= {"structure": "tree", "unflatten": "treedef, leaves"}

__getattr__ = face = Compat(
    "jax.tree",
    calls={f"{name}({given})": f"tree_util.tree_{name}({given})" for name, given in SHORT.items()},
    tree_util=tree_util,
)
__dir__ = face.names
