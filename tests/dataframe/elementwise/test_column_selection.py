"""Columns are chosen by their types and labels as by pandas, several of one label each once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

FRAME = pd.DataFrame(
    {
        "a": [1, 2, 3, 4, 5],
        "b": [2.5, np.nan, 1, 1, 0],
        "s": list("vwxyz"),
        "z": [True, False, True, True, False],
        "t": pd.to_timedelta([1, 2, 3, 4, 5], unit="h"),
        "B": pd.array([True, None, False, True, None], dtype="boolean"),
    }
)
#: Frames with durations, with columns of one label, and without numbers.
FRAMES: dict[str, Any] = {
    "durations": FRAME,
    "labels": FRAME[["a", "b", "s", "z", "a"]].set_axis(list("qqsrq"), axis=1),
    "labels of several types": FRAME[["a", "s", "b"]].set_axis(list("qqr"), axis=1),
    "no numbers": FRAME[["s", "t"]],
    "truth as labels": FRAME[["a", "b"]].set_axis([True, False], axis=1),
}
STATISTICS = [
    *("sum", "mean", "min", "max", "count", "var", "std", "sem", "prod", "skew", "kurt"),
    *("median", "idxmin", "idxmax", "rank", "mode", "corr"),
]
CALLS: dict[str, Any] = {
    **{name: lambda d, name=name: getattr(d, name)(numeric_only=True) for name in STATISTICS},
    "quantile": lambda d: d.select_dtypes(exclude=["bool", "boolean"]).quantile(numeric_only=True),
    "across": lambda d: d.sum(axis=1, numeric_only=True),
    "over all": lambda d: d.max(axis=None, numeric_only=True),
    "any": lambda d: d.any(bool_only=True),
    "all": lambda d: d.all(bool_only=True, axis=None),
    "of a type": lambda d: d.select_dtypes("number"),
    "of other types": lambda d: d.select_dtypes(exclude="number"),
    "like": lambda d: d.filter(like="q"),
    "without": lambda d: d.drop(columns=d.columns[1]),
    "correlations": lambda d: d.corrwith(d.iloc[:, 0], numeric_only=True),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("chunk_size", [2, (0, 1, 4)])
def test_calls(kind, chunk_size):
    """Durations are no numbers, and no column is there twice."""
    frame = FRAMES[kind]
    for name, call in CALLS.items():
        if kind != "no numbers" or name not in ("correlations", "over all"):
            equal(call(md.DataFrame(frame, chunk_size=chunk_size)), call(frame))


def test_executed_frames():
    """Their types are known: all calls take them."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    merged = lazy[["a", "z"]].merge(lazy[["a", "B"]], on="a", how="left")
    wanted = FRAME[["a", "z"]].merge(FRAME[["a", "B"]], on="a", how="left")
    for call in (
        lambda d: d.select_dtypes("bool"),
        lambda d: d.sum(numeric_only=True),
        lambda d: d.agg(["max", "min"]),
        lambda d: d.drop(columns="B").idxmax(axis=1),
        lambda d: (md if isinstance(d, md.DataFrame) else pd).get_dummies(d),
    ):
        equal(call(merged.execute()), call(wanted))
        equal(call(merged.persist()), call(wanted))


def test_equal_labels():
    """Covariances, descriptions and correlations of columns with others of one label."""
    frame = FRAMES["labels"]
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    equal(lazy.cov(numeric_only=True), frame.cov(numeric_only=True))
    equal(lazy.describe(), frame.describe())
    equal(lazy.corrwith(lazy, numeric_only=True), frame.corrwith(frame, numeric_only=True))
    with pytest.raises(NotImplementedError, match="set_axis"):
        lazy.corrwith(lazy.iloc[:, :2], numeric_only=True)
