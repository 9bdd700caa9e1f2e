"""Families of operations on arrays that pick, order or move elements, or call block functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .family import Family, Vocabulary

square, vector = Vocabulary.square, Vocabulary.vector


def masked(v: Vocabulary) -> Any:
    """Return a vector of chunks of unknown length."""
    x = v.vector()
    return x[x > 0]


def row_set(v: Vocabulary, x: Any, i: int) -> Any:
    """Set a row."""
    x[i % 40] = i
    return x


def slice_set(v: Vocabulary, x: Any, i: int) -> Any:
    """Set a slice with a step."""
    x[i % 7 :: 3, 1:] = i
    return x


def mask_set(v: Vocabulary, x: Any, i: int) -> Any:
    """Set what a mask chooses."""
    x[x > i] = i
    return x


def fancy_set(v: Vocabulary, x: Any, i: int) -> Any:
    """Set rows by their numbers."""
    x[np.array([1, 3, i % 40])] = i
    return x


def points_set(v: Vocabulary, x: Any, i: int) -> Any:
    """Set elements by two lists of numbers."""
    x[np.array([1, 3, i % 40]), np.array([0, 2, 4])] = i
    return x


def repeated(v: Vocabulary, x: Any, i: int) -> Any:
    """Repeat half of the rows."""
    return v.array.repeat(x[:20], 2, axis=0)


INDEXING = {
    "x[::-1]": Family(square, lambda v, x, i: x[::-1]),
    "x[1:], pad": Family(vector, lambda v, x, i: v.array.pad(x[1:], (1, 0))),
    "x[i]": Family(square, lambda v, x, i: x + x[i % 40]),
    "x[None]": Family(vector, lambda v, x, i: x[None, :][0]),
    "take": Family(vector, lambda v, x, i: x[np.arange(64)[::-1]]),
    "take, lazy": Family(vector, lambda v, x, i: x[v.array.arange(64, **{v.chunks: 16})]),
    "x[rows, columns]": Family(square, lambda v, x, i: x[np.arange(40)[:, None], np.arange(40)]),
    "mask": Family(vector, lambda v, x, i: x[x > -i]),
    "x[i] =": Family(square, row_set),
    "x[::3, 1:] =": Family(square, slice_set),
    "x[mask] =": Family(square, mask_set),
    "x[rows] =": Family(square, fancy_set),
    "x[rows, columns] =": Family(square, points_set),
    "tril": Family(square, lambda v, x, i: v.array.tril(x)),
}

MANIPULATION = {
    "concatenate": Family(square, lambda v, x, i: v.array.concatenate([x[:20], x[20:]])),
    "concatenate, unknown lengths": Family(
        masked, lambda v, x, i: v.array.concatenate([x, x])[:64]
    ),
    "stack": Family(square, lambda v, x, i: v.array.stack([x, x])[0]),
    "repeat half": Family(square, repeated),
    "roll": Family(square, lambda v, x, i: v.array.roll(x, 1, axis=0)),
    "roll, unknown lengths": Family(masked, lambda v, x, i: v.array.roll(x, 1)),
    "tile": Family(vector, lambda v, x, i: v.array.tile(x, 2)[:64]),
    "repeat": Family(vector, lambda v, x, i: v.array.repeat(x, 2)[::2]),
    "insert, delete": Family(
        vector,
        lambda v, x, i: v.array.delete(v.array.insert(x, 3, 1.0, axis=0), 3, axis=0),
    ),
    "reshape": Family(square, lambda v, x, i: x.reshape(1600).reshape(40, 40)),
    "ravel": Family(square, lambda v, x, i: x.ravel().reshape(40, 40)),
    "x.T": Family(square, lambda v, x, i: x.T),
    "moveaxis": Family(square, lambda v, x, i: v.array.moveaxis(x, 0, 1)),
    "flip": Family(square, lambda v, x, i: v.array.flip(x, 0)),
    "broadcast_to": Family(vector, lambda v, x, i: v.array.broadcast_to(x, (4, 64))[0]),
    "rechunk": Family(square, lambda v, x, i: (x + i).rechunk(20 if i % 2 else 10)),
    "diff": Family(vector, lambda v, x, i: v.array.diff(x, prepend=0.0)),
    "gradient": Family(vector, lambda v, x, i: v.array.gradient(x)),
}

SORTING = {
    "sort": Family(vector, lambda v, x, i: v.array.sort(x)),
    "argsort": Family(vector, lambda v, x, i: v.array.argsort(x)),
    "topk": Family(vector, lambda v, x, i: x + v.array.topk(x, 3)[0]),
    "unique": Family(vector, lambda v, x, i: v.array.unique(x)),
    "searchsorted": Family(vector, lambda v, x, i: v.array.searchsorted(x, x)),
    "isin": Family(vector, lambda v, x, i: v.array.isin(x, x)),
}

BLOCKS = {
    "map_blocks": Family(square, lambda v, x, i: x.map_blocks(np.negative)),
    "blockwise": Family(
        square, lambda v, x, i: v.array.blockwise(np.negative, "ij", x, "ij", dtype=float)
    ),
    "map_overlap": Family(vector, lambda v, x, i: x.map_overlap(np.negative, depth=1)),
    "apply_gufunc": Family(square, lambda v, x, i: v.array.apply_gufunc(np.negative, "()->()", x)),
    "apply_along_axis": Family(square, lambda v, x, i: v.array.apply_along_axis(np.negative, 0, x)),
}

SHAPES = {**INDEXING, **MANIPULATION, **SORTING, **BLOCKS}
