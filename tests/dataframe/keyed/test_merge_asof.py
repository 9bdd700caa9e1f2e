"""Merges of ordered frames are pandas's, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.coalesce

#: The two libraries, whose stubs do not take arguments from tables.
LAZY: Any = md
EAGER: Any = pd

RNG = np.random.default_rng(4)
LEFT = pd.DataFrame(
    {
        "t": np.sort(RNG.integers(0, 30, 12)),
        "g": RNG.choice(["a", "b"], 12),
        "x": range(12),
    }
)
RIGHT = pd.DataFrame(
    {
        "t": np.sort(RNG.integers(3, 30, 9)),
        "g": RNG.choice(["a", "b", "c"], 9),
        "x": range(9),
        "y": np.where(RNG.random(9) < 0.3, np.nan, 1.5),
    }
)

NEAREST: dict[str, Any] = {
    "on": {"on": "t"},
    "by": {"on": "t", "by": "g"},
    "names": {"left_on": "t", "right_on": "t", "left_by": "g", "right_by": "g"},
    "forward": {"on": "t", "direction": "forward", "allow_exact_matches": False},
    "nearest": {"on": "t", "direction": "nearest", "tolerance": 1, "suffixes": ("_l", None)},
}
ORDERED: dict[str, Any] = {
    "outer": {"on": "t"},
    "all shared": {},
    "inner": {"on": ["t", "g"], "how": "inner"},
    "left": {"on": "t", "how": "left", "suffixes": ("", "_r")},
    "filled": {"on": "t", "fill_method": "ffill"},
    "groups": {"on": "t", "left_by": "g", "fill_method": "ffill"},
    "names": {"left_on": "x", "right_on": "t"},
}


def sides() -> list[tuple[Any, Any]]:
    """Return lazy sides in chunks of any lengths, executed or not, of unknown lengths."""
    found = []
    for mine, theirs in (((12,), (9,)), ((5, 0, 7), (1, 8)), ((1,) * 12, (4, 5))):
        left, right = (
            md.DataFrame(one, chunk_size=(sizes,)) for one, sizes in ((LEFT, mine), (RIGHT, theirs))
        )
        found.append((left, right))
    return [*found, (found[1][0].execute(), found[1][1][found[1][1].x >= 0])]


@pytest.mark.parametrize("name", NEAREST)
def test_nearest(name):
    """By one key, within groups, in all directions; rows without a match too."""
    for left, right in sides():
        equal(
            LAZY.merge_asof(left, right, **NEAREST[name]),
            EAGER.merge_asof(LEFT, RIGHT, **NEAREST[name]),
        )


def test_nearest_labels():
    """Labels may be the keys; they stay."""
    left, right = (one.set_index("t") for one in (LEFT, RIGHT))
    lazy = [md.DataFrame(one, chunk_size=4) for one in (left, right)]
    both = {"left_index": True, "right_index": True}
    equal(LAZY.merge_asof(*lazy, **both), EAGER.merge_asof(left, right, **both))
    one: Any = {"left_index": True, "right_on": "t"}
    equal(
        LAZY.merge_asof(lazy[0], md.DataFrame(RIGHT, chunk_size=4), **one),
        EAGER.merge_asof(left, RIGHT, **one),
    )


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_keys_of_the_right_beside_labels_of_the_left(rows):
    """They are the left labels in all rows if one of them has no match."""
    left = pd.DataFrame({"v": range(4)}, index=pd.to_datetime([1, 3, 5, 8], unit="D"))
    times = pd.to_datetime([2, 4, 7], unit="D")
    for first in (0, 1):
        right = pd.DataFrame(
            {"t": times.insert(0, left.index[0])[1 - first :], "w": range(3 + first)}
        )
        lazy = (md.DataFrame(side, chunk_size=rows) for side in (left, right))
        how: Any = {"left_index": True, "right_on": "t"}
        with option_context({"coalesce": False}):
            result = LAZY.merge_asof(*lazy, **how).compute()
        pd.testing.assert_frame_equal(result, EAGER.merge_asof(left, right, **how))


def test_nearest_of_few_rows():
    """All rows have a match, none has, or there are none."""
    for left, right in ((LEFT[LEFT.t > 20], RIGHT), (LEFT, RIGHT[:0]), (LEFT[:0], RIGHT)):
        lazy = [md.DataFrame(one, chunk_size=3) for one in (left, right)]
        wanted = EAGER.merge_asof(left, right, on="t")
        equal(LAZY.merge_asof(*lazy, on="t"), wanted, check_dtype=len(wanted) > 0)


def test_nearest_errors():
    """Keys that fall across chunks are found; types that differ raise at the call."""
    lazy = md.DataFrame(LEFT.iloc[[6, 7, 8, 0, 1, 2]], chunk_size=3)
    found = LAZY.merge_asof(lazy, md.DataFrame(RIGHT), on="t")
    with pytest.raises(ValueError, match="left keys must be sorted"):
        found.compute()
    with pytest.raises(ValueError, match="incompatible merge keys"):
        LAZY.merge_asof(lazy, md.DataFrame(RIGHT.astype({"t": float})), on="t")
    with pytest.raises(ValueError, match="direction invalid"):
        LAZY.merge_asof(lazy, md.DataFrame(RIGHT), on="t", direction="up")


@pytest.mark.parametrize("how", [{"on": "t"}, {"left_on": "t", "right_on": "t"}])
def test_levels_of_labels_are_refused(how):
    """Pandas takes a named level of the labels for a key."""
    lazy = md.DataFrame(LEFT.set_index("t"))
    with pytest.raises(NotImplementedError, match="reset_index"):
        LAZY.merge_asof(lazy, md.DataFrame(RIGHT), **how)


@pytest.mark.parametrize("name", ORDERED)
def test_ordered(name):
    """In the order of the keys, with gaps filled or not."""
    wanted = EAGER.merge_ordered(LEFT, RIGHT, **ORDERED[name])
    for left, right in sides():
        equal(LAZY.merge_ordered(left, right, **ORDERED[name]), wanted)


TYPED = pd.DataFrame(
    {
        "t": pd.to_datetime([1, 2, 3], unit="D"),
        "b": [True, False, True],
        "i": [1, 2, 3],
        "f": [1.0, 2, 3],
    }
)

#: Changes of a key whose type all rows decide.
OPEN: dict[str, Any] = {
    "gaps": lambda x: x.assign(b=x.b.where(x.i > 1)),
    "no gaps": lambda x: x.assign(b=x.b.where(x.i > 0)),
    "shifted": lambda x: x.assign(b=x.b.shift(1)),
    "merged": lambda x: x.drop(columns="b").merge(x[["i", "b"]], on="i", how="left"),
}


@pytest.mark.parametrize("name", OPEN)
def test_keys_whose_type_rows_decide(name: str) -> None:
    """Keys that may have gaps meet those of their type without any, and others raise."""
    change = OPEN[name]
    for count, kind in ((0, "bool"), (1, "bool"), (3, "bool"), (3, "object")):
        other: Any = TYPED[["t", "b", "f"]].astype({"b": kind})
        rows: Any = change(TYPED[TYPED.i <= count])
        lazy: Any = md.DataFrame(TYPED, chunk_size=1)
        lazy = change(lazy[lazy.i <= count])
        try:
            wanted = EAGER.merge_asof(rows, other, on="t", by="b")
        except pd.errors.MergeError:
            with pytest.raises(pd.errors.MergeError):
                LAZY.merge_asof(lazy, md.DataFrame(other), on="t", by="b").compute()
            continue
        with option_context({"coalesce": False}):
            equal(LAZY.merge_asof(lazy, md.DataFrame(other), on="t", by="b"), wanted)
