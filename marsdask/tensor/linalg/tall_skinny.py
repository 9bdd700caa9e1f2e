"""QR and singular values of matrices in blocks of rows.

The first attempt is the Gram matrix: one cheap pass, whose triangle also bounds the condition. If
that loses too many digits, a second Gram matrix of the quotient restores them (CholeskyQR2): Q is
orthogonal to a few eps while the condition is below about ``eps ** -0.5 / 10`` (Yamamoto,
Nakatsukasa, Yanagisawa and Fukaya, ETNA 44, 2015). For larger conditions, R is computed from the
blocks' own triangles, which is always stable (TSQR: Demmel, Grigori, Hoemmen and Langou, SIAM J.
Sci. Comput. 34, 2012).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from marsdask.core.grids.blockwise import Axes, blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import Pairwise, gather, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import SMALL_MATRIX
from marsdask.core.node import MultiOutput, Node, Part
from marsdask.core.sizes import Chunks, numbers, shape_of
from marsdask.core.sizes import total as total_size
from marsdask.tensor.chunkwise.lanes import in_lanes
from marsdask.tensor.elementwise.ufuncs import astype, less, multiply, real, where
from marsdask.tensor.manipulation.join import concatenate, length
from marsdask.tensor.manipulation.shape import expand_dims, whole
from marsdask.tensor.named_results import QRResult, SVDResult
from marsdask.tensor.operands import as_node
from marsdask.tensor.reduction.reductions import sum as total
from marsdask.tensor.sorting.sort import is_at_hand
from marsdask.tensor.unknown_lengths import waits_for_lengths

from ..indexing.getitem import getitem
from ..typing import public
from . import panels
from .contraction import conjugated, contract
from .stacks import apply, linalg_kind, matrices, of_stack, real_kind, several

#: Rows of the pieces of a block: they are factored in cache.
PIECE = 1000

#: The accepted relative error of the smallest singular value.
GOOD = 1e-9

#: A condition so small that one product with the inverse of R is accurate.
MILD = 100.0

ROWS: Axes = (0, None)
WHOLE: Axes = (None, None)


@dataclass(frozen=True, eq=False)
class Factors(MultiOutput):
    """Q, R, and from R the singular values and vectors, of a matrix with at least as many rows.

    Outputs: Q, R, U, s, V.
    """

    label: ClassVar[str] = "svd"

    a: Node

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of Q and R."""
        return np.linalg.qr(np.ones((1, 1), self.a.meta.dtype)).R.dtype

    @property
    def meta(self) -> Any:
        square = np.empty((0, 0), self.dtype)
        line = np.empty((0,), square.real.dtype)
        return (square, square, square, line, square)

    @property
    def chunks(self) -> Any:
        return _output_chunks(self.a.chunks)

    def tile(self, a: Grid) -> Generator[Look, Any, tuple[Grid, ...]]:
        (a,) = yield from resolved(a)
        if self._is_small(a):
            return self._small(a)
        a = _in_rows(a)
        triangle = map_blocks(
            gram, a, chunks=self._squares(a), meta=self.meta[1], kwargs={"dtype": self.dtype}
        )
        triangle = tree(triangle, Pairwise(np.add), [0])
        factor = self._one(first_triangle, triangle)
        look = gather(condition, factor, chunks=((1,),), meta=np.empty((0,)))
        infos = yield Look((look,), keep=(factor,) if is_at_hand(a) else (factor, a))
        bound = float(infos[0].sample[0])
        digits = bound**2 * float(np.finfo(self.dtype).eps)
        if digits > 0.01:
            return self._stable(a)
        return self._quotients(a, factor, good=digits <= GOOD, mild=bound <= MILD)

    def tile_blind(self, a: Grid) -> tuple[Grid, ...]:
        """Use the algorithm that is stable for every condition."""
        return self._small(a) if self._is_small(a) else self._stable(_in_rows(a))

    def _is_small(self, a: Grid) -> bool:
        """Tell whether LAPACK should factor the whole matrix."""
        rows, columns = shape_of(a.chunks)
        small = rows * columns * self.dtype.itemsize <= SMALL_MATRIX
        return small or (len(a) == 1 and rows < 4 * columns)

    def _small(self, a: Grid) -> tuple[Grid, ...]:
        """Factor one block."""
        a = whole(a, range(a.ndim))
        chunks, meta = _output_chunks(a.chunks), self.meta
        qr = map_blocks(tall_qr, a)
        svd = map_blocks(svd_of_block, a)
        parts = [(qr, 0), (qr, 1), (svd, 0), (svd, 1), (svd, 2)]
        return tuple(
            _pick_item(grid, position, chunks[i], meta[i])
            for i, (grid, position) in enumerate(parts)
        )

    def _stable(self, a: Grid) -> tuple[Grid, ...]:
        """Factor each block, then the triangles: Q of a block is its own times its share."""
        leaves = map_blocks(tall_qr, a, itemsize=a.width)
        triangles = blockwise(
            pick, [(leaves, ROWS)], chunks=self._squares(a), meta=self.meta[1], kwargs={"item": 1}
        )
        top = gather(joint_qr, triangles, chunks=self._whole(a), itemsize=0)
        triangle = _pick_item(top, 1, self._whole(a), self.meta[1])
        shares = Shares(len(a))
        q = blockwise(
            times_share,
            [(leaves, ROWS), (top, WHOLE)],
            chunks=a.chunks,
            meta=self.meta[0],
            varying=shares,
        )
        svd = self._one(svd_of_block, triangle)
        vectors = _pick_item(svd, 0, self._whole(a), self.meta[2])
        u = blockwise(np.matmul, [(q, ROWS), (vectors, WHOLE)], chunks=a.chunks, meta=self.meta[2])
        return (q, triangle, u, *self._values(svd, triangle))

    def _quotients(self, a: Grid, checked: Grid, *, good: bool, mild: bool) -> tuple[Grid, ...]:
        """Divide by the triangle of the Gram matrix, twice."""
        first = _pick_item(checked, 0, self._whole(a), self.meta[1])
        squares = blockwise(
            gram_of_quotient,
            [(a, ROWS), (checked, WHOLE)],
            chunks=self._squares(a),
            meta=self.meta[1],
        )
        second = self._one(first_triangle, tree(squares, Pairwise(np.add), [0]))
        triangle = gather(
            product_of_triangles, second, checked, chunks=self._whole(a), meta=self.meta[1]
        )
        svd = self._one(svd_of_block, triangle)
        kwargs = {"mild": mild}
        edges = [(a, ROWS), (checked, WHOLE), (second, WHOLE)]
        q = blockwise(divide_by_triangles, edges, chunks=a.chunks, meta=self.meta[0], kwargs=kwargs)
        edges = [*edges, (svd, WHOLE)]
        u = blockwise(divide_by_triangles, edges, chunks=a.chunks, meta=self.meta[2], kwargs=kwargs)
        return (q, triangle, u, *self._values(svd, first if good else triangle))

    def _values(self, svd: Grid, triangle: Grid) -> tuple[Grid, Grid]:
        """Return the singular values of a triangle, and V."""
        columns = triangle.chunks[1]
        s = blockwise(values_of_block, [(triangle, WHOLE)], chunks=(columns,), meta=self.meta[3])
        return s, _pick_item(svd, 2, (columns, columns), self.meta[4])

    def _one(self, func: Any, grid: Grid) -> Grid:
        """Call a kernel that returns a tuple with the one block of a grid."""
        return blockwise(
            func,
            [(grid, tuple(range(grid.ndim)))],
            chunks=grid.chunks,
            itemsize=3.0 * self.dtype.itemsize,
        )

    def _squares(self, a: Grid) -> Chunks:
        return (a.chunks[1] * a.numblocks[0], a.chunks[1])

    def _whole(self, a: Grid) -> Chunks:
        return (a.chunks[1], a.chunks[1])


def _in_rows(a: Grid) -> Grid:
    """Return the matrix in blocks of whole rows."""
    return in_lanes(a, (1,)) if a.numblocks[1] > 1 else a


def _output_chunks(chunks: Chunks) -> tuple[Chunks, ...]:
    columns = (total_size(chunks[1]),)
    square: Chunks = (columns, columns)
    tall: Chunks = (chunks[0], columns)
    return (tall, square, tall, (columns,), square)


@dataclass(frozen=True)
class Shares:
    """Gives each block of rows the index of its share of the joint Q."""

    count: int

    def __call__(self, index: tuple[int, ...]) -> tuple[int]:
        return (index[0],)


def _pick_item(grid: Grid, position: int, chunks: Chunks, meta: Any) -> Grid:
    axes: Axes = (None, None)
    return blockwise(
        pick, [(grid, axes)], chunks=chunks, meta=meta, kwargs={"item": position}, cheap=True
    )


@kernel(view=True)
def pick(items: tuple[Any, ...], item: int) -> Any:
    """Return one of several results."""
    return items[item]


@kernel(scratch=0.1)
def gram(block: Any, dtype: np.dtype[Any]) -> Any:
    """Return the products of all pairs of columns."""
    return panels.gram(block, dtype)


class Triangle(NamedTuple):
    """An upper triangle, its inverse, and a bound of its condition (inf if it is unbounded)."""

    r: Any
    inverse: Any
    condition: float


@kernel(scratch=3.0)
def first_triangle(square: Any) -> Triangle:
    """Return the triangle of a Gram matrix."""
    try:
        r = np.linalg.cholesky(square).conj().T
        inverse = np.linalg.inv(r)
    except np.linalg.LinAlgError:
        return Triangle(square, square, np.inf)
    bound = np.linalg.norm(r, 1) * np.linalg.norm(inverse, 1)
    return Triangle(r, inverse, float(bound) if np.isfinite(bound) else np.inf)


def condition(triangles: list[Triangle]) -> Any:
    """Return the bound of the condition."""
    return np.array([triangles[0].condition])


@kernel(scratch=0.1)
def gram_of_quotient(block: Any, triangle: Triangle) -> Any:
    """Return the products of all pairs of columns after division by a triangle."""
    return panels.gram(block, triangle.r.dtype, [triangle.inverse])


@kernel(scratch=0.1)
def divide_by_triangles(
    block: Any, first: Triangle, second: Triangle, svd: tuple[Any, ...] | None = None, *, mild: bool
) -> Any:
    """Divide by both triangles from the right, and multiply by the vectors of their product."""
    inverses = [first.inverse, second.inverse]
    if mild:
        inverses = [np.matmul(*inverses)]
    return panels.apply_inverses(block, inverses, None if svd is None else svd[0])


def product_of_triangles(second: list[Triangle], first: list[Triangle]) -> Any:
    """Return the triangle of both divisions."""
    return np.matmul(second[0].r, first[0].r)


@kernel(scratch=3.0)
def tall_qr(block: Any) -> tuple[Any, Any]:
    """Factor a block in pieces that stay in cache; the diagonal of R is not negative."""
    rows, columns = block.shape
    piece = max(PIECE, 4 * columns)
    count = rows // piece
    if count < 2:
        q, r = np.linalg.qr(block)
    else:
        stop = (rows // count) * count
        stacked = block[:stop].reshape(count, rows // count, columns)
        q, r = np.linalg.qr(stacked)
        rest_q, rest_r = np.linalg.qr(block[stop:])
        joint, top = np.linalg.qr(np.concatenate([r.reshape(-1, columns), rest_r]))
        middle = count * columns
        q = np.matmul(q, joint[:middle].reshape(count, columns, columns)).reshape(stop, columns)
        q, r = np.concatenate([q, np.matmul(rest_q, joint[middle:])]), top
    return _positive(q, r)


def _positive(q: Any, r: Any) -> tuple[Any, Any]:
    diagonal = np.diagonal(r)
    size = np.abs(diagonal)
    signs = np.where(size > 0, diagonal / np.where(size > 0, size, 1), 1).astype(r.dtype)
    r = r.copy()
    r[: len(signs)] *= signs.conj()[:, np.newaxis]
    return q * signs, np.triu(r)  # a sign would make zeros below the diagonal negative


@kernel(scratch=3.0)
def joint_qr(triangles: list[Any]) -> tuple[list[Any], Any]:
    """Factor the triangles of all blocks; return each block's share of Q, and R."""
    q, r = _positive(*np.linalg.qr(np.concatenate(triangles)))
    stops = np.cumsum([len(item) for item in triangles])
    return np.split(q, stops[:-1]), r


@kernel(scratch=1.0)
def times_share(leaf: tuple[Any, Any], top: tuple[list[Any], Any], number: int) -> Any:
    """Return a block's part of Q."""
    return np.matmul(leaf[0], top[0][number])


@kernel(scratch=3.0)
def svd_of_block(block: Any) -> tuple[Any, Any, Any]:
    """Return the reduced singular value decomposition."""
    u, s, v = np.linalg.svd(block, full_matrices=False)
    return u, s, v


@kernel(scratch=2.0)
def values_of_block(block: Any) -> Any:
    """Return the singular values."""
    return np.linalg.svd(block, compute_uv=False)


def transposed(node: Node) -> Node:
    """Return the transpose, whose blocks are views."""
    return contract([node], [(0, 1)], (1, 0))


def _is_tall(node: Node) -> bool:
    rows, columns = numbers(node.shape)
    return rows >= columns


def _qr_results(a: Any, mode: str, **_: Any) -> Any:
    _check_mode(mode)
    kind = linalg_kind(a)
    q, r = (of_stack(a, kind, text) for text in _QR_AXES[mode])
    return r if mode == "r" else QRResult(q, r)


#: Letters for the axes of Q and of R: rows, columns, or the fewer of the two.
_QR_AXES = {"complete": ("mm", "mn"), "reduced": ("mk", "kn"), "r": ("mk", "kn")}


def _check_mode(mode: str) -> None:
    if mode not in _QR_AXES:
        if mode in ("raw", "full", "f", "economic", "e"):
            raise NotImplementedError(
                f"qr(mode={mode!r}) is not supported; use 'reduced', 'complete' or 'r'"
            )
        raise ValueError(f"Unrecognized mode {mode!r}")


@public
@waits_for_lengths(_qr_results)
def qr(a: Any, mode: str = "reduced", method: str = "tsqr") -> Any:
    """Return Q and R. See numpy.linalg.qr.

    Differs from NumPy: the diagonal of R is not negative for the modes "reduced" and "r", except
    for stacks. There is no mode "raw", and "complete" gathers the matrix in one block. A matrix
    with more columns than rows has its leading columns in one block.
    """
    _check_method(method)
    node = matrices(as_node(a))
    _check_mode(mode)
    if mode == "complete" or node.meta.ndim > 2 or 0 in node.shape:
        texts = _QR_AXES[mode][mode == "r" :]
        parts = several(np.linalg.qr, ",".join(texts), node, mode=mode)
        return parts[0] if mode == "r" else QRResult(*parts)
    q: Node
    r: Node
    if _is_tall(node):
        factors = Factors(node)
        q, r = Part(factors, 0), Part(factors, 1)
    else:
        rows = numbers(node.shape)[0]
        factors = Factors(getitem.node(node, (slice(None), slice(rows))))
        q = Part(factors, 0)
        # A product would leave rounding errors below the diagonal.
        tail = getitem.node(node, (slice(None), slice(rows, None)))
        product = contract([conjugated(q), tail], [(0, 1), (0, 2)], (1, 2))
        r = concatenate.node([Part(factors, 1), product], axis=1)
    return r if mode == "r" else QRResult(q, r)


@public
def tsqr(data: Any, compute_svd: bool = False) -> Any:
    """Return Q and R, or U, s and V, of a tall matrix. See dask.array.linalg.tsqr.

    Returns
    -------
    tuple of Tensor
        Q and R; with ``compute_svd`` U, the singular values and V.
    """
    return svd.node(data) if compute_svd else qr.node(data)


@public
def sfqr(data: Any, name: Any = None) -> Any:
    """Return Q and R of a wide matrix. See dask.array.linalg.sfqr.

    Returns
    -------
    tuple of Tensor
        Q and R.
    """
    del name
    return qr.node(data)


def _svd_results(a: Any, full_matrices: bool | str, compute_uv: bool, **_: Any) -> Any:
    values = of_stack(a, real_kind(a), "k")
    if not compute_uv:
        return values
    texts = ("mm", "nn") if full_matrices is True else ("mk", "kn")
    u, v = (of_stack(a, linalg_kind(a), text) for text in texts)
    return SVDResult(u, values, v)


@public
@waits_for_lengths(_svd_results)
def svd(
    a: Any,
    full_matrices: bool | str = False,
    compute_uv: bool = True,
    method: str = "tsqr",
    *,
    hermitian: bool = False,
    coerce_signs: bool = False,
) -> Any:
    """Return U, s and V, the last with vectors as rows. See numpy.linalg.svd.

    Differs from NumPy: ``full_matrices`` is False by default, as in Mars and Dask. The full U of a
    tall matrix is the square of its rows, gathered in one block. The signs of vectors (of pairs in
    U and V) are LAPACK's for the triangle R, so they may differ from NumPy's. Dask's
    ``coerce_signs`` makes the sum of each row of V nonnegative. ``hermitian`` is a hint without
    effect.
    """
    del hermitian
    if isinstance(full_matrices, str):  # Mars's second parameter is the method
        method, full_matrices = full_matrices, False
    _check_method(method)
    node = matrices(as_node(a))
    if not compute_uv:
        return svdvals.node(node)
    rows, columns = node.shape[-2:]
    if (full_matrices and rows != columns) or node.meta.ndim > 2 or 0 in node.shape:
        texts = "mm,k,nn" if full_matrices else "mk,k,kn"
        u, s, v = several(np.linalg.svd, texts, node, full_matrices=bool(full_matrices))
    else:
        tall = _is_tall(node)
        factors = Factors(node if tall else transposed(node))
        parts: list[Node] = [Part(factors, position) for position in (2, 3, 4)]
        if not tall:
            parts = [transposed(parts[2]), parts[1], transposed(parts[0])]
        u, s, v = parts
    if coerce_signs:
        u, v = _choose_signs(u, s, v)
    return SVDResult(u, s, v)


def _choose_signs(u: Node, s: Node, v: Node) -> tuple[Node, Node]:
    """Choose the signs of vector pairs so that the sum of each row of V is not negative."""
    negative = less.node(total.node(real.node(v), axis=-1), 0)
    signs = astype.node(where.node(negative, -1, 1), s.meta.dtype)
    leading = slice(length(s, s.meta.ndim - 1))
    left = multiply.node(getitem.node(u, (..., leading)), expand_dims.node(signs, -2))
    return left, multiply.node(
        getitem.node(v, (..., leading, slice(None))), expand_dims.node(signs, -1)
    )


@public
@waits_for_lengths(lambda a: of_stack(a, real_kind(a), "k"))
def svdvals(a: Any) -> Node:
    """Return the singular values. See numpy.linalg.svdvals."""
    node = matrices(as_node(a))
    if node.meta.ndim > 2 or 0 in node.shape:
        return apply(np.linalg.svd, "k", node, compute_uv=False)
    return Part(Factors(node if _is_tall(node) else transposed(node)), 3)


def _check_method(method: str) -> None:
    # Mars's two methods have one result; the shape decides which way to take.
    if method not in ("tsqr", "sfqr"):
        raise NotImplementedError(f"method={method!r} is not supported; use 'tsqr'")
