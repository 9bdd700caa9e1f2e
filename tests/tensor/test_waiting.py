"""Functions of tensors whose lengths only running tells: what NumPy can do, works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.types import UnknownShapeError
from marsdask.tensor.waiting import Waiting, waits_for_lengths
from tests.core.recording import recording_session
from tests.strategies import assert_same

VALUES = np.random.default_rng(0).standard_normal(40)
MATRIX = np.random.default_rng(1).standard_normal((12, 5))
VECTOR, ROWS = VALUES[VALUES > 0], MATRIX[MATRIX[:, 0] > 0]
N, M = len(VECTOR), len(ROWS)

Call = Callable[[Any, Any], Any]


def unknown_vector() -> Any:
    lazy = mt.tensor(VALUES, chunk_size=7)
    return lazy[lazy > 0]


def unknown_rows() -> Any:
    lazy = mt.tensor(MATRIX, chunk_size=(4, 2))
    return lazy[lazy[:, 0] > 0]


def changed(a: Any, key: Any) -> Any:
    a = a.copy()
    a[key] = 7
    return a


def changed_flat(a: Any) -> Any:
    a = a.copy()
    a.flat[::2] = 7
    a.flat[-1:] = a[0]
    return a


OF_VECTORS: dict[str, Call] = {
    "slice": lambda a, p: a[5:9],
    "tail": lambda a, p: a[-3:],
    "steps": lambda a, p: a[::2],
    "element": lambda a, p: a[2],
    "last": lambda a, p: a[-1],
    "points": lambda a, p: a[[0, 3, -1]],
    "mask": lambda a, p: a[a > 0.5],
    "backwards": lambda a, p: a[::-1],
    "outer sum": lambda a, p: a[:, None] + a[None, :],
    "concatenate": lambda a, p: p.concatenate([a, a, np.ones(3)]),
    "stack": lambda a, p: p.stack([a, a]),
    "vstack": lambda a, p: p.vstack([a, a]),
    "dstack": lambda a, p: p.dstack([a, a]),
    "column_stack": lambda a, p: p.column_stack([a, a]),
    "append": lambda a, p: p.append(a, 3),
    "reshape": lambda a, p: a.reshape(1, -1),
    "reshape known": lambda a, p: a.reshape(N, 1),
    "dot": lambda a, p: p.dot(a, a),
    "matmul": lambda a, p: a @ a,
    "outer": lambda a, p: p.outer(a, a),
    "inner": lambda a, p: p.inner(a, a),
    "vdot": lambda a, p: p.vdot(a, a),
    "tensordot": lambda a, p: p.tensordot(a, a, 1),
    "einsum": lambda a, p: p.einsum("i,i->", a, a),
    "mean": lambda a, p: p.mean(a),
    "var": lambda a, p: p.var(a, ddof=1),
    "argmax": lambda a, p: p.argmax(a),
    "nanargmax": lambda a, p: p.nanargmax(a),
    "ptp": lambda a, p: p.ptp(a),
    "median": lambda a, p: p.median(a),
    "quantile": lambda a, p: p.quantile(a, [0.2, 0.5]),
    "nanmedian": lambda a, p: p.nanmedian(a),
    "sort": lambda a, p: p.sort(a),
    "argsort": lambda a, p: p.argsort(a),
    "partition": lambda a, p: p.sort(p.partition(a, 3)[:3]),
    "argpartition": lambda a, p: p.sort(a[p.argpartition(a, 3)[:3]]),
    "unique": lambda a, p: p.unique(p.round(a)),
    "cumsum": lambda a, p: p.cumsum(a),
    "diff": lambda a, p: p.diff(a),
    "ediff1d": lambda a, p: p.ediff1d(a, 1, 2),
    "flip": lambda a, p: p.flip(a),
    "roll": lambda a, p: p.roll(a, 2),
    "repeat": lambda a, p: p.repeat(a, 2),
    "tile": lambda a, p: p.tile(a, 2),
    "pad": lambda a, p: p.pad(a, 2),
    "pad edges": lambda a, p: p.pad(a, (1, 2), mode="edge"),
    "nonzero": lambda a, p: p.nonzero(a > 1)[0],
    "argwhere": lambda a, p: p.argwhere(a > 1),
    "where": lambda a, p: p.where(a > 1, a, 0),
    "extract": lambda a, p: p.extract(a > 1, a),
    "take": lambda a, p: p.take(a, [1, 2]),
    "isin": lambda a, p: p.isin(p.round(a), [1, 2]),
    "intersect1d": lambda a, p: p.intersect1d(p.round(a), [1, 2]),
    "with a copy": lambda a, p: a + a[::-1],
    "with an array": lambda a, p: a + np.arange(N),
    "ones_like": lambda a, p: p.ones_like(a),
    "full_like": lambda a, p: p.full_like(a, 3),
    "full_like an element": lambda a, p: p.full_like(a, a[-1]),
    "zeros_like": lambda a, p: p.zeros_like(a),
    "broadcast_to": lambda a, p: p.broadcast_to(a, (3, N)),
    "broadcast_arrays": lambda a, p: p.broadcast_arrays(a, a[None])[0],
    "array_split": lambda a, p: p.array_split(a, 3)[1],
    "split": lambda a, p: p.split(a, [2, 4])[1],
    "split far off": lambda a, p: p.split(a, [2, 99])[2],
    "hsplit of a vector": lambda a, p: p.hsplit(a, [3])[1],
    "diag": lambda a, p: p.diag(a),
    "trace": lambda a, p: p.trace(a[None] + a[:, None]),
    "diagonal": lambda a, p: p.diagonal(a[None] + a[:, None]),
    "tril": lambda a, p: p.tril(a[None] + a[:, None]),
    "cov": lambda a, p: p.cov(a, a),
    "corrcoef": lambda a, p: p.corrcoef(a, a),
    "average": lambda a, p: p.average(a, weights=a, returned=True)[1],
    "average of all": lambda a, p: p.average(a, returned=True)[1],
    "trapezoid": lambda a, p: p.trapezoid(a),
    "array_equal": lambda a, p: p.array_equal(a, a),
    "array_equiv": lambda a, p: p.array_equiv(a, a[None]),
    "delete": lambda a, p: p.delete(a, 1),
    "norm": lambda a, p: p.linalg.norm(a),
    "fft": lambda a, p: p.fft.fft(a),
    "rfft": lambda a, p: p.fft.rfft(a),
    "fftshift": lambda a, p: p.fft.fftshift(a),
    "meshgrid": lambda a, p: p.meshgrid(a, a)[0],
    "take_along_axis": lambda a, p: p.take_along_axis(a, p.argsort(a), 0),
    "own order": lambda a, p: a[p.argsort(a)],
    "set slice": lambda a, p: changed(a, slice(2, 4)),
    "set last": lambda a, p: changed(a, -1),
    "set points": lambda a, p: changed(a, [0, 2]),
    "set mask": lambda a, p: changed(a, a > 1),
    "set flat": lambda a, p: changed_flat(a),
    "compress": lambda a, p: p.compress([True, False, True], a),
    "block": lambda a, p: p.block([[a], [a]]),
    "len": lambda a, p: np.asarray(len(a)),
    "gradient": lambda a, p: p.gradient(a),
    "convolve": lambda a, p: p.convolve(a, [1, 2]),
    "insert": lambda a, p: p.insert(a, 1, 5),
    "kron": lambda a, p: p.kron(a, a),
    "interp": lambda a, p: p.interp(a, [0, 1], [0, 2]),
    "digitize": lambda a, p: p.digitize(a, [0, 1]),
    "histogram": lambda a, p: p.histogram(a, bins=4)[0],
    "searchsorted": lambda a, p: p.searchsorted(p.sort(a), [0.5, 1]),
    "select": lambda a, p: p.select([a > 1], [a]),
    "packbits": lambda a, p: p.packbits(a > 1),
    "unwrap": lambda a, p: p.unwrap(a * 9),
    "vander": lambda a, p: p.vander(a, 3),
    "vander of all": lambda a, p: p.vander(a[:4]),
    "triangle": lambda a, p: p.tril(a),
    "resize": lambda a, p: p.resize(a, (3, 4)),
    "bytes": lambda a, p: a.view("u1"),
    "dates": lambda a, p: p.ediff1d((a * 99).astype("M8[s]")).astype(float),
    "equal parts": lambda a, p: p.split(a[:6], 2)[1],
    "cumulative_sum": lambda a, p: p.cumulative_sum(a, include_initial=True),
}

OF_MATRICES: dict[str, Call] = {
    "slice": lambda a, p: a[1:3, 1:],
    "column": lambda a, p: a[:, 1],
    "row": lambda a, p: a[2],
    "points": lambda a, p: a[[0, 2], [1, 1]],
    "columns": lambda a, p: a[:, [2, 0]],
    "mask": lambda a, p: a[a > 0],
    "concatenate": lambda a, p: p.concatenate([a, a], axis=1),
    "vstack": lambda a, p: p.vstack([a, np.ones((2, 5))]),
    "reshape": lambda a, p: a.reshape(5, -1),
    "ravel": lambda a, p: a.ravel(),
    "fortran": lambda a, p: a.ravel(order="F"),
    "gram": lambda a, p: a.T @ a,
    "outer": lambda a, p: a @ a.T,
    "matmul": lambda a, p: a @ np.ones((5, 2)),
    "tensordot": lambda a, p: p.tensordot(a, a, axes=([0], [0])),
    "einsum": lambda a, p: p.einsum("ij,ik->jk", a, a),
    "scaled": lambda a, p: (a - a.mean(0)) / a.std(0),
    "argmax": lambda a, p: a.argmax(),
    "median": lambda a, p: p.median(a, axis=0),
    "sort": lambda a, p: p.sort(a, axis=0),
    "sort rows": lambda a, p: p.sort(a, axis=1),
    "cumsum": lambda a, p: a.cumsum(),
    "diff": lambda a, p: p.diff(a, axis=0),
    "flip": lambda a, p: p.flip(a),
    "roll": lambda a, p: p.roll(a, 1, axis=0),
    "roll all": lambda a, p: p.roll(a, 1),
    "repeat": lambda a, p: p.repeat(a, 2, axis=0),
    "pad": lambda a, p: p.pad(a, 1),
    "cov": lambda a, p: p.cov(a, rowvar=False),
    "corrcoef": lambda a, p: p.corrcoef(a, rowvar=False),
    "trace": lambda a, p: p.trace(a),
    "diagonal": lambda a, p: p.diagonal(a),
    "triangle": lambda a, p: abs(p.linalg.qr(a)[1]),
    "inv": lambda a, p: p.linalg.inv(a.T @ a),
    "solve": lambda a, p: p.linalg.solve(a.T @ a, np.ones(5)),
    "cholesky": lambda a, p: p.linalg.cholesky(a.T @ a),
    "array_split": lambda a, p: p.array_split(a, 2)[0],
    "vsplit": lambda a, p: p.vsplit(a, [2])[1],
    "hsplit": lambda a, p: p.hsplit(a, [1, 3])[1],
    "hsplit of columns": lambda a, p: p.hsplit(a.T, [2])[0],
    "dsplit": lambda a, p: p.dsplit(a[None], [1, 3])[1],
    "broadcast": lambda a, p: a * a[:, :1],
    "compress": lambda a, p: p.compress([True, False, True], a, axis=0),
    "delete": lambda a, p: p.delete(a, 0, axis=0),
    "fft": lambda a, p: p.fft.fft(a, axis=0),
    "fft2": lambda a, p: p.fft.fft2(a),
    "average": lambda a, p: p.average(a, axis=1, weights=[1, 2, 3, 4, 5]),
    "percentile": lambda a, p: p.percentile(a, [10, 20], axis=0),
    "take_along_axis": lambda a, p: p.take_along_axis(a, p.argsort(a, axis=0), 0),
    "set column": lambda a, p: changed(a, (slice(None), 1)),
    "set element": lambda a, p: changed(a, (0, 1)),
    "rot90": lambda a, p: p.rot90(a),
    "unique rows": lambda a, p: p.unique(a, axis=0),
    "inverse": lambda a, p: p.unique(a, return_inverse=True)[1],
    "svdvals": lambda a, p: p.linalg.svdvals(a),
    "cond": lambda a, p: p.linalg.cond(a),
    "rank": lambda a, p: p.linalg.matrix_rank(a),
    "pinv": lambda a, p: p.linalg.pinv(a),
    "nuclear norm": lambda a, p: p.linalg.norm(a, "nuc"),
    "multi_dot": lambda a, p: p.linalg.multi_dot([a, a.T, a]),
}

CASES = [(unknown_vector, VECTOR, call) for call in OF_VECTORS.values()] + [
    (unknown_rows, ROWS, call) for call in OF_MATRICES.values()
]
NAMES = [*(f"vector: {name}" for name in OF_VECTORS), *(f"matrix: {name}" for name in OF_MATRICES)]


@pytest.mark.parametrize(("make", "known", "call"), CASES, ids=NAMES)
def test_what_numpy_can_do_with_known_lengths(make: Any, known: Any, call: Call) -> None:
    """Works without a hint that lengths were unknown."""
    expected = np.asarray(call(known.copy(), np))
    found = call(make(), mt)
    value = np.asarray(found.compute() if isinstance(found, mt.Tensor) else found)
    assert value.shape == expected.shape
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


def test_a_slice_executes_the_needed_prefix_only() -> None:
    """Of forty chunks two rounds of one and two, not all."""
    with recording_session() as (_, scheduler), option_context({"coalesce": False}):
        lazy = mt.ones(400, chunk_size=10)
        kept = lazy[mt.arange(400, chunk_size=10) % 2 == 0]
        assert_same(kept[5:9], np.ones(4))
        assert scheduler.tasks < 20
        before = scheduler.tasks
        assert_same(kept[:], np.ones(200))
        assert scheduler.tasks - before >= 40


def test_what_is_known_beforehand_is_told() -> None:
    """Lengths that do not depend on the unknown ones; equal ones are known to be equal."""
    rows = unknown_rows()
    moved = mt.roll(rows, 1, axis=0)
    assert isinstance(moved.node.source, Waiting)
    assert moved.shape[1] == 5
    assert moved.node.shape[0] == rows.node.shape[0]
    assert mt.cov(rows, rowvar=False).shape == (5, 5)
    first, second = mt.array_split(rows, 2)
    assert np.isnan(first.shape[0])
    np.testing.assert_array_equal(mt.concatenate([first, second]).compute(), ROWS)
    assert_same(mt.pad(rows, 1).execute()[1:-1, 1:-1], ROWS)


def test_what_is_told_holds_for_few_as_well() -> None:
    """What is the same for two long arrays may be another for a short one."""
    lazy = mt.arange(6, chunk_size=2).reshape(2, 3)
    for rows in (lazy[lazy[:, 0] > 9], lazy[lazy[:, 0] > 1]):
        for found in (mt.diagonal(rows), mt.split(rows, [1, 3])[1]):
            told, value = found.shape, found.compute()
            assert all(np.isnan(n) or n == m for n, m in zip(told, value.shape, strict=True))


def test_lengths_that_are_needed_for_good() -> None:
    """Where a call takes no tensor of unknown length the error stays what it is."""

    @waits_for_lengths
    def needs(tensor: Any) -> Any:
        raise UnknownShapeError("no")

    with pytest.raises(UnknownShapeError, match="no"):
        needs(mt.ones(3))
    with pytest.raises(UnknownShapeError, match="no"):
        needs(unknown_vector())


def test_tasks_of_dask_say_that_they_cannot_wait() -> None:
    """A graph for others is made without a look at any length."""
    with pytest.raises(NotImplementedError, match="execute"):
        mt.roll(unknown_vector(), 1).to_dask()
