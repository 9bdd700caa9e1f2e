"""Operations on runs of whole rows, for the samples of estimators."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import assert_all_finite

from marsdask.core.collection import (
    Collection,
    collect,
    compute,
    execute,
    register_collection,
    wrap,
)
from marsdask.core.grids.align import common_sizes
from marsdask.core.grids.blockwise import Axes, blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node, SameChunks, SameMeta, lacks_detail
from marsdask.core.sizes import Chunks, Index, numbers, shape_of
from marsdask.core.snapshots.functions import function_name
from marsdask.tensor.chunks import normalize_chunks
from marsdask.tensor.elementwise.ufuncs import astype
from marsdask.tensor.kernels.assembly import assemble
from marsdask.tensor.operands import Literal, as_node, empty, literal, sparse_empty
from marsdask.tensor.sparse.blocks import is_sparse

#: Bytes of the rows that a kernel processes at a time, so that they stay in cache.
TILE_BYTES = 512 * 2**10

#: Bytes of a run of rows of samples in memory.
BLOCK_BYTES = 4 * 2**20


@dataclass(frozen=True, eq=False)
class Fold(Node):
    """One value from all rows: ``func`` of every run of them, combined two neighbours at a time.

    ``func`` gets the runs of all operands, which have equal chunks. The value may be any picklable
    object; ``nbytes`` is its size.
    """

    func: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    operands: tuple[Node, ...]
    kwargs: Mapping[str, Any] = field(repr=False)
    nbytes: int

    @property
    def label(self) -> str:
        return function_name(self.func)

    @property
    def meta(self) -> Any:
        return None  # a tuple would mean several outputs

    @property
    def chunks(self) -> Chunks:
        return ((1,),)

    def tile(self, *grids: Grid) -> Generator[Look, Any, Grid]:
        grids = yield from by_rows(grids)
        partials = blockwise(
            self.func,
            [(grid, _run(grid)) for grid in grids],
            chunks=((1,) * grids[0].numblocks[0],),
            meta=self.meta,
            kwargs=self.kwargs,
            itemsize=float(self.nbytes),
        )
        return tree(partials, Pairwise(self.combine), (0,))


@dataclass(frozen=True, eq=False)
class RowMap(Node):
    """An array of as many rows: ``func`` of each run, ``width`` columns (``None``: 1-d)."""

    func: Callable[..., Any]
    operands: tuple[Node, ...]
    dtype: np.dtype[Any]
    width: int | None
    kwargs: Mapping[str, Any] = field(repr=False)
    sparse: bool = False
    """Whether the blocks of the result are sparse."""

    @property
    def label(self) -> str:
        return function_name(self.func)

    @property
    def meta(self) -> Any:
        kind = sparse_empty if self.sparse else empty
        return kind(self.dtype, 1 if self.width is None else 2)

    @property
    def chunks(self) -> Chunks:
        rows = self.operands[0].chunks[0]
        return (rows,) if self.width is None else (rows, (self.width,))

    def tile(self, *grids: Grid) -> Generator[Look, Any, Grid]:
        grids = yield from by_rows(grids)
        return blockwise(
            self.func,
            [(grid, _run(grid)) for grid in grids],
            chunks=(grids[0].chunks[0], *self.chunks[1:]),
            meta=self.meta,
            kwargs=self.kwargs,
        )


@dataclass(frozen=True, eq=False)
class ModelMap(RowMap):
    """The results of an estimator's method for each run; a few rows have told the type."""

    values_tell: ClassVar[bool] = True


def typed(found: Any, dtype: np.dtype[Any]) -> Any:
    """Return what an estimator gives in the type that was told; texts may be wider."""
    found = np.asarray(found)
    wide = lacks_detail(dtype) and found.dtype.kind == dtype.kind
    return found.astype(np.promote_types(found.dtype, dtype) if wide else dtype, copy=False)


def _run(grid: Grid) -> Axes:
    return (0, *(None for _ in grid.chunks[1:]))


def by_rows(grids: Sequence[Grid]) -> Generator[Look, Any, tuple[Grid, ...]]:
    """Rechunk grids into the same runs, with other axes whole; unknown lengths need a look."""
    if len({grid.chunks[0] for grid in grids}) > 1:
        grids = yield from resolved(*grids)
        lengths = [sum(numbers(grid.chunks[0])) for grid in grids]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {lengths}"
            )
    rows = common_sizes([grid.chunks[0] for grid in grids])
    return tuple(
        recut(grid, (rows, *((length,) for length in shape_of(grid.chunks[1:]))), assemble)
        for grid in grids
    )


class Value(Collection):
    """The value of a fold."""

    __slots__ = ()

    @classmethod
    def _assemble(cls, blocks: Mapping[Index, Any], meta: Any, *, owned: bool) -> Any:
        del meta, owned
        (value,) = blocks.values()
        return value


register_collection(type(None), Value)


def add(a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """Add partial results item by item."""
    return type(a)(*map(np.add, a, b)) if hasattr(a, "_fields") else tuple(map(np.add, a, b))


def fold(
    func: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    *operands: Node | None,
    nbytes: int,
    **kwargs: Any,
) -> Any:
    """Compute a fold; operands that are ``None`` are omitted."""
    return compute(Value(Fold(func, combine, _given(operands), kwargs, nbytes)))[0]


def rowwise(
    func: Callable[..., Any],
    *operands: Node | None,
    dtype: Any,
    width: int | None = None,
    **kwargs: Any,
) -> Any:
    """Return the lazy tensor of a function of rows; operands that are ``None`` are omitted."""
    return wrap(RowMap(func, _given(operands), np.dtype(dtype), width, kwargs))


def _given(operands: Sequence[Node | None]) -> tuple[Node, ...]:
    return tuple(node for node in operands if node is not None)


def tiles(block: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
    """Iterate over rows of a block, and of others of the same length, in runs that fit in cache."""
    step = max(1, TILE_BYTES // max(1, block[:1].nbytes))
    for start in range(0, len(block), step):
        rows = slice(start, start + step)
        yield (block[rows], *(array if array is None else array[rows] for array in others))


def values_of(frame: Any, *, dtype: Any) -> Any:
    """Return the values of a run of rows as numbers, missing ones as nan."""
    return np.ascontiguousarray(frame.to_numpy(dtype=dtype, na_value=np.nan))


@dataclass(frozen=True, eq=False)
class Values(Node):
    """The values of a frame's rows, as ``func`` returns them of each run."""

    frame: Node
    dtype: np.dtype[Any]
    func: Callable[..., Any] = values_of

    @property
    def label(self) -> str:
        return function_name(self.func)

    @property
    def meta(self) -> Any:
        return empty(self.dtype, self.frame.meta.ndim)

    @property
    def chunks(self) -> Chunks:
        width = self.frame.meta.shape[1:]
        return (self.frame.chunks[0], *((columns,) for columns in width))

    def tile(self, frame: Grid) -> Grid:
        return blockwise(
            self.func,
            [(frame, (0,))],
            chunks=(frame.chunks[0], *self.chunks[1:]),
            meta=self.meta,
            kwargs={"dtype": self.dtype},
        )


def in_memory(samples: Any) -> Node:
    """Return samples in memory as a node in runs of rows of the size of a task.

    They are shared: they do not change while a method of the estimator runs.
    """
    height = max(1, BLOCK_BYTES // max(1, samples[:1].nbytes))
    splits = normalize_chunks((height, -1), samples.shape, samples.dtype)
    return literal(samples, splits, copy=False)


@dataclass(frozen=True, eq=False)
class FiniteBlocks(SameMeta, SameChunks):
    """The same samples, which raise scikit-learn's error where a value is not finite."""

    input_chunks = "pass"

    allow_nan: bool

    def tile(self, a: Grid) -> Grid:
        kwargs = {"allow_nan": self.allow_nan}
        return map_blocks(finite_block, a, chunks=a.chunks, meta=self.meta, kwargs=kwargs)


@kernel(scratch=0.0)
def finite_block(block: Any, *, allow_nan: bool) -> Any:
    """Return a block if its values are finite."""
    assert_all_finite(block, allow_nan=allow_nan, input_name="X")
    return block


def held(*nodes: Node | None) -> tuple[Any, ...]:
    """Return computed samples and what goes with them, so that each pass only reads them."""
    lazy = [collect(node) for node in _given(nodes) if not isinstance(node, Literal)]
    if lazy:
        execute(*lazy)
    values = iter(lazy)
    return tuple(
        node if node is None or isinstance(node, Literal) else next(values).node for node in nodes
    )


def as_rows(X: Any, *, sparse: bool = False, half: bool = False) -> Node:
    """Return lazy samples as the node of a tensor of floats; the errors are scikit-learn's.

    Float16 becomes float64 but with ``half``.
    """
    meta = X.node.meta
    if is_sparse(meta) and not sparse:
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.todense()' to "
            "convert to a dense tensor."
        )
    if meta.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {meta.ndim}D array instead: {X!r}. Reshape your data either "
            "using reshape(-1, 1) if your data has a single feature or reshape(1, -1) if it "
            "contains a single sample."
        )
    if isinstance(meta, pd.DataFrame):
        return Values(X.node, _float_of(meta.dtypes, half=half))
    if meta.dtype in (np.float32, np.float64) or (half and meta.dtype == np.float16):
        return as_node(X, sparse=sparse)
    return as_node(astype(X, _float_of([meta.dtype])), sparse=sparse)


def check_lengths(*nodes: Node | None) -> None:
    """Raise scikit-learn's error for lengths that are known to differ."""
    lengths = [node.shape[0] for node in nodes if node is not None]
    sizes = [length for length in lengths if isinstance(length, int)]
    if len(set(sizes)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {sizes}")


def as_weights(weights: Any, rows: Node) -> Node | None:
    """Return the weights of the samples as the node of a 1-d tensor of float64."""
    if weights is None:
        return None
    if isinstance(weights, Collection) and isinstance(weights.node.meta, pd.DataFrame | pd.Series):
        node: Node = Values(weights.node, np.dtype(np.float64))
    elif isinstance(weights, Collection):
        node = as_node(astype(weights, np.float64))
    else:
        values = np.asarray(weights, np.float64)
        check_weights(float(np.abs(values).max(initial=0.0)))
        if values.ndim == 0:
            return RowMap(as_many, (rows,), values.dtype, None, {"value": float(values)})
        node = as_node(values)
    if len(node.shape) != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    lengths = (node.shape[0], rows.shape[0])
    if lengths[0] != lengths[1] and all(isinstance(length, int) for length in lengths):
        raise ValueError(f"sample_weight.shape == {node.shape}, expected {rows.shape[:1]}!")
    return node


def as_many(block: Any, *, value: float) -> Any:
    """Return a value for each row of a run."""
    return np.full(block.shape[0], value)


def check_weights(largest: float) -> None:
    """Raise for weights that scikit-learn rejects; lazy ones are checked when computed."""
    if not math.isfinite(largest):
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if largest == 0:
        raise ValueError("Sample weights must contain at least one non-zero number.")


def _float_of(dtypes: Any, *, half: bool = False) -> np.dtype[Any]:
    """Return the dtype of the computation: float32, or float16, only if all columns are."""
    for dtype in dtypes:
        # Texts and categories may be numbers.
        texts = pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)
        categories = isinstance(dtype, pd.CategoricalDtype)
        if not (pd.api.types.is_numeric_dtype(dtype) or texts or categories):
            raise ValueError(f"could not convert columns of dtype {dtype} to float")
        if pd.api.types.is_complex_dtype(dtype):
            raise ValueError("Complex data not supported")
    for narrow in (np.float32, *([np.float16] if half else [])):
        if len(dtypes) and all(dtype == narrow for dtype in dtypes):
            return np.dtype(narrow)
    return np.dtype(np.float64)
