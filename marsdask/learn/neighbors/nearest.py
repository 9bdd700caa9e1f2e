"""The nearest of samples."""

from __future__ import annotations

from typing import Any, Self

from sklearn import neighbors

from marsdask.learn.base import RowsEstimator, is_lazy

from .queries import OfRadius


class NearestNeighbors(OfRadius, RowsEstimator, neighbors.NearestNeighbors):
    """Find the nearest of samples. See sklearn.neighbors.NearestNeighbors.

    Differs from scikit-learn: takes tensors and frames. Lazy samples are computed once and held in
    the session, each chunk with an index of its own: a tree, or the samples alone. A query asks
    every chunk, and keeps the nearest. Which of equally near samples are found may differ.

    Examples
    --------
    >>> from marsdask.learn.neighbors import NearestNeighbors
    >>> X = mt.tensor([[0.0], [1.0], [5.0]], chunk_size=2)
    >>> NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False).compute()
    array([[1],
           [0],
           [1]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Index the samples."""
        self._forget_runs()
        if self.algorithm in ("faiss", "proxima"):
            raise NotImplementedError(
                f"algorithm={self.algorithm!r} of Mars is not supported; 'brute' finds the same "
                "samples by products of matrices, 'kd_tree' and 'ball_tree' by an index"
            )
        if not is_lazy(X):
            super().fit(X, y)
            return self
        self._validate_params()
        self._fit_runs(X)
        return self
