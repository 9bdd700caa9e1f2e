"""Values around a tensor, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same


def fives(line: Any, pair: Any, axis: int, options: Any) -> None:
    """Put a value at both ends."""
    line[: pair[0]] = options.get("value", 5) + axis
    line[len(line) - pair[1] :] = 5


MODES: dict[str, Any] = {
    "zeros": lambda xp, a: xp.pad(a, 2),
    "constants": lambda xp, a: xp.pad(a, ((1, 0), (2, 3)), constant_values=((1, 2), (3, 4))),
    "edge": lambda xp, a: xp.pad(a, ((2, 1), (0, 3)), mode="edge"),
    "reflect": lambda xp, a: xp.pad(a, (1, 9), mode="reflect"),
    "symmetric": lambda xp, a: xp.pad(a, 3, mode="symmetric"),
    "wrap": lambda xp, a: xp.pad(a, {1: (2, 5)}, mode="wrap"),
    "mean": lambda xp, a: xp.pad(a, ((1, 2), (0, 1)), mode="mean"),
    "mean of some": lambda xp, a: xp.pad(a, 1, mode="mean", stat_length=((2, 9), (1, 3))),
    "maximum": lambda xp, a: xp.pad(a, 1, mode="maximum", stat_length=2),
    "minimum": lambda xp, a: xp.pad(a, 1, mode="minimum"),
    "maximum of none": lambda xp, a: xp.pad(a, 1, mode="maximum", stat_length=0),
    "odd of one infinite": lambda xp, a: xp.pad(
        a[:1, 0] * np.inf, 1, mode="reflect", reflect_type="odd"
    ),
    "median": lambda xp, a: xp.pad(a, 1, mode="median"),
    "linear_ramp": lambda xp, a: xp.pad(a, ((1, 2), (0, 3)), mode="linear_ramp"),
    "ramp to": lambda xp, a: xp.pad(a, 2, mode="linear_ramp", end_values=((5, -2), (0, 1))),
    "function": lambda xp, a: xp.pad(a, ((1, 2), (0, 1)), fives, value=7),
    "negative": lambda xp, a: xp.pad(a, -1),
    "unknown": lambda xp, a: xp.pad(a, 1, mode="nonsense"),
    "argument": lambda xp, a: xp.pad(a, 1, stat_length=2),
}


@pytest.mark.parametrize("name", MODES)
@given(case=arrays_and_chunks(dtypes=("i8", "f4", "c16"), min_dims=2, max_dims=2))
def test_modes_are_numpys(name: str, case: Any) -> None:
    """Each gives NumPy's values over any chunks, or the type of its error."""
    assert_like_numpy(MODES[name], case, rtol=1e-5)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("dtype", ["?", "u1", "f4", "m8[D]", "M8[D]"])
def test_odd_reflections_of_any_type(mode: str, dtype: str) -> None:
    """Truth values are numbers meanwhile, and times have no double."""
    values = np.array([1, 0, 0, 1, 1], "i8").astype(dtype)
    assert_like_numpy(
        lambda xp, a: xp.pad(a, 3, mode=mode, reflect_type="odd"), (values, ((2, 3),))
    )


def test_unknown_lengths() -> None:
    """Are waited for."""
    x = mt.arange(9, chunk_size=4)
    assert_same(mt.pad(x[x > 5], 1, mode="mean"), [7, 6, 7, 8, 7])


def test_empty() -> None:
    """What is around the elements is anything; the elements are where they should be."""
    x = mt.pad(mt.arange(5, chunk_size=2), (2, 1), mode="empty")
    assert x.shape == (8,)
    assert_same(x[2:-1], np.arange(5))


def test_long_odd_reflections_are_refused() -> None:
    """Rather than reflected once; one element is repeated as often as wanted."""
    with pytest.raises(NotImplementedError, match=r"use pad\(\) twice"):
        mt.pad(mt.ones(3), 3, mode="reflect", reflect_type="odd")
    assert_same(mt.pad(mt.ones(1), 3, mode="reflect", reflect_type="odd"), np.ones(7))


@pytest.mark.parametrize(
    ("values", "constant"),
    [
        (np.array(["x", "words"]), "abc"),
        (np.array([b"ab"]), b"xyz"),
        (np.array(["2000-01-01"], "M8[D]"), np.datetime64("2001-01-01T00", "ns")),
        (np.array([1], "m8[s]"), np.timedelta64(2, "m")),
        (np.array(["q", None], object), "zz"),
    ],
    ids=str,
)
def test_constants_of_other_types(values: Any, constant: Any) -> None:
    """Texts are padded with texts, times with times of any unit."""
    found = mt.pad(mt.tensor(values, chunk_size=1), 2, constant_values=constant).compute()
    wanted = np.pad(values, 2, constant_values=constant)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
