"""Metrics of classes equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn import metrics as theirs

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import metrics as ours
from tests.learn.metrics.cases import (
    BINARY,
    CLASSES,
    GUESSED,
    GUESSED_LABELS,
    GUESSES,
    LABELS,
    WEIGHTS,
    assert_alike,
    cuts,
)

MANY, TWO, INDICATORS = (CLASSES, GUESSES), (BINARY, GUESSED), (LABELS, GUESSED_LABELS)

#: Metrics with the columns they take and their options.
CASES: list[Any] = [
    ("accuracy_score", MANY, {}),
    ("accuracy_score", MANY, {"normalize": False}),
    ("accuracy_score", INDICATORS, {}),
    ("balanced_accuracy_score", MANY, {}),
    ("class_likelihood_ratios", TWO, {}),
    ("cohen_kappa_score", MANY, {"weights": "linear"}),
    ("confusion_matrix", MANY, {}),
    ("f1_score", INDICATORS, {"average": "samples", "zero_division": 0}),
    ("f1_score", TWO, {}),
    ("fbeta_score", MANY, {"beta": 2, "average": None}),
    ("hamming_loss", INDICATORS, {}),
    ("jaccard_score", MANY, {"average": "macro"}),
    ("matthews_corrcoef", MANY, {}),
    ("multilabel_confusion_matrix", MANY, {"labels": [2, 0]}),
    ("multilabel_confusion_matrix", INDICATORS, {"samplewise": True}),
    ("precision_recall_fscore_support", MANY, {}),
    ("precision_recall_fscore_support", MANY, {"average": "weighted"}),
    ("precision_score", MANY, {"average": "micro"}),
    ("recall_score", TWO, {"pos_label": 0}),
    ("zero_one_loss", MANY, {"normalize": False}),
]


@settings(max_examples=2)
@given(cuts())
def test_they_equal_scikit_learns(cut):
    """Each metric, with weights and without, over chunkings; counts stay integers."""
    for name, columns, options in CASES:
        assert_alike(name, columns, cut, **options)
        assert_alike(name, columns, cut, WEIGHTS, **options)
    assert_alike("classification_report", MANY, cut)


def test_classes_may_be_texts():
    """Series of texts, in chunks of their own, one of them of unknown length."""
    names = np.array(["ant", "bee", "cat"])
    true, found = pd.Series(names[CLASSES]), pd.Series(names[GUESSES])
    lazy: Any = md.Series(pd.concat([true, pd.Series(["x"])], ignore_index=True), chunk_size=7)
    lazy = lazy[lazy != "x"]
    matrix = ours.confusion_matrix(lazy, md.Series(found, chunk_size=11), labels=list(names))
    np.testing.assert_array_equal(matrix, theirs.confusion_matrix(true, found, labels=names))


def test_sparse_numbers_of_classes_are_found():
    """Numbers far apart, which cannot be counted by position."""
    true, found = CLASSES * 10**12, GUESSES * 10**12
    assert ours.f1_score(mt.tensor(true, chunk_size=9), found, average="macro") == pytest.approx(
        theirs.f1_score(true, found, average="macro")
    )


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize(
    ("true", "found", "words"),
    [
        ([0, 1], [0.5, 1.0], "mix of binary and continuous"),
        ([0, 1], [0, 1, 1], "inconsistent numbers"),
        ([0, 1], [np.nan, 1.0], "NaN"),
        ([], [], "a minimum of 1"),
    ],
)
def test_what_is_refused_is_refused_in_the_same_words(true, found, words):
    """Numbers in place of classes, columns of unlike lengths, missing values, no values."""
    with pytest.raises(ValueError, match=words) as expected:
        theirs.accuracy_score(np.array(true), np.array(found))
    with pytest.raises(ValueError, match=words) as got:
        ours.accuracy_score(mt.tensor(true), mt.tensor(found))
    assert str(got.value) == str(expected.value)


def test_lengths_that_only_running_tells_are_compared():
    """Two filtered columns of unlike lengths are refused."""
    column = mt.arange(9, chunk_size=4)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[5, 6\]"):
        ours.accuracy_score(column[column > 3], column[column > 2])
