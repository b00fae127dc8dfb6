"""The old module name of tensors, for files pickled before they moved."""

from minigrad.dynamic.tensor import _restore as _restore
