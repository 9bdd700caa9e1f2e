"""scikit-learn's checks of estimators, with tensors in place of arrays."""

from __future__ import annotations

import inspect
import warnings
from functools import cache, wraps
from typing import Any

import numpy as np
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.metaestimators import available_if
from threadpoolctl import threadpool_limits

import marsdask.tensor as mt
from marsdask.core.collection import Collection
from marsdask.learn.methods import METHODS

#: Why a check may fail over tensors only: what samples hold is seen when they are transformed.
OF_LAZY = "fit reads no lazy samples"


@cache
def over_tensors(kind: Any) -> Any:
    """Return a subclass whose methods turn samples into tensors, and results into arrays.

    What is no table of numbers stays as it is: that it is refused is scikit-learn's to check.
    """
    methods = {name: _through(kind, name) for name in METHODS if hasattr(kind, name)}
    more = {"__module__": kind.__module__, "__reduce__": _reduced}
    return type(kind.__name__, (kind,), {**methods, **more})


def _reduced(self: Any) -> Any:
    return _new, (type(self).__base__,), self.__getstate__()


def _new(kind: type) -> Any:
    made = over_tensors(kind)
    return made.__new__(made)


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


def assert_is_an_estimator(model: Any, failures: dict[str, str] | None = None) -> None:
    """Run all of scikit-learn's checks over arrays and over tensors, but for named failures."""
    failures = failures or {}
    eager = {check: reason for check, reason in failures.items() if reason != OF_LAZY}
    lazy = over_tensors(type(model))  # type: ignore[arg-type]
    for kind, expected in ((type(model), eager), (lazy, failures)):
        # scikit-learn's own threads would wait for each other longer than they work.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            check_estimator(
                kind(**model.get_params(deep=False)),
                on_skip=None,
                expected_failed_checks=expected,
            )
