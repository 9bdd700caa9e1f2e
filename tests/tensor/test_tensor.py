"""The Tensor: attributes, operators, and values where Python asks for one."""

from __future__ import annotations

import inspect
import operator
from functools import partial
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same, tensor_of

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
ARRAY = np.array([[3, 1, 2], [5, 4, 7]])


def lazy() -> mt.Tensor:
    """Return a tensor over ARRAY in ragged chunks."""
    tensor: mt.Tensor = tensor_of(ARRAY, ((1, 1), (2, 1)))
    return tensor


@pytest.mark.parametrize("name", BINARY + BITS + COMPARISONS)
def test_operators(name: str) -> None:
    """Operators work with scalars, arrays and tensors on either side."""
    func = getattr(operator, name)
    assert_same(func(lazy(), 2), func(ARRAY, 2))
    assert_same(func(2, lazy()), func(2, ARRAY))
    assert_same(func(lazy(), ARRAY), func(ARRAY, ARRAY))
    assert_same(func(ARRAY, lazy()), func(ARRAY, ARRAY))
    assert_same(func(lazy(), lazy()), func(ARRAY, ARRAY))


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, -1.0, 3])
@pytest.mark.parametrize("dtype", ["i4", "f4", "c16", "?"])
def test_powers(dtype: str, exponent: float) -> None:
    """The short ways to squares and roots give what NumPy's operator gives."""
    array = ARRAY.astype(dtype)
    assert_same(mt.tensor(array, chunk_size=2) ** exponent, array**exponent, rtol=1e-6)


@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
def test_unary_operators(name: str) -> None:
    """Unary operators are elementwise."""
    func = getattr(operator, name)
    assert_same(func(lazy()), func(ARRAY))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "ifloordiv", "imod", "ior", "ilshift"])
def test_inplace_operators(name: str) -> None:
    """``x += 1`` changes this tensor and not what was made from it before."""
    tensor = lazy()
    before = tensor + 0
    same = tensor
    changed = getattr(operator, name)(tensor, 2)
    assert changed is same
    assert_same(changed, getattr(operator, name)(ARRAY.copy(), 2))
    assert_same(before, ARRAY)


def test_inplace_operators_keep_type_and_shape() -> None:
    """As in NumPy, a result of another kind or a larger shape does not fit."""
    tensor = lazy()
    with pytest.raises(TypeError, match="same_kind"):
        tensor /= 2
    with pytest.raises(ValueError, match="output operand"):
        tensor += np.ones((4, 2, 3), int)


@pytest.mark.parametrize("other", ["a", np.array(["a", "b", "c"]), np.datetime64(0, "s")])
def test_types_that_cannot_be_compared(other: Any) -> None:
    """Have no equal elements, as in NumPy; other comparisons are refused."""
    assert_same(lazy() == other, other == ARRAY)
    assert_same(lazy() != other, other != ARRAY)
    assert not mt.array_equal(lazy()[0], np.array(["a", "b", "c"]))
    with pytest.raises(TypeError, match="less"):
        lazy() < other  # noqa: B015 - refused at the call


def test_divmod() -> None:
    """``divmod`` gives two tensors."""
    for mine, other in zip(divmod(lazy(), 2), divmod(ARRAY, 2), strict=True):
        assert_same(mine, other)


def test_attributes() -> None:
    """What a tensor tells without running anything."""
    tensor = lazy()
    assert (tensor.size, tensor.ndim, tensor.itemsize, tensor.nbytes) == (6, 2, 8, 48)
    assert tensor.shape == (2, 3)
    with pytest.raises(TypeError, match="unhashable"):
        hash(tensor)


def test_methods_show_what_they_take() -> None:
    """By name, as the functions do."""
    assert [*inspect.signature(lazy().argmax).parameters][:3] == ["axis", "out", "keepdims"]
    assert inspect.signature(lazy().sum) == inspect.signature(partial(mt.sum, lazy()))


def test_the_truth_of_one_element() -> None:
    """``bool`` computes one element and refuses to guess for more or fewer."""
    assert bool(mt.ones(10).sum() == 10)
    assert not bool(mt.zeros((1, 1)))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(lazy() == lazy())
    with pytest.raises(ValueError, match="empty"):
        bool(mt.ones(0))


def test_conversions_compute() -> None:
    """Numbers, indices, lists and membership are computed."""
    total = lazy().sum()
    assert int(total) == 22
    assert float(total) == 22.0
    assert complex(total) == 22
    assert list(range(30))[total] == 22
    assert total.item() == 22
    assert lazy().tolist() == ARRAY.tolist()
    assert 7 in lazy()
    assert 8 not in lazy()
    with pytest.raises(TypeError, match="0-dimensional"):
        float(lazy())
    with pytest.raises(TypeError, match="integer"):
        operator.index(lazy().mean())


def test_length() -> None:
    """``len`` is the first axis; a 0-d tensor has none."""
    assert len(lazy()) == 2
    with pytest.raises(TypeError, match="unsized"):
        len(lazy().sum())
    with pytest.raises(TypeError, match="0-d"):
        iter(lazy().sum())


def test_foreign_operands_decide_for_themselves() -> None:
    """An object that opts out of NumPy's protocol gets its reflected method called."""

    class Foreign:
        __array_ufunc__ = None

        def __radd__(self, other: object) -> str:
            return "mine"

    assert lazy() + Foreign() == "mine"
