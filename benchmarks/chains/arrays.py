"""Families of operations on arrays: what is elementwise, reduced, computed by algebra and drawn."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import marsdask.tensor as mt
from marsdask.learn.preprocessing import StandardScaler

from .family import Family, Vocabulary

square, vector, tall, identity = (
    Vocabulary.square,
    Vocabulary.vector,
    Vocabulary.tall,
    Vocabulary.identity,
)


def wide(v: Vocabulary) -> Any:
    """Return an array of which no chunks are merged."""
    return v.ones((4000, 4000), 1000)


def added(v: Vocabulary, x: Any, i: int) -> Any:
    """Add in place."""
    x += i
    return x


@cache
def scaler() -> StandardScaler:
    """Return a scaler of 40 columns."""
    return StandardScaler().fit(mt.random.RandomState(0).rand(40, 40, chunk_size=10))


ELEMENTWISE = {
    "x + i": Family(square, lambda v, x, i: x + i),
    "x + i, 16 chunks": Family(wide, lambda v, x, i: x + i),
    "x * x + x": Family(square, lambda v, x, i: x * x + x),
    "where": Family(square, lambda v, x, i: v.array.where(x > i, x, i)),
    "clip": Family(square, lambda v, x, i: v.array.clip(x, 0, i + 1)),
    "astype": Family(square, lambda v, x, i: x.astype("f4" if i % 2 else "f8")),
    "modf": Family(square, lambda v, x, i: v.array.modf(x)[0]),
    "out=": Family(square, lambda v, x, i: v.array.add(x, i, out=x)),
    "where=": Family(square, lambda v, x, i: v.array.add(x, i, where=x > i, out=x)),
    "x += i": Family(square, added),
    "masked": Family(square, lambda v, x, i: v.array.ma.filled(v.array.ma.masked_equal(x, i), 0)),
    "special": Family(square, lambda v, x, i: mt.special.erf(x)),
    "scaler": Family(square, lambda v, x, i: scaler().transform(x)),
    "diamonds": Family(square, lambda v, x, i: x * x + v.array.where(x > i, x, i)),
    "random": Family(square, lambda v, x, i: x + v.uniform(i)),
    "random normal(x)": Family(
        square, lambda v, x, i: v.array.random.RandomState(i).normal(x, 1.0)
    ),
}

REDUCTIONS = {
    "sum": Family(square, lambda v, x, i: x - x.sum()),
    "mean(axis=0)": Family(square, lambda v, x, i: x - x.mean(axis=0)),
    "mean(axis=0), 16 chunks": Family(wide, lambda v, x, i: x - x.mean(axis=0)),
    "var": Family(square, lambda v, x, i: x - x.var(axis=0)),
    "nansum": Family(square, lambda v, x, i: x - v.array.nansum(x, axis=1)),
    "nanmean": Family(square, lambda v, x, i: x - v.array.nanmean(x)),
    "nanstd": Family(square, lambda v, x, i: x - v.array.nanstd(x, axis=0)),
    "max": Family(square, lambda v, x, i: x - x.max(axis=0)),
    "any": Family(square, lambda v, x, i: x + (x > i).any()),
    "argmax": Family(vector, lambda v, x, i: x + x.argmax()),
    "median": Family(vector, lambda v, x, i: x - v.array.median(x, axis=0)),
    "percentile": Family(vector, lambda v, x, i: x - v.array.percentile(x, 50)),
    "histogram": Family(
        vector, lambda v, x, i: x + v.array.histogram(x, bins=4, range=(0, 4))[0][0]
    ),
    "bincount": Family(vector, lambda v, x, i: x + v.array.bincount(x.astype(int), minlength=4)[0]),
    "cumsum": Family(vector, lambda v, x, i: x.cumsum(axis=0)),
    "cumprod": Family(vector, lambda v, x, i: v.array.cumprod(x, axis=0)),
    "cov": Family(lambda v: v.ones((4, 40), 10), lambda v, x, i: x + v.array.cov(x)[0, 0]),
    "reduction": Family(
        square,
        lambda v, x, i: x + v.array.reduction(x, np.sum, np.sum, dtype=float),
    ),
}

LINALG = {
    "dot": Family(square, lambda v, x, i: x @ x),
    "einsum": Family(square, lambda v, x, i: v.array.einsum("ij,jk->ik", x, x)),
    "tensordot": Family(square, lambda v, x, i: v.array.tensordot(x, x, 1)),
    "norm": Family(square, lambda v, x, i: x / v.array.linalg.norm(x)),
    "qr": Family(tall, lambda v, x, i: v.array.linalg.qr(x)[0]),
    "svd": Family(tall, lambda v, x, i: v.array.linalg.svd(x)[0]),
    "cholesky": Family(identity, lambda v, x, i: v.array.linalg.cholesky(x)),
    "solve": Family(identity, lambda v, x, i: v.array.linalg.solve(x, x)),
    "inv": Family(identity, lambda v, x, i: v.array.linalg.inv(x)),
    "fft": Family(vector, lambda v, x, i: v.array.fft.fft(x).real),
    "cdist": Family(square, lambda v, x, i: mt.spatial.distance.cdist(x, x)),
}

ARRAYS = {**ELEMENTWISE, **REDUCTIONS, **LINALG}
