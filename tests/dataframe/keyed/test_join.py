"""Joins by row labels equal pandas's over chunkings, by broadcast and by shuffle."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, planned, table, tables
from tests.strategies import draws

HOWS = ["left", "right", "inner", "outer", "left_anti", "right_anti"]


def right_side(index: pd.Index) -> pd.DataFrame:
    """Return a table that has some of the labels, and others."""
    labels = ["r1", "r3", "r9", "r1"] if index.dtype == "str" else [4, 2, 99, 0]
    return pd.DataFrame({"u": [1, 2, 3, 4], "x": list("abcd")}, pd.Index(labels, name=index.name))


def rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows and their labels in an order that is theirs alone."""
    frame = frame.reset_index(names="label")
    return frame.sort_values(list(frame.columns), ignore_index=True)


@pytest.mark.parametrize("how", HOWS)
@draws(4)
@given(both=tables(min_rows=1), mode=st.sampled_from(["as it comes", "shuffled", "tight"]))
def test_joins_by_labels(how, both, mode):
    """By the labels of both, or a column and labels; sorted ones have pandas's order always."""
    frame, lazy = both
    right = right_side(frame.index)
    other = md.DataFrame(right, chunk_size=2)
    on = "s" if right.index.dtype == "str" else "k"
    with planned(mode):
        found = lazy.join(other, how=how, rsuffix="_r").compute()
        ordered = lazy.join(other, how=how, suffixes=("_l", "_r"), sort=True)
        by_column = lazy.join(other.x, on=on, how=how).compute()
        wanted = frame.join(right, how=how, suffixes=("", "_r"))
        pd.testing.assert_frame_equal(rows(found), rows(wanted))
        equal(ordered, frame.join(right, how=how, suffixes=("_l", "_r"), sort=True))
        pd.testing.assert_frame_equal(rows(by_column), rows(frame.join(right.x, on=on, how=how)))


@pytest.mark.parametrize("how", ["left", "inner", "outer"])
def test_several_frames(how):
    """One after the other; small ones in pandas's order."""
    frame = table(6, index="labels")
    others: list[Any] = [
        table(5, 1, "labels")[["k"]].add_suffix("1"),
        table(4, 2, "labels").u.rename("v"),
    ]
    lazy: list[Any] = [md.from_pandas(one, chunk_size=2) for one in others]
    equal(md.DataFrame(frame, chunk_size=4).join(lazy, how=how), frame.join(others, how=how))


def test_products_and_several_levels():
    """All pairs of rows, and labels of two levels."""
    frame, right = table(5), table(3)[["u"]].add_suffix("2")
    lazy, other = md.DataFrame(frame, chunk_size=2), md.DataFrame(right, chunk_size=2)
    equal(lazy.join(other, how="cross"), frame.join(right, how="cross"))
    by = ["k", "u"]
    levels: Any = lazy.set_index(by)
    with planned("shuffled"):
        found = levels.join(levels[["f"]], rsuffix="2").compute()
    wanted: Any = frame.set_index(by)
    wanted = wanted.join(wanted[["f"]], suffixes=("", "2"))
    pd.testing.assert_frame_equal(found.sort_index(), wanted.sort_index())


def test_what_cannot_be_joined_raises_at_the_call():
    """As in pandas, or what to use instead."""
    frame: Any = md.DataFrame(table(5))
    other = frame[["k"]].add_suffix("2")
    for kind, words, call in [
        (ValueError, "overlap", lambda: frame.join(frame)),
        (ValueError, "name", lambda: frame.join(frame.k.rename(None))),
        (ValueError, "both", lambda: frame.join(other, lsuffix="a", suffixes=("a", "b"))),
        (ValueError, "joining on index", lambda: frame.join([other], on="k")),
        (ValueError, "Suffixes", lambda: frame.join([other], lsuffix="a")),
        (NotImplementedError, "each", lambda: frame.join([other], how="right")),
        (NotImplementedError, "suffixes=", lambda: frame.join([other, other])),
        (ValueError, "overlapping index", lambda: frame.set_index(["k", "u"]).join(other)),
    ]:
        with pytest.raises(kind, match=words):
            call()


@pytest.mark.parametrize("how", ["left", "right", "inner", "left_anti"])
@pytest.mark.parametrize(
    ("left_on", "right_on"),
    [("k", "u"), ("u", "k"), (["k", "s"], ["u", "x"]), (["k", "u"], ["k", "s"]), ("s", "x")],
)
@pytest.mark.parametrize("suffixes", [("_l", "_r"), (None, "_r"), ("_l", None)])
def test_sorted_keys_of_other_names(how: Any, left_on: Any, right_on: Any, suffixes: Any) -> None:
    """The keys are found again where the other side has columns of their names, too."""
    left = pd.DataFrame({"k": [3, 1, 2, 1], "s": [*"bacd"], "u": [2, 1, 5, 1]})
    right = pd.DataFrame({"u": [1, 3, 1], "x": [*"bad"], "k": [5, 1, 3], "s": [1, 3, 2]})
    how_to: dict[str, Any] = {"left_on": left_on, "right_on": right_on, "suffixes": suffixes}
    lazy = md.DataFrame(left, chunk_size=2).merge(
        md.DataFrame(right, chunk_size=2), how, sort=True, **how_to
    )
    equal(lazy, left.merge(right, how, sort=True, **how_to))


#: Objects of which pandas infers by all values whether they may meet numbers.
OBJECT_KEYS: dict[str, list[Any]] = {
    "missing": [None, None],
    "numbers": [1, 2],
    "numbers and missing": [None, 1],
    "fractions and missing": [1.5, None],
    "numbers and texts": [1, "a"],
    "truth and missing": [True, None],
}
#: The names of the keys on both sides.
KEYS_OF_BOTH: dict[str, dict[str, Any]] = {
    "equal": {"on": "k"},
    "other": {"left_on": "k", "right_on": "m"},
    "labels": {"left_on": "k", "right_index": True},
}


def outcome(left: Any, right: Any, **options: Any) -> Any:
    """Return the rows of a merge, or what it raises."""
    try:
        rows = left.merge(right, **options)
        return rows if isinstance(left, pd.DataFrame) else rows.compute()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("name", OBJECT_KEYS)
def test_objects_meet_numbers(name: str) -> None:
    """All values tell whether they may, and which columns become objects: in no chunk others."""
    objects = pd.Series(OBJECT_KEYS[name], dtype=object)
    for dtype, keys in itertools.product(("Int64", "float64"), KEYS_OF_BOTH.values()):
        left = pd.DataFrame({"k": objects, "x": [1, 2]})
        numbers = pd.Series([1, 0], dtype=dtype)
        right = pd.DataFrame({"k": numbers, "m": numbers, "y": [1, 2]}, pd.Index(numbers))
        wanted = outcome(left, right, how="left", **keys)
        lazy = [md.DataFrame(side, chunk_size=1) for side in (left, right)]
        with option_context({"coalesce": False}):
            result = outcome(*lazy, how="left", **keys)
        if isinstance(wanted, str):
            assert result == wanted
        else:
            pd.testing.assert_frame_equal(result, wanted)


@pytest.mark.parametrize("dtype", ["Int64", "float64", "bool", "int64"])
def test_objects_meet_numbers_without_rows(dtype: str) -> None:
    """The types alone decide."""
    left = pd.DataFrame({"k": pd.Series([], dtype=object)})
    right = pd.DataFrame({"k": pd.Series([], dtype=dtype)})
    for sides in ((left, right), (right, left)):
        wanted = outcome(*sides, on="k")
        result = outcome(*map(md.DataFrame, sides), on="k")
        if isinstance(wanted, str):
            assert result == wanted
        else:
            pd.testing.assert_frame_equal(result, wanted)


@pytest.mark.parametrize("how", ["left", "right", "inner", "outer"])
@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "float64"])
def test_objects_meet_missing_numbers(dtype: str, how: str) -> None:
    """What is missing of the right side's key is what pandas puts among the left one's objects."""
    numbers = pd.DataFrame({"k": pd.Series([1, None], dtype=dtype), "y": [1, 2]})
    for objects in ([1, "a"], [1, "a", None]):
        left = pd.DataFrame({"k": pd.Series(objects, dtype=object)})
        for sides in ((left, numbers), (numbers, left)):
            wanted = sides[0].merge(sides[1], on="k", how=how)  # type: ignore[arg-type]
            lazy = [md.DataFrame(side, chunk_size=1) for side in sides]
            rows: Any = lazy[0].merge(lazy[1], on="k", how=how).compute()
            pd.testing.assert_frame_equal(rows, wanted)
            assert [*map(type, rows.k)] == [*map(type, wanted.k)]


@pytest.mark.parametrize("how", ["left", "right", "inner", "outer"])
@pytest.mark.parametrize("names", [("a", "b"), ("a", None), (None, "b")])
def test_names_of_joined_labels(how: Any, names: tuple[Any, Any]) -> None:
    """They are declared as they come, of labels that are named otherwise on each side."""
    index = [pd.Index([1, 2], name=name) for name in names]
    sides = [pd.DataFrame({column: 1}, labels) for column, labels in zip("xy", index, strict=True)]
    lazy = [md.DataFrame(side, chunk_size=1) for side in sides]
    rows = lazy[0].join(lazy[1], how=how)
    wanted = sides[0].join(sides[1], how=how)
    assert rows.index.name == wanted.index.name
    equal(rows.reset_index(), wanted.reset_index())
