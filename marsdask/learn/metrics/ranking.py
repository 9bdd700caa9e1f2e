"""Metrics of scores: functions of which classes meet which scores."""

from __future__ import annotations

from typing import Any

from .classification import by_pairs
from .means import by_means
from .metric import MetricCall, gathered, metric


def by_scores(call: MetricCall) -> Any:
    """One pass collects the distinct scores, which are held in memory; several columns whole."""
    scores = list(call.columns.values())[-1]
    return by_pairs(call) if len(scores.shape) == 1 else gathered(call)


average_precision_score = metric(
    "average_precision_score", by_scores, "Return the mean precision over the recalls."
)
det_curve = metric("det_curve", by_scores, "Return the error rates for each threshold.")
precision_recall_curve = metric(
    "precision_recall_curve", by_scores, "Return precision and recall for each threshold."
)
roc_auc_score = metric("roc_auc_score", by_scores, "Return the area under the ROC curve.")
roc_curve = metric("roc_curve", by_scores, "Return the rates of positives for each threshold.")

auc = metric("auc", gathered, "Return the area under a curve of points.")
coverage_error = metric("coverage_error", by_means, "Return how many ranks cover all labels.")
dcg_score = metric("dcg_score", by_means, "Return the discounted cumulative gain.")
label_ranking_average_precision_score = metric(
    "label_ranking_average_precision_score", by_means, "Return the precision of ranked labels."
)
label_ranking_loss = metric("label_ranking_loss", by_means, "Return the share of wrong pairs.")
ndcg_score = metric("ndcg_score", by_means, "Return the normalized cumulative gain.")
