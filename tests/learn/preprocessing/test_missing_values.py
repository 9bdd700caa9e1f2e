"""Encoders and imputers tell None, NaN, NaT, NA and the text "nan" apart, as scikit-learn does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.impute
import sklearn.preprocessing

import marsdask.dataframe as md
import marsdask.learn.impute
import marsdask.learn.preprocessing
import marsdask.tensor as mt
from marsdask.core.config import option_context
from tests.conformance.arguments.case import computed

nan, NA, NaT = np.nan, pd.NA, pd.NaT

#: Columns by their names: each has what is missing, in another kind of column.
COLUMNS: dict[str, Any] = {
    "texts": pd.Series(["b", "a", "b", "nan"], dtype="str"),
    "texts and None": pd.Series(["b", None, "a", None], dtype=object),
    "texts and nan": pd.Series(["b", nan, "nan", "b"], dtype=object),
    "texts, None and nan": pd.Series(["b", nan, None, "a"], dtype=object),
    "texts and NA": pd.Series(["b", NA, "a", NA], dtype=object),
    "str": pd.Series(["b", None, "nan", "b"], dtype="str"),
    "string": pd.Series(["b", None, "a", "b"], dtype="string"),
    "Arrow": pd.Series(["b", None, "a", "b"], dtype="string[pyarrow]"),
    "floats": pd.Series([2.0, nan, 1.0, 2.0]),
    "floats of objects": pd.Series([2.0, nan, 1.0, 2.0], dtype=object),
    "integers": pd.Series([2, 0, 1, 2]),
    "integers and None": pd.Series([2, None, 1, 2], dtype=object),
    "Int64": pd.Series([2, None, 1, 2], dtype="Int64"),
    "boolean": pd.Series([True, None, False, True], dtype="boolean"),
    "category": pd.Series(["b", None, "a", "b"], dtype="category"),
    "categories of numbers": pd.Series([2.0, nan, 1.0, 2.0], dtype="category"),
    "order": pd.Series(["b", None, "a", "b"], dtype=pd.CategoricalDtype(["b", "a"], ordered=True)),
    "times": pd.Series(["2021-01-02", None, "2020-01-01", "2021-01-02"], dtype="datetime64[us]"),
}
TARGET = np.array([0, 1, 0, 1])

#: Estimators by a text, with the data that they learn from.
ESTIMATORS: dict[str, Callable[[Any, Any], Any]] = {
    "OneHotEncoder": lambda m, _: m.OneHotEncoder(sparse_output=False),
    "OrdinalEncoder": lambda m, _: m.OrdinalEncoder(),
    "OrdinalEncoder missing": lambda m, _: m.OrdinalEncoder(
        encoded_missing_value=-2, handle_unknown="use_encoded_value", unknown_value=-1
    ),
    "TargetEncoder": lambda m, _: m.TargetEncoder(target_type="binary", smooth=1.0),
    "LabelEncoder": lambda m, _: m.LabelEncoder(),
    "LabelBinarizer": lambda m, _: m.LabelBinarizer(),
    "most_frequent": lambda _, i: i.SimpleImputer(strategy="most_frequent"),
    "mean": lambda _, i: i.SimpleImputer(strategy="mean"),
    "constant": lambda _, i: i.SimpleImputer(strategy="constant", fill_value="q"),
    "constant number": lambda _, i: i.SimpleImputer(strategy="constant", fill_value=7),
    "missing None": lambda _, i: i.SimpleImputer(
        missing_values=None, strategy="constant", fill_value="q"
    ),
    "missing NA": lambda _, i: i.SimpleImputer(missing_values=NA, strategy="most_frequent"),
    "missing text": lambda _, i: i.SimpleImputer(missing_values="nan", strategy="most_frequent"),
    "indicator": lambda _, i: i.SimpleImputer(strategy="most_frequent", add_indicator=True),
}
LABELS = {"LabelEncoder", "LabelBinarizer"}
#: Times of which scikit-learn takes the numbers, or a gap as a class: ours raise ValueError.
WITHOUT_TIMES = {"mean", "LabelBinarizer"}
#: Where the rows are, and whether chunks of one row stay such.
PLACES = [("frame", True), ("frame", False), ("tensor", False)]


def _run(model: Any, rows: Any, name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(rows, TARGET) if name == "TargetEncoder" else model.fit(rows)
            found = [computed(model.transform(rows))]
            names = ("categories_", "classes_", "statistics_", "encodings_", "target_mean_")
            found += [computed(getattr(model, key)) for key in names if hasattr(model, key)]
            if name in ("OneHotEncoder", "OrdinalEncoder", "LabelEncoder"):
                found.append(computed(model.inverse_transform(model.transform(rows))))
        except Exception as error:  # noqa: BLE001 - an error is a result
            return error
        return found


def _shown(value: Any) -> Any:
    """Return what tells values apart: each with its type, in lists."""
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, pd.DataFrame | pd.Series):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        kind = "f" if value.dtype.kind in "fiu" else value.dtype.kind
        return kind, value.shape, [_item(x) for x in value.ravel().tolist()]
    return _item(value)


def _item(value: Any) -> str:
    is_number = isinstance(value, float | int) and not isinstance(value, bool)
    return f"{float(value):.9g}" if is_number else repr(value)


def _lazy(column: Any, container: str, *, labels: bool) -> Any:
    if container == "tensor":
        values = column.to_numpy()
        return mt.tensor(values if labels else values[:, None], chunk_size=1)
    frame = md.DataFrame(column.to_frame("c"), chunk_size=1)
    return frame["c"] if labels else frame


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_missing_values_are_told_apart(name: str, column: str) -> None:
    """What is learnt and returned is scikit-learn's, or both raise; ours may refuse by name."""
    data, labels = COLUMNS[column], name in LABELS
    if column == "times" and name in WITHOUT_TIMES:
        return
    make = ESTIMATORS[name]
    learn = marsdask.learn
    theirs = data if labels else data.to_frame("c")
    for container, merged in PLACES:
        rows = theirs if container == "frame" else theirs.to_numpy()
        wanted = _run(make(sklearn.preprocessing, sklearn.impute), rows, name)
        with option_context({"coalesce": merged}):
            lazy = _lazy(data, container, labels=labels)
            found = _run(make(learn.preprocessing, learn.impute), lazy, name)
        if isinstance(found, NotImplementedError):
            continue
        assert isinstance(found, Exception) == isinstance(wanted, Exception), (found, wanted)
        if not isinstance(wanted, Exception):
            assert _shown(found) == _shown(wanted)
