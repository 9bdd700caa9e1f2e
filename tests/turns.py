"""Which tests of a table are left out: parameters meet in pairs, and modes take turns."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

#: In this mode each test runs; others compute small data as one chunk mostly, or by an engine.
EVERY = "as given"

#: What the parameter of modes is called, in the fixtures of rooms.
MODES = ("frame_mode", "coalesce", "_coalesce")

#: At least every fourth of the tests of a table runs in each of the other modes, and the first.
TURNS = 4


def left_out(items: list[pytest.Item], profile: str = "ci") -> list[pytest.Item]:
    """Return the tests that only repeat pairs of parameters.

    Of a function marked ``in_turn(count)``, the parameter of ``count`` values takes turns: of each
    choice of the others one test remains. It meets each value of another if a third has as many
    values as it. Of a function with a mode, all tests remain in the mode ``EVERY``. In the others
    some remain, those of two parameters or more so that each value of each parameter is met.

    In the profile ``long`` all modes meet everything. In ``fast`` modes take turns.
    """
    numbers: dict[Any, dict[int, int]] = defaultdict(dict)
    turns = []
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        places = {}
        for name, value in params.items():
            known = numbers[_table(item, name)]
            places[name] = known.setdefault(id(value), len(known))
        turns.append((item, params, sum(places.values())))
    return [
        item
        for item, params, place in turns
        if place % _count(item, {name: numbers[_table(item, name)] for name in params}, profile)
    ]


def _table(item: pytest.Item, name: str) -> tuple[Any, str, str]:
    """Return what names a parameter of a function."""
    return item.parent, item.originalname, name  # type: ignore[attr-defined]  # a function


def _count(item: pytest.Item, numbers: dict[str, dict[int, int]], profile: str) -> int:
    """Return of how many tests one runs."""
    mark = item.get_closest_marker("in_turn")
    params: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    mode = next((name for name in MODES if name in params), None)
    if mode is not None and profile == "fast":
        return len(numbers[mode])
    if mark is not None:
        return int(mark.args[0])
    if mode is None or profile == "long" or params[mode] == EVERY:
        return 1
    sizes = sorted(len(values) for name, values in numbers.items() if name != mode)
    return min([TURNS, *sizes[-2:]]) if sizes else 1
