"""Queries of the nearest samples, lazy if the samples or the queries are."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn import neighbors
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect, compute
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.batches import check_some
from marsdask.learn.fitted_values import sklearn_class
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.methods import mars_methods
from marsdask.learn.rows import RowMap, held
from marsdask.tensor.creation.from_shape import arange

from . import sharded_index
from .sharded_index import FittedRuns, NearestOfBoth, OverRuns, run_sizes

#: The parameters of an index of a run.
_OF_INDEX = ("n_neighbors", "algorithm", "leaf_size", "metric", "p", "metric_params")

#: What scikit-learn's own methods take for neither a tree nor brute force.
_RUNS = "runs"


@mars_methods
class OfNeighbors:
    """Finds the nearest of lazy samples; put it before ``RowsEstimator``."""

    _takes_sparse: ClassVar[bool] = True

    def _fit_runs(self, X: Any) -> Node:
        """Index the runs of lazy samples; return these, which are held."""
        model: Any = self
        if model.metric == "precomputed":
            raise NotImplementedError(
                "metric='precomputed' is not supported with lazy samples; compute() the distances"
            )
        (rows,) = held(model._samples(X, reset=True))
        check_some(model, rows.shape[0])
        index = neighbors.NearestNeighbors(**{name: getattr(model, name) for name in _OF_INDEX})
        # One sample lets scikit-learn check the metric.
        sample = index.fit(np.zeros((1, *numbers(rows.shape[1:])), rows.meta.dtype))
        model.effective_metric_ = sample.effective_metric_
        model.effective_metric_params_ = sample.effective_metric_params_
        (model.n_samples_fit_,) = numbers(rows.shape[:1])
        model._fit_method, model._tree = _RUNS, None
        model._fit_X = collect(rows)
        row_bytes = numbers(rows.shape[1:])[0] * rows.meta.dtype.itemsize
        model._run_sizes = run_sizes(rows.chunks[0], row_bytes)
        (node,) = held(FittedRuns(rows, index, model._run_sizes))
        model._runs = collect(node)
        return rows  # type: ignore[no-any-return]

    def _forget_runs(self) -> None:
        """Fit to samples in memory from now on."""
        vars(self).pop("_runs", None)

    def _has_runs(self) -> bool:
        return "_runs" in vars(self)

    def _stays_plain(self, X: Any) -> bool:
        check_is_fitted(self)
        return not self._has_runs() and not is_lazy(X)

    def _over_runs(self, rows: Node, width: int, dtype: Any, func: Any, **kwargs: Any) -> Node:
        model: Any = self
        if not self._has_runs():
            how = {"run": self._index(), "start": 0, **kwargs}
            return RowMap(func, (rows,), np.dtype(dtype), width, how)
        merge = NearestOfBoth(kwargs["k"]) if "k" in kwargs else sharded_index.joined
        indexes, sizes = model._runs.node, model._run_sizes
        return OverRuns(func, np.dtype(dtype), kwargs, rows, indexes, sizes, merge, width)

    def _index(self) -> Any:
        """Return scikit-learn's index of samples in memory."""
        model: Any = self
        index = neighbors.NearestNeighbors(**{name: getattr(model, name) for name in _OF_INDEX})
        names = ("_fit_X", "_tree", "_fit_method", "effective_metric_", "n_samples_fit_")
        for name in (*names, "effective_metric_params_", "n_features_in_"):
            setattr(index, name, getattr(model, name))
        return index

    def _queried(self, X: Any) -> Node:
        """Return the rows of a query, by default the samples."""
        model: Any = self
        if X is None:
            return model._fit_X.node  # type: ignore[no-any-return]
        return model._samples(X, reset=False)  # type: ignore[no-any-return]

    def _nearest(self, X: Any, n_neighbors: int | None) -> tuple[Node, int]:
        """Return the node of distances and numbers of the nearest samples, and how many."""
        model: Any = self
        k = _count(model.n_neighbors if n_neighbors is None else n_neighbors)
        rows, number = self._queried(X), k + (X is None)
        if number > model.n_samples_fit_:
            relation = "<" if X is None else "<="
            count = rows.shape[0] if isinstance(rows.shape[0], int) else "unknown"
            raise ValueError(
                f"Expected n_neighbors {relation} n_samples_fit, but n_neighbors = {k}, "
                f"n_samples_fit = {model.n_samples_fit_}, n_samples = {count}"
            )
        node = self._over_runs(rows, 2 * number, np.float64, sharded_index.nearest, k=number)
        if X is None:
            operands = (node, _numbers_of(rows))
            node = RowMap(
                sharded_index.without_self, operands, np.dtype(np.float64), 2 * k, {"k": k}
            )
        return node, k

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        session: Any = None,
        run_kwargs: Any = None,
    ) -> Any:
        """Return the distances of the nearest samples, and their numbers.

        Lazy tensors for lazy queries: compute both at once, since they need the same work.

        Parameters
        ----------
        X : array_like or frame, optional
            The queries; by default the samples, which are then not their own neighbours.
        n_neighbors : int, optional
            How many are wanted.
        return_distance : bool
            Whether distances are wanted, too.
        session : Session, optional
            Where to compute.
        run_kwargs : dict, optional
            Arguments of ``execute``.

        Returns
        -------
        tuple or array
            Distances and numbers, or numbers.

        Raises
        ------
        ValueError
            If there are fewer samples.

        Examples
        --------
        >>> from marsdask.learn.neighbors import NearestNeighbors
        >>> model = NearestNeighbors(n_neighbors=1).fit(mt.tensor([[0.0], [5.0]], chunk_size=1))
        >>> model.kneighbors([[4.0]])
        (array([[1.]]), array([[1]]))
        """
        X = adopted(X)
        with running(session, run_kwargs):
            if self._stays_plain(X):
                return super().kneighbors(X, n_neighbors, return_distance)  # type: ignore[misc]
            node, k = self._nearest(X, n_neighbors)
            dtype = np.result_type(node.meta.dtype, np.float64)
            places = RowMap(sharded_index.places_of, (node,), np.dtype(np.int64), k, {"k": k})
            if not return_distance:
                return self._given(X, places)[0]
            how = {"k": k, "dtype": dtype}
            distances = RowMap(sharded_index.distances_of, (node,), dtype, k, how)
            return self._given(X, distances, places)

    def _given(self, X: Any, *nodes: Node) -> tuple[Any, ...]:
        """Return results, in memory if the query was."""
        lazy = tuple(map(collect, nodes))
        return lazy if X is None or is_lazy(X) else tuple(compute(*lazy))

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: str = "connectivity",
        *,
        session: Any = None,
        run_kwargs: Any = None,
    ) -> Any:
        """Return the graph of the nearest samples as a sparse matrix, lazy for lazy queries.

        Parameters
        ----------
        X : array_like or frame, optional
            The queries; by default the samples, which are then not their own neighbours.
        n_neighbors : int, optional
            How many are wanted.
        mode : {"connectivity", "distance"}
            Whether edges weigh one, or the distance.
        session : Session, optional
            Where to compute.
        run_kwargs : dict, optional
            Arguments of ``execute``.

        Returns
        -------
        Tensor or sparse matrix
            A row for each query, a column for each sample.

        Examples
        --------
        >>> from marsdask.learn.neighbors import NearestNeighbors
        >>> model = NearestNeighbors(n_neighbors=1).fit(mt.tensor([[0.0], [5.0]], chunk_size=1))
        >>> model.kneighbors_graph(mt.tensor([[4.0]])).compute().toarray()
        array([[0., 1.]])
        """
        X = adopted(X)
        with running(session, run_kwargs):
            if self._stays_plain(X):
                return super().kneighbors_graph(X, n_neighbors, mode)  # type: ignore[misc]
            weighted = _is_weighted(mode)
            node, k = self._nearest(X, n_neighbors)
            return self._given(
                X, self._graph(sharded_index.graph_of, node, k=k, weighted=weighted)
            )[0]

    def _graph(self, func: Any, found: Node, **kwargs: Any) -> Node:
        width = int(self.n_samples_fit_)  # type: ignore[attr-defined]
        how = {"width": width, **kwargs}
        return RowMap(func, (found,), np.dtype(np.float64), width, how, sparse=True)

    def to_sklearn(self) -> BaseEstimator:
        """Return scikit-learn's estimator of the same samples, which are brought to this process.

        Samples that are larger than the memory of this process are refused by MemoryError.

        Returns
        -------
        BaseEstimator
            scikit-learn's estimator.

        Examples
        --------
        >>> from marsdask.learn.neighbors import NearestNeighbors
        >>> NearestNeighbors(n_neighbors=1).fit(mt.ones((3, 2))).to_sklearn()
        NearestNeighbors(n_neighbors=1)
        """
        model: Any = self
        if not self._has_runs():
            return super().to_sklearn()  # type: ignore[misc]
        twin = sklearn_class(type(self))(**model.get_params(deep=False))
        result: BaseEstimator = twin.fit(model._fit_X.compute(), *self._fitted_targets())
        names = vars(self).get("feature_names_in_")
        if names is not None:
            result.feature_names_in_ = np.asarray(names)
        return result

    def _fitted_targets(self) -> tuple[Any, ...]:
        return ()


@mars_methods
class OfRadius(OfNeighbors):
    """Finds the samples within a radius, too."""

    def _within(self, X: Any, radius: float | None) -> Node:
        model: Any = self
        rows = self._queried(X)
        limit = model.radius if radius is None else radius
        node = self._over_runs(rows, 1, object, sharded_index.within, radius=limit)
        if X is None:
            operands = (node, _numbers_of(rows))
            node = RowMap(sharded_index.others_within, operands, np.dtype(object), 1, {})
        return node

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
        *,
        session: Any = None,
        run_kwargs: Any = None,
    ) -> Any:
        """Return the distances and the numbers of the samples within a radius.

        Lazy tensors of arrays for lazy queries: compute both at once, since they need the same
        work.

        Parameters
        ----------
        X : array_like or frame, optional
            The queries; by default the samples, which are then not their own neighbours.
        radius : float, optional
            How far samples may be.
        return_distance : bool
            Whether distances are wanted, too.
        sort_results : bool
            Whether the nearest ones come first.
        session : Session, optional
            Where to compute.
        run_kwargs : dict, optional
            Arguments of ``execute``.

        Returns
        -------
        tuple or array
            Arrays of distances and of numbers, or of numbers.

        Raises
        ------
        ValueError
            If results are to be sorted without distances.

        Examples
        --------
        >>> from marsdask.learn.neighbors import NearestNeighbors
        >>> model = NearestNeighbors(radius=2.0).fit(mt.tensor([[0.0], [5.0]], chunk_size=1))
        >>> model.radius_neighbors([[4.0]])[1].tolist()
        [array([1])]
        """
        X = adopted(X)
        with running(session, run_kwargs):
            if self._stays_plain(X):
                return super().radius_neighbors(X, radius, return_distance, sort_results)  # type: ignore[misc]
            if sort_results and not return_distance:
                raise ValueError("return_distance must be True if sort_results is True.")
            node = self._within(X, radius)
            items = [0, 1] if return_distance else [1]
            parts = [
                RowMap(
                    sharded_index.part_within,
                    (node,),
                    np.dtype(object),
                    None,
                    {"part": part, "ordered": sort_results},
                )
                for part in items
            ]
            results = self._given(X, *parts)
            return results if return_distance else results[0]

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
        *,
        session: Any = None,
        run_kwargs: Any = None,
    ) -> Any:
        """Return the graph of samples within a radius as a sparse matrix, lazy for lazy queries.

        Parameters
        ----------
        X : array_like or frame, optional
            The queries; by default the samples, which are then not their own neighbours.
        radius : float, optional
            How far samples may be.
        mode : {"connectivity", "distance"}
            Whether edges weigh one, or the distance.
        sort_results : bool
            Whether the nearest ones come first.
        session : Session, optional
            Where to compute.
        run_kwargs : dict, optional
            Arguments of ``execute``.

        Returns
        -------
        Tensor or sparse matrix
            A row for each query, a column for each sample.

        Examples
        --------
        >>> from marsdask.learn.neighbors import NearestNeighbors
        >>> model = NearestNeighbors(radius=2.0).fit(mt.tensor([[0.0], [5.0]], chunk_size=1))
        >>> model.radius_neighbors_graph(mt.tensor([[4.0]])).compute().toarray()
        array([[0., 1.]])
        """
        X = adopted(X)
        with running(session, run_kwargs):
            if self._stays_plain(X):
                return super().radius_neighbors_graph(X, radius, mode, sort_results)  # type: ignore[misc]
            how = {"weighted": _is_weighted(mode), "ordered": sort_results}
            node = self._within(X, radius)
            return self._given(X, self._graph(sharded_index.graph_within, node, **how))[0]


def _numbers_of(rows: Node) -> Node:
    node: Node = arange.node(*numbers(rows.shape[:1]), chunk_size=rows.chunks[:1])
    return node


def _count(k: Any) -> int:
    if not isinstance(k, int | np.integer):
        raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
    if k <= 0:
        raise ValueError(f"Expected n_neighbors > 0. Got {k}")
    return int(k)


def _is_weighted(mode: str) -> bool:
    if mode not in ("connectivity", "distance"):
        raise ValueError(
            'Unsupported mode, must be one of "connectivity", '
            f'or "distance" but got "{mode}" instead'
        )
    return mode == "distance"
