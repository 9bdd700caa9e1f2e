"""Programs of tensors and frames, each with its right value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt

#: Runs a program in a session with a seed; returns its value and the right one.
Program = Callable[[Any, int], tuple[Any, Any]]


def sorting(session: Any, seed: int) -> tuple[Any, Any]:
    """Return a sort of many chunks."""
    values = np.random.default_rng(seed).integers(0, 2**40, 200_000)
    job = mt.sort(mt.array(values, chunk_size=5_000) * 2)
    return value(job, session), np.sort(values * 2)


def decomposing(session: Any, seed: int) -> tuple[Any, Any]:
    """Return the singular values of a tall matrix."""
    values = np.random.default_rng(seed).random((8_000, 20))
    found = mt.linalg.svd(mt.array(values, chunk_size=(250, 20)))
    return value(found[1], session), np.linalg.svd(values, compute_uv=False)


def shuffling(session: Any, seed: int) -> tuple[Any, Any]:
    """Return a sort of a frame by its values."""
    values = np.random.default_rng(seed).permutation(20_000)
    frame = pd.DataFrame({"key": values % 97, "value": values})
    found = md.DataFrame(frame, chunk_size=1_000).sort_values("value")
    return value(found["value"], session), np.arange(20_000)


def transposing(session: Any, seed: int) -> tuple[Any, Any]:
    """Return sums over chunks of 8 MiB, of which each needs a part of all others.

    They are a result of their own before: it is shared between processes, and spilled.
    """
    rows, columns, step = 6144, 4096, 256
    first = mt.arange(rows * columns, chunk_size=step * columns).reshape(rows, columns)
    held = (first % (seed % 1000 + 7)).rechunk((step, columns))
    held.execute(session=session)
    sums = (held.T * 3).rechunk((step, rows)).sum(axis=0)
    right = np.arange(rows * columns).reshape(rows, columns) % (seed % 1000 + 7)
    return value(sums, session), right.sum(axis=1) * 3


def batching(session: Any, seed: int) -> tuple[Any, Any]:
    """Return results of more tasks than a batch, whose inputs are forgotten, and their sums.

    The sums are another job, which reads those results.
    """
    count, least = 2_500, seed % 97
    with marsdask.option_context({"coalesce": False}):
        held = mt.arange(2 * count, chunk_size=2) * 3 + least
        held.execute(session=session)
        total = value(held.sum(), session)
        found = np.asarray(held.fetch(session=session))
    right = np.arange(2 * count) * 3 + least
    return np.append(found, total), np.append(right, right.sum())


def value(job: Any, session: Any) -> Any:
    """Execute a program and fetch its value."""
    return np.asarray(job.execute(session=session).fetch(session=session))


PROGRAMS: tuple[Program, ...] = (sorting, decomposing, shuffling, transposing, batching)
