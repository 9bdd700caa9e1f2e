"""Predictions by the nearest of samples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import neighbors

from marsdask.core.collection import collect, compute
from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.predictions import predictions
from marsdask.learn.targets import as_classes, as_targets, check_given, check_lengths

from .queries import OfNeighbors


class Found:
    """Takes rows of distances and numbers for queries; put it before scikit-learn's class."""

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return what was found before."""
        del n_neighbors
        k = self.n_neighbors  # type: ignore[attr-defined]
        places = X[:, k:].astype(np.int64)
        return (X[:, :k], places) if return_distance else places


class FoundClassifier(Found, neighbors.KNeighborsClassifier):
    """scikit-learn's votes of neighbours that were found."""


class FoundRegressor(Found, neighbors.KNeighborsRegressor):
    """scikit-learn's means of neighbours that were found."""


class OfTargets(OfNeighbors):
    """Predicts by the nearest of samples with targets."""

    _found: type[Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Index the samples."""
        self._forget_runs()
        if not is_lazy(X):
            super().fit(X, y)  # type: ignore[misc]
            return self
        model: Any = self
        model._validate_params()
        check_given(self, y)
        rows = self._fit_runs(X)
        target = self._target(y, rows)
        model._y = compute(collect(target))[0]
        check_lengths(rows, collect(target).node)
        return self

    def _target(self, y: Any, rows: Node) -> Node:
        node = as_targets(y, rows, several=True)
        return as_targets(y, rows) if node.shape[1:] == (1,) else node

    def _predictions(self, method: str, X: Any) -> Any:
        model: Any = self
        found, k = self._nearest(X, None)
        plain = self._found(n_neighbors=model.n_neighbors, weights=model.weights)
        plain._fit_method = model._fit_method if self._has_runs() else "runs"
        plain._y, plain.n_samples_fit_ = model._y, model.n_samples_fit_
        for name in ("classes_", "outputs_2d_"):
            if name in vars(self):
                setattr(plain, name, np.asarray(getattr(self, name)))
        return predictions(plain, method, found, np.zeros((1, 2 * k)))

    def _fitted_targets(self) -> tuple[Any, ...]:
        model: Any = self
        classes = vars(self).get("classes_")
        return (model._y if classes is None else np.asarray(classes)[model._y],)


class KNeighborsClassifier(OfTargets, RowsEstimator, neighbors.KNeighborsClassifier):
    """Classify by the nearest samples. See sklearn.neighbors.KNeighborsClassifier.

    Differs from scikit-learn: takes tensors and frames, as NearestNeighbors does. The classes'
    numbers are held in memory. Several targets have to be in memory.

    Examples
    --------
    >>> from marsdask.learn.neighbors import KNeighborsClassifier
    >>> X = mt.tensor([[0.0], [1.0], [5.0]], chunk_size=2)
    >>> KNeighborsClassifier(1).fit(X, ["a", "a", "b"]).predict(X).compute().tolist()
    ['a', 'a', 'b']
    """

    _found = FoundClassifier

    def _target(self, y: Any, rows: Node) -> Node:
        found = as_classes(y, rows)
        self.classes_ = found.labels
        self.outputs_2d_ = False
        return found.codes


class KNeighborsRegressor(OfTargets, RowsEstimator, neighbors.KNeighborsRegressor):
    """Predict the mean of the nearest samples' targets. See sklearn.neighbors.KNeighborsRegressor.

    Differs from scikit-learn: takes tensors and frames, as NearestNeighbors does. The targets are
    held in memory.

    Examples
    --------
    >>> from marsdask.learn.neighbors import KNeighborsRegressor
    >>> X = mt.tensor([[0.0], [1.0], [5.0]], chunk_size=2)
    >>> KNeighborsRegressor(2).fit(X, [0.0, 1.0, 9.0]).predict(X).compute()
    array([0.5, 0.5, 5. ])
    """

    _found = FoundRegressor
