"""Graphs of the nearest of samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn import neighbors
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from marsdask.learn.arguments import check_arguments
from marsdask.learn.fitted_values import as_mars, plain
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.tensor.signatures import optional, with_signature

from .nearest import NearestNeighbors


def _graph(func: Callable[[Any, Any, Any, str], Any]) -> Callable[..., Any]:
    """Return the function of samples, with scikit-learn's parameters, of one of an index."""
    theirs = getattr(neighbors, func.__name__)
    signature = inspect.signature(theirs)
    _, size, *_ = signature.parameters

    @as_mars
    @wraps(func)
    def face(*args: Any, session: Any = None, run_kwargs: Any = None, **kwargs: Any) -> Any:
        binding = signature.bind(*args, **kwargs)
        binding.apply_defaults()
        arguments = dict(binding.arguments)
        check_arguments(theirs, **{name: arguments[name] for name in arguments if name != "X"})
        X, mode, include_self = (arguments.pop(name) for name in ("X", "mode", "include_self"))
        with running(session, run_kwargs):
            model = _fitted(X, **arguments)
            return func(model, _queries(model, mode, include_self), arguments[size], mode)

    more = optional(["session", "run_kwargs"], named=True)
    del face.__wrapped__
    return with_signature(face, [*signature.parameters.values(), *more])


@_graph
def kneighbors_graph(model: Any, queries: Any, n_neighbors: int, mode: str) -> Any:
    """Return the graph of each sample's nearest ones as a sparse matrix, lazy for lazy samples.

    See sklearn.neighbors.kneighbors_graph.

    Examples
    --------
    >>> from marsdask.learn.neighbors import kneighbors_graph
    >>> X = mt.tensor([[0.0], [1.0], [5.0]], chunk_size=2)
    >>> kneighbors_graph(X, 1).compute().toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    return model.kneighbors_graph(queries, n_neighbors=n_neighbors, mode=mode)


@_graph
def radius_neighbors_graph(model: Any, queries: Any, radius: float, mode: str) -> Any:
    """Return the graph of samples within a radius as a sparse matrix, lazy for lazy samples.

    See sklearn.neighbors.radius_neighbors_graph.

    Examples
    --------
    >>> from marsdask.learn.neighbors import radius_neighbors_graph
    >>> X = mt.tensor([[0.0], [1.0], [5.0]], chunk_size=2)
    >>> radius_neighbors_graph(X, 2.0).compute().toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    return model.radius_neighbors_graph(queries, radius, mode)


def _fitted(X: Any, **params: Any) -> Any:
    """Return an index of samples, which may be one already."""
    X = adopted(X)
    if not isinstance(X, BaseEstimator):
        return NearestNeighbors(**params).fit(X)
    check_is_fitted(X)
    for name, item in params.items():
        if name in ("metric", "p", "metric_params") and getattr(X, name) != item:
            raise ValueError(f"Got {item!r} for {name}, while the estimator has {getattr(X, name)}")
    return X


def _queries(model: Any, mode: str, include_self: bool | str) -> Any:
    """Return the samples if each is its own neighbour, else nothing."""
    if include_self == "auto":
        include_self = mode == "connectivity"
    if not include_self:
        return None
    samples = model._fit_X
    return samples if is_lazy(samples) else plain(samples)
