"""Blocks with few nonzero elements, as SciPy's compressed rows.

A node whose ``meta`` is one of SciPy's sparse arrays has such blocks. By default :func:`.as_node`
returns the node of dense blocks, so that only kernels which support sparse blocks receive them.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel


def is_sparse(block: Any) -> bool:
    """Tell whether a block (or a meta) is one of SciPy's sparse arrays or matrices."""
    return type(block).__module__.startswith("scipy.sparse")


def to_csr(block: Any, dtype: Any = None) -> Any:
    """Return anything that SciPy can convert to a sparse array, or an array, as compressed rows."""
    from scipy.sparse import csr_array

    result = csr_array(block, dtype=dtype)
    if result.ndim > 2:
        raise NotImplementedError(
            "sparse tensors of more than two dimensions are not supported; use todense()"
        )
    result.sum_duplicates()
    return result


def no_elements(dtype: Any, ndim: int) -> Any:
    """Return the meta of sparse blocks."""
    from scipy.sparse import csr_array

    return csr_array((0,) * ndim, dtype=dtype)


def from_coords(values: Any, coords: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return the block with values at places, and zero elsewhere."""
    from scipy.sparse import coo_array

    result = coo_array((values, tuple(coords)), shape=shape).tocsr()
    result.eliminate_zeros()
    return result


def dense(block: Any, fill_value: Any = None) -> Any:
    """Return a block as an array; elements that are not stored become ``fill_value`` (zero)."""
    if not is_sparse(block):
        return block
    if fill_value is None:
        return block.toarray()
    out = np.full(block.shape, fill_value, np.result_type(block.dtype, np.asarray(fill_value)))
    coo = block.tocoo()
    out[tuple(coo.coords)] = coo.data
    return out


def few(block: Any, missing: Any = None) -> Any:
    """Return an array as a sparse block, without the zeros (or ``missing`` elements)."""
    if missing is None:
        return to_csr(block)
    mask = np.isnan(block) if missing != missing else np.equal(block, missing)  # noqa: PLR0124
    coords = np.nonzero(~mask)
    return from_coords(block[coords], coords, block.shape)


@kernel(scratch=3.0)
def evaluate_stored(*blocks: Any, program: Any) -> Any:
    """Evaluate an elementwise function that maps zeros to zero, on the stored elements."""
    (step,) = program.steps
    shape = next(block.shape for block in blocks if is_sparse(block))
    arrays = [in_order(block) for block in blocks if is_sparse(block)]
    union, places = _union([places_of(array) for array in arrays])
    sparse = iter(zip(arrays, places, strict=True))
    values = [
        _spread(*next(sparse), len(union)) if is_sparse(block) else _taken(block, shape, union)
        for block in blocks
    ]
    result = step.func(*step.args(values), **dict(step.kwargs))
    if isinstance(result, tuple):
        return tuple(from_places(part, union, shape) for part in result)
    return from_places(result, union, shape)


def in_order(block: Any) -> Any:
    """Return a block in compressed rows, each of its stored elements once, in order."""
    rows = block.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def places_of(block: Any) -> Any:
    """Return where the stored elements of an ordered block lie in the flat one."""
    if block.ndim == 1:
        return block.indices.astype(np.int64)
    rows, columns = block.shape
    return np.repeat(np.arange(rows) * columns, np.diff(block.indptr)) + block.indices


def from_places(values: Any, places: Any, shape: tuple[int, ...]) -> Any:
    """Return the block with values at places of the flat one, which rise; zeros are not stored."""
    from scipy.sparse import csr_array

    mask = np.not_equal(values, 0)
    if not mask.all():
        values, places = values[mask], places[mask]
    if len(shape) == 1:
        return from_coords(values, (places,), shape)
    rows, columns = shape
    starts = np.searchsorted(places, np.arange(rows + 1) * columns)
    indices = places % columns if columns else places
    return csr_array((values, indices, starts), shape=shape)


def _union(places: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
    """Return each place once, in order, and for each operand where in these its own are."""
    if len(places) == 1:
        return places[0], (slice(None),)
    together = np.concatenate(places)
    order = np.argsort(together, kind="stable")  # which merges what is sorted
    together = together[order]
    fresh = np.ones(len(together), bool)
    np.not_equal(together[1:], together[:-1], out=fresh[1:])
    numbers = np.empty(len(together), np.intp)
    numbers[order] = np.cumsum(fresh) - 1
    return together[fresh], np.split(numbers, np.cumsum([len(place) for place in places])[:-1])


def _spread(block: Any, places: Any, count: int) -> Any:
    """Return the stored elements of a block among zeros."""
    if len(block.data) == count:
        return block.data
    result = np.zeros(count, block.dtype)
    result[places] = block.data
    return result


def _taken(block: Any, shape: tuple[int, ...], places: Any) -> Any:
    """Return the elements of a dense block, or a number, at places of the flat one."""
    if block.size == 1:
        return np.broadcast_to(block.reshape(()), places.shape)
    return np.broadcast_to(block, shape)[np.unravel_index(places, shape)]


@kernel(scratch=2.0)
def evaluate_dense(*blocks: Any, program: Any) -> Any:
    """Evaluate an elementwise function that needs every element."""
    return program(*map(dense, blocks))


def keeps_zeros(step: Any, kinds: Sequence[str | None], dtypes: Sequence[Any]) -> bool:
    """Tell whether a function maps zeros to zero, so that only stored elements matter.

    ``kinds`` has ``"sparse"`` or ``"dense"`` for the blocks of each operand.
    """
    if "dense" in kinds:
        func = inspect.unwrap(step.func)
        return func in (np.multiply, np.logical_and, np.bitwise_and) and len(kinds) > 1
    with np.errstate(all="ignore"):
        value = step.func(*step.args([np.zeros(1, dtype) for dtype in dtypes]), **dict(step.kwargs))
    results = value if isinstance(value, tuple) else (value,)
    return not any(np.any(np.not_equal(result, 0)) for result in results)


def join_blocks(blocks: Sequence[Any], counts: Sequence[int]) -> Any:
    """Join neighbouring sparse blocks (last axis fastest, with the number along each axis)."""
    grid = dict(zip(itertools.product(*map(range, counts)), blocks, strict=True))
    ndim = len(counts)
    starts = []
    for axis, count in enumerate(counts):
        edge = [grid[tuple(i if a == axis else 0 for a in range(ndim))] for i in range(count)]
        starts.append([0, *itertools.accumulate(block.shape[axis] for block in edge)])
    values, coords = [], []
    for index, block in grid.items():
        coo = block.tocoo()
        values.append(coo.data)
        positions = (c + s[i] for c, s, i in zip(coo.coords, starts, index, strict=True))
        coords.append(np.stack([c.astype(np.int64) for c in positions]))
    shape = tuple(start[-1] for start in starts)
    return from_coords(np.concatenate(values), tuple(np.concatenate(coords, axis=1)), shape)


@kernel(scratch=2.0)
def multiply_blocks(*blocks: Any, labels: tuple[tuple[int, ...], ...], out: tuple[int, ...]) -> Any:
    """Multiply two matrices or vectors, at least one of which is sparse."""
    inner = _shared(labels)
    a = blocks[0].T if labels[0][0] == inner else blocks[0]
    b = blocks[1] if labels[1][0] == inner else blocks[1].T
    if not is_sparse(a) and is_sparse(b):
        # SciPy multiplies a sparse array from the left.
        product = (b.T @ a.T).T if b.ndim == 2 else np.asarray(b @ a.T)
    else:
        product = a @ b
    order = tuple(label for names in labels for label in names if label != inner)
    if len(out) == 2 and order != out:
        product = product.T
    return to_csr(product) if is_sparse(product) else np.asarray(product)


def _shared(labels: tuple[tuple[int, ...], ...]) -> int:
    (label,) = set(labels[0]) & set(labels[1])
    return label


def multiplies(labels: Sequence[tuple[int, ...]], out: tuple[int, ...]) -> bool:
    """Tell whether a contraction is a product of matrices or vectors."""
    if len(labels) != 2 or any(len(set(names)) not in (1, 2) for names in labels):
        return False
    if any(len(set(names)) != len(names) for names in labels):
        return False
    inner = set(labels[0]) & set(labels[1])
    outer = [label for names in labels for label in names if label not in inner]
    return len(inner) == 1 and not inner & set(out) and sorted(outer) == sorted(out)


def stored_sum(block: Any, axis: tuple[int, ...], dtype: Any = None, **kwargs: Any) -> Any:
    """Sum a sparse block, with the axes kept at length one."""
    del kwargs
    whole = len(axis) == block.ndim
    sums = np.asarray(block.sum(axis=None if whole else axis[0], dtype=dtype))
    return sums.reshape(tuple(1 if a in axis else n for a, n in enumerate(block.shape)))


def move_axes(block: Any, axes: tuple[int | None, ...]) -> Any:
    """Return a sparse block with moved and dropped axes; dropped ones have length one."""
    if len(axes) == block.ndim:
        return block if axes == tuple(range(block.ndim)) else to_csr(block.T)
    return to_csr(block.reshape(-1) if hasattr(block, "coords") else block.tocoo().reshape(-1))


def stored_triangle(block: Any, k: int, lower: bool) -> Any:
    """Return the part of a sparse block below or above a diagonal."""
    from scipy import sparse

    return to_csr(sparse.tril(block, k) if lower else sparse.triu(block, k))
