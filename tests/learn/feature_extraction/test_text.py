"""Terms are found and counted as by scikit-learn, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction import text as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn.base import is_lazy
from marsdask.learn.feature_extraction import text

TEXTS = [
    "the cat sat on the mat",
    "The dog sat",
    "a",
    "cat and dog, dog and cat",
    "on the mat of the cat",
    "Nothing here",
]

OPTIONS = [
    {},
    {"min_df": 2, "max_df": 0.6},
    {"max_features": 3},
    {"max_features": 4, "binary": True},
    {"ngram_range": (1, 2), "stop_words": "english"},
    {"vocabulary": ["dog", "cat"]},
    {"analyzer": "char", "min_df": 0.5},
]


def _lazy():
    return (
        md.Series(TEXTS, chunk_size=2),
        mt.tensor(np.array(TEXTS, dtype=object), chunks=((2, 0, 1, 3),)),
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_terms_are_counted(options):
    """Those that are neither too rare nor too frequent, in the same columns."""
    other = theirs.CountVectorizer(**options)
    expected = other.fit_transform(TEXTS)
    for lazy in _lazy():
        model = text.CountVectorizer(**options)
        found = model.fit_transform(lazy)
        assert is_lazy(found)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.compute().toarray(), expected.toarray())
        assert model.vocabulary_ == other.vocabulary_
        assert list(model.get_feature_names_out()) == list(other.get_feature_names_out())
        np.testing.assert_array_equal(model.transform(TEXTS).toarray(), expected.toarray())
        plain = model.to_sklearn().transform(TEXTS)
        np.testing.assert_array_equal(plain.toarray(), expected.toarray())


@pytest.mark.parametrize("options", [{}, {"norm": None, "binary": True}])
def test_terms_are_hashed(options):
    """Without a fit, as there is nothing to learn."""
    expected = theirs.HashingVectorizer(n_features=16, **options).transform(TEXTS)
    model = text.HashingVectorizer(n_features=16, **options)
    for lazy in _lazy():
        found = model.transform(lazy)
        np.testing.assert_allclose(found.compute().toarray(), expected.toarray())
        np.testing.assert_allclose(
            model.fit_transform(lazy).compute().toarray(), expected.toarray()
        )


def test_a_given_vocabulary_needs_no_fit():
    """As in scikit-learn."""
    found = text.CountVectorizer(vocabulary=["cat"]).transform(_lazy()[0])
    assert found.compute().toarray().ravel().tolist() == [1, 0, 0, 2, 1, 0]


@pytest.mark.parametrize(
    ("texts", "options", "words"),
    [
        (["a", "b"], {}, "empty vocabulary"),
        (TEXTS, {"min_df": 6}, "no terms remain"),
        (TEXTS, {"min_df": 5, "max_df": 2}, "max_df corresponds to < documents than min_df"),
        (["cat", None], {}, "invalid document"),
        (TEXTS, {"ngram_range": (2, 1)}, "Invalid value for ngram_range"),
    ],
)
def test_what_is_refused(texts, options, words):
    """In scikit-learn's words."""
    model = text.CountVectorizer(**options)
    with pytest.raises(ValueError, match=words):
        model.fit(md.Series(texts, chunk_size=1))
    with pytest.raises(NotImplementedError, match="inverse_transform"):
        text.CountVectorizer().fit(_lazy()[0]).inverse_transform(mt.ones((1, 2)))
