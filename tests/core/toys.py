"""Operations over plain lists, which prove that the core knows no NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marsdask.core.collection import Collection, register_collection
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.shuffle import all_to_all
from marsdask.core.grids.tree import Pairwise, gather, tree
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks
from marsdask.scheduler.base import ChunkInfo, Done, describe

register_collection(list, Collection)


@dataclass(frozen=True)
class NumbersAt:
    """Gives each chunk its stretch of the numbers."""

    sizes: tuple[int, ...]

    def __call__(self, index: tuple[int, ...]) -> tuple[int, int]:
        (i,) = index
        return sum(self.sizes[:i]), sum(self.sizes[: i + 1])


def numbers_between(start: int, stop: int) -> list[int]:
    return list(range(start, stop))


@dataclass(frozen=True, eq=False)
class Numbers(Node):
    """The numbers from 0, in chunks."""

    sizes: tuple[int, ...]

    @property
    def meta(self) -> Any:
        return []

    @property
    def chunks(self) -> Chunks:
        return (self.sizes,)

    def tile(self, *inputs: Any) -> Grid:
        return blockwise(
            numbers_between,
            [],
            chunks=self.chunks,
            varying=NumbersAt(self.sizes),
            itemsize=8,
            cheap=True,
        )

    def regrid(self, new):
        return self.replaced(sizes=new.get(self.sizes, self.sizes))


def scaled(block: list[int], factor: float) -> list[float]:
    return [item * factor for item in block]


@dataclass(frozen=True, eq=False)
class Scaled(Node):
    """Each number times a factor."""

    a: Node
    factor: float

    @property
    def meta(self) -> Any:
        return []

    @property
    def chunks(self) -> Chunks:
        return self.a.chunks

    def tile(self, a: Grid) -> Grid:
        return map_blocks(scaled, a, kwargs={"factor": self.factor}, itemsize=8)


def total_of(block: list[int]) -> list[int]:
    return [sum(block)]


def joined(a: list[int], b: list[int]) -> list[int]:
    return [a[0] + b[0]]


@dataclass(frozen=True, eq=False)
class Total(Node):
    """The sum of all numbers."""

    a: Node

    @property
    def meta(self) -> Any:
        return []

    @property
    def chunks(self) -> Chunks:
        return ((1,),)

    def tile(self, a: Grid) -> Grid:
        partials = map_blocks(total_of, a, chunks=((1,) * len(a),), itemsize=8)
        return tree(partials, Pairwise(joined), [0], width=3)


def split_by_parity(block: list[int], ways: int) -> list[list[int]]:
    return [[item for item in block if item % ways == way] for way in range(ways)]


def concatenated(parts: list[list[int]]) -> list[int]:
    return [item for part in parts for item in part]


@dataclass(frozen=True, eq=False)
class ByRemainder(Node):
    """The numbers grouped by their remainder: an all-to-all."""

    a: Node
    ways: int

    @property
    def meta(self) -> Any:
        return []

    @property
    def chunks(self) -> Chunks:
        return ((1,) * self.ways,)

    def tile(self, a: Grid) -> Grid:
        return all_to_all(
            a,
            0,
            split_by_parity,
            concatenated,
            (1,) * self.ways,
            split_kwargs={"ways": self.ways},
            itemsize=8,
        )


@dataclass(frozen=True, eq=False)
class Looked(Node):
    """All numbers times the length of the first chunk, which it has to look at."""

    a: Node
    keep: bool = False

    @property
    def meta(self) -> Any:
        return []

    @property
    def chunks(self) -> Chunks:
        return ((1,),)

    def tile(self, a: Grid):
        costly = map_blocks(scaled, a, kwargs={"factor": 1}, itemsize=8)
        counts = map_blocks(total_of, costly, chunks=((1,) * len(a),), itemsize=8)
        infos = yield Look((counts,), keep=(costly,) if self.keep else ())
        return gather(
            weighted,
            costly,
            chunks=self.chunks,
            itemsize=8,
            kwargs={"total": sum(info.sample[0] for info in infos)},
        )


def weighted(blocks: list[list[int]], total: int) -> list[int]:
    return [item * total for item in concatenated(blocks)]


def run(compilation: Compilation) -> tuple[list[Any], list[int]]:
    """Run a compilation without a scheduler: return the roots' chunks and the tasks per stage."""
    held: dict[Any, Any] = {}
    infos: dict[Any, ChunkInfo] = {}
    counts = []
    while not isinstance(step := compilation.advance(infos), Done):
        counts.append(len(step.graph))
        done = dict(held)
        for key in reversed(order(step.graph)):
            task = step.graph[key]
            done[key] = task({name: done[name] for name in task.dependencies})
        for key in step.dropped:
            del held[key]
        held.update((key, done[key]) for key in step.keys)
        infos = {key: describe(held[key]) for key in step.keys}
    values = [[held[key] for key in layout.keys.values()] for layout in step.outputs.values()]
    return values, counts


def order(graph) -> list[Any]:
    """Return the keys, consumers first."""
    found: dict[Any, None] = {}
    needed = {name for task in graph.values() for name in task.dependencies}
    stack = [(key, False) for key in graph if key not in needed]
    post: list[Any] = []
    while stack:
        key, expanded = stack.pop()
        if expanded:
            post.append(key)
        elif key not in found and key in graph:
            found[key] = None
            stack.append((key, True))
            stack.extend((name, False) for name in graph[key].dependencies)
    return post[::-1]
