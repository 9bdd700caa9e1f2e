"""Graphs as tables: what each task needs, how long it takes and how much it makes.

Tasks stand in the order in which they are to run, depth first as the compiler emits them, so their
numbers are their priorities. Sizes are those of arrays in blocks of 8 to 32 MiB on cores that add a
gigabyte and multiply two blocks of 1024 x 1024 in some tens of milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from marsdask.core.config import options
from marsdask.core.machine.sizing import PANEL
from marsdask.tensor.linalg.contraction import SHARED_EVENLY

MIB = 2**20


@dataclass
class Trace:
    """A graph in columns; a task is its position."""

    name: str
    inputs: list[tuple[int, ...]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    nbytes: list[int] = field(default_factory=list)

    def add(self, inputs: tuple[int, ...], seconds: float, nbytes: int) -> int:
        """Add a task and return its number."""
        self.inputs.append(inputs)
        self.seconds.append(seconds)
        self.nbytes.append(nbytes)
        return len(self.inputs) - 1

    def __len__(self) -> int:
        return len(self.inputs)

    def needs(self, task: int) -> int:
        """Return the bytes that a task was said to take: its result, and as much to work in.

        As the compiler says it of most kernels. Inputs are not counted: tasks share them.
        """
        return 2 * self.nbytes[task]

    def consumers(self) -> list[list[int]]:
        """Return who needs each task."""
        found: list[list[int]] = [[] for _ in self.inputs]
        for task, inputs in enumerate(self.inputs):
            for one in inputs:
                found[one].append(task)
        return found


def map_chains(tasks: int) -> Trace:
    """Load a block, map it three times, reduce it: nothing has to move."""
    trace = Trace("map chains")
    for _ in range(max(1, tasks // 5)):
        last = trace.add((), 0.2, 32 * MIB)
        for _ in range(3):
            last = trace.add((last,), 0.03, 32 * MIB)
        trace.add((last,), 0.02, 1024)
    return trace


def tree_reduction(tasks: int, fan: int = 8) -> Trace:
    """Load blocks and add them eight at a time, until one is left."""
    trace = Trace("tree reduction")
    levels: list[list[int]] = [[]]

    def push(level: int, task: int) -> None:
        if level == len(levels):
            levels.append([])
        levels[level].append(task)
        if len(levels[level]) == fan:
            inputs = tuple(levels[level])
            levels[level] = []
            push(level + 1, trace.add(inputs, 0.04, 16 * MIB))

    for _ in range(max(1, tasks * (fan - 1) // fan)):
        push(0, trace.add((), 0.1, 16 * MIB))
    rest = [task for level in levels for task in level]
    if len(rest) > 1:
        trace.add(tuple(rest), 0.04, 16 * MIB)
    return trace


def all_to_all(tasks: int) -> Trace:
    """Cut each of n blocks into n pieces, and put n pieces together n times, in turn."""
    trace = Trace("all to all")
    count = max(2, int(tasks**0.5) - 1)
    sources: list[int] = []
    for _ in range(count):
        pieces = []
        for position in range(count):
            if position == len(sources):
                sources.append(trace.add((), 0.2, 32 * MIB))
            pieces.append(trace.add((sources[position],), 0.002, 32 * MIB // count))
        trace.add(tuple(pieces), 0.2, 32 * MIB)
    return trace


def matmul(tasks: int) -> Trace:
    """Multiply two matrices of n x n blocks: each block of the product adds up n products.

    This is Dask's graph.
    """
    trace = Trace("blocked matmul")
    count = max(2, round(tasks ** (1 / 3)))
    left: dict[tuple[int, int], int] = {}
    right: dict[tuple[int, int], int] = {}
    for row in range(count):
        for column in range(count):
            products = []
            for inner in range(count):
                if (row, inner) not in left:
                    left[row, inner] = trace.add((), 0.05, 8 * MIB)
                if (inner, column) not in right:
                    right[inner, column] = trace.add((), 0.05, 8 * MIB)
                operands = left[row, inner], right[inner, column]
                products.append(trace.add(operands, 0.06, 8 * MIB))
            trace.add(tuple(products), 0.01 * count, 8 * MIB)
    return trace


def panelled_matmul(tasks: int, threads: int) -> Trace:
    """Multiply the matrices of :func:`matmul` with several products a task.

    This is the graph of marsdask's compiler for so many threads on several hosts.
    """
    trace = Trace("panelled matmul")
    count = max(3, round(tasks ** (1 / 3)))
    width = _panel_width(count, threads)
    left: dict[tuple[int, int], int] = {}
    right: dict[tuple[int, int], int] = {}

    def draw(side: dict[tuple[int, int], int], place: tuple[int, int]) -> int:
        if place not in side:
            side[place] = trace.add((), 0.05, 8 * MIB)
        return side[place]

    def panel(row: int, column: int, start: int) -> int:
        inner = range(start, min(start + width, count))
        operands = [draw(left, (row, each)) for each in inner]
        operands += [draw(right, (each, column)) for each in inner]
        return trace.add(tuple(operands), 0.06 * len(inner), 8 * MIB)

    for row in range(count):
        for column in range(count):
            pending = [(row, column, start) for start in range(0, count, width)]
            block = _folded(trace, [partial(panel, *at) for at in pending])
            trace.add((block,), 0.001, 8 * MIB)
    return trace


def _panel_width(count: int, threads: int) -> int:
    """Return how many products of blocks of 8 MiB a task adds."""
    width = min(count, PANEL // (16 * MIB))
    blocks = count**2
    if blocks % threads and blocks < SHARED_EVENLY * threads:
        width = min(width, math.ceil(count / math.ceil(SHARED_EVENLY * threads / blocks)))
    return width


def _folded(trace: Trace, parts: list[Callable[[], int]]) -> int:
    """Add up parts in a tree, each part just before it is needed."""
    while len(parts) > 1:
        fan = options.split_every
        groups = [parts[start : start + fan] for start in range(0, len(parts), fan)]
        parts = [partial(_fold, trace, group) for group in groups]
    return parts[0]()


def _fold(trace: Trace, parts: list[Callable[[], int]]) -> int:
    return trace.add(tuple(part() for part in parts), 0.01 * len(parts), 8 * MIB)


#: What is simulated: each makes a graph of about so many tasks ...
TRACES: tuple[Callable[[int], Trace], ...] = (map_chains, tree_reduction, all_to_all, matmul)
#: ... and the graphs that marsdask's compiler makes instead, for so many threads.
COMPILED: dict[Callable[[int], Trace], Callable[[int, int], Trace]] = {matmul: panelled_matmul}
