"""Functions of tensors whose lengths only running tells: what NumPy can do, works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.sizes import Unknown, UnknownShapeError, numbers
from marsdask.tensor.typing import public
from marsdask.tensor.unknown_lengths import ResultSpec, UnknownLengthCall, like, waits_for_lengths
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
    "average of rows": lambda a, p: p.average(a, axis=0, weights=np.arange(M) + 1),
    "diff at the edge": lambda a, p: p.diff(a, axis=1, prepend=0),
    "variance about": lambda a, p: p.var(a, 0, mean=p.mean(a, 0, keepdims=True), where=a > 0),
    "inverse power": lambda a, p: p.linalg.matrix_power(a.T @ a, -1),
    "least squares": lambda a, p: p.linalg.lstsq(a, a[:, 0] * 2)[1],
    "whole triangle": lambda a, p: abs(p.linalg.qr(a, mode="complete")[1]),
    "rfft of rows": lambda a, p: p.fft.rfft(a, axis=0),
    "coarsen": lambda a, p: mt.coarsen(np.sum, a, {1: 5}) if p is mt else a.sum(1, keepdims=True),
    "slopes": lambda a, p: p.gradient(a.astype("f4"))[0],
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
    assert isinstance(moved.node.source, UnknownLengthCall)  # type: ignore[attr-defined]
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
    calls = []

    def rule(tensor: Any) -> ResultSpec:
        calls.append(tensor)
        return like(tensor)

    @public
    @waits_for_lengths(rule)
    def needs(tensor: Any) -> Any:
        raise UnknownShapeError("no")

    with pytest.raises(UnknownShapeError, match="no"):
        needs(mt.ones(3))
    assert not calls
    assert needs(unknown_vector()).dtype == np.float64
    assert len(calls) == 1


def test_a_rule_that_tells_another_type_or_other_axes_is_found_out() -> None:
    """What was told before and what came out are compared when it runs."""

    def needs(tensor: Any) -> Any:
        numbers(tensor.node.shape)
        return tensor

    wrong_type = public(waits_for_lengths(lambda tensor: like(tensor, np.int8))(needs))
    with pytest.raises(TypeError, match="has dtype float64, but int8 was expected"):
        wrong_type(unknown_vector()).compute()
    wrong_axes = public(
        waits_for_lengths(lambda tensor: ResultSpec(tensor.dtype, (None, None)))(needs)
    )
    with pytest.raises(
        UnknownShapeError,
        match="has 1 dimensions, but 2 were expected",
    ):
        wrong_axes(unknown_vector()).compute()


def test_a_function_is_never_called_before_the_lengths_are_known() -> None:
    """One call finds that a length is missing, and one is made with the true length."""
    seen = []

    def needs(a: Any) -> Any:
        seen.append(a.shape[0])
        numbers(a.node.shape)
        return a[::-1]

    found = public(waits_for_lengths(like)(needs))(unknown_vector())
    assert np.isnan(seen).tolist() == [True]
    assert_same(found, VECTOR[::-1])
    assert set(seen[1:]) == {N}


def test_tasks_of_dask_say_that_they_cannot_wait() -> None:
    """A graph for others is made without a look at any length."""
    with pytest.raises(NotImplementedError, match="execute"):
        mt.roll(unknown_vector(), 1).to_dask()


#: Where the two libraries have them.
WINDOWS: dict[Any, Any] = {np: np.lib.stride_tricks.sliding_window_view, mt: mt.sliding_window_view}

#: Functions that take another way for some lengths: short, odd, or others than two of their inputs.
OF_SOME_LENGTHS: dict[str, Call] = {
    "array_split": lambda a, p: p.array_split(a, 3),
    "array_split at": lambda a, p: p.array_split(a, [1, 5041, 3]),
    "split": lambda a, p: p.split(a, 2),
    "split in eleven": lambda a, p: p.split(a, 11),
    "split far off": lambda a, p: p.split(a, [10080]),
    "average": lambda a, p: p.average(a, returned=True),
    "convolve full": lambda a, p: p.convolve(a, [1.0, 2, 3]),
    "convolve same": lambda a, p: p.convolve(a, [1.0, 2, 3], mode="same"),
    "convolve valid": lambda a, p: p.convolve(a, [1.0, 2, 3, 4], mode="valid"),
    "convolve longer": lambda a, p: p.convolve(a, np.ones(5041), mode="same"),
    "correlate": lambda a, p: p.correlate(a, [1.0, 2, 3]),
    "delete": lambda a, p: p.delete(a, 2),
    "delete slice": lambda a, p: p.delete(a, slice(1, None, 2)),
    "diag": lambda a, p: p.diag(a[:5], 1),
    "diag square": lambda a, p: p.diag(a[:5]),
    "diagonal": lambda a, p: p.diagonal(a[:, None] * np.arange(3.0), 1),
    "diff": lambda a, p: p.diff(a),
    "diff more": lambda a, p: p.diff(a, 4),
    "diff after": lambda a, p: p.diff(a, 2, prepend=1, append=[2.0, 3]),
    "ediff1d": lambda a, p: p.ediff1d(a, 1, [2, 3]),
    "fft": lambda a, p: p.fft.fft(a),
    "fft padded": lambda a, p: p.fft.fft(a, 8),
    "rfft": lambda a, p: p.fft.rfft(a),
    "irfft": lambda a, p: p.fft.irfft(a),
    "hfft": lambda a, p: p.fft.hfft(a),
    "fftshift": lambda a, p: p.fft.fftshift(a),
    "ifftshift": lambda a, p: p.fft.ifftshift(a),
    "gradient": lambda a, p: p.gradient(a),
    "gradient edges": lambda a, p: p.gradient(a, 2.0, edge_order=2),
    "insert": lambda a, p: p.insert(a, [0, 2], [5, 6]),
    "insert at the end": lambda a, p: p.insert(a, -1, 5),
    "kron": lambda a, p: p.kron(a, np.arange(2)),
    "median": lambda a, p: p.median(a),
    "pad": lambda a, p: p.pad(a, (2, 3)),
    "pad edge": lambda a, p: p.pad(a, (2, 3), mode="edge"),
    "pad reflect": lambda a, p: p.pad(a, (4, 3), mode="reflect"),
    "pad symmetric": lambda a, p: p.pad(a, (4, 3), mode="symmetric"),
    "pad wrap": lambda a, p: p.pad(a, (4, 3), mode="wrap"),
    "pad mean": lambda a, p: p.pad(a, 2, mode="mean", stat_length=3),
    "pad ramp": lambda a, p: p.pad(a, 2, mode="linear_ramp", end_values=1),
    "partition": lambda a, p: p.sort(p.partition(a, 2)[:3]),
    "argpartition": lambda a, p: p.argpartition(a, 2)[2],
    "percentile": lambda a, p: p.percentile(a, [25, 50, 75]),
    "percentile lower": lambda a, p: p.percentile(a, 50, method="lower"),
    "resize": lambda a, p: p.resize(a, (3, 4)),
    "roll": lambda a, p: p.roll(a, 2),
    "roll far": lambda a, p: p.roll(a, 5043),
    "roll back": lambda a, p: p.roll(a, -12),
    "shaped like it": lambda a, p: p.full_like(a, 3, dtype="i4"),
    "sliding windows": lambda a, p: WINDOWS[p](a, 3),
    "take_along_axis": lambda a, p: p.take_along_axis(a, p.argsort(a), 0),
    "trapezoid": lambda a, p: p.trapezoid(a),
    "triangle": lambda a, p: p.tril(a[:7], 1),
    "trim_zeros": lambda a, p: p.trim_zeros(p.floor(a)),
    "unique": lambda a, p: p.unique(p.floor(a), return_index=True, return_counts=True),
    "unwrap": lambda a, p: p.unwrap(a * 3),
    "vander": lambda a, p: p.vander(a[:6]),
    "var": lambda a, p: p.var(a, ddof=2),
    "var about": lambda a, p: p.var(a, mean=p.mean(a, keepdims=True)),
    "view": lambda a, p: a.view("i4"),
    "packbits": lambda a, p: p.packbits(a > 1),
    "unpackbits": lambda a, p: p.unpackbits((a > 1).view("u1"), count=-2),
    "cumulative_sum": lambda a, p: p.cumulative_sum(a, include_initial=True),
    "cov": lambda a, p: p.cov(a, a * 2),
}

LENGTHS = [0, 1, 2, 3, 4, 5, 7, *range(5038, 5042), *range(10079, 10082)]


def of_length(n: int) -> tuple[Any, Any]:
    """Return a tensor that does not know its length, and its values."""
    known = np.random.default_rng(n).uniform(0, 3, n)
    every = np.insert(known, np.arange(0, n + 1, 2), -1.0)
    lazy = mt.tensor(every, chunk_size=max(2, len(every) // 3))
    return lazy[lazy >= 0], known


def outcome(call: Call, value: Any, library: Any) -> Any:
    """Return a list of results, each as told and as it is, or the type of what is raised."""
    try:
        with np.errstate(all="ignore"):
            found = call(value, library)
            several = found if isinstance(found, tuple | list) else [found]
            return [
                (item, np.asarray(item.compute() if hasattr(item, "compute") else item))
                for item in several
            ]
    except (ValueError, IndexError, ZeroDivisionError) as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value", "ignore:Degrees of")
@pytest.mark.parametrize("name", OF_SOME_LENGTHS)
def test_branches_on_a_length_are_those_of_the_true_length(name: str) -> None:
    """Equal to NumPy for no elements, few, and 5040 and 10080 and their neighbours.

    What was told of the result before holds: its type, its lengths, and which are the input's.
    """
    call = OF_SOME_LENGTHS[name]
    for n in LENGTHS:
        unknown, known = of_length(n)
        expected, found = outcome(call, known, np), outcome(call, unknown, mt)
        if isinstance(expected, type):
            assert found is expected, n
            continue
        assert len(found) == len(expected), n
        for (told, value), (_, wanted) in zip(found, expected, strict=True):
            assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype), n
            np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-9, err_msg=str(n))
            assert told.dtype == wanted.dtype
            for size, length in zip(told.node.shape, wanted.shape, strict=True):
                same = size == unknown.node.shape[0]
                assert length == (n if same else size) or (not same and isinstance(size, Unknown))


def test_lengths_that_turn_out_to_differ_are_refused_with_both_shapes() -> None:
    """In NumPy's words, once the lengths are known."""
    words = rf"broadcast together with shapes \({N},\) \({N - 1},\)"
    with pytest.raises(ValueError, match=words):
        (unknown_vector() + unknown_vector()[1:]).compute()
