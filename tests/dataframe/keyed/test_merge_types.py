"""The types that merges declare are those of pandas with rows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md

HOWS = ["left", "right", "inner", "outer"]

#: Keys of other types on the two sides, and the merges in which pandas's type is the same for all.
DECLARED_KEYS = {
    "text and category": (["x", "y"], pd.Categorical(["x", "z"]), ["inner", "left", "outer"]),
    "category and text": (pd.Categorical(["x", "y"]), ["x", "z"], ["inner", "left", "right"]),
    "categories": (pd.Categorical(["x", "y"]), pd.Categorical(["x", "z"]), HOWS[:3]),
    "units": (pd.to_datetime([0, 1], unit="s"), pd.to_datetime([0, 9], unit="ns"), HOWS),
    "numbers": ([1, 2], [1.0, 3.0], HOWS),
    "masks": (pd.array([1, 2]), [1, 3], ["inner", "left", "outer"]),
}


@pytest.mark.parametrize("labels", [(), ("left",), ("right",), ("left", "right")], ids=str)
@pytest.mark.parametrize("case", DECLARED_KEYS)
def test_types_of_unlike_keys_are_declared(case: str, labels: tuple[str, ...]) -> None:
    """The types before the merge are pandas's, also of keys that have other types on each side."""
    keys, theirs, hows = DECLARED_KEYS[case]
    sides = {"left": pd.DataFrame({"k": keys, "a": 1.5}), "right": pd.DataFrame({"k": theirs})}
    sides["right"]["b"] = 2.5
    options: dict[str, Any] = {}
    how: Any
    for side, frame in sides.items():
        sides[side] = frame.set_index("k") if side in labels else frame
        options |= {f"{side}_index": True} if side in labels else {f"{side}_on": "k"}
    lazy = {side: md.DataFrame(frame, chunk_size=1) for side, frame in sides.items()}
    for how in hows if len(labels) != 1 else ["inner"]:
        wanted = sides["left"].merge(sides["right"], how=how, **options)
        merged = lazy["left"].merge(lazy["right"], how=how, **options)
        assert merged.dtypes.to_dict() == wanted.dtypes.to_dict(), how
        assert len(labels) < 2 or merged.index.dtype == wanted.index.dtype, how
        assert merged.compute().dtypes.to_dict() == wanted.dtypes.to_dict(), how


#: Keys of two types, of which only the first are on both sides.
NUMBERS: dict[str, Any] = {
    "int64": [1, 2],
    "float64": [1.0, 2.0],
    "Int64": [1, None],
    "bool": [True, False],
    "float32": [1.0, 4.0],
    "int8": [1, 3],
}


@pytest.mark.parametrize("theirs", NUMBERS)
@pytest.mark.parametrize("mine", NUMBERS)
def test_keys_of_rows_without_a_match(mine: str, theirs: str) -> None:
    """Are declared to be missing, though they are keys of the other rows."""
    left = pd.DataFrame({"f": pd.array(NUMBERS[mine], mine)})
    right = pd.DataFrame({"k": pd.array(NUMBERS[theirs], theirs)})
    if theirs != "bool":
        right["k"] = right["k"] + 50
    wanted = left.merge(right, left_on="f", right_on="k", how="left")
    lazy = md.DataFrame(left, chunk_size=1)
    merged = lazy.merge(md.DataFrame(right, chunk_size=1), left_on="f", right_on="k", how="left")
    if wanted["k"].isna().any():
        assert merged.dtypes.to_dict() == wanted.dtypes.to_dict()
    assert merged.compute().dtypes.to_dict() == wanted.dtypes.to_dict()
