"""scikit-learn's checks of estimators, with tensors in place of arrays."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

import marsdask.tensor as mt
from marsdask.core.collection import Collection
from marsdask.learn.methods import METHODS


def over_tensors(kind: type) -> Any:
    """Return a subclass whose methods turn samples into tensors, and results into arrays.

    What is no table of numbers stays as it is: that it is refused is scikit-learn's to check.
    """
    methods = {name: _through(kind, name) for name in METHODS if hasattr(kind, name)}
    return type(kind.__name__, (kind,), {**methods, "__module__": kind.__module__})


def _through(kind: Any, name: str) -> Any:
    member = inspect.getattr_static(kind, name)
    method = getattr(member, "fn", member)

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        lazy = _tensor(X)
        if lazy is X:
            return method(self, X, *args, **kwargs)
        rest = {key: _tensor(item) for key, item in kwargs.items()}
        found = method(self, lazy, *map(_tensor, args), **rest)
        return found.compute() if isinstance(found, Collection) else found

    return call if method is member else available_if(member.check)(call)


def _tensor(item: Any) -> Any:
    if type(item) is np.ndarray and item.size and item.ndim in (1, 2) and item.dtype.kind in "biuf":
        return mt.tensor(item, chunk_size=max(1, -(-len(item) // 2)))
    return item
