"""Fitted attributes of estimators: NumPy's values with the methods of executed tensors.

With ``options.mars_results`` what is made of them has these methods, too, and results that Mars
gives as executed tensors are such, whatever the samples are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from marsdask.core.collection import (
    Collection,
    ExecutableList,
    ExecutableTuple,
    execute,
    executes_at_once,
)
from marsdask.core.config import options
from marsdask.core.results.computed_value import Known
from marsdask.dataframe import DataFrame, Series
from marsdask.tensor import tensor

F = TypeVar("F", bound=Callable[..., Any])

#: Whose estimators ours extend.
LIBRARIES = ("sklearn", "xgboost", "lightgbm")


class FittedArray(np.ndarray[Any, Any], Known):
    """An array that was learnt; it pickles as a plain array, and what is made of it is plain."""

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> np.ndarray[Any, Any]:
        result = np.asarray(array)
        result = result[()] if return_scalar else result
        return mars_scalar(known(result)) if options.mars_results else result

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        is_array = isinstance(item, np.ndarray) or not options.mars_results
        return item if is_array else mars_scalar(item)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.asarray(self).__reduce_ex__(protocol)

    def _plain(self) -> Any:
        value = self.view(np.ndarray)[()]
        return value.item() if options.python_scalars and not self.ndim else value


class FittedFloat(np.float64, Known):  # type: ignore[misc] # NumPy's own bases differ
    """A number that was learnt, or a score; it pickles as a plain one.

    NumPy's class comes first: otherwise it would make an array of objects of it.
    """

    __slots__ = ()

    __repr__ = float.__repr__

    def __reduce__(self) -> Any:
        return float, (float(self),)

    def _plain(self) -> Any:
        return np.float64(self)


class FittedInteger(np.int64, Known):
    """An integer among Mars's results; it pickles as a plain one."""

    __slots__ = ()

    __repr__ = int.__repr__

    def __reduce__(self) -> Any:
        return int, (int(self),)

    def _plain(self) -> Any:
        return int(self)


class FittedText(str, Known):
    """A text among Mars's results; it pickles as a plain one."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return str, (str(self),)

    def _plain(self) -> Any:
        return str(self)


class FittedList(list[Any], Known):
    """A list that was learnt, such as that of the members of an ensemble."""

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def fetch(self, session: Any = None, **kwargs: Any) -> Any:
        """Return the plain list."""
        return list(self)

    def _plain(self) -> Any:
        return [plain(item) for item in self]


def known(value: Any) -> Any:
    """Return a value of NumPy that answers ``execute``, ``fetch`` and ``to_numpy``."""
    if type(value) is np.ndarray:
        return value.view(FittedArray)
    if type(value) is list and options.mars_results:
        return FittedList(value)
    return FittedFloat(value) if type(value) in (float, np.float64) else value


def mars_scalar(value: Any) -> Any:
    """Return a number or a text with the methods of an executed tensor, others unchanged."""
    if isinstance(value, Known) or not isinstance(value, np.generic | bool | int | float | str):
        return value
    if isinstance(value, str):
        return FittedText(value)
    if type(value) in (int, np.int64):
        return FittedInteger(value)
    value = known(value)
    return value if isinstance(value, Known) else np.asarray(value).view(FittedArray)


def mars_result(value: Any) -> Any:
    """Return arrays as tensors, frames of pandas as frames, and several of them as one tuple."""
    if isinstance(value, np.ndarray) or issparse(value):
        return tensor(np.asarray(value) if isinstance(value, FittedArray) else value).execute()
    if isinstance(value, pd.DataFrame | pd.Series):
        return (DataFrame(value) if value.ndim == 2 else Series(value)).execute()
    if type(value) not in (tuple, list):
        return mars_scalar(value)
    items = [mars_result(item) for item in value]
    if not items or not all(isinstance(item, Collection | Known) for item in items):
        return value
    return ExecutableTuple(items) if isinstance(value, tuple) else ExecutableList(items)


#: Whether a function or method that gives Mars's results runs: what it calls gives plain ones.
_running: ContextVar[bool] = ContextVar("mars_results", default=False)


def as_mars(func: F, *, executes: bool = False) -> F:
    """Return a function that gives users the results of Mars where ``options.mars_results``.

    What it makes of lazy samples is executed if Mars ``executes`` it.
    """

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not options.mars_results or _running.get() or not executes_at_once():
            return func(*args, **kwargs)
        reset = _running.set(True)
        try:
            result = func(*args, **kwargs)
        finally:
            _running.reset(reset)
        found = mars_result(result)
        if executes and (pending := list(_collections(found))):
            execute(*pending, session=kwargs.get("session"))
        return found

    return call  # type: ignore[return-value]


def executed_as_mars(func: F) -> F:
    """Return a function that gives users Mars's results, which are executed."""
    return as_mars(func, executes=True)


def _collections(found: Any) -> Iterator[Collection]:
    """Yield what is lazy of a result, or only held since an equal collection was executed."""
    for item in found if isinstance(found, tuple | list) else (found,):
        if isinstance(item, Collection) and item._held() is not item._node:
            yield item


def unmarked(value: Any) -> Any:
    """Return a learnt array as a plain one, others unchanged."""
    return value.view(np.ndarray) if isinstance(value, FittedArray) else value


def plain(value: Any) -> Any:
    """Return what scikit-learn would have learnt: lazy values are computed."""
    if isinstance(value, Collection):
        return value.compute()
    if isinstance(value, Known):
        return value._plain()
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    return value.to_sklearn() if isinstance(value, Twinned) else value


class Twinned:
    """An estimator that has a twin in scikit-learn."""

    def to_sklearn(self) -> BaseEstimator:
        """Return scikit-learn's estimator of the same parameters that has learnt the same.

        It is loaded by joblib and pickle where marsdask is not installed.

        Returns
        -------
        object
            scikit-learn's estimator.

        Examples
        --------
        >>> from marsdask.learn.preprocessing import StandardScaler
        >>> StandardScaler().fit(mt.ones((3, 2))).to_sklearn()
        StandardScaler()
        """
        kind = sklearn_class(type(self))
        ours = set(self._get_param_names()) - set(kind._get_param_names())  # type: ignore[attr-defined]
        twin: BaseEstimator = kind.__new__(kind)
        values = {name: item for name, item in vars(self).items() if name not in ours}
        vars(twin).update({name: plain(item) for name, item in values.items()})
        return twin


def sklearn_class(kind: type) -> Any:
    """Return the class of scikit-learn, or a library like it, that an estimator of ours extends."""
    return next(base for base in kind.__mro__ if base.__module__.split(".")[0] in LIBRARIES)
