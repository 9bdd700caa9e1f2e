"""Functions that must know lengths, of tensors whose lengths only running tells.

Where such a function raises :class:`UnknownShapeError`, it becomes a node of its own. When that is
tiled its inputs run first, and then the function is called as if their lengths had always been
known: what it returns is tiled in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, ClassVar, ParamSpec

import numpy as np

from marsdask.core.chunk import Grid
from marsdask.core.collection import Collection, wrap
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.core.node import Node, Part
from marsdask.core.shapes import map_blocks
from marsdask.core.tokens import token
from marsdask.core.types import Chunks, Sizes, Unknown, UnknownShapeError, total

from .base import as_node, empty
from .pointwise import cast
from .rechunk import resolved

P = ParamSpec("P")

#: Two lengths to try a function with: what comes out the same for both is known. They can be cut
#: into equal parts in many ways.
_TRIALS = (5040, 10080)


@dataclass(frozen=True)
class Slot:
    """The place of a tensor among arguments."""

    position: int


@dataclass(frozen=True, eq=False)
class Sized(Node):
    """A grid whose sizes are known by now, as a node."""

    interned: ClassVar[bool] = False

    grid: Grid = field(repr=False)

    @cached_property
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


@dataclass(frozen=True, eq=False)
class Example(Node):
    """Stands for a tensor while a function is tried; it never runs."""

    dtype: np.dtype[Any]
    splits: Chunks

    @property
    def meta(self) -> Any:
        return empty(self.dtype, len(self.splits))

    @property
    def chunks(self) -> Chunks:
        return self.splits


@dataclass(frozen=True)
class Outcome:
    """What one of a function's results is known to be."""

    dtype: np.dtype[Any]
    lengths: tuple[Any, ...]
    """For each axis its sizes, or ``None`` where only running tells."""


@dataclass(frozen=True, eq=False)
class Waiting(Node):
    """A function that is called once the lengths of its tensors are known."""

    func: Callable[..., Any]
    arrays: tuple[Node, ...]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outcomes: tuple[Outcome, ...]

    @property
    def label(self) -> str:
        return self.func.__name__

    @cached_property
    def meta(self) -> Any:
        return tuple(empty(found.dtype, len(found.lengths)) for found in self.outcomes)

    @cached_property
    def chunks(self) -> Any:
        return tuple(
            tuple(
                (Unknown(f"{self.name}@{position}.{axis}"),) if sizes is None else sizes
                for axis, sizes in enumerate(found.lengths)
            )
            for position, found in enumerate(self.outcomes)
        )

    @property
    def shape(self) -> Any:
        raise NotImplementedError("several outputs have a shape each")

    def tile(self, *inputs: Grid) -> Any:
        distinct = dict(zip(self.inputs, inputs, strict=True))
        grids = yield from resolved(*(distinct[node] for node in self.arrays))
        found = _results(self.func, [Sized(grid) for grid in grids], self.args, self.kwargs)
        grids = yield from tiled([as_node(item) for item in found])
        return tuple(
            _in_type(grid, meta.dtype) for grid, meta in zip(grids, self.meta, strict=True)
        )


def _in_type(grid: Grid, dtype: np.dtype[Any]) -> Grid:
    if grid.meta.dtype == dtype:
        return grid
    meta = empty(dtype, grid.ndim)
    return map_blocks(cast, grid, chunks=grid.chunks, meta=meta, kwargs={"dtype": dtype})


def tiled(roots: Sequence[Node]) -> Generator[Any, Any, tuple[Grid, ...]]:
    """Tile nodes inside the tiling of another."""
    done: dict[Node, Any] = {}
    graph = Graph(roots)
    for node in graph.nodes:
        tiling = node.tile(*(done[child] for child in node.inputs))
        done[node] = (yield from tiling) if isinstance(tiling, Generator) else tiling
    return tuple(done[root] for root in graph.roots)


def _results(
    func: Callable[..., Any], nodes: Sequence[Node], args: Any, kwargs: Any
) -> Sequence[Any]:
    found = _called(func, nodes, args, kwargs)
    return found if isinstance(found, tuple | list) else (found,)


def _called(func: Callable[..., Any], nodes: Sequence[Node], args: Any, kwargs: Any) -> Any:
    tensors = [wrap(node) for node in nodes]
    return func(*_filled(args, tensors), **{key: _filled(item, tensors) for key, item in kwargs})


def _filled(item: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(item, Slot):
        return tensors[item.position]
    if type(item) in (list, tuple):
        return type(item)(_filled(one, tensors) for one in item)
    return item


def _taken(item: Any, nodes: list[Node]) -> Any:
    """Put slots in place of tensors."""
    if isinstance(item, Collection | Node):
        nodes.append(as_node(item))
        return Slot(len(nodes) - 1)
    if type(item) in (list, tuple):
        return type(item)(_taken(one, nodes) for one in item)
    return item


def waits_for_lengths(func: Callable[P, Any]) -> Callable[P, Any]:
    """Let a function of tensors take unknown lengths, by calling it again when they are known."""

    @wraps(func)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            return func(*args, **kwargs)
        except UnknownShapeError:
            nodes: list[Node] = []
            left = _taken(args, nodes)
            named = tuple((key, _taken(kwargs[key], nodes)) for key in sorted(kwargs))
            if any(isinstance(total(sizes), Unknown) for node in nodes for sizes in node.chunks):
                return _waiting(call, tuple(nodes), left, named)
            raise

    return call


def later(func: Callable[..., Any], node: Node, *args: Any, outcome: Outcome) -> Any:
    """Call ``func(tensor, *args)``, one tensor, once the lengths of ``node`` are known."""
    return wrap(Part(Waiting(func, (node,), (Slot(0), *args), (), (outcome,)), 0))


def _waiting(func: Callable[..., Any], nodes: tuple[Node, ...], args: Any, kwargs: Any) -> Any:
    with option_context({"eager_mode": False}):
        first, second = (
            _called(func, [_example(node, length) for node in nodes], args, kwargs)
            for length in _TRIALS
        )
    lengths = {total(sizes) for node in nodes for sizes in node.chunks}
    unknown = [size for size in lengths if isinstance(size, Unknown)]
    several = isinstance(first, tuple | list)
    pairs = zip(first, second, strict=True) if several else [(first, second)]
    outcomes = tuple(_outcome(a.node, b.node, unknown) for a, b in pairs)
    outcomes = _of_nothing_too(outcomes, func, nodes, args, kwargs)
    node = Waiting(func, nodes, args, kwargs, outcomes)
    found = [wrap(Part(node, position)) for position in range(len(outcomes))]
    if not several:
        return found[0]
    # Named tuples take their items one by one.
    make = getattr(first, "_make", type(first))
    return make(found)


def _of_nothing_too(
    outcomes: tuple[Outcome, ...], func: Callable[..., Any], nodes: Any, args: Any, kwargs: Any
) -> tuple[Outcome, ...]:
    """Say less of lengths that are others where a function is given nothing."""
    try:
        with option_context({"eager_mode": False}):
            found = _results(func, [_example(node, 0) for node in nodes], args, kwargs)
    except Exception:  # noqa: BLE001 - it does not take nothing
        return outcomes
    return tuple(
        Outcome(outcome.dtype, tuple(map(_unless_other, outcome.lengths, own.node.shape)))
        for outcome, own in zip(outcomes, found, strict=True)
    )


def _unless_other(sizes: Sizes | None, length: Any) -> Sizes | None:
    if sizes is None or isinstance(sizes[0], Unknown) or total(sizes) == length:
        return sizes
    return None


def _example(node: Node, length: int) -> Node:
    chunks = ((length,) if isinstance(total(sizes), Unknown) else sizes for sizes in node.chunks)
    return Example(node.meta.dtype, tuple(chunks))


def _outcome(a: Node, b: Node, unknown: Sequence[Unknown]) -> Outcome:
    """Compare what came out for two lengths."""
    lengths: list[Sizes | None] = []
    for mine, sizes, other in zip(a.shape, a.chunks, b.shape, strict=True):
        if (mine, other) == _TRIALS and len(unknown) == 1:
            lengths.append((unknown[0],))
        else:
            lengths.append(sizes if isinstance(mine, int) and mine == other else None)
    return Outcome(a.meta.dtype, tuple(lengths))
