"""Business days and dates as text, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_like_numpy

DAYS = np.array(["2024-01-01", "2024-01-06", "2024-02-29", "2024-12-25"], "M8[D]")
OFF = np.array(["2024-12-25"], "M8[D]")

CASES: dict[str, Any] = {
    "is_busday": lambda xp, a: xp.is_busday(a),
    "weekmask": lambda xp, a: xp.is_busday(a, weekmask="Sat Sun", holidays=OFF),
    "calendar": lambda xp, a: xp.is_busday(a, busdaycal=np.busdaycalendar(holidays=OFF)),
    "text": lambda xp, a: xp.is_busday(["2024-01-01", "2024-01-07"]),
    "two calendars": lambda xp, a: xp.is_busday(
        a, holidays=OFF, busdaycal=np.busdaycalendar(holidays=OFF)
    ),
    "count": lambda xp, a: xp.busday_count(a, "2025-01-01", holidays=OFF),
    "offset": lambda xp, a: xp.busday_offset(a, 2, roll="forward"),
    "offset by position": lambda xp, a: xp.busday_offset(a, xp.arange(4), "backward", "1111111"),
    "offset raises": lambda xp, a: xp.busday_offset(a, 2),
    "keyword": lambda xp, a: xp.busday_offset(a, 2, nonsense=1),
    "as string": lambda xp, a: xp.datetime_as_string(a),
    "as months": lambda xp, a: xp.datetime_as_string(a, unit="M"),
    "as seconds": lambda xp, a: xp.datetime_as_string(a, unit="s", timezone="UTC"),
}


@pytest.mark.parametrize("chunks", [((4,),), ((1, 0, 3),)])
@pytest.mark.parametrize("name", CASES)
def test_equals_numpy(name: str, chunks: Any) -> None:
    """Values and types, or the type of the error."""
    assert_like_numpy(CASES[name], (DAYS, chunks))


def test_out() -> None:
    """``out=`` rebinds a tensor."""
    out = mt.zeros(4, dtype=bool)
    assert mt.is_busday(mt.tensor(DAYS, chunk_size=2), out=out) is out
    np.testing.assert_array_equal(out.compute(), np.is_busday(DAYS))


@pytest.mark.parametrize(
    "weekmask", ["1111000", [1, 1, 1, 1, 0, 0, 0], np.array([True] * 4 + [False] * 3)]
)
@pytest.mark.parametrize("lazy", [False, True])
def test_weekmasks(weekmask: Any, lazy: bool) -> None:
    """Texts, lists, arrays and tensors of seven truth values."""
    days = np.arange("2020-01-01", "2020-01-20", dtype="M8[D]")
    mask = mt.tensor(weekmask, chunk_size=3) if lazy and not isinstance(weekmask, str) else weekmask
    result = mt.is_busday(mt.tensor(days, chunk_size=7), weekmask=mask)
    np.testing.assert_array_equal(result.compute(), np.is_busday(days, weekmask=weekmask))
    with pytest.raises(ValueError, match="Cannot supply both"):
        mt.is_busday(mt.tensor(days), weekmask=mask, busdaycal=np.busdaycalendar())
