"""Types that lack what only values tell, as the width of texts: chunks are asked, and get one.

A node of such a type declares the general case. Where another node reads it, its chunks run first.
They are cast to the one type that holds them all, and what reads them is built over that type.
Columns are read so where the categories of the rows of all chunks matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from marsdask.scheduler.base import all_dtypes

from ..graph import Graph
from ..node import MemoryOrder, MultiOutput, Node, SameChunks, is_categorical
from ..registry import class_of
from ..sizes import Chunks
from ..snapshots.tokens import token
from ..traits import Traits
from .grid import Grid, Look
from .logical import in_chunks


@dataclass(frozen=True, eq=False)
class Retyped(SameChunks):
    """The values of a node, whose chunks have the types that were found."""

    settled: ClassVar[bool] = True

    found: Any = field(repr=False)
    """The meta (of several outputs a tuple of them) with these types."""

    @property
    def name(self) -> str:
        return f"{self.a.name}-{token(_types(self))}"

    @property
    def label(self) -> str:
        return self.a.label

    @property
    def traits(self) -> Traits:
        return self.a.traits

    @property
    def is_row(self) -> bool:
        return self.a.is_row

    @property
    def meta(self) -> Any:
        return self.found

    @property
    def memory_order(self) -> MemoryOrder:
        return self.a.memory_order

    def tile(self, a: Any) -> Any:
        return a


def over_found_types(node: Node, tiled: Sequence[Any], untold: Collection[Node] = ()) -> Node:
    """Return a node over the types that the tiled inputs have, where those were not settled.

    Of ``untold`` nodes no types have been asked for.
    """
    new: dict[Node, Node] = {}
    for child, grids in zip(node.inputs, tiled, strict=True):
        if child in untold:
            continue
        if not child.settled and (child.incomplete or node.incomplete):
            new[child] = Retyped(child, _found_meta(child, grids))
    return node.with_inputs(new) if new else node


def _found_meta(child: Node, grids: Any) -> Any:
    pairs = zip(_several(child.meta), _several(grids), strict=True)
    metas = [meta if grid.meta is None else grid.meta for meta, grid in pairs]
    return tuple(metas) if isinstance(child.meta, tuple) else metas[0]


def _several(item: Any) -> tuple[Any, ...]:
    return item if isinstance(item, tuple) else (item,)


def must_look(node: Node, typed: Node) -> bool:
    """Tell whether a node over found types must run before its own type is known.

    A type that has not followed those of the inputs was written into the node.
    """
    if isinstance(node, Recalled):  # it looks itself
        return False
    return node.incomplete and (typed.incomplete or _types(typed) == _types(node))


def is_typed(node: Node) -> bool:
    """Tell whether the types of a node and of its inputs are known before anything runs."""
    return node.settled and not any(child.incomplete for child in node.inputs)


def _types(node: Node) -> list[tuple[Any, ...]]:
    """Return the types of a node; those of categories with these in their order."""
    types = [dtype for meta in _several(node.meta) for dtype in all_dtypes(meta)]
    return [(dtype, *(dtype.categories if is_categorical(dtype) else ())) for dtype in types]


def with_found_types(node: Node, tiling: Any, *, look: bool) -> Any:
    """Return a tiling whose grids say which types their chunks have.

    Where the values decide that, and somebody has to know it, the chunks run first.
    """
    if look or isinstance(tiling, Generator):
        return _completed(node, tiling, look=look)
    return _declared(node, tiling)


def _completed(node: Node, tiling: Any, *, look: bool) -> Generator[Any, Any, Any]:
    result = (yield from tiling) if isinstance(tiling, Generator) else tiling
    if not look:
        return _declared(node, result)
    infos = iter((yield Look(_several(result))))
    grids = [
        _cast(grid, meta, [next(infos) for _ in range(len(grid))])
        for grid, meta in zip(_several(result), _several(node.meta), strict=True)
    ]
    return tuple(grids) if isinstance(result, tuple) else grids[0]


def _cast(grid: Grid, declared: Any, infos: Sequence[Any]) -> Grid:
    """Return a grid that ran, with the one type that holds what its chunks have."""
    kind = class_of(declared)
    meta = kind._settled(declared, infos)
    converted = kind._cast(grid, meta, infos)
    return replace(converted, meta=meta, itemsize=None)


def _declared(node: Node, tiled: Any) -> Any:
    """Return grids that have the types of the node, where they say none themselves."""
    grids = [
        replace(grid, meta=meta) if grid.meta is None else grid
        for grid, meta in zip(_several(tiled), _several(node.meta), strict=True)
    ]
    return tuple(grids) if isinstance(tiled, tuple) else grids[0]


@dataclass(frozen=True)
class NodeArgument:
    """The place of a node among the arguments of a function."""

    position: int


@dataclass(frozen=True)
class Outcome:
    """The known properties of a result whose type is unknown."""

    meta: Any
    chunks: Chunks
    memory_order: MemoryOrder


@dataclass(frozen=True, eq=False)
class Recalled(MultiOutput):
    """A function of nodes that is called again, once the types of its arguments are known."""

    settled: ClassVar[bool] = False

    func: Callable[..., Any]
    arguments: tuple[Node, ...]
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outcomes: tuple[Outcome, ...]

    @property
    def label(self) -> str:
        return self.func.__name__

    @property
    def meta(self) -> Any:
        return tuple(outcome.meta for outcome in self.outcomes)

    @property
    def chunks(self) -> Any:
        return tuple(outcome.chunks for outcome in self.outcomes)

    @property
    def memory_order(self) -> MemoryOrder:
        return self.outcomes[0].memory_order

    def tile(self, *inputs: Any) -> Generator[Any, Any, tuple[Grid, ...]]:
        return self._tile(inputs, blind=False)

    def _tile(
        self, inputs: tuple[Any, ...], *, blind: bool
    ) -> Generator[Any, Any, tuple[Grid, ...]]:
        distinct = dict(zip(self.inputs, inputs, strict=True))
        opaque: list[Node] = [
            node if isinstance(node, Retyped) else Retyped(node, node.meta)
            for node in self.arguments
        ]
        sources = dict(zip(opaque, (distinct[node] for node in self.arguments), strict=True))
        collections = [class_of(node.meta)(node) for node in opaque]
        result = self.func(
            *filled(self.args, collections), **dict(filled(self.kwargs, collections))
        )
        roots = result if isinstance(result, tuple | list) else (result,)
        grids = yield from _tile_all(roots, sources, blind=blind)
        return tuple(
            in_chunks(grid, outcome.chunks, outcome.meta)
            for grid, outcome in zip(grids, self.outcomes, strict=True)
        )

    def tile_blind(self, *inputs: Any) -> Any:
        if not any(node._lacks_detail for node in (*self.arguments, self)):
            return self._tile(inputs, blind=True)  # the declared types hold all values
        raise NotImplementedError(
            f"a Dask graph of {self.label} of values whose type only running tells is not "
            "supported; use execute() first, or compute() of marsdask"
        )


def filled(item: Any, given: Sequence[Any]) -> Any:
    """Return arguments with collections in their places."""
    if isinstance(item, NodeArgument):
        return given[item.position]
    if type(item) in (list, tuple):
        return type(item)(filled(part, given) for part in item)
    return item


def _tile_all(
    roots: Sequence[Node], tiled: dict[Node, Any], *, blind: bool
) -> Generator[Any, Any, list[Grid]]:
    """Tile nodes inside the tiling of another, whose inputs are tiled."""
    for node in Graph(roots).nodes:
        if node in tiled:
            continue
        inputs = [tiled[child] for child in node.inputs]
        concrete = over_found_types(node, inputs)
        look = must_look(node, concrete)
        tile = concrete.tile_blind if blind else concrete.tile
        tiling = with_found_types(concrete, tile(*inputs), look=look and not blind)
        tiled[node] = (yield from tiling) if isinstance(tiling, Generator) else tiling
    return [tiled[root] for root in roots]
