"""Metrics of predicted classes: functions of which classes meet how often."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from marsdask.learn.rows import fold

from .contingency import merge_pairs, pairs
from .metric import Metric, MetricCall, gathered, metric


def by_pairs(call: MetricCall) -> Any:
    """One pass counts the distinct pairs of values, which are held in memory."""
    if call.options.get("samplewise"):
        return gathered(call)
    table = fold(pairs, merge_pairs, *call.columns.values(), call.weight, nbytes=2**16)
    if not len(table.weights):
        return gathered(call)
    result = call.of(table.first, table.second, weight=table.weights)
    return result if call.weight is not None else _counts(call, result)


def _counts(call: MetricCall, found: Any) -> Any:
    """Return numbers of samples as integers, as they are without weights."""
    name = call.function.__name__
    if name == "classification_report":
        return _report(found)
    if name == "precision_recall_fscore_support" and found[3] is not None:
        return (*found[:3], found[3].astype(np.int64))
    if name == "multilabel_confusion_matrix":
        return found.astype(np.int64)
    return found


def _report(found: Any) -> Any:
    """Return a report whose supports have no decimals."""
    if isinstance(found, str):
        return re.sub(r"(\d+)\.0$", r"  \1", found, flags=re.MULTILINE)
    return found


accuracy_score: Metric = metric("accuracy_score", by_pairs, "Return the share of right classes.")
balanced_accuracy_score: Metric = metric(
    "balanced_accuracy_score", by_pairs, "Return the mean recall of the classes."
)
class_likelihood_ratios: Metric = metric(
    "class_likelihood_ratios", by_pairs, "Return the likelihood ratios of two classes."
)
classification_report: Metric = metric(
    "classification_report", by_pairs, "Return a table of the metrics of each class."
)
cohen_kappa_score: Metric = metric(
    "cohen_kappa_score", by_pairs, "Return the agreement of two annotators beyond chance."
)
confusion_matrix: Metric = metric("confusion_matrix", by_pairs, "Return how often classes meet.")
f1_score: Metric = metric("f1_score", by_pairs, "Return the harmonic mean of precision and recall.")
fbeta_score: Metric = metric(
    "fbeta_score", by_pairs, "Return a weighted mean of precision and recall."
)
hamming_loss: Metric = metric("hamming_loss", by_pairs, "Return the share of wrong labels.")
jaccard_score: Metric = metric(
    "jaccard_score", by_pairs, "Return intersection over union of labels."
)
matthews_corrcoef: Metric = metric(
    "matthews_corrcoef", by_pairs, "Return the correlation of true and predicted classes."
)
multilabel_confusion_matrix: Metric = metric(
    "multilabel_confusion_matrix", by_pairs, "Return a confusion matrix for each label."
)
precision_recall_fscore_support: Metric = metric(
    "precision_recall_fscore_support",
    by_pairs,
    "Return precision, recall, F-score and support of the classes.",
)
precision_score: Metric = metric(
    "precision_score", by_pairs, "Return the share of right positives."
)
recall_score: Metric = metric("recall_score", by_pairs, "Return the share of found positives.")
zero_one_loss: Metric = metric("zero_one_loss", by_pairs, "Return the share of wrong classes.")
