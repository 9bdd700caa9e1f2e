"""Metrics of scores: functions of which classes meet which scores."""

from __future__ import annotations

from typing import Any

from .classification import by_pairs
from .means import by_means
from .metric import Metric, MetricCall, gathered, metric


def by_scores(call: MetricCall) -> Any:
    """One pass collects the distinct scores, which are held in memory; several columns whole."""
    scores = list(call.columns.values())[-1]
    return by_pairs(call) if len(scores.shape) == 1 else gathered(call)


average_precision_score: Metric = metric(
    "average_precision_score", by_scores, "Return the mean precision over the recalls."
)
det_curve: Metric = metric("det_curve", by_scores, "Return the error rates for each threshold.")
precision_recall_curve: Metric = metric(
    "precision_recall_curve", by_scores, "Return precision and recall for each threshold."
)
roc_auc_score: Metric = metric("roc_auc_score", by_scores, "Return the area under the ROC curve.")
roc_curve: Metric = metric(
    "roc_curve", by_scores, "Return the rates of positives for each threshold."
)

auc: Metric = metric("auc", gathered, "Return the area under a curve of points.")
coverage_error: Metric = metric(
    "coverage_error", by_means, "Return how many ranks cover all labels."
)
dcg_score: Metric = metric("dcg_score", by_means, "Return the discounted cumulative gain.")
label_ranking_average_precision_score: Metric = metric(
    "label_ranking_average_precision_score", by_means, "Return the precision of ranked labels."
)
label_ranking_loss: Metric = metric(
    "label_ranking_loss", by_means, "Return the share of wrong pairs."
)
ndcg_score: Metric = metric("ndcg_score", by_means, "Return the normalized cumulative gain.")
