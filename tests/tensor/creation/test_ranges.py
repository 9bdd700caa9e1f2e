"""Values along a line or a curve, against NumPy."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_like_numpy, assert_same

ROWS = [[0, 1, 2], [3, -4, 2]]
CASES: dict[str, Any] = {
    "geomspace": lambda xp: xp.geomspace(1, 1000, 4),
    "open": lambda xp: xp.geomspace(1, 1000, 5, endpoint=False),
    "negative": lambda xp: xp.geomspace(-1, -1000.5, 4),
    "integers": lambda xp: xp.geomspace(1, 256, 9, dtype=int),
    "single": lambda xp: xp.geomspace(np.float32(1), np.float32(8), 4),
    "none": lambda xp: xp.geomspace(1, 8, 0),
    "zero": lambda xp: xp.geomspace(0, 8),
    "complex": lambda xp: xp.geomspace(1j, 16j, 5),
    "curves": lambda xp: xp.geomspace([1, -2], [1000, -20], 4, axis=-1),
    "curves to one": lambda xp: xp.geomspace([[1], [2]], [100, 200, 300], 3, endpoint=False),
    "lines": lambda xp: xp.linspace(ROWS, 5, 4),
    "lines axis": lambda xp: xp.linspace(0, xp.asarray(ROWS), 4, axis=1, endpoint=False),
    "lines step": lambda xp: [*map(xp.asarray, xp.linspace([0, 1], 1, 4, axis=-1, retstep=True))],
    "lines of integers": lambda xp: xp.linspace([0, -9.5], [7, 1], 5, dtype=int),
    "one of lines": lambda xp: xp.linspace([0, 1], 1, 1),
    "none of lines": lambda xp: xp.linspace([0, 1], 1, 0),
    "lines axis 2": lambda xp: xp.linspace([0, 1], 1, 3, axis=2),
    "single lines": lambda xp: xp.linspace(np.zeros(2, "f4"), 1, 4),
    "half lines step": lambda xp: xp.linspace(np.zeros(2, "f2"), 1.5, 4, retstep=True)[1].dtype,
    "an end of no axes": lambda xp: xp.linspace(xp.asarray(0.5), 1, 4),
    "powers of no axes": lambda xp: xp.logspace(1, xp.asarray(3.0), 4),
    "lines that do not fit": lambda xp: xp.linspace([0, 1], [1, 2, 3], 3),
    "integer": lambda xp: xp.linspace(0, 10, 4, dtype="i4"),
    "negative number": lambda xp: xp.linspace(0, 1, -1),
    "powers": lambda xp: xp.logspace(0, 2, 5),
    "powers axis": lambda xp: xp.logspace([0, 1], [2, 3], 5, axis=1, dtype="f4"),
    "bases": lambda xp: xp.logspace(0, 2, 3, base=[2, 3], axis=-1),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy(name: str) -> None:
    """Values and types, or the type of the error."""
    assert_like_numpy(CASES[name])


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("ends", [(0, 1), (3, 3), (5, -2.5), (0, 1j), (np.float32(0), 1)])
@pytest.mark.parametrize("num", [0, 1, 2, 7])
def test_linspace(ends: tuple[Any, Any], num: int, endpoint: bool) -> None:
    """Every value is NumPy's exactly."""
    assert_same(mt.linspace(*ends, num, endpoint, chunk_size=3), np.linspace(*ends, num, endpoint))


def test_a_step_is_a_number() -> None:
    """It goes through what executes and fetches the values."""
    values, step = found = mt.linspace(0, 1, 5, chunk_size=2, retstep=True)
    assert step == 0.25
    assert found.execute() is found
    for fetched in (found.fetch(), found.compute(), *dask.compute(found), *dask.persist(found)):
        assert_same(mt.tensor(fetched[0]), np.linspace(0, 1, 5))
        assert fetched[1] == 0.25
    assert values.fetch().tolist() == [0, 0.25, 0.5, 0.75, 1]
