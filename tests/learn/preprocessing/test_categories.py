"""Categories are encoded as by scikit-learn, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import preprocessing as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import preprocessing as ours
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
