"""Labels of objects have the types that pandas infers where it joins several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

OBJECTS: dict[str, pd.Index] = {
    "integers": pd.Index([1, 2, 3], dtype=object),
    "integers or None": pd.Index([7, None, 8], dtype=object),
    "texts": pd.Index(["a", "b", "c"], dtype=object),
}
OTHERS: dict[str, pd.Index] = {
    "other integers": pd.Index([4, 5], dtype=object),
    "a text or a number": pd.Index(["a", 1], dtype=object),
    "no texts": pd.Index([], dtype="str"),
    "floats": pd.Index([1.5, np.nan]),
    "categories": pd.CategoricalIndex(["a", "x"]),
}
WAYS: dict[str, dict[str, Any]] = {"rows": {}, "keys": {"keys": ["m", "n"]}}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OBJECTS)
def test_types_of_joined_labels(name, way):
    """Are those of all values, whatever a chunk has."""
    for other, labels in OTHERS.items():
        parts = [pd.Series(range(len(at)), at) for at in (OBJECTS[name], labels)]
        wanted = pd.concat(parts, **WAYS[way])
        found = md.concat([md.Series(each, chunk_size=2) for each in parts], **WAYS[way]).compute()
        pd.testing.assert_index_equal(found.index, wanted.index, obj=f"{name}, {other}")


#: Labels that all are missing, which are of any type.
MISSING: dict[str, pd.Index] = {
    "float64": pd.Index([np.nan, np.nan]),
    "float32": pd.Index([np.nan, np.nan], dtype="float32"),
}
TYPED: dict[str, pd.Index] = {
    "times": pd.date_range("2024", periods=3, unit="us")[[2, 0, 1]],
    "durations": pd.to_timedelta([1, 2], unit="D").as_unit("us"),
    "texts": pd.Index(["a", "b"], dtype="str"),
    "flags": pd.Index([True, False]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MISSING)
def test_missing_labels_beside_others(name, way):
    """Become missing labels of the other type."""
    for other, labels in TYPED.items():
        parts = [pd.Series(range(len(at)), at) for at in (MISSING[name], labels)]
        wanted = pd.concat(parts, **WAYS[way])
        found = md.concat([md.Series(each, chunk_size=1) for each in parts], **WAYS[way]).compute()
        pd.testing.assert_index_equal(found.index, wanted.index, obj=f"{name}, {other}")


@pytest.mark.parametrize("numbers", [[3, 1, 2], [1.5, np.nan, 2.0]], ids=["integers", "floats"])
@pytest.mark.parametrize("other", ["datetime64[us]", "str"])
def test_to_series_of_labels_beside_no_rows(numbers, other):
    """Is of the type of the labels that are there, which only rows tell."""
    frame = pd.DataFrame({"a": [1, 2, 3]}, numbers)
    none = frame[:0].set_axis(pd.Index([], dtype=other))
    lazy = [md.DataFrame(part, chunk_size=1).dropna(how="all") for part in (frame, none, frame)]
    wanted = pd.concat([frame, none, frame]).index
    equal(md.concat(lazy).index.to_series(), wanted.to_series())


@pytest.mark.parametrize("way", WAYS)
def test_levels_of_objects(way):
    """Stay objects."""
    pairs: list[Any] = [
        pd.MultiIndex.from_arrays([["x", "y"], labels]) for labels in ([1, 2], [3, 4])
    ]
    parts = [pd.Series([1, 2], at.set_levels(at.levels[1].astype(object), level=1)) for at in pairs]
    found = md.concat([md.Series(part, chunk_size=1) for part in parts], **WAYS[way])
    equal(found, pd.concat(parts, **WAYS[way]))


MIXED: dict[str, Any] = {
    "text first": pd.Index(["a", 1, 2, None], dtype=object),
    "flags": pd.Index([True, False, True, False], dtype=object),
    "numbers": pd.Index([3, 1, 2, None], dtype=object),
    "texts": pd.Index(["b", "a", "c", None], dtype=object),
    "all times": pd.Index([pd.Timestamp("2024"), pd.NaT, pd.Timestamp("2025"), None], dtype=object),
    "times": pd.Index([pd.Timestamp("2024"), 1, pd.NaT, None], dtype=object),
}
CALLS: dict[str, Any] = {
    "reset_index": lambda d: d.reset_index(),
    "reset_index of a column": lambda d: d.k.reset_index(name="v"),
    "reset_index of levels": lambda d: d.set_index("o", append=True).reset_index(names=["n", "m"]),
    "reset_index of a level": lambda d: (
        d.rename_axis("n").set_index("k", append=True).reset_index("n")
    ),
    "rename": lambda d: d.rename(index={1: "one"}),
    "rename to numbers": lambda d: d.k.rename({"a": 5}),
    "rename by a function": lambda d: d.rename(index=str),
}


@pytest.mark.parametrize("call", CALLS)
def test_objects_that_change_their_place(call):
    """Are numbers only if all are: a chunk of 2 and None keeps them."""
    for name, labels in MIXED.items():
        frame = pd.DataFrame({"k": range(4), "o": ["x", 1, 2, None]}, labels)
        wanted, found = CALLS[call](frame), CALLS[call](md.DataFrame(frame, chunk_size=2)).compute()
        pd.testing.assert_index_equal(found.index, wanted.index, obj=name)
        for at in range(wanted.shape[1]) if wanted.ndim == 2 else ():
            assert found.dtypes.iloc[at] == wanted.dtypes.iloc[at], name
            assert str(found.iloc[:, at].tolist()) == str(wanted.iloc[:, at].tolist())
