"""Metrics of predicted numbers: means over samples, and sums of squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils import check_array

from marsdask.core.machine.costs import kernel
from marsdask.learn.moments import Moments, merge_counted, merge_squares, squares
from marsdask.learn.rows import fold, tiles

from .means import by_means, merge_largest, over_runs
from .metric import Metric, MetricCall, gathered, metric

#: What a root is taken of.
SQUARES = {
    "root_mean_squared_error": metrics.mean_squared_error,
    "root_mean_squared_log_error": metrics.mean_squared_log_error,
}


def by_outputs(call: MetricCall) -> Any:
    """One pass takes the means over the chunks, of each output."""
    squared = SQUARES.get(call.function.__name__)
    multioutput = call.options.get("multioutput", "uniform_average")
    total, errors = over_runs(call, function=squared, multioutput="raw_values")
    if not total:
        return gathered(call)
    errors = np.sqrt(errors) if squared else errors
    if isinstance(multioutput, str):
        return errors if multioutput == "raw_values" else float(np.average(errors))
    return float(np.average(errors, weights=multioutput))


def by_largest(call: MetricCall) -> Any:
    """One pass takes the largest of the chunks' results."""
    total, value = over_runs(call, merge_largest)
    return value if total else gathered(call)


@kernel(scratch=3.0)
def residual_squares(true: Any, predicted: Any, weight: Any = None) -> tuple[int, Moments]:
    """Return the rows, and the moments of targets and what predictions miss, side by side."""
    true, predicted = (
        check_array(column, ensure_2d=False, dtype=[np.float64, np.float32], ensure_min_samples=0)
        for column in (true, predicted)
    )
    true, predicted = (
        column if column.ndim == 2 else column[:, np.newaxis] for column in (true, predicted)
    )
    if true.shape != predicted.shape:
        raise ValueError(
            f"y_true and y_pred have different number of output "
            f"({true.shape[1]}!={predicted.shape[1]})"
        )
    width = true.shape[1]
    moments = Moments(*np.zeros((3, 2 * width)))
    for target, estimate, weights in tiles(true, predicted, weight):
        # Equal targets have no variance, not one of rounding errors.
        origin = target[0].astype(np.float64)
        sides = np.hstack([target - origin, target.astype(np.float64) - estimate])
        part = squares(sides, weights, allow_nan=False)
        part.mean[:width] += origin
        moments = merge_squares(moments, part)
    return len(true), moments


def by_squares(call: MetricCall) -> Any:
    """One pass sums the squares of targets and residuals."""
    columns = call.columns.values()
    width = max(2, *(8 * node.meta.shape[1] if len(node.shape) > 1 else 2 for node in columns))
    rows, moments = fold(residual_squares, merge_counted, *columns, call.weight, nbytes=48 * width)
    if rows < 2 or not moments.count.max(initial=0.0):
        return gathered(call)
    half = len(moments.mean) // 2
    missed = moments.products[half:]
    if call.function.__name__ == "r2_score":
        missed = missed + moments.count[half:] * np.square(moments.mean[half:])
    # Two samples with the same sums of squares.
    signs = np.array([[1.0], [-1.0]])
    true = signs * np.sqrt(moments.products[:half] / 2)
    return call.of(true, true - signs * np.sqrt(missed / 2))


mean_absolute_error: Metric = metric(
    "mean_absolute_error", by_outputs, "Return the mean absolute error."
)
mean_absolute_percentage_error: Metric = metric(
    "mean_absolute_percentage_error", by_outputs, "Return the mean relative error."
)
mean_pinball_loss: Metric = metric(
    "mean_pinball_loss", by_outputs, "Return the loss of predicted quantiles."
)
mean_squared_error: Metric = metric(
    "mean_squared_error", by_outputs, "Return the mean squared error."
)
mean_squared_log_error: Metric = metric(
    "mean_squared_log_error", by_outputs, "Return the mean squared error of logarithms."
)
root_mean_squared_error: Metric = metric(
    "root_mean_squared_error", by_outputs, "Return the root of the mean squared error."
)
root_mean_squared_log_error: Metric = metric(
    "root_mean_squared_log_error",
    by_outputs,
    "Return the root of the mean squared error of logarithms.",
)
mean_gamma_deviance: Metric = metric(
    "mean_gamma_deviance", by_means, "Return the mean deviance of gamma distributions."
)
mean_poisson_deviance: Metric = metric(
    "mean_poisson_deviance", by_means, "Return the mean deviance of Poisson distributions."
)
mean_tweedie_deviance: Metric = metric(
    "mean_tweedie_deviance", by_means, "Return the mean deviance of Tweedie distributions."
)
max_error: Metric = metric("max_error", by_largest, "Return the largest absolute error.")
explained_variance_score: Metric = metric(
    "explained_variance_score", by_squares, "Return the share of variance that is explained."
)
r2_score: Metric = metric("r2_score", by_squares, "Return the coefficient of determination.")
d2_absolute_error_score: Metric = metric(
    "d2_absolute_error_score", gathered, "Return the share of absolute errors that is explained."
)
d2_pinball_score: Metric = metric(
    "d2_pinball_score", gathered, "Return the share of pinball losses that is explained."
)
d2_tweedie_score: Metric = metric(
    "d2_tweedie_score", gathered, "Return the share of deviance that is explained."
)
median_absolute_error: Metric = metric(
    "median_absolute_error", gathered, "Return the median absolute error."
)
