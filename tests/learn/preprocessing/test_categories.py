"""Categories are encoded as by scikit-learn, whatever the chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import impute
from sklearn import preprocessing as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.learn import preprocessing as ours
from marsdask.learn.impute import SimpleImputer
from tests.learn.preprocessing.cases import assert_transforms_alike

_RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "text": _RNG.choice(["x", "y", "z"], 20),
        "number": _RNG.integers(0, 4, 20),
        "category": pd.Categorical(_RNG.choice(["u", "v"], 20)),
    }
)
MISSING = FRAME.astype({"text": object, "category": object})
MISSING.loc[3, "text"] = None

CASES: list[Any] = [
    ("OneHotEncoder", {}),
    ("OneHotEncoder", {"sparse_output": False, "drop": "first"}),
    ("OrdinalEncoder", {}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("frame", [FRAME, MISSING], ids=["complete", "missing"])
def test_frames_are_encoded(name, options, frame):
    """Texts, numbers, categories and what is missing; results may be sparse."""
    mine, other = (getattr(module, name)(**options) for module in (ours, theirs))
    lazy = md.DataFrame(frame, chunk_size=7)
    if name == "OneHotEncoder":
        found = mine.fit_transform(lazy)
        expected = other.fit_transform(frame)
        plain = (found.compute(), expected)
        one, two = (item.toarray() if hasattr(item, "toarray") else item for item in plain)
        np.testing.assert_array_equal(one, two)
        assert hasattr(plain[0], "toarray") == hasattr(expected, "toarray")
    else:
        np.testing.assert_array_equal(
            mine.fit_transform(lazy).compute(), other.fit_transform(frame)
        )
    for one, two in zip(mine.categories_, other.categories_, strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype
    assert list(mine.get_feature_names_out()) == list(other.get_feature_names_out())


def test_numbers_are_encoded():
    """Of a tensor, there and back."""
    samples = _RNG.integers(0, 4, (20, 2)).astype(float)
    lazy = mt.tensor(samples, chunk_size=6)
    for name, options in (("OneHotEncoder", {"sparse_output": False}), ("OrdinalEncoder", {})):
        mine, other = (getattr(module, name)(**options) for module in (ours, theirs))
        assert_transforms_alike(mine, other, lazy, samples)


def test_what_is_refused():
    """Unknown categories in scikit-learn's words once they are seen; rare ones are not grouped."""
    encoder = ours.OrdinalEncoder().fit(mt.tensor([[1], [2]], chunk_size=1))
    with pytest.raises(ValueError, match="Found unknown categories"):
        encoder.transform(mt.tensor([[3]])).compute()
    with pytest.raises(NotImplementedError, match="max_categories"):
        ours.OneHotEncoder(max_categories=2).fit(mt.tensor([[1], [2]]))


@pytest.mark.parametrize("values", [["a", "b"], [1, 2]])
def test_unknown_categories_are_none(values):
    """Among objects, in what becomes of rows without a category."""
    samples = np.array(values)[:, np.newaxis]
    encoded = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    how = {"handle_unknown": "ignore"}
    model = ours.OneHotEncoder(**how).fit(mt.tensor(samples, chunk_size=1))
    expected = theirs.OneHotEncoder(**how).fit(samples).inverse_transform(encoded)
    found = model.inverse_transform(mt.tensor(encoded, chunk_size=2))
    assert found.dtype == found.compute().dtype == expected.dtype
    assert found.compute().tolist() == expected.tolist()


NAN = float("nan")
NULLS: dict[str, list[Any]] = {
    "none": ["a", "b", None, "a", None],
    "nan": ["a", NAN, "b", "a", NAN],
    "both": ["b", None, NAN, "a", None],
    "no text": ["a", pd.NaT, "b", "a", pd.NaT],
    "texts": ["nan", "None", None, NAN, "nan"],
    "numbers": [1, 2, None, 1, None],
}


def _imputer(module: Any) -> Any:
    return SimpleImputer if module is ours else impute.SimpleImputer


ENCODERS: dict[str, Callable[[Any], Any]] = {
    "one hot": lambda m: m.OneHotEncoder(sparse_output=False),
    "one hot of known": lambda m: m.OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    "one hot but first": lambda m: m.OneHotEncoder(sparse_output=False, drop="first"),
    "ordinal": lambda m: m.OrdinalEncoder(),
    "ordinal of known": lambda m: m.OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1
    ),
    "target": lambda m: m.TargetEncoder(smooth=1.0),
    "frequent": lambda m: _imputer(m)(strategy="most_frequent"),
    "frequent for None": lambda m: _imputer(m)(strategy="most_frequent", missing_values=None),
    "constant": lambda m: _imputer(m)(strategy="constant", fill_value="z"),
}


def learnt(model: Any, X: Any, plain: Any) -> Any:
    """Return what a model learns and makes of samples, as texts, or the type of its error."""
    try:
        model.fit(X, np.array([0, 1, 1, 0, 1]))
        found = model.transform(X)
        values = np.asarray(found.compute() if hasattr(found, "compute") else found)
        twin = model.to_sklearn() if hasattr(model, "to_sklearn") else model
        known = twin.categories_ if hasattr(twin, "categories_") else twin.statistics_
        return repr([list(known), values.tolist(), np.asarray(twin.transform(plain)).tolist()])
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("chunk_size", [1, 2, 5])
@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("missing", NULLS)
def test_none_and_nan_are_what_they_are(missing: str, name: str, chunk_size: int) -> None:
    """Categories, values and the plain model are scikit-learn's, of objects and of frames."""
    column = np.empty((5, 1), dtype=object)
    column[:, 0] = NULLS[missing]
    frame = pd.DataFrame({"x": pd.Series(NULLS[missing], dtype=object)})
    pairs = [
        (column, mt.tensor(column, chunk_size=(chunk_size, 1))),
        (frame, md.DataFrame(frame, chunk_size=chunk_size)),
    ]
    for plain, lazy in pairs:
        expected = learnt(ENCODERS[name](theirs), plain, plain)
        with option_context({"coalesce": False}):
            assert learnt(ENCODERS[name](ours), lazy, plain) == expected
