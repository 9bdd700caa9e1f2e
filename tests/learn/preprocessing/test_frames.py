"""Frames of categories: in memory, lazy, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.preprocessing import BlockTransformer, Categorizer, DummyEncoder

FRAME = pd.DataFrame(
    {
        "text": ["x", "y", None, "z", "x"],
        "number": [1.0, 2.0, 3.0, 4.0, 5.0],
        "kind": pd.Categorical(["q", "p", "q", "q", "p"], ["q", "p", "r"], ordered=True),
    }
)


def _lazy(frame=FRAME):
    return md.DataFrame(frame, chunk_size=2)


def test_categories():
    """Those of all chunks, sorted; columns that have some keep them; lazy as in memory."""
    mine, plain = Categorizer().fit(_lazy()), Categorizer().fit(FRAME)
    assert list(mine.columns_) == ["text", "kind"]
    assert mine.categories_["text"].categories.tolist() == ["x", "y", "z"]
    assert plain.categories_["text"].categories.tolist() == ["x", "y", "z"]
    expected = FRAME.astype({"text": plain.categories_["text"]})
    pd.testing.assert_frame_equal(plain.transform(FRAME), expected)
    found = mine.transform(_lazy()).compute()
    assert found["text"].cat.codes.tolist() == expected["text"].cat.codes.tolist()
    given = Categorizer({"text": pd.CategoricalDtype(["y"])}, ["text"]).fit(_lazy())
    assert given.transform(_lazy()).compute()["text"].cat.codes.tolist() == [-1, 0, -1, -1, -1]
    with pytest.raises(TypeError, match="Expected a DataFrame, got Tensor"):
        mine.fit(mt.ones((2, 2)))
    with pytest.raises(ValueError, match="columns are missing"):
        Categorizer(columns=["other"]).fit(_lazy())


@pytest.mark.parametrize("drop_first", [False, True])
def test_dummies(drop_first):
    """Pandas's columns, and the frame again from them, from arrays too."""
    frame = Categorizer().fit_transform(FRAME)
    model = DummyEncoder(drop_first=drop_first)
    found = model.fit_transform(_lazy(frame))
    expected = pd.get_dummies(frame, columns=["text", "kind"], drop_first=drop_first)
    pd.testing.assert_frame_equal(found.compute(), expected)
    assert model.transformed_columns_.equals(expected.columns)
    assert list(model.non_categorical_columns_) == ["number"]
    back = frame.fillna({"text": "x"}) if drop_first else frame  # a missing one has no column then
    pd.testing.assert_frame_equal(model.inverse_transform(found).compute(), back)
    array = expected.to_numpy(float)
    restored = model.inverse_transform(mt.tensor(array, chunk_size=2)).compute()
    assert restored["kind"].tolist() == FRAME["kind"].tolist()
    assert model.inverse_transform(array)["number"].tolist() == FRAME["number"].tolist()
    fewer = frame.assign(kind=pd.Categorical(["p"] * 5))
    assert model.transform(_lazy(fewer)).compute().columns.equals(expected.columns)
    with pytest.raises(ValueError, match="do not match the training columns"):
        model.transform(_lazy(frame[["text"]]))
    with pytest.raises(ValueError, match="have no categories; Categorizer makes some"):
        DummyEncoder(["number"]).fit(frame)


def test_functions_of_chunks():
    """Get arrays or frames, and more arguments."""
    model = BlockTransformer(np.clip, kw_args={"a_min": 2.0, "a_max": 4.0})
    numbers = FRAME[["number"]].to_numpy()
    assert model.fit_transform(mt.tensor(numbers, chunk_size=2)).compute().ravel().tolist() == [
        *(2.0, 2.0, 3.0),
        *(4.0, 4.0),
    ]
    assert model.transform(numbers).max() == 4.0
    halves = BlockTransformer(pd.DataFrame.head, kw_args={"n": 1}).transform(_lazy())
    assert halves.compute()["number"].tolist() == [1.0, 3.0, 5.0]
