"""Elementwise nodes: equal work is one node, operands are cut alike."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.tensor.elementwise.nodes import Elementwise, operand
from tests.strategies import assert_like_numpy


def test_equal_expressions_are_one_node() -> None:
    """The same function of the same operands is the same node; other constants make another."""
    x = mt.ones(5)
    assert (x + 1).node is (x + 1).node
    assert (x + 1).node is not (x + 1.0).node
    assert (x + 1).node is not (x + True).node


def test_an_array_is_cut_like_the_tensor_beside_it() -> None:
    """An array in memory makes no borders of its own."""
    x = mt.ones((6, 4), chunk_size=3)
    assert (x + np.ones((6, 4))).chunks == x.chunks
    assert (x + np.ones(4)).chunks == x.chunks


def test_operands() -> None:
    """Scalars stay what they are, arrays become nodes, 0-d arrays become scalars."""
    assert operand(2) == 2
    assert operand(np.float32(2)).dtype == np.float32
    assert operand(np.array(2, "f4")).dtype == np.float32
    assert operand(np.ones(3)).chunks == ((3,),)


def test_nodes_travel() -> None:
    """A node pickles to a node of the same name."""
    node = (mt.ones(5) * 2).node
    assert isinstance(node, Elementwise)
    assert pickle.loads(pickle.dumps(node)).name == node.name


def test_nan_is_a_constant_like_others() -> None:
    """Constants that are not equal to themselves still name equal work."""
    x = mt.ones(5)
    assert (x + np.nan).node is (x + np.nan).node


#: What NumPy lets numbers have an axis for.
OF_NUMBERS = ("argmax", "argmin", "nanargmin", "max", "cumsum", "cumprod", "nancumsum", "repeat")


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("axis", [0, -1])
def test_numbers_have_an_axis(name: str, axis: int) -> None:
    """As in NumPy."""
    more = (2,) if name == "repeat" else ()
    assert_like_numpy(lambda xp, x: getattr(xp, name)(x, *more, axis=axis), (np.array(3.0), ()))


#: What puts pieces together; NumPy keeps or changes the order of bytes, each in its own way.
JOINING = {
    "diag": lambda xp, x: xp.diag(x, 1),
    "insert": lambda xp, x: xp.insert(x, 1, 9),
    "pad": lambda xp, x: xp.pad(x, 2),
    "pad mean": lambda xp, x: xp.pad(x, 2, mode="mean"),
    "pad odd": lambda xp, x: xp.pad(x, 2, mode="reflect", reflect_type="odd"),
    "pad ramp": lambda xp, x: xp.pad(x, 2, mode="linear_ramp", end_values=7),
    "resize": lambda xp, x: xp.resize(x, 3),
    "resize longer": lambda xp, x: xp.resize(x, 12),
    "roll": lambda xp, x: xp.roll(x, 2),
    "sort": lambda xp, x: xp.sort(x),
    "tile": lambda xp, x: xp.tile(x, 3),
    "tril": lambda xp, x: xp.tril(x),
    "unique": lambda xp, x: xp.unique(x),
    "unique all": lambda xp, x: xp.unique_all(x),
    "unique along": lambda xp, x: xp.unique(x[:, None], axis=0),
}


@pytest.mark.parametrize("name", JOINING)
@pytest.mark.parametrize("dtype", [">i4", ">f8"])
def test_the_order_of_bytes_is_numpys(name: str, dtype: str) -> None:
    """What the type says is what the blocks have."""
    array = np.array([3, 1, 2, 3, 0], dtype)
    assert_like_numpy(JOINING[name], (array, ((2, 3),)), merged=False)
