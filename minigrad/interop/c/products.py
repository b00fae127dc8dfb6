"""Small matrix products, fused with the elementwise operators that follow.

A row of the result (or the whole of it) is added up in local memory whose size is written out, so
that it stays in registers. Large products are left to the BLAS library.
"""

from __future__ import annotations

from minigrad import ops
from minigrad.interop.c.blocks import WRITTEN, CArrays, CFunction, CWriter
from minigrad.interop.c.loops import Body, Nest
from minigrad.static import Node

MOST = 1024  # elements of the matrix that is held


def _unrolled_length(length: object) -> int:
    """Return a declared length that may be unrolled, else a number that is too large."""
    return length if isinstance(length, int) and length <= WRITTEN else MOST + 1


def product(stem: str, body: Body, results: CArrays, operands: CArrays) -> CFunction | None:
    """Write one function for a matrix product and its readers; None if it is too large."""
    (node,) = [n for n in body.steps if n.op is ops.matmul]
    place = {x: i for i, x in enumerate(body.inputs)}
    if any(x not in place for x in node.inputs) or not _supported(results, operands, node, place):
        return None
    i, j = (place[x] for x in node.inputs)
    a, b = operands[i].declared, operands[j].declared
    flip_a, flip_b = (bool(node.attrs.get(k)) for k in ("transpose_a", "transpose_b"))
    rows, inner = (a[1], a[0]) if flip_a else a
    columns = b[0] if flip_b else b[1]
    held = _unrolled_length(columns) * _unrolled_length(rows if flip_a else inner)
    if held > MOST or columns == 0:
        return None
    writer = CWriter(stem, results, operands)
    of_a, of_b = len(results) + i, len(results) + j
    m, k = writer.length(of_a, int(flip_a)), writer.length(of_a, int(not flip_a))
    n = writer.length(of_b, int(not flip_b))
    writer.line(f"const int64_t m0 = {m}, m1 = {n};")
    nest = Nest.over(operands, results[0], apart=True)
    names: dict[Node, str] = {}
    read_again = {x for n in body.steps if n is not node for x in n.inputs}
    type_ = operands[i].type
    if flip_a:
        writer.line(f"{type_} sum[{m}][{n}] = {{0}};", node)
        writer.loop("k", k)
        writer.loop("i", m)
        _add_up(writer, "sum[i]", f"x{i}[k * {m} + i]", _element(j, k, n, flip_b), n, type_)
        writer.close(2)
    elif flip_b:
        writer.line(f"{type_} turned[{k}][{n}];")
        writer.loop("j", n)
        writer.line(f"for (int64_t k = 0; k < {k}; k++) turned[k][j] = x{j}[j * {k} + k];")
        writer.close()
    for depth in range(3):
        if depth:
            writer.loop(f"i{depth - 1}", f"m{depth - 1}", independent=depth == 2)
        if depth == 1 and not flip_a:
            writer.line(f"{type_} sum[{n}] = {{0}};", node)
            writer.loop("k", k)
            element = "turned[k][j]" if flip_b else _element(j, k, n, flip_b)
            _add_up(writer, "sum", f"x{i}[i0 * {k} + k]", element, n, type_)
            writer.close()
        for p, x in enumerate(body.inputs):
            if x in read_again and nest.depth(p) == depth and x not in names:
                names[x] = f"v{len(names)}"
                read = f"x{p}[{nest.index(p)}]"
                writer.line(f"const {operands[p].type} {names[x]} = {read};", p)
    names[node] = "sum[i0][i1]" if flip_a else "sum[i1]"
    found = body.write(writer, names)
    if found is None:
        return None
    for p, y in enumerate(body.outputs):
        writer.line(f"y{p}[i0 * m1 + i1] = {found[y]};")
    writer.close(2)
    return writer.block()


def _supported(results: CArrays, operands: CArrays, node: Node, place: dict[Node, int]) -> bool:
    matrices = [operands[place[x]] for x in node.inputs]
    alike = all(f.shape == results[0].shape and len(f.shape) == 2 for f in results)
    return alike and all(f.dtype.kind == "f" and len(f.shape) == 2 for f in matrices)


def _element(operand: int, k: str, n: str, flipped: bool) -> str:
    return f"x{operand}[j * {k} + k]" if flipped else f"x{operand}[k * {n} + j]"


def _add_up(writer: CWriter, target: str, factor: str, element: str, n: str, type_: str) -> None:
    """Add a multiple of a row to a row."""
    writer.line(f"const {type_} f = {factor};")
    inner = f"{target}[j] = MADD_{type_}(f, {element}, {target}[j]);"
    writer.line(f"for (int64_t j = 0; j < {n}; j++) {inner}")
