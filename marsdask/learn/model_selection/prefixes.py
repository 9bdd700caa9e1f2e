"""Steps of pipelines that a search fits once for all candidates that share them."""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pickle import PicklingError
from typing import Any, Self

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from marsdask.learn.lazy import is_lazy
from marsdask.tensor.sparse.blocks import is_sparse

#: Bytes of transformed samples in memory that a search keeps.
KEPT_BYTES = 2**30

#: What scikit-learn passes with a step that does not change what it learns.
_ABOUT_CALL = ("caller", "callback_ctx", "message", "message_clsname")


class _Thread(threading.local):
    """How many steps this thread is fitting: it may run other tasks while it waits for its own."""

    fits = 0


_thread = _Thread()


class SharedSteps:
    """Remembers fitted steps; a pipeline takes it as its ``memory``.

    What a step gives for lazy samples is held in the session. Results in memory are dropped, the
    least used first, when they are more than ``KEPT_BYTES``. Other processes have one each.
    """

    def __init__(self) -> None:
        self._token = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._found: OrderedDict[str, Future[Any]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # clones of a pipeline share it

    def __reduce__(self) -> Any:
        return _of_process, (self._token,)

    def cache(self, function: Callable[..., Any], **_options: Any) -> Callable[..., Any]:
        """Return a function that fits a step unless that has been done."""

        def fit_step(transformer: Any, X: Any, y: Any, **rest: Any) -> Any:
            fit = partial(_held_result, function, transformer, X, y, **rest)
            key = _key(transformer, X, y, rest)
            if key is None:
                return fit()
            with self._lock:
                future = self._found.get(key)
                if future is None:
                    mine = self._found[key] = Future()
                else:
                    self._found.move_to_end(key)
            if future is None:
                return self._fit(key, mine, fit)
            # A thread that fits a step must not wait: it may be for itself.
            return fit() if _thread.fits and not future.done() else future.result()

        return fit_step

    def _fit(self, key: str, mine: Future[Any], fit: Callable[[], Any]) -> Any:
        _thread.fits += 1
        try:
            result = fit()
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            _thread.fits -= 1
        mine.set_result(result)
        with self._lock:
            samples = result[0]
            self._sizes[key] = _size(samples)
            self._drop()
        return result

    def _drop(self) -> None:
        for key in [key for key, future in self._found.items() if future.done()][:-1]:
            if sum(self._sizes.values()) <= KEPT_BYTES:
                return
            self._sizes.pop(key, None)
            del self._found[key]


def _size(samples: Any) -> int:
    """Return the bytes of samples in memory."""
    if isinstance(samples, pd.DataFrame):
        return int(samples.memory_usage().sum())
    if is_sparse(samples):
        return int(samples.data.nbytes)
    return samples.nbytes if isinstance(samples, np.ndarray) else 0


def _held_result(
    function: Callable[..., Any], transformer: Any, X: Any, y: Any, **rest: Any
) -> Any:
    samples, fitted = function(transformer, X, y, **rest)
    return (samples.execute() if is_lazy(samples) else samples), fitted


_PROCESS: dict[str, SharedSteps] = {}


def _of_process(token: str) -> SharedSteps:
    """Return the object of a search in this process; that of an earlier search is forgotten."""
    if token not in _PROCESS:
        _PROCESS.clear()
        _PROCESS[token] = SharedSteps()
    return _PROCESS[token]


def _key(transformer: Any, X: Any, y: Any, rest: dict[str, Any]) -> str | None:
    """Return the name of a fit, ``None`` if it has none: functions without names cannot be told."""
    own = {name: item for name, item in rest.items() if name not in _ABOUT_CALL}
    parts = (type(transformer), clone(transformer), _named(X), _named(y), own)
    try:
        return str(joblib.hash(parts, hash_name="sha1"))
    except (AttributeError, TypeError, PicklingError):
        return None


def _named(item: Any) -> Any:
    """Return what tells samples from others: the name of lazy ones, the values of others."""
    return item.node.name if is_lazy(item) else item


def sharing(estimator: Any) -> Any:
    """Return a copy of a pipeline that shares its steps; ``None`` if there is nothing to share."""
    names = _pipelines(estimator)
    if not names:
        return None
    copy = clone(estimator)
    steps = SharedSteps()
    return copy.set_params(**dict.fromkeys(names, steps))


def _pipelines(estimator: Any) -> list[str]:
    """Return the names of the memories of pipelines that have none."""
    if not isinstance(estimator, BaseEstimator):
        return []
    params = estimator.get_params()
    return [
        name
        for name, item in params.items()
        if name.rpartition("__")[2] == "memory"
        and item is None
        and f"{name.removesuffix('memory')}steps" in params
    ]


def unshared(estimator: Any) -> None:
    """Let a fitted pipeline forget what it shared."""
    for name, item in estimator.get_params().items():
        if isinstance(item, SharedSteps):
            estimator.set_params(**{name: None})
