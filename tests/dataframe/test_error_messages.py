"""Errors of frames: pandas's types and words, and what to use instead of what is not supported."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md

Call = Callable[[Any, Any], Any]

#: Calls that pandas refuses: each is given the module and a frame, in pandas's words.
REFUSED: dict[str, tuple[Call, str]] = {
    "fillna": (lambda xd, d: d.fillna(), "missing 1 required positional argument: 'value'"),
    "fillna of a column": (lambda xd, d: d.a.fillna(), "missing 1 required positional argument"),
    "isin": (lambda xd, d: d.isin(), "missing 1 required positional argument: 'values'"),
    "astype": (lambda xd, d: d.astype(), "missing 1 required positional argument: 'dtype'"),
    "where": (lambda xd, d: d.where(), "missing 1 required positional argument: 'cond'"),
    "between": (lambda xd, d: d.a.between(1), "missing 1 required positional argument: 'right'"),
    "sort_values": (lambda xd, d: d.sort_values(), "missing 1 required positional argument: 'by'"),
    "sort kind": (lambda xd, d: d.sort_values("a", kind="x"), "kind.*'x'|'x'.*'stable'"),
    "merge": (lambda xd, d: d.merge(), "missing 1 required positional argument: 'right'"),
    "drop": (lambda xd, d: d.drop(), "Need to specify at least one of 'labels', 'index' or"),
    "rename": (lambda xd, d: d.rename(), "must pass an index to rename"),
    "groupby": (lambda xd, d: d.groupby(), "You have to supply one of 'by' and 'level'"),
    "keep": (lambda xd, d: d.drop_duplicates(keep="x"), 'keep must be either "first", "last" or'),
    "subset": (lambda xd, d: d.dropna(subset=["z"]), r"\['z'\]"),
    "subset label": (lambda xd, d: d.dropna(subset="z"), r"\['z'\]"),
    "concat of a number": (
        lambda xd, d: xd.concat([1]),
        "cannot concatenate object of type .<class .int.>",
    ),
    "concat axis": (lambda xd, d: xd.concat([d], axis=5), "No axis named 5 for object type DataF"),
    "three positions": (lambda xd, d: d.iloc[1, 2, 3], "Too many indexers"),
    "two positions": (lambda xd, d: d.a.iloc[1, 2], "Too many indexers"),
    "three labels": (lambda xd, d: d.loc[1, 2, 3], "Too many indexers"),
    "position of text": (
        lambda xd, d: d.iloc["x"],
        "Cannot index by location index with a non-int",
    ),
    "row by label": (lambda xd, d: d.loc[99], "99"),
    "value by label": (lambda xd, d: d.a[99], "99"),
    "drop of rows": (lambda xd, d: d.drop(99), r"\[99\] not found in axis"),
    "positions out of bounds": (lambda xd, d: d.iloc[[99]], "positional indexers are out-of-bou"),
    "position out of bounds": (lambda xd, d: d.iloc[99], "single positional indexer is out-of-bou"),
    "head of text": (lambda xd, d: d.head("x"), "'str' object cannot be|positional indexing"),
    "tail of a float": (lambda xd, d: d.tail(1.5), "'float' object cannot be|positional indexing"),
    "rows that differ": (
        lambda xd, d: d.a == xd.Series([1, 2]),
        "Can only compare identically-labeled Series objects",
    ),
    "rows in order": (lambda xd, d: d.a < xd.Series([1, 2]), "Can only compare identically-label"),
    "frames that differ": (
        lambda xd, d: d == xd.DataFrame({"a": [1]}),
        r"Can only compare identically-labeled \(both index and columns\) DataFrame objects",
    ),
    "lengths that differ": (
        lambda xd, d: d.a + np.ones(2),
        r"operands could not be broadcast together with shapes \(4,\) \(2,\)",
    ),
    "round to text": (lambda xd, d: d.a.round("x"), "'str' object cannot be interpreted as an int"),
    "not of floats": (lambda xd, d: ~d.b, "ufunc 'invert' not supported for the input types"),
    "not of a frame": (lambda xd, d: ~d, "ufunc 'invert' not supported for the input types"),
    "and of floats": (lambda xd, d: d.b & d.b, "unsupported operand type.* for &"),
    "xor of floats": (lambda xd, d: d.a ^ d.b, r"unsupported operand type.* for \^"),
    "mask of numbers": (lambda xd, d: d[d.a], "None of|a mask must be boolean, got int64"),
}

#: Calls that pandas takes and we do not: what was asked, and what to use.
NOT_SUPPORTED: dict[str, tuple[Call, str, str]] = {
    "concat levels": (lambda xd, d: xd.concat([d], verify_integrity=True), "concat(", "keys="),
    "merge how": (
        lambda xd, d: d.merge(d, "leftsemi", left_on="a", right_index=True),
        "how='leftsemi'",
        "reset_index()",
    ),
    "merge sort": (
        lambda xd, d: d.merge(d, left_on="a", right_index=True, sort=True),
        "sort=True",
        "sort_values()",
    ),
    "observed": (
        lambda xd, d: (
            d.assign(a=d.a.astype(pd.CategoricalDtype([1]))).groupby("a", observed=False).ngroup()
        ),
        "ngroup() of groups without rows",
        "observed=True",
    ),
    "slice of labels": (lambda xd, d: d.set_index("b").loc[1:2], "loc[1:2]", "sort_index()"),
    "rename of labels": (
        lambda xd, d: d.rename(index={1: 2}, errors="raise"),
        "rename(errors='raise')",
        "errors='ignore'",
    ),
    "pandas mask": (lambda xd, d: d[pd.Series([True] * 5)], "other labels", "reindex("),
    "other mask": (
        lambda xd, d: d[xd.Series([True] * 4, index=[5, 6, 7, 8])],
        "a mask with another index",
        "computed from",
    ),
    "pandas column": (lambda xd, d: d.assign(z=pd.Series([1])), "other labels", "merge("),
    "limit": (lambda xd, d: d.fillna(0, limit=1), "fillna(limit=)", "fillna(value)"),
    "lazy values": (lambda xd, d: d.isin(d.a), "isin() of lazy values", "merge("),
    "other rows": (
        lambda xd, d: d.a + xd.Series([1] * 4, index=[5, 6, 7, 8]),
        "different indexes",
        "reset_index(drop",
    ),
    "in memory": (lambda xd, d: d.a + pd.Series([1] * 5), "other labels", "reindex("),
    "frame and column": (lambda xd, d: d + d.a, "of a DataFrame with a Series", "one by one"),
    "dates": (
        lambda xd, d: xd.Series(pd.to_datetime(["2020"])).std(),
        "std()",
        "total_seconds()",
    ),
    "engine": (lambda xd, d: xd.read_parquet("x", engine="x"), "engine='x'", "pyarrow"),
}


def table() -> pd.DataFrame:
    """Return the frame of the calls."""
    return pd.DataFrame({"a": [1, 2, 3, 4], "b": [1.0, np.nan, 2.0, 3.0], "c": list("xyxy")})


@pytest.mark.parametrize("name", REFUSED)
def test_what_pandas_refuses(name):
    """The type of error and the words are pandas's, before anything is computed."""
    call, words = REFUSED[name]
    with pytest.raises(Exception, match=words) as expected:
        call(pd, table())
    with pytest.raises(expected.type, match=words):
        call(md, md.DataFrame(table(), chunk_size=2))


@pytest.mark.parametrize("name", NOT_SUPPORTED)
def test_what_is_not_supported(name):
    """The error says what was asked and what to use."""
    call, asked, instead = NOT_SUPPORTED[name]
    pattern = f"{re.escape(asked)}.*not supported.*; use .*{re.escape(instead)}"
    with pytest.raises(NotImplementedError, match=pattern):
        call(md, md.DataFrame(table(), chunk_size=2))
