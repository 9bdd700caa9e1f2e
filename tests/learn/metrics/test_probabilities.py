"""Losses of probabilities equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import marsdask.tensor as mt
from marsdask.learn import metrics as ours
from tests.learn.metrics.cases import BINARY, CLASSES, LIKELY, SCORES, WEIGHTS, assert_alike, cuts

SHARES = SCORES / 2
INDICATORS = np.eye(3, dtype=int)[CLASSES]
CASES: list[Any] = [
    ("brier_score_loss", (BINARY, SHARES), {}),
    ("d2_log_loss_score", (CLASSES, LIKELY), {}),
    ("hinge_loss", (BINARY, SCORES), {}),
    ("hinge_loss", (CLASSES, LIKELY), {}),
    ("log_loss", (CLASSES, LIKELY), {}),
    ("log_loss", (CLASSES, LIKELY), {"labels": [0, 1, 2], "normalize": False}),
    ("log_loss", (BINARY, SHARES), {}),
    ("log_loss", (INDICATORS, LIKELY), {}),
    ("log_loss", (INDICATORS, LIKELY), {"normalize": False}),
    ("brier_score_loss", (INDICATORS, LIKELY), {}),
    ("top_k_accuracy_score", (CLASSES, LIKELY), {"normalize": False}),
    ("top_k_accuracy_score", (BINARY, SHARES), {"k": 1}),
]


@settings(max_examples=2)
@given(cuts())
def test_they_equal_scikit_learns(cut):
    """Each loss, with weights and without, also where a chunk lacks a class."""
    for name, columns, options in CASES:
        assert_alike(name, columns, cut, **options)
        assert_alike(name, columns, cut, WEIGHTS, **options)


def test_one_class_is_refused_as_by_scikit_learn():
    """Unless the labels are given."""
    true, found = mt.ones(4, dtype=int, chunk_size=3), mt.full(4, 0.5)
    with pytest.raises(ValueError, match="y_true contains only one label"):
        ours.log_loss(true, found)
    assert ours.log_loss(true, found, labels=[0, 1]) == pytest.approx(np.log(2))
