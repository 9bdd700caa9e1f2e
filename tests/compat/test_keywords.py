"""What becomes of keywords that libraries have given up, or that are Mars's own."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from marsdask.compat.keywords import LeftOut, Named, Only, Renamed, Way, taking


def added(first: int, second: int = 0) -> int:
    return first + second


OLD: dict[str, Any] = {
    "left": LeftOut("leave it out"),
    "renamed": Renamed("second"),
    "way": Way(("slow", "fast")),
    "only": Only((None, False), "use True elsewhere"),
    "named": Named("second"),
}


@pytest.mark.parametrize(
    ("given", "result", "warns"),
    [
        ({"left": None}, 1, True),
        ({"renamed": 3}, 4, True),
        ({"way": "fast"}, 1, False),
        ({"only": False, "way": "slow"}, 1, False),
        ({"named": 5}, 6, False),
        ({"named": None}, 1, False),
        ({"second": 2}, 3, False),
    ],
    ids=str,
)
def test_keywords(given: dict[str, Any], result: int, warns: bool) -> None:
    """Each has its effect, and what is gone warns."""
    func = taking(added, "added", OLD)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert func(1, **given) == func(first=1, **given) == result
    assert [str(item.message).startswith("added(") for item in seen] == [True] * 2 * warns


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"way": "guess"}, ValueError, "way must be one of 'slow', 'fast', got 'guess'"),
        ({"only": True}, NotImplementedError, "only=True is not supported; use True elsewhere"),
        ({"nope": 1}, TypeError, "nope"),
    ],
    ids=str,
)
def test_bad_keywords(given: dict[str, Any], error: type[Exception], words: str) -> None:
    """They are refused by name."""
    with pytest.raises(error, match=words):
        taking(added, "added", OLD)(1, **given)
