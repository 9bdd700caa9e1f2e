"""Losses of predicted probabilities and decisions, whose classes may have to be found first."""

from __future__ import annotations

from typing import Any

from .means import by_classes
from .metric import Metric, MetricCall, gathered, metric


def by_ranks(call: MetricCall) -> Any:
    """One pass finds the classes, and one takes the mean; scores of two classes are held whole."""
    return by_classes(call) if len(call.columns["y_score"].shape) > 1 else gathered(call)


brier_score_loss: Metric = metric(
    "brier_score_loss", by_classes, "Return the mean squared error of probabilities."
)
hinge_loss: Metric = metric("hinge_loss", by_classes, "Return the mean hinge loss of decisions.")
log_loss: Metric = metric(
    "log_loss", by_classes, "Return the negative log-likelihood of the true classes."
)
top_k_accuracy_score: Metric = metric(
    "top_k_accuracy_score", by_ranks, "Return the share of classes among the likeliest."
)
d2_log_loss_score: Metric = metric(
    "d2_log_loss_score", gathered, "Return the share of log loss that is explained."
)
