"""Functions with several results: what they return executes as a whole, as in Mars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.collection import ExecutableList

CASES: dict[str, Any] = {
    "array_split": lambda xp, a: xp.array_split(a, 3),
    "split": lambda xp, a: xp.split(a, [1, 3]),
    "hsplit": lambda xp, a: xp.hsplit(a, 2),
    "unstack": lambda xp, a: xp.unstack(a),
    "nonzero": lambda xp, a: xp.nonzero(a > 3),
    "where": lambda xp, a: xp.where(a > 3),
    "modf": lambda xp, a: xp.modf(a / 2),
    "frexp": lambda xp, a: xp.frexp(a),
    "divmod": lambda xp, a: xp.divmod(a, 3),
    "atleast_1d": lambda xp, a: xp.atleast_1d(a, 1),
    "broadcast_arrays": lambda xp, a: xp.broadcast_arrays(a, a[0]),
    "meshgrid": lambda xp, a: xp.meshgrid(a[0], a[1]),
    "meshgrid sparse": lambda xp, a: xp.meshgrid(a[0], a[1], sparse=True),
    "unravel_index": lambda xp, a: xp.unravel_index(xp.argmax(a), (5, 4)),
    "diag_indices": lambda xp, a: xp.diag_indices(3),
    "tril_indices": lambda xp, a: xp.tril_indices(3),
    "ix_": lambda xp, a: xp.ix_([0, 1], [2, 3]),
    "ogrid": lambda xp, a: xp.ogrid[:2, :3],
    "histogram": lambda xp, a: xp.histogram(a, 3),
    "unique": lambda xp, a: xp.unique(a, return_counts=True),
    "histogram2d": lambda xp, a: xp.histogram2d(a[0], a[1], 3),
    "average": lambda xp, a: xp.average(a, 0, returned=True),
    "gradient": lambda xp, a: xp.gradient(a),
    "polyfit": lambda xp, a: xp.polyfit(a[:, 0], a[:, 1] ** 2, 1, cov=True),
    "qr": lambda xp, a: xp.linalg.qr(a),
}


@pytest.mark.parametrize("name", CASES)
def test_results_execute_together(name: str) -> None:
    """One call computes all of them, and each is NumPy's."""
    x = np.arange(20.0).reshape(5, 4)
    lazy = CASES[name](mt, mt.tensor(x, chunk_size=2))
    kinds = {list: ExecutableList, tuple: marsdask.ExecutableTuple}
    assert isinstance(lazy, kinds[list if isinstance(CASES[name](np, x), list) else tuple])
    got, want = lazy.execute().fetch(), CASES[name](np, x)
    assert len(got) == len(want)
    for value, expected in zip(got, want, strict=True):
        if name == "qr":
            assert value.shape == expected.shape  # signs are LAPACK's business
        else:
            np.testing.assert_allclose(value, expected, atol=1e-9)
            assert value.dtype == np.asarray(expected).dtype
