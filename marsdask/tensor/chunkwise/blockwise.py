"""A user function of chunks whose axes are matched by labels, as in ``"ij,jk->ik"``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import wrap
from marsdask.core.grids.align import common_sizes, is_one
from marsdask.core.grids.blockwise import Axes, Blockwise
from marsdask.core.grids.grid import Call, Grid, Look, Ref, Rule
from marsdask.core.grids.lengths import resolved
from marsdask.core.machine.costs import Cost
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, Index, Sizes, Unknown, known

from ..manipulation.shape import whole
from ..operands import as_node
from ..typing import public
from .map_blocks import infer
from .rechunk import rechunk, recut
from .user_functions import UserFunction, delayed_keywords, delayed_value

Labels = tuple[Any, ...]


def sizes_by_label(cuts: Sequence[Chunks], labels: Sequence[Labels]) -> dict[Any, Sizes]:
    """Return common chunks for each label; axes of length one broadcast."""
    groups: dict[Any, list[Sizes]] = {}
    for chunks, own in zip(cuts, labels, strict=True):
        for sizes, label in zip(chunks, own, strict=True):
            groups.setdefault(label, []).append(sizes)
    return {label: common_sizes(axis) for label, axis in groups.items()}


def aligned_labels(
    grids: Sequence[Grid], labels: Sequence[Labels]
) -> Generator[Look, Any, tuple[tuple[Grid, ...], dict[Any, Sizes]]]:
    """Rechunk grids so that axes of one label match; unknown sizes that differ need a look."""
    groups: dict[Any, set[Sizes]] = {}
    for grid, own in zip(grids, labels, strict=True):
        for sizes, label in zip(grid.chunks, own, strict=True):
            groups.setdefault(label, set()).add(sizes)
    if any(len(cuts) > 1 and not all(map(known, cuts)) for cuts in groups.values()):
        grids = yield from resolved(*grids)
    target = sizes_by_label([grid.chunks for grid in grids], labels)
    result = []
    for grid, own in zip(grids, labels, strict=True):
        chunks = tuple(
            (1,) if is_one(sizes) else target[label]
            for sizes, label in zip(grid.chunks, own, strict=True)
        )
        result.append(recut(grid, chunks))
    return tuple(result), target


@dataclass(frozen=True)
class ChunkFunction(UserFunction):
    """Calls a user function, which must return a chunk."""

    def __call__(self, *given: Any, **kwargs: Any) -> Any:
        result = super().__call__(*given, **kwargs)
        if result is None:
            raise TypeError(f"{self.__name__} returned None; a function of blocks returns an array")
        return result


@dataclass(frozen=True)
class NestedLists:
    """Calls a user function, with several chunks of one input in nested lists."""

    func: UserFunction
    counts: tuple[Index, ...]
    """For each array how many chunks it gets along each axis that is not in the output."""

    @property
    def cost(self) -> Cost:
        """The cost of the function."""
        return self.func.cost

    @property
    def __name__(self) -> str:
        return self.func.__name__

    def __call__(self, *given: Any, **kwargs: Any) -> Any:
        arguments = [
            nest(item, counts) if counts else item
            for item, counts in zip(given, self.counts, strict=True)
        ]
        return self.func(*arguments, **kwargs)


def nest(blocks: Any, counts: Index) -> Any:
    """Return a flat list, its last axis fastest, as nested lists."""
    for count in counts[:0:-1]:
        blocks = [blocks[i : i + count] for i in range(0, len(blocks), count)]
    return blocks


@dataclass(frozen=True, eq=False)
class LabelledBlocks(Rule):
    """Each chunk from inputs' chunks with the same indices of labels; missing labels take lists."""

    func: UserFunction
    out: Labels
    sources: tuple[Grid, ...]
    labels: tuple[Labels, ...]
    kwargs: Mapping[str, Any] | None

    @property
    def label(self) -> str:
        return self.func.__name__.strip("<>_")

    def cell(self, index: Index) -> Call:
        place = dict(zip(self.out, index, strict=True))
        args: list[Any] = []
        counts: list[Index] = []
        for source, own in zip(self.sources, self.labels, strict=True):
            pairs = list(zip(source.numblocks, own, strict=True))
            axes = [
                range(count) if label not in place else [place[label] if count > 1 else 0]
                for count, label in pairs
            ]
            refs = [Ref(source, position) for position in itertools.product(*axes)]
            shape = tuple(count for count, label in pairs if label not in place)
            args.append(refs if shape else refs[0])
            counts.append(shape)
        return Call(NestedLists(self.func, tuple(counts)), tuple(args), self.kwargs or {})


@dataclass(frozen=True, eq=False)
class LabelledMap(Node):
    """A user function of chunks that are matched by labels."""

    values_tell: ClassVar[bool] = True

    pins_grid: ClassVar[bool] = True

    func: UserFunction
    out: Labels
    arrays: tuple[Node, ...]
    labels: tuple[Labels, ...]
    kwargs: Mapping[str, Any] | None
    concatenates: bool
    added: tuple[tuple[Any, Sizes], ...]
    adjusted: tuple[tuple[Any, Any], ...]
    aligns: bool
    out_meta: Any = field(repr=False)

    @property
    def label(self) -> str:
        return self.func.__name__.strip("<>_")

    @property
    def meta(self) -> Any:
        return self.out_meta

    @property
    def chunks(self) -> Chunks:
        return self._out_chunks(self._sizes([node.chunks for node in self.arrays]))

    def _sizes(self, cuts: Sequence[Chunks]) -> dict[Any, Sizes]:
        if self.aligns:
            return sizes_by_label(cuts, self.labels)
        result: dict[Any, Sizes] = {}
        for chunks, own in zip(cuts, self.labels, strict=True):
            for sizes, label in zip(chunks, own, strict=True):
                if label not in result or len(sizes) > len(result[label]):
                    result[label] = sizes
        return result

    def _out_chunks(self, sizes: Mapping[Any, Sizes]) -> Chunks:
        sizes = {**sizes, **dict(self.added)}
        adjusted = dict(self.adjusted)
        return tuple(
            self._adjusted(label, sizes[label], adjusted[label])
            if label in adjusted
            else sizes[label]
            for label in self.out
        )

    def _adjusted(self, label: Any, old: Sizes, how: Any) -> Sizes:
        if callable(how):
            new: list[Any] = [size if isinstance(size, Unknown) else how(size) for size in old]
        elif np.ndim(how) == 0:
            new = [how] * len(old)
        else:
            new = list(how)
        if len(new) != len(old):
            raise ValueError(
                f"adjust_chunks gives {len(new)} sizes for axis {label!r} of {len(old)} chunks"
            )
        lone = len(new) == 1
        fresh = [
            Unknown(f"{self.name}@{label}", -1 if lone else i)
            if isinstance(size, Unknown) or size != size  # noqa: PLR0124 - nan
            else int(size)
            for i, size in enumerate(new)
        ]
        return tuple(fresh)

    def tile(self, *inputs: Grid) -> Any:
        distinct = dict(zip(self.inputs, inputs, strict=True))
        grids: tuple[Grid, ...] = tuple(distinct[node] for node in self.arrays)
        if self.aligns:
            grids, sizes = yield from aligned_labels(grids, self.labels)
        else:
            sizes = self._sizes([grid.chunks for grid in grids])
        if self.concatenates:
            grids = yield from self._concatenated(grids)
        lists = not self.concatenates and not set().union(*self.labels) <= set(self.out)
        rule: Rule = LabelledBlocks(self.func, self.out, grids, self.labels, self.kwargs)
        if not lists:
            # Tasks that take one chunk of each input are fused as those of other operations.
            rule = Blockwise(
                self.func, grids, tuple(map(self._axes, grids, self.labels)), self.kwargs
            )
        return Grid(rule, self._out_chunks(sizes), self.meta)

    def _concatenated(self, grids: tuple[Grid, ...]) -> Generator[Look, Any, tuple[Grid, ...]]:
        """Join the chunks along labels that are not in the output."""
        inner = [
            [axis for axis, label in enumerate(own) if label not in self.out] for own in self.labels
        ]
        if any(
            grid.numblocks[axis] > 1 and not known(grid.chunks[axis])
            for grid, axes in zip(grids, inner, strict=True)
            for axis in axes
        ):
            grids = yield from resolved(*grids)
        return tuple(whole(grid, axes) for grid, axes in zip(grids, inner, strict=True))

    def _axes(self, grid: Grid, own: Labels) -> Axes:
        """Return the output's axis for each axis of an input."""
        return tuple(
            None if count == 1 else self.out.index(label)
            for count, label in zip(grid.numblocks, own, strict=True)
        )


@public
def blockwise(
    func: Callable[..., Any],
    out_ind: Any,
    *args: Any,
    name: str | None = None,
    token: str | None = None,
    dtype: Any = None,
    adjust_chunks: Mapping[Any, Any] | None = None,
    new_axes: Mapping[Any, Any] | None = None,
    align_arrays: bool = True,
    concatenate: bool | None = None,
    meta: Any = None,
    **kwargs: Any,
) -> Node:
    """Call ``func`` with chunks whose axes are matched by labels. See dask.array.blockwise.

    ``args`` are tensors and their labels alternately; the labels of a constant are ``None``. What
    is delayed is computed first. For a
    label that is not in the output, the function gets all chunks along it: a list, or one array if
    ``concatenate``.

    Returns
    -------
    Tensor
        The results, side by side.
    """
    del name, token
    if len(args) % 2:
        raise ValueError("blockwise() takes tensors and their labels in turn")
    out, added = tuple(out_ind), {k: _as_sizes(v) for k, v in (new_axes or {}).items()}
    func, kwargs, late = delayed_keywords(func, kwargs)
    values = (*map(delayed_value, args[::2]), *late)
    indices = tuple(
        () if labels is None and isinstance(value, Node) else labels
        for value, labels in itertools.zip_longest(values, args[1::2])
    )
    places = tuple(i for i, labels in enumerate(indices) if labels is not None)
    arrays = tuple(as_node(values[i]) for i in places)
    labels = tuple(tuple(indices[i]) for i in places)
    _check_labels(out, arrays, labels, added)
    constants = tuple(None if i in places else value for i, value in enumerate(values))
    call = ChunkFunction(func, constants, places)
    if meta is None and dtype is None:
        flags = [[label not in out for label in own] for own in labels]
        meta = infer(call, arrays, kwargs, "blockwise", nest=flags if not concatenate else None)
    kind = np.dtype(dtype) if dtype is not None else np.asarray(meta).dtype
    axes = (tuple(added.items()), tuple((adjust_chunks or {}).items()), align_arrays)
    sample = np.empty((0,) * len(out), kind)
    inputs = (call, out, arrays, labels, kwargs or None, bool(concatenate))
    return LabelledMap(*inputs, *axes, sample)


def _check_labels(
    out: Labels, arrays: Sequence[Node], labels: Sequence[Labels], added: Mapping[Any, Any]
) -> None:
    if len(set(out)) != len(out):
        raise ValueError(f"Repeated elements not allowed in output index {out}")
    for node, own in zip(arrays, labels, strict=True):
        if len(node.chunks) != len(own):
            raise ValueError(f"labels {own} do not match a tensor of {len(node.chunks)} axes")
    extras = set(out) - {label for own in labels for label in own} - set(added)
    if extras:
        raise ValueError(f"Unknown dimension: labels {extras} of the output are of no input")


def _as_sizes(value: Any) -> Sizes:
    return tuple(value) if isinstance(value, tuple | list) else (int(value),)


@public
def atop(*args: Any, **kwargs: Any) -> Node:
    """Call :func:`blockwise`; this is its name in older versions of Dask.

    See dask.array.blockwise.

    Returns
    -------
    Tensor
        The results, side by side.
    """
    return blockwise.node(*args, **kwargs)


def unify_chunks(*args: Any, warn: bool = True) -> tuple[dict[Any, Any], list[Any]]:
    """Rechunk tensors so that axes of one label match. See dask.array.core.unify_chunks.

    ``args`` are tensors and their labels alternately. Return the chunks of each label and the
    tensors.
    """
    del warn
    tensors = [None if x is None else wrap(as_node(x)) for x in args[::2]]
    labels = [None if own is None else tuple(own) for own in args[1::2]]
    pairs = [
        (x, own)
        for x, own in zip(tensors, labels, strict=True)
        if x is not None and own is not None
    ]
    target = sizes_by_label([x.node.chunks for x, _ in pairs], [own for _, own in pairs])
    arrays = []
    for value, x, own in zip(args[::2], tensors, labels, strict=True):
        if x is None or own is None:
            arrays.append(value)
            continue
        chunks = [
            None if is_one(sizes) or not known(target[label]) else target[label]
            for sizes, label in zip(x.node.chunks, own, strict=True)
        ]
        arrays.append(rechunk(x, tuple(chunks)) if chunks else x)
    return target, arrays
