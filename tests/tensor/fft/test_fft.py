"""Transforms equal NumPy's along every axis, over chunkings and dtypes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.tensor import fft
from marsdask.tensor.operands import as_node
from tests import grid_pairs
from tests.strategies import chunkings

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
REAL = {"rfft", "ihfft", "rfftn", "rfft2"}
RNG = np.random.default_rng(0)


_coalesce = grid_pairs.coalesce


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


def values(name, shape=(4, 6, 5), dtype="f8"):
    """Return numbers that the transform takes."""
    x = RNG.normal(size=shape).astype(dtype)
    return x if name in REAL else x + np.array(1j, "c8") * x[::-1]


def check(lazy, expected):
    """Assert equal shapes, dtypes and values."""
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(lazy.compute(), expected, atol=1e-4)


@pytest.mark.parametrize("name", ONE)
@given(data=st.data())
def test_one_axis(name, data):
    """Every axis, length and norm."""
    x = values(name, dtype=data.draw(st.sampled_from(["f4", "f8"])))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    axis = data.draw(st.integers(-3, 2))
    n = data.draw(st.sampled_from([None, 3, 9]))
    norm = data.draw(st.sampled_from([None, "ortho", "forward"]))
    check(getattr(fft, name)(lazy, n, axis, norm), getattr(np.fft, name)(x, n, axis, norm))


@pytest.mark.parametrize("name", MANY)
@given(data=st.data())
def test_many_axes(name, data):
    """Several axes in any order, with lengths or without."""
    x = values(name)
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    check(getattr(fft, name)(lazy), getattr(np.fft, name)(x))
    axes = data.draw(st.sampled_from([(0,), (0, 1), (2, 0)]))
    s = data.draw(st.sampled_from([None, (7, 4)[: len(axes)]]))
    check(getattr(fft, name)(lazy, s, axes), getattr(np.fft, name)(x, s, axes))


@given(chunks=chunkings((5, 6)))
def test_shifts_and_frequencies(chunks):
    """Halves are swapped and swapped back; frequencies are NumPy's."""
    x = RNG.normal(size=(5, 6))
    lazy = tensor(x, chunks)
    for axes in (None, 0, (1,)):
        check(fft.fftshift(lazy, axes), np.fft.fftshift(x, axes))
        check(fft.ifftshift(lazy, axes), np.fft.ifftshift(x, axes))
    target = tensor(np.zeros((5, 6), complex), chunks)
    assert fft.fft2(lazy, out=target) is target
    np.testing.assert_allclose(target.compute(), np.fft.fft2(x))
    assert fft.ifft(lazy, out=target) is target
    np.testing.assert_allclose(target.compute(), np.fft.ifft(x))
    check(fft.fftfreq(5, 0.1), np.fft.fftfreq(5, 0.1))
    check(fft.rfftfreq(6, chunk_size=2), np.fft.rfftfreq(6))
    for n in (2**20 + 1, 2**20 + 2):  # made by their chunks
        check(fft.fftfreq(n, 0.1), np.fft.fftfreq(n, 0.1))
        check(fft.rfftfreq(n, 0.1, chunk_size=2**18), np.fft.rfftfreq(n, 0.1))


def test_wrong_arguments_are_refused_at_the_call():
    """Axes, lengths, norms and dtypes are checked where they are written."""
    lazy = tensor(np.ones((3, 4)))
    with pytest.raises(np.exceptions.AxisError):
        fft.fft(lazy, axis=2)
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        fft.fft(lazy, 0)
    with pytest.raises(ValueError, match="norm"):
        fft.fft(lazy, norm="loud")
    with pytest.raises(TypeError, match="real"):
        fft.rfft(tensor(np.ones(3, complex)))
    with pytest.raises(ValueError, match="different lengths"):
        fft.fftn(lazy, (3,), (0, 1))


@pytest.mark.parametrize("name", ["fft", "irfft", "rfft", "hfft", "ihfft", "fftn", "rfft2"])
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "U2", "O"])
def test_only_numbers_are_transformed(name, dtype):
    """NumPy promotes nothing else to complex numbers."""
    x = np.zeros((2, 4), "i8").astype(dtype)
    with pytest.raises(TypeError):
        getattr(np.fft, name)(x)
    with pytest.raises(TypeError, match="numbers"):
        getattr(fft, name)(tensor(x))


@pytest.mark.parametrize("module", [np.fft, scipy.fft], ids=["numpy", "scipy"])
@pytest.mark.parametrize("name", ["fft", "irfft", "fft2", "rfftn"])
def test_wrapped_functions_are_called(name, module):
    """Results are those of the function, to the last bit."""
    x = RNG.normal(size=(4, 6)).astype("f4")
    func = getattr(module, name)
    lazy = fft.fft_wrap(func)(tensor(x, (4, 2)))
    np.testing.assert_array_equal(lazy.compute(), func(x), strict=True)


def test_wrapped_functions_of_fftpack():
    """Are told to be legacy, unless they are allowed."""
    x = RNG.normal(size=8)
    with pytest.warns(FutureWarning, match="legacy"):
        wrapped = fft.fft_wrap(scipy.fftpack.rfft)
    check(wrapped(tensor(x)), np.fft.rfft(x))
    check(fft.fft_wrap(scipy.fftpack.fft, allow_fftpack=True)(tensor(x)), np.fft.fft(x))


def test_axes_are_named_once():
    """Lengths want axes, as in NumPy, and no axis comes twice, as in SciPy."""
    x = values("fftn")
    with pytest.warns(DeprecationWarning, match="`axes` should not be `None`"):
        check(fft.fftn(tensor(x, 3), (3, 4)), np.fft.fftn(x, (3, 4), axes=(-2, -1)))
    with pytest.raises(ValueError, match="unique"):
        fft.fftn(tensor(x), axes=(0, 0))


@pytest.mark.parametrize("name", ["fft", "ifft", "ihfft", "fftn", "ifft2"])
def test_signs_of_zeros(name):
    """Imaginary parts of real signals' bins are zeros of NumPy's sign, which angles show."""
    signals = np.array([[-3, 1, 2, 1], [0, 1, 0, -1], [-1, 0, 0, 0], [0, 0, 0, 0.0]])
    found = getattr(mt.fft, name)(mt.tensor(signals, chunk_size=2))
    wanted = getattr(np.fft, name)(signals)
    np.testing.assert_array_equal(np.signbit(found.imag.compute()), np.signbit(wanted.imag))
    np.testing.assert_allclose(mt.angle(found).compute(), np.angle(wanted), 1e-12)
