"""Signatures show what functions take, by the names of NumPy and of the array API."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same

REDUCTIONS = (
    *("all", "any", "count_nonzero", "max", "mean", "min", "nanmax", "nanmean", "nanmin"),
    *("nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp", "std", "sum", "var"),
)
CREATION = {
    **dict.fromkeys(("empty", "identity", "ones", "zeros"), (2,)),
    **dict.fromkeys(("empty_like", "ones_like", "zeros_like", "asarray"), ([1.0, 2.0],)),
    **dict.fromkeys(("arange", "eye", "tri"), (2,)),
    "full": (2, 3.0),
    "full_like": ([1.0, 2.0], 3.0),
    "linspace": (0, 1),
}
X = np.array([[1.0, 2.0], [4.0, 3.0]])


def left_out(name: str) -> dict[str, object]:
    """Return what the signature shows for each parameter that may be left out."""
    shown = inspect.signature(getattr(mt, name)).parameters.values()
    assert inspect.Parameter.VAR_KEYWORD not in [parameter.kind for parameter in shown]
    return {p.name: p.default for p in shown if p.default is not inspect.Parameter.empty}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    """Every keyword shown is taken, at its default; others are refused."""
    given = left_out(name)
    assert_same(getattr(mt, name)(mt.asarray(X), **given), getattr(np, name)(X))
    with pytest.raises(TypeError, match="nonsense"):
        getattr(mt, name)(X, nonsense=1)


@pytest.mark.parametrize("name", CREATION)
def test_creation(name: str) -> None:
    """Every keyword shown is taken, at its default, ``device`` and Dask's ``chunks`` among them."""
    given = left_out(name)
    assert {"dtype", "device", "chunks"} <= set(given)
    begun = len(CREATION[name]) if name == "arange" else 0
    found = getattr(mt, name)(*CREATION[name], **dict(list(given.items())[begun:]))
    expected = getattr(np, name)(*CREATION[name])
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    with pytest.raises(TypeError, match="nonsense"):
        getattr(mt, name)(*CREATION[name], nonsense=1)


def test_reshape() -> None:
    """The array API's ``copy`` is shown."""
    assert "copy" in left_out("reshape")
    assert_same(mt.reshape(X, (4,), copy=True), X.ravel())


@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_by_position(order: str) -> None:
    """NumPy's position of the order is taken, beside Mars's of the chunks."""
    like = np.ones((3, 4))
    calls: list[Callable[[Any, Any], Any]] = [
        lambda np, _: np.zeros((3, 4), int, order),
        lambda np, _: np.ones((3, 4), int, order),
        lambda np, _: np.empty((3, 4), int, order),
        lambda np, _: np.full((3, 4), 7, int, order),
        lambda np, _: np.eye(3, 4, 0, int, order),
        lambda np, x: np.zeros_like(x, int, order),
        lambda np, x: np.ones_like(x, int, order, True, (2, 3)),
        lambda np, x: np.empty_like(x, int, order),
        lambda np, x: np.full_like(x, 7, int, order, False, (2, 3)),
    ]
    for call in calls:
        found, expected = call(mt, mt.tensor(like, chunk_size=2)).compute(), call(np, like)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert found.flags.f_contiguous == expected.flags.f_contiguous
    assert mt.zeros((3, 4), int, 2).chunks == ((2, 1), (2, 2))
    assert mt.zeros_like(like, int, (2,)).shape == (2,)


def test_names_of_one_function() -> None:
    """What is one function under several names in NumPy is one here."""
    functions: dict[int, list[str]] = {}
    for name in dir(np):
        member = getattr(np, name)
        if callable(member) and not isinstance(member, type) and name in mt.__all__:
            functions.setdefault(id(member), []).append(name)
    several = [names for names in functions.values() if len(names) > 1]
    assert ["abs", "absolute"] in several
    assert [names for names in several if len({id(getattr(mt, name)) for name in names}) > 1] == []
