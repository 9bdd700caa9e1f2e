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

from marsdask.core.compilation.costs import kernel


def is_sparse(block: Any) -> bool:
    """Tell whether a block (or a meta) is one of SciPy's sparse arrays or matrices."""
    return type(block).__module__.startswith("scipy.sparse")


def to_csr(block: Any, dtype: Any = None) -> Any:
    """Return anything that SciPy can convert to a sparse array, or an array, as compressed rows."""
    from scipy.sparse import csr_array

    found = csr_array(block, dtype=dtype)
    if found.ndim > 2:
        raise NotImplementedError(
            "sparse tensors of more than two dimensions are not supported; use todense()"
        )
    found.sum_duplicates()
    return found


def no_elements(dtype: Any, ndim: int) -> Any:
    """Return the meta of sparse blocks."""
    from scipy.sparse import csr_array

    return csr_array((0,) * ndim, dtype=dtype)


def from_coords(values: Any, coords: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return the block with values at places, and zero elsewhere."""
    from scipy.sparse import coo_array

    found = coo_array((values, tuple(coords)), shape=shape).tocsr()
    found.eliminate_zeros()
    return found


def dense(block: Any, fill_value: Any = None) -> Any:
    """Return a block as an array; elements that are not stored become ``fill_value`` (zero)."""
    if not is_sparse(block):
        return block
    if fill_value is None:
        return block.toarray()
    out = np.full(block.shape, fill_value, np.result_type(block.dtype, np.asarray(fill_value)))
    stored = block.tocoo()
    out[tuple(stored.coords)] = stored.data
    return out


def few(block: Any, missing: Any = None) -> Any:
    """Return an array as a sparse block, without the zeros (or ``missing`` elements)."""
    if missing is None:
        return to_csr(block)
    gone = np.isnan(block) if missing != missing else np.equal(block, missing)  # noqa: PLR0124
    coords = np.nonzero(~gone)
    return from_coords(block[coords], coords, block.shape)


@kernel(scratch=3.0)
def evaluate_stored(*blocks: Any, program: Any) -> Any:
    """Evaluate an elementwise function that maps zeros to zero, on the stored elements."""
    (step,) = program.steps
    shape = next(block.shape for block in blocks if is_sparse(block))
    stored = [in_order(block) for block in blocks if is_sparse(block)]
    union, places = _union([places_of(one) for one in stored])
    sparse = iter(zip(stored, places, strict=True))
    values = [
        _spread(*next(sparse), len(union)) if is_sparse(block) else _taken(block, shape, union)
        for block in blocks
    ]
    return from_places(step.func(*step.args(values), **dict(step.kwargs)), union, shape)


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

    kept = np.not_equal(values, 0)
    if not kept.all():
        values, places = values[kept], places[kept]
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
    found = np.zeros(count, block.dtype)
    found[places] = block.data
    return found


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
        found = step.func(*step.args([np.zeros(1, dtype) for dtype in dtypes]), **dict(step.kwargs))
    return not isinstance(found, tuple) and not np.any(np.not_equal(found, 0))


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
        stored = block.tocoo()
        values.append(stored.data)
        moved = (c + s[i] for c, s, i in zip(stored.coords, starts, index, strict=True))
        coords.append(np.stack([c.astype(np.int64) for c in moved]))
    shape = tuple(start[-1] for start in starts)
    return from_coords(np.concatenate(values), tuple(np.concatenate(coords, axis=1)), shape)


@kernel(scratch=2.0)
def multiply_blocks(*blocks: Any, labels: tuple[tuple[int, ...], ...], out: tuple[int, ...]) -> Any:
    """Multiply two matrices or vectors, at least one of which is sparse."""
    shared = _shared(labels)
    a = blocks[0].T if labels[0][0] == shared else blocks[0]
    b = blocks[1] if labels[1][0] == shared else blocks[1].T
    if not is_sparse(a) and is_sparse(b):
        # SciPy multiplies a sparse array from the left.
        found = (b.T @ a.T).T if b.ndim == 2 else np.asarray(b @ a.T)
    else:
        found = a @ b
    made = tuple(label for names in labels for label in names if label != shared)
    if len(out) == 2 and made != out:
        found = found.T
    return to_csr(found) if is_sparse(found) else np.asarray(found)


def _shared(labels: tuple[tuple[int, ...], ...]) -> int:
    (label,) = set(labels[0]) & set(labels[1])
    return label


def multiplies(labels: Sequence[tuple[int, ...]], out: tuple[int, ...]) -> bool:
    """Tell whether a contraction is a product of matrices or vectors."""
    if len(labels) != 2 or any(len(set(names)) not in (1, 2) for names in labels):
        return False
    if any(len(set(names)) != len(names) for names in labels):
        return False
    shared = set(labels[0]) & set(labels[1])
    rest = [label for names in labels for label in names if label not in shared]
    return len(shared) == 1 and not shared & set(out) and sorted(rest) == sorted(out)


def stored_sum(block: Any, axis: tuple[int, ...], dtype: Any = None, **kwargs: Any) -> Any:
    """Sum a sparse block, with the axes kept at length one."""
    del kwargs
    whole = len(axis) == block.ndim
    found = np.asarray(block.sum(axis=None if whole else axis[0], dtype=dtype))
    return found.reshape(tuple(1 if a in axis else n for a, n in enumerate(block.shape)))


def move_axes(block: Any, axes: tuple[int | None, ...]) -> Any:
    """Return a sparse block with moved and dropped axes; dropped ones have length one."""
    if len(axes) == block.ndim:
        return block if axes == tuple(range(block.ndim)) else to_csr(block.T)
    return to_csr(block.reshape(-1) if hasattr(block, "coords") else block.tocoo().reshape(-1))


def stored_triangle(block: Any, k: int, lower: bool) -> Any:
    """Return the part of a sparse block below or above a diagonal."""
    from scipy import sparse

    return to_csr(sparse.tril(block, k) if lower else sparse.triu(block, k))
