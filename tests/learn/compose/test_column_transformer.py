"""Columns are transformed in their own ways, as by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import compose as theirs
from sklearn import preprocessing as their_preprocessing
from sklearn.feature_extraction.text import CountVectorizer as TheirVectorizer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import preprocessing
from marsdask.learn.base import is_lazy
from marsdask.learn.compose import (
    ColumnTransformer,
    make_column_selector,
    make_column_transformer,
)
from marsdask.learn.feature_extraction.text import CountVectorizer
from tests.learn.preprocessing.cases import dense

FRAME = pd.DataFrame(
    {
        "number": [1.0, 3.0, 2.0, 5.0, 4.0],
        "word": ["x", "y", "x", "z", "x"],
        "text": ["one two", "two", "three", "one", "two two"],
        "count": [1, 2, 3, 4, 5],
    }
)


def _steps(module: Any, vectorizer: Any) -> Any:
    binary = their_preprocessing.Binarizer(threshold=2)  # scikit-learn's own
    return [
        ("scaled", make_pipeline(module.StandardScaler()), ["number"]),
        ("encoded", module.OneHotEncoder(), ["word"]),
        ("counted", vectorizer(), "text"),
        ("binary", binary, ["count"]),
        ("dropped", "drop", ["count"]),
        ("none", module.StandardScaler(), []),
    ]


@pytest.mark.parametrize("sparse_threshold", [0, 1.0])
@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
def test_columns_of_frames(sparse_threshold, remainder):
    """By name; some alone, as texts; with weights, whether the result is sparse or not."""
    how = {
        "sparse_threshold": sparse_threshold,
        "remainder": remainder,
        "transformer_weights": {"scaled": 2.0, "encoded": 3.0},
    }
    frame = FRAME.assign(rest=[0.5, 1.5, 2.5, 3.5, 4.5])
    ours = ColumnTransformer(_steps(preprocessing, CountVectorizer), **how)
    other = theirs.ColumnTransformer(_steps(their_preprocessing, TheirVectorizer), **how)
    lazy = md.DataFrame(frame, chunk_size=2)
    found, expected = ours.fit_transform(lazy), other.fit_transform(frame)
    assert is_lazy(found)
    assert found.shape == expected.shape
    assert hasattr(found.compute(), "toarray") == hasattr(expected, "toarray")
    np.testing.assert_allclose(dense(found.compute()), dense(expected))
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert ours.output_indices_ == other.output_indices_
    np.testing.assert_allclose(dense(ours.transform(frame)), dense(expected))
    np.testing.assert_allclose(dense(ours.to_sklearn().transform(frame)), dense(expected))
    # Columns may be in another order, and there may be others.
    mixed = lazy[[*reversed(list(frame.columns))]]
    np.testing.assert_allclose(dense(ours.transform(mixed).compute()), dense(expected))


def test_columns_of_tensors():
    """By position, as lists and slices, and chosen by a function."""
    samples = np.arange(20.0).reshape(5, 4) ** 2
    lazy = mt.tensor(samples, chunks=((2, 0, 3), (3, 1)))
    pairs = [
        [(module.StandardScaler(), [0, 2]), (module.MinMaxScaler(), slice(1, 2))]
        for module in (preprocessing, their_preprocessing)
    ]
    found = make_column_transformer(*pairs[0]).fit_transform(lazy)
    expected = theirs.make_column_transformer(*pairs[1]).fit_transform(samples)
    np.testing.assert_allclose(found, expected)
    selector = make_column_selector(dtype_include=np.number)
    model = make_column_transformer((preprocessing.MaxAbsScaler(), selector))
    found = model.fit_transform(md.DataFrame(FRAME, chunk_size=2))
    assert found.shape == (5, 2)
    model.set_output(transform="pandas")
    framed = model.transform(md.DataFrame(FRAME, chunk_size=2)).compute()
    assert list(framed.columns) == ["maxabsscaler__number", "maxabsscaler__count"]
    empty = ColumnTransformer([("a", "drop", [0])]).fit_transform(lazy)
    assert empty.compute().shape == (5, 0)


def test_what_is_refused():
    """In scikit-learn's words where it refuses it, too."""
    lazy = md.DataFrame(FRAME, chunk_size=2)
    model = ColumnTransformer([("a", preprocessing.StandardScaler(), ["number"])]).fit(lazy)
    with pytest.raises(ValueError, match="columns are missing"):
        model.transform(lazy[["word", "count"]])
    with pytest.raises(ValueError, match=r"columns? of the dataframe"):
        ColumnTransformer([("a", preprocessing.StandardScaler(), ["none"])]).fit(lazy)
    with pytest.raises(TypeError, match="should implement fit"):
        ColumnTransformer([("a", 3, ["number"])]).fit(lazy)
    with pytest.raises(NotImplementedError, match="arguments of transformers"):
        model.fit(lazy, sample_weight=[1.0])


@pytest.mark.parametrize("module", [preprocessing, their_preprocessing])
@pytest.mark.parametrize("unknown", [False, True])
def test_targets_do_not_leak(module, unknown):
    """fit_transform is that of each transformer, as scikit-learn's calls it."""
    rng = np.random.default_rng(3)
    words, y = rng.choice(list("abc"), 24), rng.normal(size=24)
    frame = pd.DataFrame({"n": rng.normal(size=24), "w": words.astype(object)})
    how = {"cv": KFold(2), "target_type": "continuous"}
    steps = [("w", their_preprocessing.TargetEncoder(**how), ["w"]), ("n", "passthrough", ["n"])]
    expected = theirs.ColumnTransformer(steps).fit_transform(frame, y)
    lazy = md.DataFrame(pd.concat([frame, frame]) if unknown else frame, chunk_size=7)
    lazy = lazy.iloc[:24].query("n == n") if unknown else lazy
    ours = ColumnTransformer([("w", module.TargetEncoder(**how), ["w"]), *steps[1:]])
    np.testing.assert_allclose(ours.fit_transform(lazy, y).compute(), expected)
    expected = theirs.ColumnTransformer(steps).fit(frame, y).transform(frame)
    np.testing.assert_allclose(ours.transform(lazy).compute(), expected)


def test_frames_keep_their_labels_and_types():
    """set_output("pandas"): columns of integers stay that, and rows keep their labels."""
    frame = (
        FRAME[["number", "count"]]
        .set_axis(list("vwxyz"), axis=0)
        .assign(word=FRAME["word"].to_numpy())
    )
    how = {"remainder": "passthrough", "transformer_weights": {"n": 2.0}}
    ours, other = (
        kind([("n", module.MinMaxScaler(), ["number"])], **how).set_output(transform="pandas")
        for kind, module in (
            (ColumnTransformer, preprocessing),
            (theirs.ColumnTransformer, their_preprocessing),
        )
    )
    lazy = md.DataFrame(frame, chunk_size=2)
    expected = other.fit_transform(frame)
    pd.testing.assert_frame_equal(ours.fit_transform(lazy).compute(), expected)
    pd.testing.assert_frame_equal(ours.transform(lazy).compute(), expected)
    chosen = ours.transform(lazy[lazy["count"] > 2])
    pd.testing.assert_frame_equal(chosen.compute(), other.transform(frame[frame["count"] > 2]))


def test_weights_keep_the_precision():
    """A part of float32 times its weight is that, too."""
    samples = np.arange(6, dtype=np.float32).reshape(3, 2)
    pairs = [
        kind([("a", module.StandardScaler(), [0])], transformer_weights={"a": 2.0})
        for kind, module in (
            (ColumnTransformer, preprocessing),
            (theirs.ColumnTransformer, their_preprocessing),
        )
    ]
    found = pairs[0].fit_transform(mt.tensor(samples, chunk_size=2))
    expected = pairs[1].fit_transform(samples)
    assert found.dtype == found.compute().dtype == expected.dtype
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-6)


def test_models_that_refuse_zeros():
    """What they make of samples is told by a row of these."""
    samples = np.array([[1.0, 2.0], [2.0, 3.0], [1.0, 2.0]])
    steps = [
        ("o", their_preprocessing.OneHotEncoder(), [0]),
        ("p", their_preprocessing.PowerTransformer("box-cox"), [1]),
    ]
    expected = dense(theirs.ColumnTransformer(steps).fit_transform(samples))
    model = ColumnTransformer(steps)
    lazy = mt.tensor(samples, chunk_size=2)
    np.testing.assert_allclose(dense(model.fit_transform(lazy).compute()), expected)
    np.testing.assert_allclose(dense(model.transform(lazy).compute()), expected)


def test_what_is_transformed_in_memory_is_one_of_the_parts():
    """Sparse parts as well, of frames whose length is unknown, too."""
    steps = [("text", TheirVectorizer(), "text"), ("n", preprocessing.MinMaxScaler(), ["number"])]
    lazy = md.DataFrame(FRAME, chunk_size=2)
    expected = ColumnTransformer(steps, sparse_threshold=1.0).fit_transform(FRAME)
    for given in (lazy, lazy[lazy["count"] > 0]):
        model = ColumnTransformer(steps, sparse_threshold=1.0)
        found = model.fit_transform(given).compute()
        np.testing.assert_allclose(dense(found), dense(expected))
        np.testing.assert_allclose(dense(model.transform(given).compute()), dense(expected))
