"""What a task takes is what was projected: kernels of every family under tracemalloc."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.linalg  # noqa: F401  what kernels import when they first run is none of their memory
from dask.task_spec import Task

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.config import option_context
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import ChunkInfo, Done, Stage, describe
from marsdask.tensor.linalg import blocked_lu
from tests.core.toys import order

MIB = 2**20

#: Tasks that hold less than this are told by their overheads.
LARGE = 8 * MIB

#: What the interpreter, small objects and alignment may add to a projection.
SLACK = 1.02
SMALL = 64 * 2**10

ROWS = 2**20
RANDOM = np.random.default_rng(0)
VALUES = RANDOM.random(2 * ROWS)
PLACES = RANDOM.permutation(ROWS)
POSITIVE = VALUES[: 2**21].reshape(2048, 1024) @ VALUES[: 2**21].reshape(2048, 1024).T
POSITIVE += 2048 * np.eye(2048)
TABLE = pd.DataFrame(
    {
        "few": RANDOM.integers(0, 1000, ROWS),
        "each": RANDOM.permutation(ROWS),
        "x": RANDOM.random(ROWS),
    }
)
OTHER = pd.DataFrame({"each": RANDOM.permutation(ROWS), "y": RANDOM.random(ROWS)})


class Measured(NamedTuple):
    """One task: what it held, what it was expected to take, what it took."""

    key: Any
    inputs: int
    projected: int
    taken: int


def vector() -> Any:
    """Return a vector in two chunks of 8 MiB."""
    return mt.tensor(VALUES, chunk_size=ROWS)


def matrix() -> Any:
    """Return a matrix in two chunks of 8 MiB, one below the other."""
    return mt.tensor(VALUES.reshape(2048, 1024), chunk_size=1024)


def tall() -> Any:
    """Return a matrix of few columns."""
    return mt.tensor(VALUES.reshape(-1, 16), chunk_size=(ROWS // 16, 16))


def dependent() -> Any:
    """Return a matrix whose columns are nearly dependent."""
    array = VALUES.reshape(-1, 16).copy()
    array[:, 3] = array[:, 2] * (1 + 1e-12)
    return mt.tensor(array, chunk_size=(ROWS // 16, 16))


def positive() -> Any:
    """Return a positive definite matrix, which is factored in panels of 16 MiB."""
    return mt.tensor(POSITIVE, chunk_size=1024)


def assigned(key: Any, value: Any) -> Any:
    """Return a vector with a part assigned to."""
    x = vector()
    x[key] = value
    return x


def changed(key: Any, value: Any) -> Any:
    """Return a vector to whose elements something was added."""
    x = vector()
    np.add.at(x, key, value)
    return x


def frame() -> Any:
    """Return a frame in two chunks of 12 MiB."""
    return md.from_pandas(TABLE, chunk_size=ROWS // 2)


def other() -> Any:
    """Return the frame's partner for merges."""
    return md.from_pandas(OTHER, chunk_size=ROWS // 2)


CASES: dict[str, Callable[[], Any]] = {
    "elementwise": lambda: mt.sin(vector()) * 2 + vector() ** 2,
    "one ufunc": lambda: mt.exp(vector()),
    "with a constant": lambda: vector() + 1,
    "cast": lambda: vector().astype("f4"),
    "where": lambda: mt.where(vector() > 0.5, vector(), -vector()),
    "isclose": lambda: mt.isclose(vector(), vector()[::-1]),
    "broadcast": lambda: matrix() + vector()[:1024],
    "sum": lambda: mt.sum(matrix()),
    "sum of rows": lambda: mt.sum(matrix(), axis=1),
    "sum of columns": lambda: mt.sum(matrix(), axis=0),
    "mean": lambda: mt.mean(matrix(), axis=0),
    "var": lambda: mt.var(matrix()),
    "var of rows": lambda: mt.var(matrix(), axis=1),
    "var of columns": lambda: mt.var(matrix(), axis=0),
    "several reductions": lambda: mt.mean(matrix(), axis=0) + mt.max(matrix()),
    "max": lambda: mt.max(matrix(), axis=0),
    "nansum": lambda: mt.nansum(matrix(), axis=1),
    "nanmean": lambda: mt.nanmean(matrix()),
    "argmax": lambda: mt.argmax(matrix()),
    "argmax of columns": lambda: mt.argmax(matrix(), axis=0),
    "nanargmin": lambda: mt.nanargmin(matrix(), axis=0),
    "median": lambda: mt.median(matrix()),
    "median of columns": lambda: mt.median(matrix(), axis=0),
    "percentile": lambda: mt.percentile(vector(), [1, 50, 99]),
    "cumsum": lambda: mt.cumsum(vector()),
    "cumsum of columns": lambda: mt.cumsum(matrix(), axis=0),
    "mean of cumsum": lambda: mt.cumsum(matrix(), axis=0).mean(),
    "chain on cumsum": lambda: mt.cumsum(matrix(), axis=1) * 2 + 1,
    "sum of positions": lambda: matrix()[PLACES[:3000] % 2048].sum(axis=0),
    "sum of columns' positions": lambda: matrix()[:, PLACES[:4000] % 1024].sum(axis=0),
    "nancumsum": lambda: mt.nancumsum(vector()),
    "sort": lambda: mt.sort(vector()),
    "sort of columns": lambda: mt.sort(matrix(), axis=0),
    "argsort": lambda: mt.argsort(vector()),
    "argsort of columns": lambda: mt.argsort(matrix(), axis=0),
    "partition": lambda: mt.partition(vector(), ROWS),
    "topk": lambda: mt.topk(vector(), 10),
    "topk of many": lambda: mt.topk(vector(), ROWS // 2),
    "argtopk": lambda: mt.argtopk(vector(), 10),
    "unique": lambda: mt.unique(vector()),
    "unique of few": lambda: mt.unique((vector() * 1000).astype(int)),
    "isin": lambda: mt.isin((vector() * 1000).astype(int), [1, 2, 3]),
    "matmul": lambda: matrix() @ matrix().T,
    "inner": lambda: mt.inner(matrix(), matrix()),
    "dot": lambda: mt.dot(vector(), vector()),
    "einsum": lambda: mt.einsum("ij,ik->jk", matrix(), matrix()),
    "tensordot": lambda: mt.tensordot(matrix(), matrix(), axes=([0, 1], [0, 1])),
    "outer": lambda: mt.outer(vector()[:1200], vector()[:1200]),
    "qr": lambda: mt.linalg.qr(tall())[0],
    "qr of dependent columns": lambda: mt.linalg.qr(dependent())[0],
    "svd": lambda: mt.linalg.svd(tall())[0],
    "lu": lambda: mt.linalg.lu(positive())[1],
    "solve": lambda: mt.linalg.solve(positive(), positive()),
    "cholesky": lambda: mt.linalg.cholesky(positive()),
    "approximate median": lambda: mt.quantile(vector(), 0.5, internal_method="tdigest"),
    "svd of dependent columns": lambda: mt.linalg.svd(dependent())[0],
    "inv": lambda: mt.linalg.inv(matrix()[:1024]),
    "fft": lambda: mt.fft.fft(matrix(), axis=1),
    "rfft": lambda: mt.fft.rfft(matrix(), axis=1),
    "fft2": lambda: mt.fft.fft2(matrix()),
    "mask": lambda: vector()[vector() > 0.1],
    "mask of rows": lambda: matrix()[mt.sum(matrix(), axis=1) > 400],
    "positions": lambda: vector()[PLACES],
    "lazy positions": lambda: vector()[mt.argsort(vector())],
    "rows": lambda: matrix()[RANDOM.permutation(2048)],
    "pairs of positions": lambda: matrix()[PLACES % 2048, PLACES % 1024],
    "slice": lambda: vector()[10:-10:2] + 1,
    "nonzero": lambda: mt.nonzero(vector() > 0.2)[0],
    "argwhere": lambda: mt.argwhere(matrix() > 0.2),
    "rechunk": lambda: matrix().rechunk((2048, 1024)),
    "merging rechunk": lambda: vector().rechunk(2 * ROWS),
    "concatenate": lambda: mt.concatenate([matrix(), matrix() * 2]).rechunk(2048),
    "stack": lambda: mt.stack([vector(), vector() + 1]),
    "reshape": lambda: matrix().reshape(-1) + 1,
    "transpose": lambda: matrix().T + 1,
    "repeat": lambda: mt.repeat(vector(), 2),
    "pad": lambda: mt.pad(matrix(), 10),
    "random": lambda: mt.random.RandomState(0).rand(ROWS, chunk_size=ROWS),
    "random normal": lambda: mt.random.RandomState(0).randn(1100, 1100, chunk_size=1100),
    "random integers": lambda: mt.random.RandomState(0).randint(0, 9, ROWS, chunk_size=ROWS),
    "permutation": lambda: mt.random.RandomState(0).permutation(vector()),
    "arange": lambda: mt.arange(ROWS, chunk_size=ROWS),
    "linspace": lambda: mt.linspace(0, 1, ROWS, chunk_size=ROWS),
    "full": lambda: mt.full(ROWS, 3.0, chunk_size=ROWS),
    "tril": lambda: mt.tril(matrix()),
    "setitem of a slice": lambda: assigned(slice(0, ROWS + 5), 0),
    "setitem of a mask": lambda: assigned(vector() > 0.5, 0),
    "setitem of positions": lambda: assigned(2 * PLACES[:1000], 0),
    "setitem of many positions": lambda: assigned(PLACES, vector()[:ROWS]),
    "changed at points": lambda: changed(PLACES[:1000], 1.0),
    "runs": lambda: np.add.reduceat(vector(), np.arange(0, 2 * ROWS, 1000)),
    "masked": lambda: mt.sqrt(vector(), where=vector() > 0.5),
    "frame filter": lambda: frame()[frame()["x"] > 0.3],
    "frame arithmetic": lambda: frame()["x"] * 2 + frame()["few"],
    "frame of frames": lambda: frame() + frame(),
    "frame sum": lambda: frame().sum(),
    "frame var": lambda: frame().var(),
    "frame columns": lambda: frame()[["x", "few"]],
    "group by few": lambda: frame().groupby("few").agg({"x": "sum"}),
    "group by many": lambda: frame().groupby("each").agg({"x": "sum", "few": "mean"}),
    "merge": lambda: frame().merge(other(), on="each"),
    "left merge": lambda: frame().merge(other(), on="each", how="left"),
    "sort values": lambda: frame().sort_values("x"),
    "sort by two": lambda: frame().sort_values(["few", "x"]),
    "drop duplicates": lambda: frame().drop_duplicates("few"),
    "to tensor": lambda: frame().to_tensor(),
    "reset index": lambda: frame().reset_index(),
}

#: How little of its projection a task may take, where that depends on what nobody knows before.
LOW = {
    "median of columns": 0.3,  # the lanes of a median are copied one at a time or all together
    "argtopk": 0.3,  # a bound keeps nearly all elements out, if their order allows it
    "reshape": 0.3,  # a view, if the chunk is contiguous
    "dot": 0.3,
    "tensordot": 0.3,
    "einsum": 0.3,  # operands are copied, if BLAS cannot take them as they are
    "inv": 0.2,  # LAPACK takes memory behind tracemalloc's back
    "fft": 0.3,  # so does the transform
    "rfft": 0.3,
    "group by few": 0.2,  # there may be as many groups as rows
    "drop duplicates": 0.1,
}


def embedded(value: Any) -> int:
    """Return the bytes of arrays among a task's arguments, which lie in memory anyway."""
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series):
        return describe(value).nbytes
    parts = value.args if isinstance(value, Task) else value
    return sum(map(embedded, parts)) if isinstance(parts, tuple) else 0


def measure(stage: Stage, held: dict[Any, Any]) -> Iterator[Measured]:
    """Run a stage's tasks in order; what nobody needs any more is dropped."""
    users: dict[Any, int] = dict.fromkeys(stage.keys, 1)
    users.update(dict.fromkeys(held, 1))
    for task in stage.graph.values():
        for name in task.dependencies:
            users[name] = users.get(name, 0) + 1
    for key in reversed(order(stage.graph)):
        task = stage.graph[key]
        values = {name: held[name] for name in task.dependencies}
        inputs = sum(describe(value).nbytes for value in values.values())
        inputs += sum(map(embedded, getattr(task, "args", ())))
        tracemalloc.start()
        try:
            held[key] = task(values)
            taken = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        values.clear()
        size = inputs + describe(held[key]).nbytes
        for name in task.dependencies:
            users[name] -= 1
            if not users[name]:
                del held[name]
        hint = stage.hints.get(key)
        if size >= LARGE and hint is not None and hint.peak is not None:
            yield Measured(key, inputs, hint.peak, taken)


def run(root: Any) -> list[Measured]:
    """Run an expression on one thread and return what its large tasks took."""
    compilation = Compilation([root.node], plan=Plan(coalesce=False))
    held: dict[Any, Any] = {}
    infos: dict[Any, ChunkInfo] = {}
    found: list[Measured] = []
    while not isinstance(stage := compilation.advance(infos), Done):
        found.extend(measure(stage, held))
        infos = {key: describe(held[key]) for key in stage.keys}
    return found


@pytest.mark.parametrize("name", CASES)
def test_tasks_take_what_was_projected(name: str, monkeypatch: pytest.MonkeyPatch):
    """No task takes more than its projection, and none claims more than twice what it needs."""
    # Panels of a matrix small enough to test are as large as those of a large one.
    monkeypatch.setattr(blocked_lu, "WIDTH", 1024)
    with option_context({"coalesce": False}):
        tasks = run(CASES[name]())
    assert tasks, "no task is large enough to tell"
    for task in tasks:
        assert task.taken <= task.projected * SLACK + SMALL, task
        total = task.inputs + task.projected
        low = LOW.get(name, 0.5)
        assert task.inputs + task.taken >= math.floor(total * low) - SMALL, task
