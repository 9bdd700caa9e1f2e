"""Running sums of products are those of the products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.tensor.linalg import contract, running


def laid(block: Any, order: str) -> Any:
    """Return the same matrix in another order in memory."""
    return np.asarray(block, order=order)  # type: ignore[call-overload]


@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_of_products(orders: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order in memory, of matrices with their transposes too, and what is not finite."""
    monkeypatch.setattr(running, "WORTH", 0)
    monkeypatch.setattr(running, "BAND", 3)
    rng = np.random.default_rng(0)
    lefts = [laid(rng.integers(-9, 9, (7, 5)).astype(dtype), orders[0]) for _ in range(3)]
    rights = [laid(rng.integers(-9, 9, (5, 8)).astype(dtype), orders[1]) for _ in range(3)]
    lefts[1][2, 3], rights[2][0, 0] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        wanted = sum(a @ b for a, b in zip(lefts, rights, strict=True))
        mirrored = sum(a @ a.T for a in lefts)
    np.testing.assert_array_equal(running.sum_of_products(lefts, rights), wanted)
    found = running.sum_of_products(lefts, [a.T for a in lefts])
    np.testing.assert_array_equal(found, mirrored)
    assert found.dtype == dtype


def test_what_blas_does_not_read() -> None:
    """One product, a small one, other types and views with gaps are left to NumPy."""
    large = np.ones((300, 300))
    assert running.sum_of_products([large], [large]) is None
    assert running.sum_of_products([large[:3]] * 2, [large] * 2) is None
    assert running.sum_of_products([large.astype(int)] * 2, [large] * 2) is None
    assert running.sum_of_products([np.ones((300, 900))[:, ::3]] * 2, [large] * 2) is None
    assert running.sum_of_products([large] * 2, [large] * 2) is not None


CALLS: dict[str, Any] = {
    "left": lambda a, b: a @ b.T,
    "right": lambda a, b: a.T @ b,
    "neither": lambda a, b: b @ a,
}


@pytest.mark.parametrize("name", CALLS)
def test_products_in_panels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors in many chunks multiply with each other and with themselves."""
    monkeypatch.setattr(running, "WORTH", 0)
    monkeypatch.setattr(contract, "HALVED", 8)
    call = CALLS[name]
    array = np.arange(400.0).reshape(20, 20)
    x = mt.tensor(array, chunk_size=(7, 6))
    np.testing.assert_array_equal(call(x, x).execute().fetch(), call(array, array))
    np.testing.assert_array_equal(call(x, x + 1).execute().fetch(), call(array, array + 1))
