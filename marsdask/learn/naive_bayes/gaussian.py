"""Gaussian naive Bayes from one pass over the samples."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import naive_bayes

# Which scikit-learn's own partial_fit begins with.
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_array

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator
from marsdask.learn.lazy import is_lazy
from marsdask.learn.moments import Moments, merge_squares, refuse, squares
from marsdask.learn.rows import as_weights, check_lengths, check_weights, fold, tiles
from marsdask.learn.targets import as_classes, check_given


class ClassMoments(NamedTuple):
    """The weighted moments of each class, and those of all samples without weights."""

    classes: Moments
    samples: Moments


class GaussianNB(RowsEstimator, naive_bayes.GaussianNB):
    """Classify by the means and variances of each class. See sklearn.naive_bayes.GaussianNB.

    Differs from scikit-learn: takes tensors and frames, in one pass.

    Examples
    --------
    >>> from marsdask.learn.naive_bayes import GaussianNB
    >>> X = mt.tensor([[0.0], [1.0], [5.0], [6.0]], chunk_size=2)
    >>> GaussianNB().fit(X, mt.tensor(["a", "a", "b", "b"])).predict(X).compute().tolist()
    ['a', 'a', 'b', 'b']
    """

    classes_: Any
    theta_: Any
    var_: Any
    class_count_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the means and variances of each class."""
        self._validate_params()
        if not is_lazy(X):
            super().fit(X, y, sample_weight)
            return self
        self.classes_ = None
        return self._learn(X, y, None, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more samples; the first call needs all ``classes``."""
        self._validate_params()
        if not is_lazy(X):
            super().partial_fit(X, y, classes, sample_weight)
            return self
        # scikit-learn's ValueError if there are none.
        labels = classes.compute() if is_lazy(classes) else classes
        if labels is None and vars(self).get("classes_") is None:
            _check_partial_fit_first_call(self, None)
        return self._learn(X, y, labels, sample_weight)

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        check_given(self, y)
        first = vars(self).get("classes_") is None
        rows = self._samples(X, reset=first)
        labels, codes = as_classes(y, rows)
        weight = as_weights(sample_weight, rows)
        check_lengths(rows, codes, weight)
        _check_partial_fit_first_call(self, labels if classes is None and first else classes)
        moments = _seen(rows, codes, weight, len(labels), self.n_features_in_)
        if weight is not None:
            check_weights(float(np.abs(moments.classes.count).max(initial=0.0)))
        is_new = ~np.isin(labels, self.classes_)
        if is_new.any():
            raise ValueError(
                f"The target label(s) {labels[is_new]} in y do not exist in the initial classes "
                f"{self.classes_}"
            )
        self._add(moments, np.searchsorted(self.classes_, labels), rows.meta.dtype, first=first)
        return self

    def _add(self, seen: ClassMoments, places: Any, dtype: Any, *, first: bool) -> None:
        """Add the moments of classes at these places to those of earlier samples."""
        count, width = len(self.classes_), self.n_features_in_
        total = Moments(np.zeros((count, 1)), np.zeros((count, width)), np.zeros((count, width)))
        spread = seen.samples.products / seen.samples.count
        self.epsilon_ = dtype.type(self.var_smoothing * spread.max())
        if not first:
            before = np.asarray(self.class_count_, np.float64)[:, np.newaxis]
            # As in scikit-learn: the new constant is subtracted, even if the last was another.
            total = Moments(before, self.theta_, (self.var_ - self.epsilon_) * before)
        parts = [np.zeros_like(item) for item in total]
        for part, update in zip(parts, seen.classes, strict=True):
            part[places] = update
        total = merge_squares(total, Moments(*parts))
        there = np.where(total.count > 0, total.count, 1.0)
        variances = total.products / there + self.epsilon_
        self.class_count_ = total.count[:, 0].astype(dtype)
        self.theta_, self.var_ = total.mean.astype(dtype), variances.astype(dtype)
        if self.priors is None:
            self.class_prior_ = self.class_count_ / self.class_count_.sum()
        elif first:
            self.class_prior_ = self._checked_priors(dtype)

    def _checked_priors(self, dtype: Any) -> Any:
        priors = check_array(self.priors, dtype=dtype, ensure_2d=False, input_name="priors")
        if len(priors) != len(self.classes_):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return priors


def _seen(rows: Node, codes: Node, weight: Node | None, classes: int, width: int) -> ClassMoments:
    result: ClassMoments = fold(
        class_moments,
        merge_class_moments,
        rows,
        codes,
        weight,
        nbytes=16 * (classes + 1) * (width + 1),
        classes=classes,
    )
    return result


@kernel(scratch=0.2)
def class_moments(block: Any, codes: Any, weight: Any = None, *, classes: int) -> ClassMoments:
    """Return the moments of each class in a run, tile by tile in cache."""
    width = block.shape[1]
    total = Moments(np.zeros((classes, 1)), np.zeros((classes, width)), np.zeros((classes, width)))
    for tile, labels, w in tiles(block, codes, weight):
        values = tile.astype(np.float64, copy=False)
        if not np.isfinite(values.sum()):
            refuse(tile, allow_nan=False)
        total = merge_squares(total, _of_tile(values, labels, w, classes))
    if weight is not None and weight.min(initial=0.0) < 0:
        raise ValueError("Negative values in data passed to `sample_weight`.")
    return ClassMoments(
        total, _together(total) if weight is None else squares(block, allow_nan=False)
    )


def _of_tile(tile: Any, labels: Any, weight: Any, classes: int) -> Moments:
    onehot = np.equal(labels, np.arange(classes)[:, np.newaxis]).astype(np.float64)
    if weight is not None:
        onehot *= weight
    count = onehot.sum(axis=1, keepdims=True)
    mean = onehot @ tile / np.where(count > 0, count, 1.0)
    away = tile - mean[labels]
    return Moments(count, mean, onehot @ np.square(away, out=away))


def _together(parts: Moments) -> Moments:
    """Return the moments of all classes together."""
    total = Moments(0.0, np.zeros(parts.mean.shape[1]), np.zeros(parts.mean.shape[1]))
    for part in zip(*parts, strict=True):
        total = merge_squares(total, Moments(*part))
    return total


def merge_class_moments(a: ClassMoments, b: ClassMoments) -> ClassMoments:
    """Return the moments of both."""
    return ClassMoments(merge_squares(a.classes, b.classes), merge_squares(a.samples, b.samples))
