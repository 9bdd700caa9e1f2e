"""Labels of few samples, propagated to the others along a graph of all."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn import semi_supervised
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect, compute, execute
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.metrics.pairwise.distances import of_rows, rbf_kernel
from marsdask.learn.neighbors import NearestNeighbors
from marsdask.learn.rows import RowMap, held
from marsdask.learn.targets import as_classes, check_given
from marsdask.tensor import Tensor, tensor
from marsdask.tensor.operands import as_node

_FLOAT = np.dtype(np.float64)


class LabelPropagation(RowsEstimator, semi_supervised.LabelPropagation):
    """Propagate labels to samples without. See sklearn.semi_supervised.LabelPropagation.

    Differs from scikit-learn: takes tensors and frames. The graph of lazy samples has a weight for
    each pair of them (with ``kernel="knn"`` for each neighbour), and is held in the session, which
    spills what does not fit. The samples' shares of the classes are in memory while it learns.

    Examples
    --------
    >>> from marsdask.learn.semi_supervised import LabelPropagation
    >>> X = mt.tensor([[0.0], [0.1], [5.0], [5.1]], chunk_size=2)
    >>> LabelPropagation().fit(X, [0, -1, 1, -1]).predict(X).compute()
    array([0, 0, 1, 1])
    """

    nn_fit: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # in memory
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Propagate the labels; -1 stands for none."""
        if not is_lazy(X):
            super().fit(X, y)
            return self
        self._validate_params()
        check_given(self, y)
        (rows,) = held(self._samples(X, reset=True))
        self.X_ = collect(rows)
        classes = as_classes(y, rows)
        codes = compute(collect(classes.codes))[0]
        (samples,) = numbers(rows.shape[:1])
        if len(codes) != samples:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"{[samples, len(codes)]}"
            )
        is_label = classes.labels != -1
        self.classes_ = classes.labels[is_label]
        start = np.eye(len(is_label))[codes][:, is_label]
        shares = self._propagated(self._graph(rows), start, is_label[codes])
        sizes = (rows.chunks[0], -1)
        self.label_distributions_ = tensor(shares, chunk_size=sizes)
        best = np.asarray(self.classes_)[np.argmax(shares, axis=1)]
        self.transduction_ = tensor(best, chunk_size=sizes[:1])
        return self

    def _graph(self, rows: Node) -> Any:
        """Return the held tensor of weights: of the rows to each row, as scikit-learn scales it."""
        if self.kernel == "knn":
            self.nn_fit = NearestNeighbors(n_neighbors=self.n_neighbors).fit(self.X_)
            graph = self.nn_fit.kneighbors_graph(self.X_, self.n_neighbors)
            return execute(graph)
        weights = self._weights(rows, rows)
        return execute(weights / weights.sum(axis=0)[:, np.newaxis])

    def _weights(self, rows: Node, others: Node) -> Tensor:
        """Return the kernel of each two rows."""
        if self.kernel == "rbf":
            result: Tensor = rbf_kernel(collect(rows), collect(others), gamma=self.gamma)
            return result
        if callable(self.kernel):
            return collect(of_rows(self.kernel, collect(rows), collect(others)))  # type: ignore[no-any-return]
        raise ValueError(f"{self.kernel} is not a valid kernel. Only rbf and knn are supported")

    def _propagated(self, graph: Any, start: Any, labelled: Any) -> Any:
        """Return the shares of classes once they do not change."""
        shares, before = start, np.zeros_like(start)
        for iteration in range(self.max_iter):
            self.n_iter_ = iteration
            if np.abs(shares - before).sum() < self.tol:
                break
            before = shares
            shares = _scaled(compute(self._product(graph, shares))[0])
            shares[labelled] = start[labelled]
        else:
            warnings.warn(
                f"max_iter={self.max_iter} was reached without convergence.",
                ConvergenceWarning,
                stacklevel=4,
            )
            self.n_iter_ = self.max_iter
        return _scaled(shares)

    def _product(self, graph: Any, shares: Any) -> Any:
        if self.kernel != "knn":
            return graph @ shares
        rows = (as_node(graph, sparse=True),)
        return collect(RowMap(product, rows, _FLOAT, shares.shape[1], {"factor": shares}))

    def _predictions(self, method: str, X: Any) -> Any:
        if not is_lazy(self.X_):
            return super()._predictions(method, X)
        rows = self._samples(X, reset=False)
        shares = self.label_distributions_.compute()
        width = shares.shape[1]
        if self.kernel == "knn":
            places = self.nn_fit.kneighbors(collect(rows), return_distance=False).node
            node = RowMap(sums_of, (places,), _FLOAT, width, {"shares": shares})
        else:
            node = (self._weights(rows, self.X_.node) @ shares).node
        node = RowMap(scaled, (node,), _FLOAT, width, {})
        if method == "predict_proba":
            return collect(node)
        classes = np.asarray(self.classes_)
        return collect(RowMap(most_likely, (node,), classes.dtype, None, {"classes": classes}))

    def predict(self, X: Any) -> Any:
        """Return the most likely class of each sample."""
        return self._shares("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the shares of the classes for each sample."""
        return self._shares("predict_proba", X)

    def _shares(self, method: str, X: Any) -> Any:
        """Return what a method gives, in memory if the samples are."""
        check_is_fitted(self)
        if is_lazy(X):
            return self._predictions(method, X)
        if is_lazy(vars(self).get("X_")):
            rows = self._samples(X, reset=False)
            return self._predictions(method, collect(rows)).compute()
        return getattr(super(), method)(X)


def product(block: Any, *, factor: Any) -> Any:
    """Return the product of sparse rows and a matrix."""
    return np.asarray(block @ factor)


def sums_of(places: Any, *, shares: Any) -> Any:
    """Return the sums of the shares of neighbours."""
    return shares[places].sum(axis=1)


def scaled(block: Any) -> Any:
    """Return rows of shares that add up to one, as scikit-learn divides them."""
    with np.errstate(invalid="ignore"):
        return block / block.sum(axis=1, keepdims=True)


def _scaled(shares: Any) -> Any:
    total = shares.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0
    return shares / total


def most_likely(block: Any, *, classes: Any) -> Any:
    """Return the class of each row of shares."""
    return classes[np.argmax(block, axis=1)]
