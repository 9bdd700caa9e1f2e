"""Keywords of NumPy's, each with a value that is not its default, where there was a gap once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.strategies import assert_like_numpy

CASES: dict[str, Any] = {
    "clip dtype": lambda xp, n, b: xp.clip(n, -2, 3, dtype="f4"),
    "cov weights": lambda xp, n, b: xp.cov(b, aweights=[1.0, 2, 3, 4], dtype="f4"),
    "isin table": lambda xp, n, b: xp.isin(b, n, kind="table"),
    "isin table of integers": lambda xp, n, b: xp.isin(n, n[0], kind="table"),
    "take wrap": lambda xp, n, b: xp.take(n, [0, 99, -7], mode="wrap", axis=0),
    "take clip": lambda xp, n, b: xp.take(n, [0, 99, -99], mode="clip"),
    "take computed": lambda xp, n, b: xp.take(n, abs(n) * 3, axis=1, mode="wrap"),
    "take mode": lambda xp, n, b: xp.take(n, [0], mode="nonsense"),
    "take out": lambda xp, n, b: xp.take(n, [0, 3], axis=0, out=xp.zeros((2, 4), dtype="i8")),
    "pad odd": lambda xp, n, b: xp.pad(n, ((2, 3), (0, 1)), mode="reflect", reflect_type="odd"),
    "pad odd symmetric": lambda xp, n, b: xp.pad(b, 3, mode="symmetric", reflect_type="odd"),
    "ravel as it lies": lambda xp, n, b: xp.ravel(n, order="K"),
    "matmul dtype": lambda xp, n, b: xp.matmul(n, b.T, dtype="f4"),
    "unique sorted": lambda xp, n, b: xp.unique(n, sorted=True),
    "std mean": lambda xp, n, b: b.std(axis=0, mean=xp.mean(b, axis=0, keepdims=True)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("step", [2, 3])
def test_equals_numpy(name: str, step: int) -> None:
    """Values, types and shapes, or the type of the error."""
    rng = np.random.default_rng(0)
    pieces = [(step,) * (6 // step), (step, 4 - step)]
    cases = [(rng.integers(-5, 9, (6, 4)), pieces), (rng.random((6, 4)), pieces)]
    assert_like_numpy(CASES[name], *cases, rtol=1e-6)
