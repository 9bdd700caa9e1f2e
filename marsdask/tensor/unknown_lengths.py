"""Functions that require known lengths, for tensors of unknown lengths.

Where such a function raises :class:`UnknownShapeError`, it becomes a node of its own. A rule of the
function declares the types and axes of its results. When the node is tiled its inputs run first.
Then the function is called with known lengths, and its result is tiled instead.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np

from marsdask.core.collection import Collection, collect
from marsdask.core.graph import Graph
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.lengths import resolved
from marsdask.core.node import MultiOutput, Node, Part
from marsdask.core.sizes import Chunks, Sizes, Unknown, UnknownShapeError, known, total
from marsdask.core.snapshots.tokens import token

from .chunkwise.rechunk import recut
from .operands import as_node, empty

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class ArgumentSlot:
    """The placeholder of a tensor among arguments."""

    position: int


@dataclass(frozen=True, eq=False)
class GridNode(Node):
    """A grid of known sizes, as a node."""

    interned: ClassVar[bool] = False

    grid: Grid = field(repr=False)

    @property
    def name(self) -> str:
        return f"sized-{self.grid.name}-{token(self.grid.chunks)}"

    @property
    def meta(self) -> Any:
        return self.grid.meta

    @property
    def chunks(self) -> Chunks:
        return self.grid.chunks

    def tile(self, *inputs: Any) -> Grid:
        del inputs
        return self.grid


@dataclass(frozen=True)
class ResultSpec:
    """The known properties of one of a function's results."""

    dtype: np.dtype[Any]
    lengths: tuple[Sizes | None, ...]
    """For each axis its sizes, or ``None`` where only running tells."""


def like(a: Any, dtype: Any = None, *, unknown: Iterable[int] = ()) -> ResultSpec:
    """Return the outcome of the shape of ``a``, with other lengths along the ``unknown`` axes."""
    node = as_node(a)
    ndim = len(node.chunks)
    axes = np.lib.array_utils.normalize_axis_tuple(unknown, ndim, allow_duplicate=True)
    lengths = tuple(None if i in axes else whole(node, i) for i in range(ndim))
    return ResultSpec(node.meta.dtype if dtype is None else np.dtype(dtype), lengths)


def whole(a: Any, axis: int) -> Sizes:
    """Return the sizes of an axis, unknown ones as one: the result may have other chunks."""
    return whole_if_unknown(as_node(a).chunks[axis])


def whole_if_unknown(sizes: Sizes) -> Sizes:
    """Return sizes as they are if they are known, else one for the whole axis."""
    return sizes if known(sizes) else (total(sizes),)


def resized(a: Any, axis: Any, dtype: Any = None) -> ResultSpec:
    """Return the outcome of ``a`` with another length along an axis, or of all elements."""
    if axis is not None:
        return like(a, dtype, unknown=(axis,))
    return ResultSpec(as_node(a).meta.dtype if dtype is None else np.dtype(dtype), (None,))


@dataclass(frozen=True, eq=False)
class UnknownLengthCall(MultiOutput):
    """A function that is called once the lengths of its tensors are known."""

    func: Callable[..., Any]
    arrays: tuple[Node, ...]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outcomes: tuple[ResultSpec, ...]

    @property
    def label(self) -> str:
        return self.func.__name__

    @property
    def meta(self) -> Any:
        return tuple(empty(outcome.dtype, len(outcome.lengths)) for outcome in self.outcomes)

    @property
    def chunks(self) -> Any:
        return tuple(
            tuple(
                (Unknown(f"{self.name}@{position}.{axis}"),) if sizes is None else sizes
                for axis, sizes in enumerate(outcome.lengths)
            )
            for position, outcome in enumerate(self.outcomes)
        )

    def tile(self, *inputs: Grid) -> Any:
        distinct = dict(zip(self.inputs, inputs, strict=True))
        grids = yield from resolved(*(distinct[node] for node in self.arrays))
        results = _results(self.func, [GridNode(grid) for grid in grids], self.args, self.kwargs)
        nodes = [as_node(item) for item in results]
        for node, outcome in zip(nodes, self.outcomes, strict=True):
            self._check(node, outcome)
        grids = yield from tile_nodes(nodes)
        return tuple(map(_cut_as_told, grids, self.outcomes))

    def _check(self, node: Node, told: ResultSpec) -> None:
        """Raise for a result of another type or other axes than declared."""
        if len(node.chunks) != len(told.lengths):
            raise UnknownShapeError(
                f"{self.label} of these lengths has {len(node.chunks)} dimensions, but "
                f"{len(told.lengths)} were expected; use execute() of the input first"
            )
        if node.meta.dtype != told.dtype:
            raise TypeError(
                f"{self.label} has dtype {node.meta.dtype}, but {told.dtype} was expected"
            )


def _cut_as_told(grid: Grid, told: ResultSpec) -> Grid:
    """Rechunk the axes of known lengths to the logical chunks."""
    pairs = zip(told.lengths, grid.chunks, strict=True)
    return recut(
        grid, tuple(new if new and known(new) and known(old) else old for new, old in pairs)
    )


def tile_nodes(roots: Sequence[Node]) -> Generator[Any, Any, tuple[Grid, ...]]:
    """Tile nodes inside the tiling of another."""
    grids: dict[Node, Any] = {}
    graph = Graph(roots)
    for node in graph.nodes:
        tiling = node.tile(*(grids[child] for child in node.inputs))
        grids[node] = (yield from tiling) if isinstance(tiling, Generator) else tiling
    return tuple(grids[root] for root in graph.roots)


def _results(
    func: Callable[..., Any], nodes: Sequence[Node], args: Any, kwargs: Any
) -> Sequence[Any]:
    tensors = [collect(node) for node in nodes]
    results = func(
        *_fill_slots(args, tensors), **{key: _fill_slots(item, tensors) for key, item in kwargs}
    )
    return results if isinstance(results, tuple | list) else (results,)


def _fill_slots(item: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(item, ArgumentSlot):
        return tensors[item.position]
    if type(item) in (list, tuple):
        return type(item)(_fill_slots(part, tensors) for part in item)
    return item


def _taken(item: Any, nodes: list[Node]) -> Any:
    """Replace tensors by slots."""
    if isinstance(item, Collection | Node):
        nodes.append(as_node(item))
        return ArgumentSlot(len(nodes) - 1)
    if type(item) in (list, tuple):
        return type(item)(_taken(part, nodes) for part in item)
    return item


def waits_for_lengths(
    tells: Callable[..., ResultSpec | Sequence[ResultSpec]],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function of tensors accept unknown lengths, by calling it again when they are known.

    ``tells`` receives all arguments by name, including defaults. It returns the known properties of
    the result, or of each of several. It uses types and chunks, and never calls the function.
    """

    def decorate(func: Callable[P, R]) -> Callable[P, R]:
        @wraps(func)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return func(*args, **kwargs)
            except UnknownShapeError:
                nodes: list[Node] = []
                positional = _taken(args, nodes)
                keywords = tuple((key, _taken(kwargs[key], nodes)) for key in sorted(kwargs))
                if not any(isinstance(size, Unknown) for node in nodes for size in node.shape):
                    raise
                binding = signature(func).bind(*args, **kwargs)
                binding.apply_defaults()
                outcome = tells(**binding.arguments)
                promise: R = _waiting(call, tuple(nodes), positional, keywords, outcome)
                return promise

        return call

    return decorate


def later(func: Callable[..., Any], node: Node, *args: Any, outcome: ResultSpec) -> Any:
    """Call ``func(tensor, *args)``, one tensor, once the lengths of ``node`` are known."""
    return _waiting(func, (node,), (ArgumentSlot(0), *args), (), outcome)


def _waiting(
    func: Callable[..., Any],
    nodes: tuple[Node, ...],
    args: Any,
    kwargs: Any,
    told: ResultSpec | Sequence[ResultSpec],
) -> Any:
    if isinstance(told, ResultSpec):
        return Part(UnknownLengthCall(func, nodes, args, kwargs, (told,)), 0)
    node = UnknownLengthCall(func, nodes, args, kwargs, tuple(told))
    # Named tuples are built from their items.
    make: Callable[..., Any] = getattr(told, "_make", type(told))
    return make(node.parts())
