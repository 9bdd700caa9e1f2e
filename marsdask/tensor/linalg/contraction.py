"""Contractions: sums of products over shared axes, which implement all products.

A task holds a block of the result, and adds the products of successive panels of the operands, as
in SUMMA (van de Geijn and Watts, Concurrency: Practice and Experience 9, 1997). With a memory
budget, a task's panels take at most a quarter of its share.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from marsdask.core.grids.align import common_sizes
from marsdask.core.grids.blockwise import Axes, blockwise, same
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.tree import Pairwise, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.plan import current_plan
from marsdask.core.machine.sizing import panel_bytes
from marsdask.core.node import Node, PartOf, Taken
from marsdask.core.sizes import (
    Chunks,
    Index,
    Size,
    Sizes,
    Unknown,
    known,
    numbers,
    shape_text,
    total,
    upper,
)
from marsdask.tensor.chunkwise.rechunk import recut
from marsdask.tensor.elementwise.nodes import Elementwise
from marsdask.tensor.kernels.duck_arrays import as_array
from marsdask.tensor.manipulation.shape import View
from marsdask.tensor.operands import as_node, sparse_empty
from marsdask.tensor.sparse.blocks import is_sparse, multiplies, multiply_blocks

Labels = tuple[int, ...]

#: Chunks of at least this length are worth halving, because BLAS is as fast on the halves.
HALVED = 1000
#: With so many tasks a thread, no thread waits long for the others.
SHARED_EVENLY = 8


@dataclass(frozen=True, eq=False)
class Contraction(Node):
    """The sum of the product of one or two operands over labels that are not in ``out``."""

    operands: tuple[Node, ...]
    labels: tuple[Labels, ...]
    out: Labels
    exact: Labels = ()
    """Labels whose axes are of one length: those of length one do not broadcast."""

    @property
    def meta(self) -> Any:
        samples = [np.ones((1,) * node.meta.ndim, node.meta.dtype) for node in self.operands]
        sample = contract_blocks(*samples, labels=self.labels, out=self.out)
        if self.out and all(is_sparse(node.meta) for node in self.operands):
            return sparse_empty(sample.dtype, len(self.out))
        return np.empty((0,) * len(self.out), sample.dtype)

    @property
    def chunks(self) -> Chunks:
        sizes = label_sizes([node.chunks for node in self.operands], self.labels)
        return tuple(sizes[label] for label in self.out)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        if any(is_sparse(node.meta) for node in self.operands):
            return None
        cuts = dict(zip(self.out, taken, strict=True))
        lengths = dict(zip(self.out, self.shape, strict=True))
        operands = []
        for node, labels in zip(self.operands, self.labels, strict=True):
            own = tuple(cuts.get(label) for label in labels)
            sides = zip(node.shape, labels, own, strict=True)
            if any(span is not None and n != lengths[label] for n, label, span in sides):
                return None
            operands.append(part(node, own))
        return self.replaced(operands=tuple(operands))

    def tile(self, *grids: Grid) -> Generator[Look, Any, Grid]:
        if not _agree(grids, self.labels):
            grids = yield from resolved(*grids)
        for names, grid in zip(self.labels, grids, strict=True):
            _check_alike(names, [total(sizes) for sizes in grid.chunks])
        for label in self.exact:
            pairs = zip(self.labels, grids, strict=True)
            sides = [total(grid.chunks[names.index(label)]) for names, grid in pairs]
            _check_alike([label] * len(sides), sides)
        sizes = label_sizes([grid.chunks for grid in grids], self.labels)
        if any(is_sparse(grid.meta) for grid in grids):
            # One product per task: panels of sparse blocks are small, and their sums are expensive.
            inner = {
                label: (sum(numbers(sizes[label])),) for label in sizes if label not in self.out
            }
            sizes = {**sizes, **inner}
        grids = tuple(
            recut(grid, tuple(sizes[label] for label in labels))
            for grid, labels in zip(grids, self.labels, strict=True)
        )
        return _Plan(grids, self.labels, self.out, sizes, self.meta).grid()


def label_sizes(chunks: Sequence[Chunks], labels: Sequence[Labels]) -> dict[int, Sizes]:
    """Return common chunks of each label's axes for all operands."""
    groups: dict[int, list[Sizes]] = {}
    for grid, names in zip(chunks, labels, strict=True):
        for sizes, label in zip(grid, names, strict=True):
            groups.setdefault(label, []).append(sizes)
    return {label: common_sizes(sizes) for label, sizes in groups.items()}


def _check_alike(labels: Sequence[int], lengths: Sequence[Size]) -> None:
    """Raise ``ValueError`` where axes of one label are known to differ in length."""
    sizes: dict[int, Size] = {}
    for label, length in zip(labels, lengths, strict=True):
        size = sizes.setdefault(label, length)
        if length != size and known((length, size)):
            raise ValueError(
                f"dimensions for collapsing index don't match in length ({size} != {length})"
            )


def _agree(grids: Sequence[Grid], labels: Sequence[Labels]) -> bool:
    """Tell whether the operands align without computing unknown sizes."""
    groups: dict[int, set[Sizes]] = {}
    for grid, names in zip(grids, labels, strict=True):
        for sizes, label in zip(grid.chunks, names, strict=True):
            groups.setdefault(label, set()).add(sizes)
    return all(len(item) == 1 or all(map(known, item)) for item in groups.values())


@dataclass(frozen=True)
class _Plan:
    """Chooses between one product a task, many partial ones, and sums inside a task."""

    grids: tuple[Grid, ...]
    labels: tuple[Labels, ...]
    out: Labels
    sizes: Mapping[int, Sizes]
    meta: Any

    @cached_property
    def summed(self) -> Labels:
        return tuple(label for label in self.sizes if label not in self.out)

    @cached_property
    def chunks(self) -> Chunks:
        return tuple(self.sizes[label] for label in self.out)

    @property
    def kwargs(self) -> dict[str, Any]:
        return {"labels": self.labels, "out": self.out}

    @cached_property
    def mirror(self) -> tuple[int, ...]:
        """The two labels that may be exchanged, if both operands are the same array."""
        if len({grid.name for grid in self.grids}) != 1 or len(self.grids) != 2:
            return ()
        pairs = [pair for pair in zip(*self.labels, strict=True) if pair[0] != pair[1]]
        alone = len(pairs) == 1 and set(pairs[0]) <= set(self.out) and not is_sparse(self.meta)
        distinct = all(len(set(labels)) == len(labels) for labels in self.labels)
        return pairs[0] if alone and distinct else ()

    @cached_property
    def tasks(self) -> int:
        """The number of output blocks to compute."""
        count = math.prod(len(self.sizes[label]) for label in self.out)
        if not self.mirror:
            return count
        side = len(self.sizes[self.mirror[0]])
        return count // side * (side + 1) // 2

    @cached_property
    def steps(self) -> int:
        """The number of products in the sum of each block of the output."""
        return math.prod(len(self.sizes[label]) for label in self.summed)

    @cached_property
    def panelled(self) -> bool:
        """Whether tasks sum products: there are enough tasks, or their sums are large."""
        nbytes = sum(_nbytes(grid.chunks, grid.meta) for grid in self.grids)
        # The memory of unknown lengths cannot be projected.
        is_shared = self.tasks >= current_plan.get().workers and nbytes <= panel_bytes()
        is_shared = is_shared and all(map(known, self.sizes.values()))
        return self.steps > 1 and (
            is_shared or self.steps * _nbytes(self.chunks, self.meta) > nbytes
        )

    @cached_property
    def _workers(self) -> int:
        return max(1, current_plan.get().workers)

    @cached_property
    def _step_bytes(self) -> int:
        """The bytes of the operands' largest blocks."""
        return max(1, sum(grid.nbytes((0,) * grid.ndim) or 0 for grid in self.grids))

    @cached_property
    def _widest(self) -> int:
        """The number of products that one task can add in its memory."""
        return min(self.steps, max(1, panel_bytes() // self._step_bytes))

    @cached_property
    def width(self) -> int:
        """The number of products that one task adds.

        Processes share few output blocks by groups of their products. The operands of a whole group
        are no smaller than its result, which has to be moved too.
        """
        enough = SHARED_EVENLY * self._workers
        even = self.tasks % self._workers == 0 or self.tasks >= enough
        if current_plan.get().shared_memory or even:
            return self._widest
        groups = math.ceil(enough / self.tasks)
        block = _nbytes(tuple(sizes[:1] for sizes in self.chunks), self.meta)
        least = -(-block // self._step_bytes)
        return min(self._widest, max(-(-self.steps // groups), least))

    def grid(self) -> Grid:
        if self.panelled:
            return (self if self.width < self._widest else self._balanced())._panels()
        products = self._products(self.summed if self.steps > 1 else ())
        return self._mirrored(self._summed_tree(products) if self.steps > 1 else products)

    def _mirrored(self, grid: Grid) -> Grid:
        if not self.mirror or len(self.sizes[self.mirror[0]]) == 1:
            return grid
        axes = tuple(self.out.index(label) for label in self.mirror)
        return Grid(SymmetricBlocks(grid, axes), grid.chunks, grid.meta)

    def _balanced(self) -> _Plan:
        """Halve the output's chunks if the workers cannot share so few tasks evenly."""
        several = self.mirror or self.out
        lengths = {label: self.sizes[label] for label in several if known(self.sizes[label])}
        wide = [label for label, sizes in lengths.items() if min(numbers(sizes)) >= HALVED]
        # Blocks on the diagonal of a mirrored product take half the work of the others.
        enough = 2 if self.mirror else SHARED_EVENLY * self._workers
        if self.tasks % self._workers == 0 or self.tasks >= enough or not wide:
            return self
        names = wide if self.mirror else wide[:1]
        halves = tuple(
            part for size in numbers(self.sizes[names[0]]) for part in (size - size // 2, size // 2)
        )
        sizes = {**self.sizes, **dict.fromkeys(names, halves)}
        grids = tuple(
            recut(grid, tuple(sizes[label] for label in labels))
            for grid, labels in zip(self.grids, self.labels, strict=True)
        )
        return replace(self, grids=grids, sizes=sizes)

    def _products(self, kept: Labels) -> Grid:
        """One task per product; the sum over ``kept`` follows."""
        order = (*self.out, *kept)
        inputs: list[tuple[Grid, Axes]] = [
            (grid, tuple(order.index(label) if label in order else None for label in labels))
            for grid, labels in zip(self.grids, self.labels, strict=True)
        ]
        chunks = (*self.chunks, *((1,) * len(self.sizes[label]) for label in kept))
        kwargs = {**self.kwargs, "extra": len(kept)} if kept else self.kwargs
        return blockwise(contract_blocks, inputs, chunks=chunks, meta=self.meta, kwargs=kwargs)

    def _panels(self) -> Grid:
        """One task per group of products, which it sums."""
        rule = PanelSums(self.grids, self.labels, self.out, self.summed, self.width)
        groups = -(-self.steps // self.width)
        grid = Grid(rule, (*self.chunks, (1,) * groups), self.meta)
        return self._mirrored(self._summed_tree(grid))

    def _summed_tree(self, partials: Grid) -> Grid:
        axes = range(len(self.out), partials.ndim)
        grid = tree(partials, Pairwise(np.add), axes)
        place: Axes = (*range(len(self.out)), *(None for _ in axes))
        kwargs = {"axis": tuple(axes)}
        return blockwise(
            np.squeeze,
            [(grid, place)],
            chunks=self.chunks,
            meta=self.meta,
            kwargs=kwargs,
            cheap=True,
        )


def _nbytes(chunks: Chunks, meta: Any) -> int:
    bounds = (sum(upper(size) or 1 for size in sizes) for sizes in chunks)
    return math.prod(bounds) * int(meta.dtype.itemsize)


@dataclass(frozen=True, eq=False)
class PanelSums(Rule):
    """Output chunk ``(*i, g)`` sums the products of group ``g`` of the summed labels' chunks."""

    label: ClassVar[str] = "contract_panels"

    sources: tuple[Grid, ...]
    labels: tuple[Labels, ...]
    out: Labels
    summed: Labels
    width: int

    @cached_property
    def _steps(self) -> list[Index]:
        counts = {
            label: count
            for grid, labels in zip(self.sources, self.labels, strict=True)
            for label, count in zip(labels, grid.numblocks, strict=True)
        }
        return list(itertools.product(*(range(counts[label]) for label in self.summed)))

    def cell(self, index: Index) -> Call:
        start = index[-1] * self.width
        places = [(*index[:-1], *step) for step in self._steps[start : start + self.width]]
        order = (*self.out, *self.summed)
        panels = []
        for grid, labels in zip(self.sources, self.labels, strict=True):
            axes = [order.index(label) for label in labels]
            panels.append([Ref(grid, tuple([at[axis] for axis in axes])) for at in places])
        return Call(contract_panels, tuple(panels), {"labels": self.labels, "out": self.out})


@dataclass(frozen=True, eq=False)
class SymmetricBlocks(Rule):
    """A grid that equals itself with two axes exchanged: half of its blocks are views of others."""

    source: Grid
    axes: tuple[int, ...]

    def cell(self, index: Index) -> Call:
        first, second = self.axes
        if index[first] <= index[second]:
            return Call(same, (Ref(self.source, index),))
        mirror = list(index)
        mirror[first], mirror[second] = index[second], index[first]
        axes = {"first": first, "second": second}
        return Call(swap_axes, (Ref(self.source, tuple(mirror)),), axes)


@kernel(view=True)
def swap_axes(block: Any, first: int, second: int) -> Any:
    """Return a view of a block with two axes exchanged."""
    return np.swapaxes(block, first, second)


@kernel(scratch=2.0, piecewise=True)
def contract_panels(*panels: list[Any], labels: tuple[Labels, ...], out: Labels) -> Any:
    """Sum the products of blocks at equal positions of the lists."""
    total: Any = None
    for blocks in zip(*panels, strict=True):
        part = contract_blocks(*blocks, labels=labels, out=out)
        total = part if total is None else np.add(total, part, out=total)
    return total[..., np.newaxis]


@kernel(scratch=2.0)
def contract_blocks(*blocks: Any, labels: tuple[Labels, ...], out: Labels, extra: int = 0) -> Any:
    """Multiply and sum one block of each operand; ``extra`` axes of length one follow."""
    if any(map(is_sparse, blocks)):
        return multiply_blocks(*blocks, labels=labels, out=out)
    if len(blocks) == 1:
        result = np.einsum(blocks[0], labels[0], out)
    else:
        result = _pair(blocks[0], blocks[1], labels[0], labels[1], out)
    result = as_array(result)
    return result.reshape(result.shape + (1,) * extra) if extra else result


def _pair(a: Any, b: Any, la: Labels, lb: Labels, out: Labels) -> Any:
    a, la = _prepared(a, la, {*lb, *out})
    b, lb = _prepared(b, lb, {*la, *out})
    inner = [label for label in la if label in lb and label not in out]
    if not inner:
        return np.multiply(_spread(a, la, out), _spread(b, lb, out))
    batch = [label for label in la if label in lb and label in out]
    rows = [label for label in la if label not in lb]
    columns = [label for label in lb if label not in la]
    length = dict(zip((*la, *lb), (*a.shape, *b.shape), strict=True))
    left = a.transpose([la.index(label) for label in (*batch, *rows, *inner)])
    right = b.transpose([lb.index(label) for label in (*batch, *inner, *columns)])
    stack = tuple(length[label] for label in batch)
    depth = math.prod(length[label] for label in inner)
    # Reshapes of single axes are views: BLAS reads transposed matrices without a copy.
    left = left.reshape((*stack, math.prod(length[label] for label in rows), depth))
    right = right.reshape((*stack, depth, math.prod(length[label] for label in columns)))
    labels = (*batch, *rows, *columns)
    result = np.matmul(left, right).reshape(tuple(length[label] for label in labels))
    return result.transpose([labels.index(label) for label in out])


def _prepared(block: Any, labels: Labels, needed: set[int]) -> tuple[Any, Labels]:
    """Take diagonals of repeated labels and sum over labels that no other operand has."""
    names = tuple(label for label in dict.fromkeys(labels) if label in needed)
    if names == labels:
        return block, labels
    return np.einsum(block, labels, names), names


def _spread(block: Any, labels: Labels, out: Labels) -> Any:
    """Order the axes as in ``out``, with axes of length one where a label is missing."""
    order = [labels.index(label) for label in out if label in labels]
    return block.transpose(order)[
        tuple(slice(None) if label in labels else np.newaxis for label in out)
    ]


def contract(
    operands: Sequence[Node], labels: Sequence[Labels], out: Labels, exact: Labels = ()
) -> Node:
    """Return the contraction; axes of length one broadcast against others of the same label.

    They do not broadcast against others of the same operand, or if the label is in ``exact``.
    """
    fresh = itertools.count(max(itertools.chain(*labels), default=0) + 1)
    lengths: dict[int, set[Size]] = {}
    narrow: list[set[int]] = []
    for node, names in zip(operands, labels, strict=True):
        _check_alike(names, node.shape)
        for size, label in zip(node.shape, names, strict=True):
            lengths.setdefault(label, set()).add(size)
        wide = {label for size, label in zip(node.shape, names, strict=True) if size != 1}
        narrow.append(set(names) - wide - set(exact))
    for sizes in lengths.values():
        several = {size for size in sizes if size != 1 and not isinstance(size, Unknown)}
        if len(several) > 1:
            shapes = " ".join(shape_text(node.shape) for node in operands)
            raise ValueError(f"operands could not be broadcast together with shapes {shapes}")
    relabeled = tuple(
        tuple(next(fresh) if label in own and lengths[label] != {1} else label for label in names)
        for own, names in zip(narrow, labels, strict=True)
    )
    if not multiplies(relabeled, out):
        operands = [as_node(node) for node in operands]
    pairs = [_before_transpose(*pair) for pair in zip(operands, relabeled, strict=True)]
    nodes, subscripts = zip(*pairs, strict=True)
    return Contraction(nodes, subscripts, out, exact)


def _before_transpose(node: Node, labels: Labels) -> tuple[Node, Labels]:
    """Use the axes before a transpose, so that a product with itself is recognised."""
    if not isinstance(node, View) or sorted(map(str, node.axes)) != sorted(
        map(str, range(len(node.a.chunks)))
    ):
        return node, labels
    names = dict(zip(node.axes, labels, strict=True))
    return node.a, tuple(names[axis] for axis in range(len(labels)))


def conjugated(node: Node) -> Node:
    """Return the complex conjugate; real nodes are unchanged."""
    return Elementwise(np.conjugate, (node,)) if node.meta.dtype.kind == "c" else node
