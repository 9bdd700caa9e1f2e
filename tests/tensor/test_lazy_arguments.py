"""Lazy values, arrays and rows as arguments of functions of tensors are what their values are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt

A = np.arange(24.0).reshape(4, 6)
V = np.arange(6.0)
M = np.array([[4.0, 1.0], [2.0, 5.0]])


def change(array: Any, key: Any, value: Any) -> Any:
    """Return an array that was written to."""
    array = array.copy()
    array[key] = value
    return array


#: Calls with several values; ``a`` makes arrays for the functions of ``m``.
SEVERAL: dict[str, tuple[Callable[[Any, Any, Any], Any], list[Any]]] = {
    "average(weights=)": (lambda m, a, v: m.average(a(A), axis=1, weights=v), [1, 2, 3, 4, 5, 6]),
    "quantile": (lambda m, a, v: m.quantile(a(A), v), [0.2, 0.5]),
    "zeros": (lambda m, a, v: m.zeros(v), [2, 3]),
    "full": (lambda m, a, v: m.full(v, 7), [2, 3]),
    "full of": (lambda m, a, v: m.full((2, 3), v), [1, 2, 3]),
    "zeros_like(shape=)": (lambda m, a, v: m.zeros_like(a(A), shape=v), [2, 3]),
    "broadcast_to": (lambda m, a, v: m.broadcast_to(a(V), v), [2, 6]),
    "reshape": (lambda m, a, v: m.reshape(a(A), v), [6, 4]),
    "tile": (lambda m, a, v: m.tile(a(V), v), [2, 3]),
    "expand_dims": (lambda m, a, v: m.expand_dims(a(A), tuple(v)), [0, 2]),
    "repeat": (lambda m, a, v: m.repeat(a(V), v), [1, 2, 3, 1, 2, 3]),
    "array_split": (lambda m, a, v: m.array_split(a(V), v)[1], [1, 4]),
    "pad": (lambda m, a, v: m.pad(a(V), v), [1, 2]),
    "pad(constant_values=)": (lambda m, a, v: m.pad(a(V), 2, constant_values=v), [1, 2]),
    "take": (lambda m, a, v: m.take(a(V), v), [1, 3]),
    "delete": (lambda m, a, v: m.delete(a(V), v), [1, 3]),
    "insert": (lambda m, a, v: m.insert(a(V), v, 9), [1, 3]),
    "insert of": (lambda m, a, v: m.insert(a(V), [1, 3], v), [8, 9]),
    "append": (lambda m, a, v: m.append(a(V), v), [8, 9]),
    "where": (lambda m, a, v: m.where(a(V) > 2, v, 0), [1, 2, 3, 4, 5, 6]),
    "isin": (lambda m, a, v: m.isin(a(V), v), [1, 3]),
    "searchsorted": (lambda m, a, v: m.searchsorted(a(V), v), [1, 3]),
    "digitize": (lambda m, a, v: m.digitize(a(V), v), [1, 3]),
    "histogram(bins)": (lambda m, a, v: m.histogram(a(V), bins=v)[0], [0, 2, 5]),
    "histogram(range=)": (lambda m, a, v: m.histogram(a(V), range=v)[0], [0, 5]),
    "dot": (lambda m, a, v: m.dot(a(A), v), [1, 2, 3, 4, 5, 6]),
    "outer": (lambda m, a, v: m.outer(a(V), v), [1, 2]),
    "matmul": (lambda m, a, v: m.matmul(a(A), v), [1, 2, 3, 4, 5, 6]),
    "solve": (lambda m, a, v: m.linalg.solve(a(M), v), [1.0, 2.0]),
    "diag": (lambda m, a, v: m.diag(v), [1, 2, 3]),
    "+": (lambda m, a, v: a(V) + v, [1, 2, 3, 1, 2, 3]),
    "maximum": (lambda m, a, v: m.maximum(a(V), v), [1, 2, 3, 1, 2, 3]),
    "clip": (lambda m, a, v: m.clip(a(V), v, 4), [1, 2, 3, 1, 2, 3]),
    "diff(prepend=)": (lambda m, a, v: m.diff(a(V), prepend=v), [7, 8]),
    "union1d": (lambda m, a, v: m.union1d(a(V), v), [1, 9]),
    "sort": (lambda m, a, v: m.sort(v), [3, 1, 2]),
    "unique": (lambda m, a, v: m.unique(v), [3, 1, 1]),
    "cumsum": (lambda m, a, v: m.cumsum(v), [3, 1, 1]),
    "[]": (lambda m, a, v: a(V)[v], [1, 3]),
    "[] =": (lambda m, a, v: change(a(V), slice(0, 2), v), [8, 9]),
    "array": (lambda m, a, v: m.array(v), [1, 2]),
    "meshgrid": (lambda m, a, v: m.meshgrid(v, [3, 4])[0], [1, 2]),
    "roll": (lambda m, a, v: m.roll(a(A), v, axis=(0, 1)), [2, 3]),
    "roll(axis=)": (lambda m, a, v: m.roll(a(A), (1, 2), axis=v), [0, 1]),
    "rot90(axes=)": (lambda m, a, v: m.rot90(a(A), axes=v), [1, 0]),
    "indices": (lambda m, a, v: m.indices(v), [2, 3]),
    "tensordot(axes=)": (lambda m, a, v: m.tensordot(a(A), a(A.T), axes=v), [1, 0]),
    "tensordot(axes=[])": (lambda m, a, v: m.tensordot(a(A), a(A), axes=(v, [0, 1])), [0, 1]),
    "fft2(s=)": (lambda m, a, v: m.fft.fft2(a(A), s=v, axes=(0, 1)), [3, 5]),
    "fftn(axes=)": (lambda m, a, v: m.fft.fftn(a(A), axes=v), [0, 1]),
    "fftshift": (lambda m, a, v: m.fft.fftshift(a(A), axes=v), [0, 1]),
    "flip": (lambda m, a, v: m.flip(a(A), tuple(v)), [0, 1]),
    "transpose": (lambda m, a, v: m.transpose(a(A), v), [1, 0]),
    "moveaxis": (lambda m, a, v: m.moveaxis(a(A), v, [1, 0]), [0, 1]),
    "resize": (lambda m, a, v: m.resize(a(A), v), [3, 5]),
    "unravel_index": (lambda m, a, v: m.unravel_index(7, v)[1], [4, 6]),
    "split": (lambda m, a, v: m.split(a(V), v)[1], [1, 4]),
    "hsplit": (lambda m, a, v: m.hsplit(a(A), v)[1], [1, 4]),
    "histogram2d": (lambda m, a, v: m.histogram2d(a(V), a(V), bins=v)[0], [2, 3]),
    "histogramdd": (lambda m, a, v: m.histogramdd(a(A[:, :2]), bins=v)[0], [2, 3]),
    "percentile": (lambda m, a, v: m.percentile(a(V), v), [20, 50]),
    "choose": (lambda m, a, v: m.choose(a(np.array([0, 1])), v), [5, 6]),
    "isclose(atol=)": (lambda m, a, v: m.isclose(a(V), V + 2, atol=v), [1, 2, 3, 1, 2, 3]),
    "apply_over_axes": (lambda m, a, v: m.apply_over_axes(np.sum, a(A), v), [0, 1]),
}
#: Those whose argument NumPy only iterates over.
ITERATED = {
    *("tile", "roll(axis=)", "indices", "tensordot(axes=[])", "array_split"),
    *("fft2(s=)", "rot90(axes=)", "tensordot(axes=)", "fftn(axes=)", "roll"),
}

#: Calls with a number.
ONE: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {
    "arange": (lambda m, a, n: m.arange(n), 4),
    "arange of three": (lambda m, a, n: m.arange(1, n, 2), 4),
    "linspace": (lambda m, a, n: m.linspace(0, n, 3), 4),
    "zeros": (lambda m, a, n: m.zeros((n, 2)), 4),
    "eye": (lambda m, a, n: m.eye(n), 3),
    "sum(axis)": (lambda m, a, n: m.sum(a(A), axis=n), 1),
    "var(ddof=)": (lambda m, a, n: m.var(a(A), ddof=n), 1),
    "reshape": (lambda m, a, n: m.reshape(a(A), (n, -1)), 6),
    "repeat": (lambda m, a, n: m.repeat(a(V), n), 2),
    "roll": (lambda m, a, n: m.roll(a(V), n), 2),
    "pad": (lambda m, a, n: m.pad(a(V), n), 2),
    "expand_dims": (lambda m, a, n: m.expand_dims(a(A), n), 1),
    "[]": (lambda m, a, n: a(A)[..., n], 2),
    "[:]": (lambda m, a, n: a(V)[n:], 2),
    "[] =": (lambda m, a, n: change(a(V), n, 9), 2),
    "array": (lambda m, a, n: m.array([[n, 1], [2, n]]), 3),
    "stack": (lambda m, a, n: m.stack([n, 1]), 3),
    "round": (lambda m, a, n: m.round(a(V / 3), n), 2),
    "angle(deg=)": (lambda m, a, n: m.angle(a(-V), deg=n), 1),
    "isclose(atol=)": (lambda m, a, n: m.isclose(a(V), V * 2, atol=n), 2),
    "isclose(equal_nan=)": (lambda m, a, n: m.isclose(a(V * np.nan), np.nan, equal_nan=n), 1),
    "histogram": (lambda m, a, n: m.histogram(a(V), n)[0], 3),
    "concatenate(axis)": (lambda m, a, n: m.concatenate([a(A), a(A)], n), 1),
}

LAZY: dict[str, Callable[[list[Any]], Any]] = {
    "items": lambda v: [mt.tensor(np.array([item]))[0] for item in v],
    "one item": lambda v: [md.Series(v[:1]).iloc[0], *v[1:]],
    "tensor": lambda v: mt.tensor(np.array(v), chunk_size=2),
    "series": lambda v: md.Series(v, chunk_size=2),
    "index": md.Index,
    "array": np.array,
    "tuple": tuple,
}
NUMBERS: dict[str, Callable[[int], Any]] = {
    "tensor": lambda n: mt.tensor(np.array([n]))[0],
    "row": lambda n: md.Series([n]).iloc[0],
    "array": np.array,
    "scalar": np.int64,
}


def tensor(values: Any) -> Any:
    """Return a tensor of several chunks."""
    return mt.tensor(values, chunk_size=3)


def check(value: Any, wanted: Any) -> None:
    """Check that shapes and values are equal."""
    value = value.compute()
    assert np.shape(value) == np.shape(wanted)
    np.testing.assert_allclose(value, wanted)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_values(name: str) -> None:
    """Lazy items, tensors, series, labels and arrays give what a list of their values gives."""
    call, values = SEVERAL[name]
    wanted = call(np, np.array, values)
    for kind, given in LAZY.items():
        if (name, kind) != ("[]", "tuple"):  # which has one item an axis
            check(call(mt, tensor, given(values)), wanted)


@pytest.mark.parametrize("name", sorted(ITERATED))
def test_iterators(name: str) -> None:
    """What can be read once, and the keys of a dict, are lists."""
    call, values = SEVERAL[name]
    wanted = call(np, np.array, values)
    for given in (
        iter(values),
        (x for x in values),
        dict.fromkeys(values).keys(),
        map(int, values),
    ):
        check(call(mt, tensor, given), wanted)


@pytest.mark.parametrize("name", ONE)
def test_one_value(name: str) -> None:
    """A lazy number, and an array of one, give what the number gives."""
    call, number = ONE[name]
    wanted = call(np, np.array, number)
    for given in NUMBERS.values():
        check(call(mt, tensor, given(number)), wanted)


def test_iterators_of_axes() -> None:
    """Axes from an iterator are read once."""
    for call in (np.average, np.sum):
        found = getattr(mt, call.__name__)(tensor(A), axis=tuple(iter((0, 1))))
        check(found, call(A, axis=(0, 1)))
    check(mt.average(tensor(A), axis=iter((0, 1))), np.average(A))
    check(mt.expand_dims(tensor(A), iter((0, 2))), np.expand_dims(A, (0, 2)))
