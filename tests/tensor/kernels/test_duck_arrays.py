"""Kernels leave arrays of another library what they are: no path makes NumPy arrays of them."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.tensor.device import ToDevice
from marsdask.tensor.kernels.duck_arrays import as_array, in_memory, is_array, is_foreign
from tests.strategies import chunkings, draws, grids


class OnDevice(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that stands for one on a device: it answers NumPy and refuses to become NumPy's."""

    __array_priority__ = 5

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        _refuse((*inputs, *kwargs.values()))
        chooses = ufunc in (np.fmin, np.fmax) or kwargs.get("where", True) is not True
        if ufunc is np.vecdot or (method == "reduce" and chooses):
            raise NotImplementedError(f"{ufunc.__name__}.reduce")
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = tuple(_bare(item) for item in out)
        found = getattr(ufunc, method)(*map(_bare, inputs), **_bare(kwargs))
        return out[0] if out is not None else _wrapped(found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.asarray:
            return OnDevice(args[0])
        _refuse((*args, *kwargs.values()))
        if "subok" in kwargs or (func is np.count_nonzero and "keepdims" in kwargs):
            raise TypeError(f"{func.__name__} got an unexpected keyword argument")
        return _wrapped(func(*_bare(args), **_bare(kwargs)))

    def __getitem__(self, key: Any) -> Any:
        return OnDevice(self._values[_bare(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse([value])
        self._values[key] = _bare(value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._values, name)
        if not callable(found):
            return _wrapped(found) if isinstance(found, np.ndarray) else found
        return lambda *args, **kwargs: _wrapped(found(*_bare(args), **_bare(kwargs)))

    def __bool__(self) -> bool:
        return bool(self._values)

    def __int__(self) -> int:
        return int(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self) -> Any:
        """Return the values in memory."""
        return self._values


def _bare(value: Any) -> Any:
    if isinstance(value, OnDevice):
        return value._values
    if isinstance(value, list | tuple):
        return type(value)(map(_bare, value))
    return {k: _bare(v) for k, v in value.items()} if isinstance(value, dict) else value


def _wrapped(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_wrapped, value))
    return OnDevice(value) if isinstance(value, np.ndarray | np.generic) else value


def _refuse(values: Any) -> None:
    """Refuse arrays in memory among those on the device, as CuPy does."""
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError("Unsupported type numpy.ndarray")


def to_device(block: Any) -> Any:
    """Copy a block to the device."""
    return OnDevice(block)


PATHS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b * 2 - 1,
    lambda a, b: np.sin(a) ** 2 + np.cos(b) / 3,
    lambda a, b: (a > b) & (a != 0),
    lambda a, b: np.where(a > b, a, b),
    lambda a, b: np.clip(a, -1, 2).astype("f4"),
    lambda a, b: np.maximum(a, b).sum(),
    lambda a, b: (a - b).mean(axis=0),
    lambda a, b: a.std(axis=1, keepdims=True),
    lambda a, b: a.var(),
    lambda a, b: np.max(a * b, axis=1),
    lambda a, b: np.any(a > 2, axis=0),
    lambda a, b: np.prod(a, axis=0),
    lambda a, b: np.argmax(a, axis=1),
    lambda a, b: a @ b.T,
    lambda a, b: np.tensordot(a, b, axes=2),
    lambda a, b: a[1:, ::-1],
    lambda a, b: a[-1, 0] + a.T[0],
    lambda a, b: a[None, :, 1:2],
    lambda a, b: np.concatenate([a, b], axis=1),
    lambda a, b: np.stack([a, b]),
    lambda a, b: np.nansum(np.where(b < 0, np.nan, b), axis=0),
    lambda a, b: np.nanmean(a),
    lambda a, b: np.nanstd(a, axis=1),
    lambda a, b: np.nanmax(b, axis=0),
    lambda a, b: np.nanmin(b),
    lambda a, b: np.count_nonzero(a, axis=1),
    lambda a, b: a[a > 2],
    lambda a, b: a[np.any(b > 0, axis=1)],
    lambda a, b: np.pad(a, 1, constant_values=3),
    lambda a, b: np.roll(a, 1, axis=0),
    lambda a, b: np.cumsum(a, axis=0),
    lambda a, b: np.cumprod(b, axis=1),
    lambda a, b: np.nanvar(np.where(b == 0.5, np.nan, b), axis=1),
    lambda a, b: np.interp(b, [0.0, 2.0], [1.0, 5.0]),
    lambda a, b: np.histogram(a, bins=[0.0, 3.0, 20.0])[0],
    lambda a, b: np.digitize(b, [0.0, 2.0]),
    lambda a, b: np.searchsorted([0.0, 2.0], b),
    lambda a, b: np.isin(a, [1.0, 2.0]),
    lambda a, b: np.fft.fft(a, axis=1),
    lambda a, b: np.linalg.norm(a, axis=0),
    lambda a, b: np.linalg.inv(b[:2, :2]),
    lambda a, b: np.diag(a[0]),
]


def _to_devices() -> dict[str, Callable[[Any], Any]]:
    """Return the stand-in's conversion, and CuPy's where there is a GPU."""
    found: dict[str, Callable[[Any], Any]] = {"stand-in": to_device}
    with contextlib.suppress(ImportError):
        import cupy

        if cupy.cuda.is_available():
            found["cupy"] = cupy.asarray
    return found


TO_DEVICES = _to_devices()


@pytest.mark.parametrize("library", TO_DEVICES)
@pytest.mark.parametrize("path", range(len(PATHS)))
@draws(8)
@given(data=st.data())
def test_blocks_stay_on_the_device(path: int, library: str, data: st.DataObject) -> None:
    """Elementwise functions, reductions, products and indices equal NumPy's, block by block."""
    func = PATHS[path]
    shape = data.draw(st.sampled_from([(3, 4), (4, 3), (2, 5)]))
    arrays = [np.arange(12.0)[: shape[0] * shape[1]].reshape(shape) for _ in range(2)]
    arrays[1] = arrays[1][::-1] - 3.5
    lazies = [
        wrap(ToDevice(mt.tensor(x, chunks=data.draw(chunkings(shape))).node, TO_DEVICES[library]))
        for x in arrays
    ]
    with grids(merged=data.draw(st.booleans())):
        found = func(*lazies).compute()
        assert is_foreign(found)
        expected = func(*arrays)
        np.testing.assert_allclose(found.get(), expected, rtol=1e-5)
        assert found.dtype == np.asarray(expected).dtype


def test_large_blocks_take_the_same_paths() -> None:
    """What NumPy's blocks are cut into tiles for is left to the device whole."""
    lazy = wrap(ToDevice(mt.ones((1000, 1000), chunk_size=700).node, to_device))
    assert (lazy * 2 + 1).sum().compute().get() == 3e6
    assert lazy.std(axis=0).compute().get().max() == 0
    moved = (lazy + lazy).to_cpu().compute()
    assert isinstance(moved, np.ndarray)
    assert moved[0, 0] == 2


def test_kinds_of_blocks() -> None:
    """Foreign arrays are those that answer NumPy's functions and are not NumPy's."""
    assert [is_foreign(x) for x in (OnDevice([1]), np.ones(1), np.float64(1), 1, [1])] == [
        True,
        *(False,) * 4,
    ]
    assert [is_array(x) for x in (OnDevice([1]), np.ones(1), np.float64(1), 1)] == [
        *(True,) * 3,
        False,
    ]
    assert isinstance(as_array(OnDevice([1]), np.float32), OnDevice)
    assert isinstance(as_array([1]), np.ndarray)
    assert in_memory(OnDevice([1])).tolist() == [1]
    assert operator.index(in_memory(np.int64(3))) == 3
