"""Align grids: one way to cut an axis that several grids cut in different ways."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from ..sizes import Chunks, Sizes, Unknown, known, numbers, shape_text, total, upper
from .grid import Grid, Look
from .lengths import resolved


def common_sizes(axis: Sequence[Sizes]) -> Sizes:
    """Return one way to cut an axis that several inputs cut in different ways.

    Cuts whose largest chunk is less than twice the smallest are equally fine. Of these, this is the
    one with the fewest chunks; the others are read across their borders. The union of all borders
    would give shifted slices of one array twice the chunks, half of them tiny. Axes of length one
    broadcast. Raise ``ValueError`` if the lengths differ. If one length is unknown, the known one
    is used.
    """
    distinct = list(dict.fromkeys(axis))
    if len(distinct) > 1:
        distinct = [sizes for sizes in distinct if not is_one(sizes)] or [(1,)]
    if len(distinct) == 1:
        return distinct[0]
    unknown_axes = [sizes for sizes in distinct if not known(sizes)]
    if unknown_axes:
        distinct = [sizes for sizes in distinct if known(sizes)]
        if not distinct:
            return _one_unknown(unknown_axes)
        if len(distinct) == 1:
            return distinct[0]
    if len(set(map(total, distinct))) > 1:
        raise _unlike(distinct)
    least = min(max(numbers(sizes)) for sizes in distinct)
    fine = [sizes for sizes in distinct if max(numbers(sizes)) < 2 * max(1, least)]
    return min(fine, key=lambda sizes: (len(sizes), max(numbers(sizes))))


def is_one(sizes: Sizes) -> bool:
    """Tell whether an axis has length one and so broadcasts, whatever its chunks."""
    return sizes == (1,) or (len(sizes) > 1 and known(sizes) and total(sizes) == 1)


def _one_unknown(axis: Sequence[Sizes]) -> Sizes:
    """Return the length of a result whose operands' unknown lengths may differ."""
    lengths = [total(sizes) for sizes in axis]
    names = ",".join(f"{size.name}@{size.index}" for size in lengths if isinstance(size, Unknown))
    bounds = [upper(size) for size in lengths]
    upper_bound = None if None in bounds else max(b for b in bounds if b is not None)
    return (Unknown(f"broadcast({names})", -1, upper_bound),)


def _unlike(distinct: Sequence[Sizes]) -> ValueError:
    lengths = " and ".join(
        "?" if any(isinstance(size, Unknown) for size in sizes) else str(sum(sizes))  # type: ignore[arg-type]
        for sizes in distinct
    )
    return ValueError(f"operands could not be broadcast together with lengths {lengths}")


def broadcast_chunks(*grids: Chunks) -> Chunks:
    """Return the chunks of an elementwise result."""
    ndim = max(map(len, grids), default=0)
    full_grids = [((1,),) * (ndim - len(chunks)) + chunks for chunks in grids]
    try:
        return tuple(common_sizes(axis) for axis in zip(*full_grids, strict=True))
    except ValueError:
        shapes = " ".join(shape_text(map(total, chunks)) for chunks in grids)
        raise ValueError(f"operands could not be broadcast together with shapes {shapes}") from None


def aligned(
    grids: Sequence[Grid], recut: Callable[[Grid, Chunks], Grid]
) -> Generator[Look, Any, tuple[tuple[Grid, ...], Chunks]]:
    """Rechunk elementwise operands to matching chunks; return them and the result's chunks.

    Unknown sizes that differ are computed first.
    """
    ndim = max((grid.ndim for grid in grids), default=0)
    if not _agree(grids, ndim):
        grids = yield from resolved(*grids)
    target = broadcast_chunks(*(grid.chunks for grid in grids))
    cut_grids = []
    for grid in grids:
        own = target[ndim - grid.ndim :]
        targets = tuple(
            old if old == new else (1,) if is_one(old) else new
            for old, new in zip(grid.chunks, own, strict=True)
        )
        cut_grids.append(recut(grid, targets))
    return tuple(cut_grids), target


def aligned_axes(
    grids: Sequence[Grid], skip: int, recut: Callable[[Grid, Chunks], Grid]
) -> Generator[Look, Any, tuple[Grid, ...]]:
    """Rechunk arrays of one shape alike along all axes but ``skip``.

    Raise ``ValueError`` if unknown lengths turn out to differ.
    """
    axes = [axis for axis in range(grids[0].ndim) if axis != skip]
    mixed = [axis for axis in axes if len({grid.chunks[axis] for grid in grids}) > 1]
    if not all(known(grid.chunks[axis]) for grid in grids for axis in mixed):
        grids = yield from resolved(*grids)
    target = {}
    for axis in mixed:
        cuts = [grid.chunks[axis] for grid in grids]
        if len({sum(numbers(sizes)) for sizes in cuts}) > 1:
            raise ValueError(f"arrays to join have different lengths along axis {axis}")
        target[axis] = common_sizes(cuts)
    return tuple(
        recut(grid, tuple(target.get(axis, sizes) for axis, sizes in enumerate(grid.chunks)))
        for grid in grids
    )


def _agree(grids: Sequence[Grid], ndim: int) -> bool:
    """Tell whether the operands align without computing unknown sizes."""
    for axis in range(-ndim, 0):
        sizes = {grid.chunks[axis] for grid in grids if grid.ndim >= -axis} - {(1,)}
        if len(sizes) > 1 and any(isinstance(size, Unknown) for item in sizes for size in item):
            return False
    return True
