"""The chunk grid: all chunks of an array or frame, defined by a rule, expanded one at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from marsdask.scheduler.base import dtype_of

from ..node import Node, among_fields
from ..sizes import Chunks, Index, upper, uppers
from ..snapshots.kinds import ByReference
from ..snapshots.tokens import token, values_of
from ..traits import Partitioning

#: The node being tiled, so that errors of a chunk can name its operation.
current_node: ContextVar[Node | None] = ContextVar("current_node", default=None)


class Ref(NamedTuple):
    """One chunk of a grid."""

    grid: Grid
    index: Index  # type: ignore[assignment]  # hides tuple.index, which nobody calls on a ref


class Call(NamedTuple):
    """The work behind a chunk: a kernel and its arguments, among them refs and lists of refs."""

    func: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = {}


@dataclass(frozen=True, eq=False)
class Rule:
    """The rule of a grid's chunks; fields are parameters, and part of the grid's name.

    Those that are grids, or tuples of them, are its inputs.
    """

    def cell(self, index: Index) -> Call:
        """Return the work of one chunk."""
        raise NotImplementedError(f"{type(self).__name__} declares no cell")

    @cached_property
    def inputs(self) -> tuple[Grid, ...]:
        """The grids among the fields, in order: cells refer to no others."""
        return among_fields(self, Grid)

    @property
    def label(self) -> str:
        """The name in keys and messages."""
        return type(self).__name__.lower()

    @property
    def scratch(self) -> float | None:
        """Working memory of a task as a multiple of its largest argument.

        ``None`` uses the kernel's declaration.
        """
        return None

    @cached_property
    def token_name(self) -> str:
        return token(type(self), *values_of(self))


@dataclass(frozen=True, eq=False)
class Grid(ByReference):
    """All chunks of one array or frame (or of one step towards it)."""

    rule: Rule
    chunks: Chunks
    meta: Any = None
    itemsize: float | None = None
    """Bytes of one element (of a row, for frames); from the meta's dtype if not given."""
    node: Node | None = field(default_factory=current_node.get)
    partitioning: Partitioning | None = None
    """Which rows lie in which chunk, if that is known; it was chosen when the grid was made."""

    @cached_property
    def name(self) -> str:
        # A name is computed from those of the inputs. These come first, because a chain may be
        # deeper than Python's stack.
        stack = _unnamed(self)
        while stack:
            if above := _unnamed(stack[-1]):
                stack += above
            else:
                _ = stack.pop().name
        return f"{self.rule.label}-{token(self.rule, self.chunks)}"

    @property
    def token_name(self) -> str:
        return self.name

    @cached_property
    def numblocks(self) -> tuple[int, ...]:
        """The number of chunks along each axis."""
        return tuple(map(len, self.chunks))

    @property
    def ndim(self) -> int:
        return len(self.chunks)

    def __len__(self) -> int:
        return math.prod(self.numblocks)

    def indices(self) -> Iterator[Index]:
        """Iterate over the chunks' indices, last axis fastest."""
        return itertools.product(*map(range, self.numblocks))

    def refs(self) -> list[Ref]:
        """Return a ref to each chunk, last axis fastest."""
        return [Ref(self, index) for index in self.indices()]

    def key(self, index: Index) -> Any:
        """Return the key of a chunk in the task graph."""
        return (self.name, *index)

    def nbytes(self, index: Index) -> int | None:
        """Project the bytes of one chunk; ``None`` if they are unbounded."""
        if self._uniform is not None:
            return self._uniform
        width = self.width
        if width is None:
            return None
        count = 1
        for sizes, position in zip(self.chunks, index, strict=True):
            size = upper(sizes[position])
            if size is None:
                return None
            count *= size
        return int(count * width)

    @cached_property
    def _uniform(self) -> int | None:
        """The bytes of every chunk, if all have one known size."""
        width = self.width
        count = 1
        for sizes in self.chunks:
            length = upper(sizes[0]) if sizes.count(sizes[0]) == len(sizes) else None
            if length is None:
                return None
            count *= length
        return None if width is None else int(count * width)

    @cached_property
    def largest(self) -> int | None:
        """The bytes of the largest chunk; ``None`` if they are unbounded."""
        count = 1
        for sizes in self.chunks:
            bounds = {*uppers(sizes)}
            if None in bounds:
                return None
            count *= max(bounds, default=0)  # type: ignore[operator, type-var]
        return None if self.width is None else int(count * self.width)

    @cached_property
    def width(self) -> float | None:
        """Bytes of one element or row, ``None`` if unknown."""
        if self.itemsize is not None:
            return self.itemsize
        return getattr(dtype_of(self.meta), "itemsize", None)


def _unnamed(grid: Grid) -> list[Grid]:
    """Return the ancestors whose names must be computed first."""
    return [
        source
        for source in grid.rule.inputs
        if "name" not in vars(source) and type(source).name is Grid.name
    ]


@dataclass(frozen=True, eq=False)
class Look:
    """A tiling's request: run these grids, or single chunks of them, and return their infos.

    The results are held until their last use, and so is ``keep``: expensive grids that are needed
    again.
    """

    grids: tuple[Grid | Ref, ...]
    keep: tuple[Grid, ...] = ()

    @property
    def whole(self) -> list[Grid]:
        """The grids of which all chunks run."""
        return [item for item in (*self.grids, *self.keep) if not isinstance(item, Ref)]

    def refs(self) -> list[Ref]:
        """Return the requested chunks; the answer has one info for each, in this order."""
        several = ((item,) if isinstance(item, Ref) else item.refs() for item in self.grids)
        return [ref for refs in several for ref in refs]

    def run(self) -> list[Ref]:
        """Return every chunk that has to run for the request."""
        return [*self.refs(), *(ref for grid in self.keep for ref in grid.refs())]


@dataclass(frozen=True, eq=False)
class ResultKeys(Rule):
    """Chunks that a scheduler holds already, under the keys of another grid."""

    name: str
    keys: Mapping[Index, Any] = field(repr=False)
    nbytes: Mapping[Index, int] = field(repr=False)

    @property
    def token_name(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class HeldGrid(Grid):
    """A grid whose chunks need no task: a ref is the key of the held chunk."""

    rule: ResultKeys

    def key(self, index: Index) -> Any:
        return self.rule.keys[index]

    def nbytes(self, index: Index) -> int | None:
        return self.rule.nbytes[index]

    @cached_property
    def largest(self) -> int | None:
        return max(self.rule.nbytes.values(), default=0)
