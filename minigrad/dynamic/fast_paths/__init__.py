"""Code that exists for speed alone; `mg.set_fast(False)` turns it off, with the same bits.

reader            the reader of tensors with a function for each operator, without detours
prepared_ops      pullbacks prepared once for each kind of operands
generated_rules   gradient rules written out as Python
inplace_sweep     the backward sweep without listeners, which accumulates in place
"""
