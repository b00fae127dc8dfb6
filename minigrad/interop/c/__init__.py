"""Generated C: kernels that are written, compiled and loaded while the program runs.

`scalars` holds the C text of each operator that works by element; `blocks`, `loops`, `products`
and `reductions` make functions of it; `units` puts them together into one file; `compiler` and
`cache` turn that into a library; `kernels` calls it. Whatever cannot be written, or compiled here,
is left to NumPy.
"""
