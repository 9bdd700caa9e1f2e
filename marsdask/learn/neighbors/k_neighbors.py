"""Predictions by the nearest of samples."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import neighbors
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from marsdask.core.collection import collect, compute
from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.fitted_values import unmarked
from marsdask.learn.predictions import predictions
from marsdask.learn.targets import as_classes, as_targets, check_given

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
        model._y = self._target(y, rows)
        check_consistent_length(range(model.n_samples_fit_), model._y)
        return self

    def _target(self, y: Any, rows: Node) -> Any:
        """Return the targets in memory."""
        node = as_targets(y, rows, several=True)
        node = as_targets(y, rows) if node.shape[1:] == (1,) else node
        # Means of float32 are that, too.
        dtype = np.float32 if getattr(y, "dtype", None) == np.float32 else np.float64
        return check_array(compute(collect(node))[0], dtype=dtype, ensure_2d=False, input_name="y")

    def _predictions(self, method: str, X: Any) -> Any:
        model: Any = self
        neighbors, k = self._nearest(X, None)
        plain = self._found(n_neighbors=model.n_neighbors, weights=model.weights)
        plain._fit_method = model._fit_method if self._has_runs() else "runs"
        plain._y, plain.n_samples_fit_ = model._y, model.n_samples_fit_
        for name in ("classes_", "outputs_2d_"):
            if name in vars(self):
                setattr(plain, name, unmarked(getattr(self, name)))
        return predictions(plain, method, neighbors, np.zeros((1, 2 * k)))

    def _fitted_targets(self) -> tuple[Any, ...]:
        model: Any = self
        classes = vars(self).get("classes_")
        if classes is None:
            return (model._y,)
        if not model.outputs_2d_:
            return (np.asarray(classes)[model._y],)
        columns = zip(classes, model._y.T, strict=True)
        return (np.stack([labels[codes] for labels, codes in columns], axis=1),)


class KNeighborsClassifier(OfTargets, RowsEstimator, neighbors.KNeighborsClassifier):
    """Classify by the nearest samples. See sklearn.neighbors.KNeighborsClassifier.

    Differs from scikit-learn: takes tensors and frames, as NearestNeighbors does. The classes'
    numbers are held in memory. Probabilities of several targets need queries in memory.

    Examples
    --------
    >>> from marsdask.learn.neighbors import KNeighborsClassifier
    >>> X = mt.tensor([[0.0], [1.0], [5.0]], chunk_size=2)
    >>> KNeighborsClassifier(1).fit(X, ["a", "a", "b"]).predict(X).compute().tolist()
    ['a', 'a', 'b']
    """

    _found = FoundClassifier

    def _target(self, y: Any, rows: Node) -> Any:
        self.outputs_2d_ = len(np.shape(y)) == 2 and np.shape(y)[1] > 1
        if not self.outputs_2d_:
            classes = as_classes(y, rows)
            self.classes_ = classes.labels
            return compute(collect(classes.codes))[0]
        values = np.asarray(y.compute() if is_lazy(y) else y)
        check_classification_targets(values)
        columns = [np.unique(column, return_inverse=True) for column in values.T]
        self.classes_ = [labels for labels, _ in columns]
        return np.stack([codes for _, codes in columns], axis=1)


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
