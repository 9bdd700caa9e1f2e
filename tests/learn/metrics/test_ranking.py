"""Metrics of scores equal scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import marsdask.tensor as mt
from marsdask.learn import metrics as ours
from tests.learn.metrics.cases import (
    BINARY,
    CLASSES,
    LABELS,
    LIKELY,
    SCORES,
    WEIGHTS,
    assert_alike,
    cuts,
)

CASES: list[Any] = [
    ("average_precision_score", (BINARY, SCORES), {}),
    ("coverage_error", (LABELS, LIKELY), {}),
    ("dcg_score", (LABELS, LIKELY), {"k": 2}),
    ("det_curve", (BINARY, SCORES), {}),
    ("label_ranking_average_precision_score", (LABELS, LIKELY), {}),
    ("label_ranking_loss", (LABELS, LIKELY), {}),
    ("ndcg_score", (LABELS, LIKELY), {}),
    ("precision_recall_curve", (BINARY, SCORES), {}),
    ("roc_auc_score", (BINARY, SCORES), {"max_fpr": 0.5}),
    ("roc_auc_score", (CLASSES, LIKELY), {"multi_class": "ovr"}),
    ("roc_curve", (BINARY, SCORES), {"drop_intermediate": False}),
    ("roc_curve", (BINARY, SCORES), {"pos_label": 0}),
]


@settings(max_examples=2)
@given(cuts())
def test_they_equal_scikit_learns(cut):
    """Each metric, with weights and without; ties and several columns of scores."""
    for name, columns, options in CASES:
        assert_alike(name, columns, cut, **options)
        assert_alike(name, columns, cut, WEIGHTS, **options)


def test_a_curve_has_an_area():
    """Of lazy points; the result of roc_curve is taken, too."""
    found, expected, _ = ours.roc_curve(mt.tensor(BINARY, chunk_size=9), SCORES)
    area = ours.auc(mt.tensor(found, chunk_size=5), expected)
    assert area == pytest.approx(ours.roc_auc_score(BINARY, SCORES))


def test_one_class_has_no_curve():
    """A warning as scikit-learn's; the result is nan."""
    with pytest.warns(UserWarning, match="Only one class"):
        assert np.isnan(ours.roc_auc_score(mt.ones(4, chunk_size=3), mt.arange(4)))
