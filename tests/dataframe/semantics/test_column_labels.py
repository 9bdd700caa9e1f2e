"""Columns of any labels: missing ones, equal ones, tuples, truth values, categories."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.fuzzing.programs import check_equal, compute

_coalesce = one_mode.as_given

#: Labels that are equal to no label, to several, or to one of another type.
LABELS: dict[str, pd.Index[Any]] = {
    "missing number": pd.Index([np.nan, 2.0, 1.0]),
    "None": pd.Index(["b", None, "a"], dtype=object),
    "missing text": pd.Index(["b", np.nan, "a"], dtype="str", name="cols"),
    "missing time": pd.DatetimeIndex(["2024-01-02", None, "2024-01-01"]),
    "missing category": pd.CategoricalIndex(["b", None, "c"], categories=["c", "b"]),
    "missing levels": pd.MultiIndex.from_tuples([("b", np.nan), ("a", "x"), (np.nan, "y")]),
    "equal": pd.Index(["a", "b", "a"]),
    "equal pairs": pd.MultiIndex.from_tuples([("b", 1), ("a", 2), ("b", 1)]),
    "pairs": pd.MultiIndex.from_tuples([("b", 1), ("a", 2), ("b", 0)], names=["p", "q"]),
    "tuples": pd.Index([("b", 1), ("a", 2), "c"], dtype=object, tupleize_cols=False),
    "truth values": pd.Index([True, False, True]),
    "objects": pd.Index([True, False, None], dtype=object),
    "numbers": pd.RangeIndex(5, 2, -1),
    "categories": pd.CategoricalIndex(["b", "a", "c"], categories=["c", "b", "a", "z"], name="cc"),
}


def _frames(labels: pd.Index[Any]) -> tuple[pd.DataFrame, Any]:
    columns = {0: [3, 1, 2, 1], 1: [1.0, np.nan, 3.0, np.nan], 2: [2, 2, 5, 1]}
    frame = pd.DataFrame(columns).set_axis(labels, axis=1)
    return frame, md.DataFrame(frame.copy(), chunk_size=2)


def _outcome(call: Callable[[Any, list[Any]], Any], frame: Any, labels: pd.Index[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compute(call(frame, list(labels)))
        except Exception as error:  # noqa: BLE001 - whatever it is
            return error


def _check(ours: Any, reference: Any) -> None:
    if isinstance(ours, NotImplementedError):
        return
    if isinstance(reference, Exception):
        assert isinstance(ours, type(reference)), ours
        return
    if isinstance(ours, Exception):
        raise ours
    check_equal(ours, reference)
    if isinstance(reference, pd.DataFrame):
        pd.testing.assert_index_equal(ours.columns, reference.columns, exact=True)


#: What looks columns up, given a frame and the labels of its columns.
READS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "compare": lambda x, _: x.compare(x.shift(1)),
    "iloc[:, 1]": lambda x, _: x.iloc[:, 1],
    "iloc[:, 1:]": lambda x, _: x.iloc[:, 1:],
    "x[label]": lambda x, labels: x[labels[1]],
    "x[labels]": lambda x, labels: x[[labels[2], labels[1]]],
    "loc[:, label]": lambda x, labels: x.loc[:, labels[1]],
    "loc[:, first:]": lambda x, labels: x.loc[:, labels[0] :],
    "loc[:, :second]": lambda x, labels: x.loc[:, : labels[1]],
    "loc[row, label]": lambda x, labels: x.loc[0, labels[1]],
    "at[row, label]": lambda x, labels: x.at[0, labels[1]],
    "drop": lambda x, labels: x.drop(columns=[labels[0]]),
    "rename by a dict": lambda x, labels: x.rename(columns={labels[1]: "r"}),
    "rename by a function": lambda x, _: x.rename(columns=str),
    "filter(items=)": lambda x, labels: x.filter(items=[labels[0]]),
    "select_dtypes": lambda x, _: x.select_dtypes("number"),
    "sort_index(axis=1)": lambda x, _: x.sort_index(axis=1),
    "take": lambda x, _: x.take([1, 0], axis=1),
    "reindex_like": lambda x, _: x.reindex_like(x.iloc[:, ::-1]),
    "align": lambda x, _: x.align(x.iloc[:, 1:])[1],
    "rolling": lambda x, _: x.rolling(2).sum(),
    "ewm": lambda x, _: x.ewm(com=1).mean(),
    "agg of a dict": lambda x, labels: x.agg({labels[0]: "sum"}),
    "map": lambda x, _: x.map(lambda value: value),
    "pop": lambda x, labels: x.pop(labels[1]),
}
WRITES: dict[str, Callable[[Any, list[Any]], Any]] = {
    "loc[:, label]": lambda x, labels: x.loc.__setitem__((slice(None), labels[1]), 2),
    "loc[mask, label]": lambda x, labels: x.loc.__setitem__((x.iloc[:, 0] > 1, labels[1]), 2),
    "loc[mask]": lambda x, _: x.loc.__setitem__(x.iloc[:, 0] > 1, 2),
    "loc[row, label]": lambda x, labels: x.loc.__setitem__((0, labels[1]), 2),
    "at[row, label]": lambda x, labels: x.at.__setitem__((0, labels[1]), 2),
    "iloc[:, 0]": lambda x, _: x.iloc.__setitem__((slice(None), 0), 2),
    "iloc[1:, 1]": lambda x, _: x.iloc.__setitem__((slice(1, None), 1), 2),
    "iloc[:, [0, 2]]": lambda x, _: x.iloc.__setitem__((slice(None), [0, 2]), 2),
    "iloc[0]": lambda x, _: x.iloc.__setitem__(0, 2),
    "iloc[1:, 1] of a list": lambda x, _: x.iloc.__setitem__((slice(1, None), 1), [7.5, 1, 2]),
    "insert": lambda x, _: x.insert(1, "new", x.iloc[:, 1]),
    "insert of an equal label": lambda x, labels: x.insert(1, labels[0], 4, allow_duplicates=True),
    "isetitem": lambda x, _: x.isetitem(1, 7),
    "del": lambda x, labels: x.__delitem__(labels[1]),
    "columns": lambda x, labels: setattr(x, "columns", [("p", at) for at in range(len(labels))]),
}


@pytest.mark.parametrize("program", READS)
def test_columns_are_found_under_any_label(program: str) -> None:
    """A column is found by its position where its label is not equal to itself, or to several."""
    for labels in LABELS.values():
        reference, ours = _frames(labels)
        _check(*(_outcome(READS[program], frame, labels) for frame in (ours, reference)))


@pytest.mark.parametrize("program", WRITES)
def test_columns_under_any_label_are_assigned_to(program: str) -> None:
    """Values are assigned to the columns that pandas assigns them to, and no others."""
    for labels in LABELS.values():
        frames = _frames(labels)[::-1]
        errors = [_outcome(WRITES[program], frame, labels) for frame in frames]
        if any(errors):
            _check(*errors)
        else:
            _check(frames[0].compute(), frames[1])


def test_names_that_are_missing_values_outlast_chunks() -> None:
    """Missing values as names of series and levels are one name, which all chunks have."""
    reference, ours = _frames(pd.Index([np.nan, 2.0, 1.0]))
    labels = reference.columns
    assert np.isnan(ours[np.nan].compute().name)
    assert np.isnan(ours.set_index(labels[0]).compute().index.name)
    names = ours.set_index([labels[0], labels[1]]).compute().index.names
    assert np.isnan(names[0])
    assert names[1] == 2.0


#: What puts columns below labels, of which no order of the levels is alphabetical.
BELOW: dict[str, Callable[[Any], Any]] = {
    "expanding.agg": lambda x: x.expanding().agg(["sum", "count"]),
    "rolling.agg": lambda x: x.rolling(2).agg(["sum", "max"]),
    "rolling.agg of a dict": lambda x: x.rolling(2).agg({"u": ["sum", "count"], "f": ["min"]}),
    "transform": lambda x: x.transform({"u": ["sqrt", "abs"], "f": ["exp"]}),
    "agg of groups": lambda x: x.groupby("m").agg(["sum", "count"]),
}


@pytest.mark.parametrize("program", BELOW)
def test_levels_of_columns_are_in_the_order_of_pandas(program: str) -> None:
    """Slices of labels depend on the order of the levels."""
    frame = pd.DataFrame({"u": [1.0, 2, 3], "f": [3.0, 1, 2], "m": [1.0, 2, 1]})
    reference = BELOW[program](frame)
    found = BELOW[program](md.DataFrame(frame, chunk_size=2))
    for columns in (found.columns, found.compute().columns):
        assert list(map(list, columns.levels)) == list(map(list, reference.columns.levels))
    check_equal(found.loc[:, ("f",) :].compute(), reference.loc[:, ("f",) :])


def test_categories_of_columns_below_which_others_are_put_are_texts() -> None:
    """As in pandas, categories are values where a function puts columns below them."""
    frame = pd.DataFrame({"k": [1, 2, 2], "c": pd.Categorical(["x", "y", "x"]), "f": [1.0, 2, 3]})
    calls: Any = [
        item.pivot_table(index="k", columns="c", values=["f"], aggfunc="sum", observed=True)
        for item in (frame, md.DataFrame(frame, chunk_size=2))
    ]
    wanted, found = (call.rolling(2, min_periods=1).agg(["min", "mean"]) for call in calls)
    pd.testing.assert_index_equal(found.compute().columns, wanted.columns)
