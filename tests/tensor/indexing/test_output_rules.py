"""Outputs that do not fit are refused as NumPy refuses them; those that fit are filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same

Call = Callable[..., Any]

#: Calls of a module, an array of shape (3, 4) and an output.
CALLS: dict[str, Call] = {
    "cumsum": lambda xp, x, out: xp.cumsum(x, axis=0, out=out),
    "cumsum of all": lambda xp, x, out: xp.cumsum(x, out=out),
    "cumprod": lambda xp, x, out: xp.cumprod(x, axis=1, out=out),
    "nancumsum": lambda xp, x, out: xp.nancumsum(x, axis=0, out=out),
    "cumulative_sum": lambda xp, x, out: xp.cumulative_sum(x, axis=0, out=out),
    "accumulate": lambda xp, x, out: np.add.accumulate(x, axis=0, out=out),
    "argmax": lambda xp, x, out: xp.argmax(x, axis=0, out=out),
    "argmin": lambda xp, x, out: xp.argmin(x, axis=1, out=out),
    "nanargmin": lambda xp, x, out: xp.nanargmin(x, axis=0, out=out),
    "argmax of all": lambda xp, x, out: xp.argmax(x, out=out),
    "median": lambda xp, x, out: xp.median(x, axis=1, out=out),
    "median of all": lambda xp, x, out: xp.median(x, out=out),
    "nanmedian": lambda xp, x, out: xp.nanmedian(x, axis=0, out=out),
    "percentile": lambda xp, x, out: xp.percentile(x, [10, 20], axis=0, out=out),
    "quantile": lambda xp, x, out: xp.quantile(x, 0.3, axis=0, out=out),
    "nanquantile": lambda xp, x, out: xp.nanquantile(x, [0.1, 0.2], axis=0, out=out),
    "dot": lambda xp, x, out: xp.dot(x, x.T, out=out),
    "dot of vectors": lambda xp, x, out: xp.dot(x[0], x[1], out=out),
    "multi_dot": lambda xp, x, out: xp.linalg.multi_dot([x, x.T, x], out=out),
    "matmul": lambda xp, x, out: xp.matmul(x, x.T, out=out),
    "matmul of a vector": lambda xp, x, out: xp.matmul(x, x[0], out=out),
    "take": lambda xp, x, out: xp.take(x, [0, 1, 1], axis=0, out=out),
    "choose": lambda xp, x, out: xp.choose([0, 1, 1, 0], [x[0], x[1]], out=out),
    "round": lambda xp, x, out: xp.round(x, 1, out=out),
    "round to integers": lambda xp, x, out: xp.round(x, out=out),
    "round to tens": lambda xp, x, out: xp.round(x + 0.5, -1, out=out),
    "concatenate": lambda xp, x, out: xp.concatenate([x, x], out=out),
    "stack": lambda xp, x, out: xp.stack([x, x], axis=1, out=out),
    "clip": lambda xp, x, out: xp.clip(x, 2, 5, out=out),
    "add": lambda xp, x, out: xp.add(x, 1, out=out),
}

#: Types of outputs; NumPy crashes where it accumulates numbers into others.
TYPES = ["?", "i1", "i8", "u8", "f4", "f8", "c16"]

FLOATS = np.arange(12.0).reshape(3, 4) + 0.25


def outcome(call: Call, xp: Any, x: Any, out: Any) -> Exception | bool:
    """Return the error of a call, or whether it returned its output."""
    try:
        return call(xp, x, out) is out
    except (ValueError, TypeError) as error:
        return error


def check_alike(call: Call, x: np.ndarray, out: np.ndarray) -> None:
    """Compare a call with NumPy's: both fill the output, or refuse it in the same words."""
    lazy = mt.tensor(out.copy(), chunk_size=2)
    found = outcome(call, mt, mt.tensor(x, chunk_size=2), lazy)
    expected = outcome(call, np, x, out)
    if not isinstance(expected, Exception):
        assert found is True
        with np.errstate(invalid="ignore"):
            assert_same(lazy, out, rtol=1e-12)
        return
    assert isinstance(found, TypeError if isinstance(expected, TypeError) else ValueError)
    assert str(found).startswith(str(expected).rstrip(" ."))


def result_of(call: Call, x: np.ndarray) -> np.ndarray:
    return np.asarray(call(np, x, None))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["f8", "i8"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_types_of_outputs(name: str, kind: str, dtype: str) -> None:
    """An output of each type is filled with NumPy's values, or refused in its words."""
    x = FLOATS.astype(kind)
    check_alike(CALLS[name], x, np.zeros(result_of(CALLS[name], x).shape, dtype))


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"median"}))
@pytest.mark.parametrize("longer", [-1, 1])
def test_other_lengths_are_refused(name: str, longer: int) -> None:
    """In NumPy's words."""
    result = result_of(CALLS[name], FLOATS)
    shape = tuple(n + longer for n in result.shape) or (2,)
    check_alike(CALLS[name], FLOATS, np.zeros(shape, result.dtype))


def test_medians_of_another_length() -> None:
    """NumPy shows the shape of the middle elements, which is no user's."""
    with pytest.raises(ValueError, match=r"remapped shapes .*: \(5,\)->\(5,newaxis\) \(3,4\)"):
        mt.median(mt.tensor(FLOATS, chunk_size=2), axis=1, out=mt.zeros(5))


#: Calls whose messages lack the shapes in NumPy.
UNTOLD = ["argmax", "dot", "matmul", "take", "choose", "round", "concatenate", "stack"]


@pytest.mark.parametrize("name", [*UNTOLD, "cumsum of all", "clip", "quantile"])
def test_messages_tell_both_shapes(name: str) -> None:
    """Of the output and of the result."""
    result = result_of(CALLS[name], FLOATS)
    out = np.zeros(tuple(n + 1 for n in result.shape), result.dtype)
    said = str(outcome(CALLS[name], mt, mt.tensor(FLOATS, chunk_size=2), mt.tensor(out)))
    assert all(str(x.shape).replace(" ", "") in said for x in (out, result))


#: Calls whose output may have axes before those of the result in NumPy.
WIDENED = {
    "nanmedian",
    "percentile",
    "quantile",
    "nanquantile",
    "matmul",
    "matmul of a vector",
}


@pytest.mark.parametrize("name", sorted(CALLS.keys() - WIDENED))
def test_more_axes(name: str) -> None:
    """An output with one more axis is refused in NumPy's words, unless ufuncs repeat into it."""
    result = result_of(CALLS[name], FLOATS)
    check_alike(CALLS[name], FLOATS, np.zeros((2, *result.shape), result.dtype))


def test_axes_that_are_missing() -> None:
    """NumPy 2.4 reads memory at random for ``cumsum(x, out=scalar)``."""
    x = mt.tensor(FLOATS, chunk_size=2)
    with pytest.raises(ValueError, match=r"wrong size .* out has shape \(\), the result \(12,\)"):
        mt.cumsum(x, out=mt.zeros(()))
    with pytest.raises(ValueError, match=r"\(3,\) doesn't match the broadcast shape \(3,3\)"):
        mt.matmul(x, x.T, out=mt.zeros(3))


def test_unknown_lengths_are_compared_when_computed() -> None:
    """At the call they may fit."""
    x = mt.tensor(FLOATS, chunk_size=2)
    some = x[x[:, 0] > 1]
    assert_same(mt.cumsum(some, axis=0, out=mt.zeros((2, 4))), np.cumsum(FLOATS[1:], axis=0))
    late = mt.cumsum(some, axis=0, out=mt.zeros((3, 4)))
    with pytest.raises(ValueError, match="broadcast"):
        late.compute()
