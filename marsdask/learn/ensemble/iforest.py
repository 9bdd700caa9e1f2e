"""Outliers by trees that isolate them."""

from __future__ import annotations

import numbers as number_types
import warnings
from typing import Any, Self

import numpy as np
from sklearn import ensemble

# scikit-learn's own method reads what this gives, which has no public name.
from sklearn.ensemble._iforest import _average_path_length

from marsdask.core.collection import collect
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.tensor.quantile.exact import percentile

from .bagging import OfDraws, of_known_length, weights_in_memory


class IsolationForest(OfDraws, RowsEstimator, ensemble.IsolationForest):
    """Find outliers: few random splits isolate them. See sklearn.ensemble.IsolationForest.

    Differs from scikit-learn: takes tensors, sparse ones too, and frames. One task fits each tree
    to the samples drawn for it. A number as ``contamination`` scores all samples once more.

    Examples
    --------
    >>> from marsdask.learn.ensemble import IsolationForest
    >>> X = mt.tensor([[0.0], [0.1], [0.2], [9.0]], chunk_size=2)
    >>> IsolationForest(n_estimators=20, random_state=0).fit(X).predict(X).compute()
    array([ 1,  1,  1, -1])
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a tree to each draw."""
        if not is_lazy(X):
            super().fit(X, y, sample_weight)
            return self
        self._validate_params()
        rows, _ = of_known_length(self._samples(X, reset=True, allow_nan=True))
        weight = weights_in_memory(sample_weight, rows)
        (samples,) = numbers(rows.shape[:1])
        self.max_samples_ = self._drawn_samples(samples)
        depth = int(np.ceil(np.log2(max(self.max_samples_, 2))))
        how = {"max_depth": depth, "dtype": np.float32, "fit_options": {"check_input": False}}
        self._fit_draws(rows, None, weight, self.max_samples_, **how)
        trees = [member.tree_ for member in self.estimators_]
        self._average_path_length_per_tree = [
            _average_path_length(tree.n_node_samples) for tree in trees
        ]
        self._decision_path_lengths = [tree.compute_node_depths() for tree in trees]
        self.offset_ = self._offset(rows)
        return self

    def _drawn_samples(self, samples: int) -> int:
        number = self.max_samples
        if isinstance(number, str):
            return min(256, samples)
        if not isinstance(number, number_types.Integral):
            return int(number * samples)
        number = int(number)
        if number > samples:
            warnings.warn(
                f"max_samples ({number}) is greater than the total number of samples ({samples}). "
                "max_samples will be set to n_samples for estimation.",
                UserWarning,
                stacklevel=3,
            )
        return min(number, samples)

    def _offset(self, rows: Node) -> float:
        """Return the score below which samples are outliers."""
        if self.contamination == "auto":
            return -0.5
        scores = self._predictions("score_samples", collect(rows))
        return float(percentile(scores, 100.0 * self.contamination).compute())
