"""Fitted attributes of estimators: NumPy's values with the methods of executed tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from marsdask.core.collection import Collection
from marsdask.core.results.computed_value import Known

#: Whose estimators ours extend.
LIBRARIES = ("sklearn", "xgboost", "lightgbm")


class FittedArray(np.ndarray[Any, Any], Known):
    """An array that was learnt; it pickles as a plain array, and what is made of it is plain."""

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> np.ndarray[Any, Any]:
        result = np.asarray(array)
        return result[()] if return_scalar else result

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.asarray(self).__reduce_ex__(protocol)

    def _plain(self) -> Any:
        return self.view(np.ndarray)


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


def known(value: Any) -> Any:
    """Return a value of NumPy that answers ``execute``, ``fetch`` and ``to_numpy``."""
    if type(value) is np.ndarray:
        return value.view(FittedArray)
    return FittedFloat(value) if type(value) in (float, np.float64) else value


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
