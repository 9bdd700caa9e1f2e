"""The nodes of elementwise operations, alone and fused with their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from marsdask.core.collection import Collection
from marsdask.core.grids.align import aligned, broadcast_chunks
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import DiagonalOf, MemoryOrder, MultiOutput, Node, PartOf, Taken
from marsdask.core.registry import class_of
from marsdask.core.sizes import Chunks, Size, total

from ..chunks import normalize_chunks
from ..chunkwise.rechunk import rechunk_views
from ..io.dask_arrays import dask_node, is_dask_array
from ..kernels.fused_ufuncs import UfuncProgram, UfuncStep, evaluate_program, fusible, join_programs
from ..memory_order import merged
from ..operands import (
    Literal,
    as_array,
    as_node,
    empty,
    is_masked,
    literal,
    meta_of,
    sparse_empty,
    sparse_literal,
)
from ..sparse.blocks import evaluate_dense, evaluate_stored, is_sparse, keeps_zeros

F = TypeVar("F", bound=Callable[..., Any])

#: The largest number of steps of a fused program.
LONGEST = 64

_SCALARS = (bool, int, float, complex, str, bytes, np.generic, type(None))


class Pointwise(Node):
    """The base class of single and fused elementwise operations: a program over operands."""

    input_chunks = "pass"

    program: Any
    leaves: Any

    @property
    def fuses(self) -> bool:
        """Whether it may be fused with others."""
        raise NotImplementedError(f"{type(self).__name__} declares no fuses")

    @property
    def chunks(self) -> Chunks:
        return broadcast_chunks(*(node.chunks for node in self.leaves))

    @property
    def memory_order(self) -> MemoryOrder:
        return merged(self.leaves, self.shape)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        chunks: Chunks = broadcast_chunks(*(leaf.chunks for leaf in self.leaves))
        shape = tuple(map(total, chunks))
        if any(is_sparse(leaf.meta) for leaf in self.leaves):
            return None
        own = [_operand_part(leaf, shape, taken) for leaf in self.leaves]
        if None in own:
            return None
        new = {leaf: part(leaf, key) for leaf, key in zip(self.leaves, own, strict=True) if key}
        return self.with_inputs(new)

    def diagonal(self, rows: range, columns: range, along: DiagonalOf) -> Node | None:
        chunks: Chunks = broadcast_chunks(*(leaf.chunks for leaf in self.leaves))
        lengths = tuple(map(total, chunks))[-2:]
        if any(is_sparse(leaf.meta) for leaf in self.leaves):
            return None
        sides = [zip(leaf.shape[::-1], lengths[::-1], strict=False) for leaf in self.leaves]
        if any(n not in (1, length) for pairs in sides for n, length in pairs):
            return None
        return self.with_inputs({leaf: along(leaf, rows, columns, lengths) for leaf in self.leaves})

    def tile(self, *grids: Grid) -> Any:
        # Inputs have repetitions; operands are distinct.
        distinct = dict(zip(self.inputs, grids, strict=True))
        return self._tile(tuple(distinct[leaf] for leaf in self.leaves))

    @property
    def types_follow(self) -> bool:
        return not self.incomplete

    def _tile(self, grids: tuple[Grid, ...]) -> Any:
        if len({grid.chunks for grid in grids}) == 1:
            return self._map(grids, grids[0].chunks)
        return self._aligned(grids)

    def _aligned(self, grids: tuple[Grid, ...]) -> Generator[Any, Any, Any]:
        grids, chunks = yield from aligned(grids, rechunk_views)
        return self._map(grids, chunks)

    def _map(self, grids: tuple[Grid, ...], chunks: Chunks) -> Any:
        raise NotImplementedError(f"{type(self).__name__} declares no map")

    def takes(self, node: Node, taken: Sequence[Node]) -> bool:
        return self.fuses and joins(node, taken, self.shape, self.program)

    def taking(self, taken: Sequence[Node]) -> Node:
        return FusedUfuncs(*join_programs([(n, n.leaves, n.program) for n in (*taken, self)]))  # type: ignore[attr-defined]


def _operand_part(leaf: Node, shape: tuple[Size, ...], taken: Taken) -> Taken | None:
    """Return the part of an operand for a part of the result, ``None`` if it is not known."""
    own = leaf.shape
    offset = len(shape) - len(own)
    cuts: list[range | None] = []
    for length, whole, span in zip(own, shape[offset:], taken[offset:], strict=True):
        if span is None or (length == 1 and whole != 1):
            cuts.append(None)
        elif length == whole and isinstance(length, int):
            cuts.append(span)
        else:
            return None
    return tuple(cuts)


def joins(node: Node, taken: Sequence[Any], shape: Any, program: UfuncProgram | None) -> bool:
    """Tell whether a node can be fused into a program over operands of a shape.

    Broadcast nodes cannot: they would be computed again for every row.
    """
    if not (isinstance(node, Pointwise) and node.fuses and node.shape == shape):
        return False
    programs = [program, node.program, *(operand.program for operand in taken)]
    return sum(len(item.steps) for item in programs if item is not None) <= LONGEST


@dataclass(frozen=True, eq=False)
class Elementwise(Pointwise):
    """``func`` of arrays that broadcast against each other, with constants among its arguments."""

    func: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        return self.func.__name__

    @property
    def leaves(self) -> tuple[Node, ...]:
        return tuple(dict.fromkeys(self.inputs))

    @property
    def settled(self) -> bool:
        return all(leaf.settled for leaf in self.leaves) and not self.values_decide

    @property
    def types_follow(self) -> bool:
        # A cast may be to the declared type of an input.
        return super().types_follow or not (self._lacks_detail or self.func is cast)

    @property
    def values_decide(self) -> bool:
        """Whether the values tell the width of texts or the unit of times that it makes."""
        if not self._lacks_detail:
            return False
        if self.func is cast:
            return tells_detail(self.leaves[0].meta.dtype, dict(self.kwargs)["dtype"])
        is_typed = isinstance(self.func, np.ufunc) or any(self.func is f for f in TYPED_BY_TYPES)
        return not is_typed

    @property
    def _sample(self) -> Any:
        """The function's result without elements: the type (or types) of the result."""
        args = [empty(arg.meta.dtype, 1) if isinstance(arg, Node) else arg for arg in self.args]
        with np.errstate(all="ignore"):
            return self.func(*args, **dict(self.kwargs))

    @property
    def meta(self) -> Any:
        kind = sparse_empty if self._keeps_zeros else empty
        return kind(self._sample.dtype, len(self.chunks))

    @property
    def _has_sparse(self) -> bool:
        return any(is_sparse(leaf.meta) for leaf in self.leaves)

    @property
    def _keeps_zeros(self) -> bool:
        """Whether the result is sparse too."""
        if not self._has_sparse:
            return False
        sparse = [is_sparse(leaf.meta) for leaf in self.leaves]
        if any(
            flag and leaf.shape != self.shape
            for flag, leaf in zip(sparse, self.leaves, strict=True)
        ):
            return False
        kinds = ["sparse" if flag else "dense" for flag in sparse]
        return keeps_zeros(self.program.steps[0], kinds, [leaf.meta.dtype for leaf in self.leaves])

    @property
    def fuses(self) -> bool:
        return not self._has_sparse and fusible(
            [self.meta.dtype, *(leaf.meta.dtype for leaf in self.leaves)]
        )

    @property
    def program(self) -> UfuncProgram:
        place = {leaf: position for position, leaf in enumerate(self.leaves)}
        constants = tuple(arg for arg in self.args if not isinstance(arg, Node))
        indices = iter(range(len(constants)))
        slots = tuple(place[arg] if isinstance(arg, Node) else ~next(indices) for arg in self.args)
        dtype = np.dtype(object) if isinstance(self._sample, tuple) else self._sample.dtype
        step = UfuncStep(self.func, slots, constants, self.kwargs, dtype)
        return UfuncProgram(len(place), (step,))

    def _map(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        if self._has_sparse:
            return self._map_sparse(grids, chunks)
        if len(grids) == len(self.args):
            kwargs = dict(self.kwargs)
            return map_blocks(self.func, *grids, chunks=chunks, meta=self.meta, kwargs=kwargs)
        kwargs = {"program": self.program}
        evaluate = evaluate_ufunc if isinstance(self.func, np.ufunc) else evaluate_function
        return map_blocks(evaluate, *grids, chunks=chunks, meta=self.meta, kwargs=kwargs)

    def _map_sparse(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        kwargs = {"program": self.program}
        if not self._keeps_zeros:
            return map_blocks(evaluate_dense, *grids, chunks=chunks, meta=self.meta, kwargs=kwargs)
        widths = [grid.width or 0 for grid in grids if is_sparse(grid.meta)]
        how: dict[str, Any] = {"kwargs": kwargs, "itemsize": sum(widths)}
        return map_blocks(evaluate_stored, *grids, chunks=chunks, meta=self.meta, **how)


@kernel(scratch=0.0)
def evaluate_ufunc(*blocks: Any, program: UfuncProgram) -> Any:
    """Call the one ufunc of a program."""
    return program(*blocks)


@kernel(scratch=2.0)
def evaluate_function(*blocks: Any, program: UfuncProgram) -> Any:
    """Call the one function of a program, which may have several steps."""
    return program(*blocks)


@dataclass(frozen=True, eq=False)
class FusedUfuncs(Pointwise):
    """Several elementwise functions as one."""

    leaves: tuple[Node, ...]
    program: UfuncProgram

    fuses: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return "_".join(step.func.__name__ for step in self.program.steps[-3:])

    @property
    def meta(self) -> Any:
        return empty(self.program.dtype, len(self.chunks))

    def _map(self, grids: tuple[Grid, ...], chunks: Chunks) -> Grid:
        kwargs = {"program": self.program}
        return map_blocks(evaluate_program, *grids, chunks=chunks, meta=self.meta, kwargs=kwargs)


@dataclass(frozen=True, eq=False)
class ElementwiseOutputs(MultiOutput, Elementwise):
    """An elementwise function with several outputs."""

    @property
    def meta(self) -> Any:
        kind = sparse_empty if self._keeps_zeros else empty
        return tuple(kind(sample.dtype, len(self.chunks[0])) for sample in self._sample)

    @property
    def _keeps_zeros(self) -> bool:
        """Whether the results are sparse: those of a function of sparse tensors of one shape."""
        if any(not is_sparse(leaf.meta) or leaf.chunks != self.chunks[0] for leaf in self.leaves):
            return False
        kinds = ["sparse"] * len(self.leaves)
        return keeps_zeros(self.program.steps[0], kinds, [leaf.meta.dtype for leaf in self.leaves])

    @property
    def chunks(self) -> Any:
        return (broadcast_chunks(*(node.chunks for node in self.leaves)),) * len(self._sample)

    @property
    def memory_order(self) -> MemoryOrder:
        return merged(self.leaves, tuple(map(total, self.chunks[0])))

    @property
    def fuses(self) -> bool:
        return False

    def _map(self, grids: tuple[Grid, ...], chunks: Chunks) -> tuple[Grid, ...]:  # type: ignore[override]
        width = sum(part.dtype.itemsize for part in self.meta)
        evaluate = evaluate_stored if self._keeps_zeros else evaluate_dense
        source = map_blocks(
            evaluate if self._has_sparse else evaluate_ufunc,
            *grids,
            chunks=chunks,
            itemsize=width,
            kwargs={"program": self.program},
        )
        return tuple(
            map_blocks(output, source, meta=meta, kwargs={"position": position}, cheap=True)
            for position, meta in enumerate(self.meta)
        )


@kernel(view=True)
def output(blocks: tuple[Any, ...], position: int) -> Any:
    """Return one of several outputs."""
    return blocks[position]


def operand(arg: Any, like: Chunks | None = None) -> Any:
    """Return an argument as a node, or itself if it is a scalar.

    An array in memory is chunked like the matching axes of ``like``.
    """
    if isinstance(arg, Collection):
        return as_node(arg, sparse=True)
    if isinstance(arg, (*_SCALARS, Node)):
        return arg
    if is_dask_array(arg):
        return dask_node(arg)
    if is_sparse(arg):
        return sparse_literal(arg)
    array = as_array(arg)
    if array.ndim == 0:
        # A foreign scalar is unchanged: its type determines promotion.
        return arg if array.dtype == object else array[()]
    splits = normalize_chunks(None, array.shape, array.dtype)
    if like is not None:
        sizes = dict(zip(range(-len(like), 0), like, strict=True))
        splits = tuple(
            sizes[axis] if axis in sizes and fits(sizes[axis], length) else own
            for axis, (own, length) in zip(
                range(-array.ndim, 0), zip(splits, array.shape, strict=True), strict=True
            )
        )
    return literal(array, splits)


def fits(sizes: tuple[Any, ...], length: int) -> bool:
    """Tell whether chunks of known sizes cover an axis of ``length``."""
    return all(type(size) is int for size in sizes) and sum(sizes) == length


def boolean(where: Any) -> Any:
    """Return the mask of ``where=``: numbers are truth values, but arrays of numbers are not."""
    kind = getattr(meta_of(where), "dtype", None)
    if kind is None:
        return np.asarray(where, bool)
    if kind != np.bool_:
        raise TypeError(f"where= takes a boolean mask, not one of {kind!r}")
    return where


def masked_class(args: tuple[Any, ...]) -> Any:
    """Return the class of masked tensors if some argument is masked."""
    for arg in args:
        if is_masked(arg):
            return class_of(meta_of(arg))
    return None


def operands(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments as nodes and scalars, at least one of them a node."""
    like = None
    for arg in args:
        if isinstance(arg, Collection | Node):
            like = (arg.node if isinstance(arg, Collection) else arg).chunks
            break
    result = tuple([operand(arg, like) for arg in args])
    if any(isinstance(item, Node) for item in result):
        return result
    array = np.asarray(result[0])
    return (Literal(array, ()), *result[1:])


def masked(
    *args: Any,
    func: Callable[..., Any],
    types: tuple[np.dtype[Any], ...],
    position: int,
    options: tuple[tuple[str, Any], ...],
) -> Any:
    """Call a ufunc where a mask (the last but one argument) holds; the last has the other values.

    Of several outputs, with given types, one is returned.
    """
    *values, where, fallback = args
    shape = np.broadcast_shapes(*map(np.shape, args))
    outputs = tuple(np.empty(shape, dtype) for dtype in types)
    outputs[position][...] = fallback
    func(*values, where=where, out=outputs, **dict(options))
    return outputs[position]


def tells_detail(old: np.dtype[Any], new: np.dtype[Any]) -> bool:
    """Tell whether a cast looks at values for the width of texts, or the unit of times."""
    if new.kind in "mM":
        return np.datetime_data(new)[0] == "generic" and old.kind in "OTUS"
    return new.itemsize == 0 and old.kind in "OT"


@kernel(scratch=0.0)
def cast(block: Any, dtype: np.dtype[Any]) -> Any:
    """Return the block in another type, itself if it has it."""
    return block.astype(dtype, copy=False)


#: Functions of blocks whose result has a type that follows from those of the blocks.
TYPED_BY_TYPES: list[Callable[..., Any]] = [cast, np.datetime_as_string]


def typed_by_types(func: F) -> F:
    """Declare that the type of a function's result follows from those of its blocks."""
    TYPED_BY_TYPES.append(func)
    return func


def native(node: Node) -> Node:
    """Return elements in native byte order, as after concatenation."""
    dtype = node.meta.dtype
    if dtype.isnative:
        return node
    return Elementwise(cast, (node,), (("dtype", dtype.newbyteorder("=")),))
