"""NumPy's protocols: functions of NumPy on tensors stay lazy, or say what to do instead."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same, tensor_of

ARRAY = np.arange(12.0).reshape(3, 4)


def lazy() -> mt.Tensor:
    """Return a tensor over ARRAY in ragged chunks."""
    tensor: mt.Tensor = tensor_of(ARRAY, ((2, 1), (1, 3)))
    return tensor


def test_ufuncs_are_lazy() -> None:
    """A NumPy ufunc of a tensor is a tensor."""
    assert isinstance(np.sin(lazy()), mt.Tensor)
    assert_same(np.add(ARRAY, lazy()), ARRAY + ARRAY)
    assert_same(np.float64(2) * lazy(), 2 * ARRAY)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_and"])
def test_reduce(name: str) -> None:
    """``ufunc.reduce`` is the reduction, along the first axis unless another is given."""
    ufunc = getattr(np, name)
    assert_same(ufunc.reduce(lazy()), ufunc.reduce(ARRAY))
    assert_same(ufunc.reduce(lazy(), axis=1), ufunc.reduce(ARRAY, axis=1))


def test_accumulate() -> None:
    """``ufunc.accumulate`` is the scan."""
    assert_same(np.add.accumulate(lazy(), axis=1), np.add.accumulate(ARRAY, axis=1))


def test_methods_without_a_lazy_form_are_refused() -> None:
    """What has no lazy form says what to do."""
    subtract: Any = np.subtract  # typed as if it had none
    with pytest.raises(NotImplementedError, match="compute"):
        subtract.reduce(lazy())
    with pytest.raises(NotImplementedError, match="compute"):
        np.roots(lazy())


def test_out_may_be_an_array_in_memory() -> None:
    """``array += tensor`` computes, since an array holds values."""
    target = ARRAY.copy()
    target += lazy()
    assert np.array_equal(target, 2 * ARRAY)
    assert isinstance(target, np.ndarray)


def test_a_reduction_fills_an_array_of_its_own_shape() -> None:
    """As NumPy's does; what a call returns may be repeated."""
    target = np.zeros(4)
    assert np.add.reduce(lazy(), out=target) is target
    assert np.array_equal(target, ARRAY.sum(axis=0))
    with pytest.raises(ValueError, match=r"shape \(4,\), not \(\)"):
        np.add.reduce(lazy(), axis=None, out=target)
    assert np.array_equal(target, ARRAY.sum(axis=0))


def test_functions_find_their_namesakes() -> None:
    """NumPy functions of tensors are the functions of this package."""
    assert_same(np.sum(lazy(), axis=0), ARRAY.sum(axis=0))
    assert_same(np.mean(lazy()), ARRAY.mean())
    assert_same(np.zeros_like(lazy()), np.zeros_like(ARRAY))
    assert_same(np.clip(lazy(), 1, 3), np.clip(ARRAY, 1, 3))
    assert_same(np.where(lazy() > 2, lazy(), 0), np.where(ARRAY > 2, ARRAY, 0))
    assert_same(np.cumsum(lazy(), axis=0), ARRAY.cumsum(axis=0))


def test_asarray_computes() -> None:
    """``np.asarray`` computes; ``copy=False`` cannot be kept."""
    assert np.array_equal(np.asarray(lazy()), ARRAY)
    assert np.asarray(lazy(), dtype="f4").dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(lazy(), copy=False)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="__buffer__ is asked for")
def test_there_are_no_buffers_of_tensors_before_python_3_12() -> None:
    """Only classes in C have them: the error is Python's."""
    with pytest.raises(TypeError, match="a bytes-like object is required, not 'Tensor'"):
        memoryview(lazy().execute())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="only classes in C have buffers")
@pytest.mark.parametrize("dtype", ["f8", "f2", "?", "c8", ">i4", "U3", "S2", "O", "i4,f8"])
def test_computed_tensors_have_buffers(dtype: str) -> None:
    """As their values do; before, NumPy would compute twice, and swallow errors and interrupts."""
    array = np.asfortranarray(np.arange(12).reshape(3, 4)).astype(dtype)
    tensor: Any = tensor_of(array, ((2, 1), (1, 3)))
    with pytest.raises(BufferError, match=r"not computed.*use execute\(\) first"):
        memoryview(tensor)
    view, wanted = memoryview(tensor.execute()), memoryview(tensor.compute())
    assert (view.format, view.shape) == (wanted.format, wanted.shape)
    assert view.readonly is not tensor.compute().flags.writeable
    for value in (np.asarray(view), np.asarray(tensor)):
        np.testing.assert_array_equal(value, array, strict=True)
        assert value.flags.writeable


@pytest.mark.skipif(sys.version_info < (3, 12), reason="only classes in C have buffers")
@pytest.mark.parametrize("dtype", ["M8[D]", "i4,m8[s]", np.dtypes.StringDType()])
def test_types_without_buffers_are_refused_as_by_numpy(dtype: Any) -> None:
    """Before they are computed: NumPy takes the array then."""
    tensor: Any = mt.zeros(3, dtype=dtype, chunk_size=2).execute()
    with pytest.raises(ValueError, match="cannot include dtype"):
        memoryview(tensor)
    np.testing.assert_array_equal(np.asarray(tensor), np.zeros(3, dtype), strict=True)


def test_the_namespace_is_the_module() -> None:
    """The array API's way to find functions."""
    assert lazy().__array_namespace__() is mt


def test_round():
    """Rounds one number, as NumPy's are rounded, and no array."""
    number = mt.tensor([1.25, 2.0]).mean()
    wanted = np.array([1.25, 2.0]).mean()
    assert round(number) == round(wanted)
    assert type(round(number, 1)) is type(round(wanted, 1))
    assert round(number, 1) == round(wanted, 1)
    with pytest.raises(TypeError):
        round(mt.ones(2))
