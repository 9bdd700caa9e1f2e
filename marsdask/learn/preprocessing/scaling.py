"""Scaling by a call, without an estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, cast, overload

import numpy as np
from sklearn import preprocessing

from marsdask.core.collection import Collection, collect
from marsdask.core.public import public_call
from marsdask.learn.arguments import check_arguments
from marsdask.learn.base import is_lazy
from marsdask.learn.fitted_values import as_mars, executed_as_mars
from marsdask.learn.lazy import adopted, running
from marsdask.learn.rows import FiniteBlocks, as_rows
from marsdask.tensor import Tensor
from marsdask.tensor.elementwise.ufuncs import sqrt, where

from .by_row import Binarizer, Normalizer
from .quantiles import QuantileTransformer, RobustScaler
from .ranges import MaxAbsScaler, MinMaxScaler
from .scaler import StandardScaler


class Scaling(Protocol):
    """A function that scales samples; lazy ones stay lazy."""

    @overload
    def __call__(self, X: Collection, *args: Any, **kwargs: Any) -> Tensor: ...
    @overload
    def __call__(self, X: Any, *args: Any, **kwargs: Any) -> np.ndarray[Any, Any]: ...


def _by(name: str, kind: Callable[..., Any], summary: str) -> Scaling:
    """Return scikit-learn's function of this name; ``kind`` scales the columns of lazy samples."""
    theirs: Callable[..., Any] = getattr(preprocessing, name)
    signature = inspect.signature(theirs)

    @executed_as_mars
    @wraps(theirs)
    def face(X: Any, *args: Any, session: Any = None, run_kwargs: Any = None, **kwargs: Any) -> Any:
        X = adopted(X)
        with running(session, run_kwargs):
            if not is_lazy(X):
                return theirs(X, *args, **kwargs)
            options = signature.bind(X, *args, **kwargs).arguments
            del options["X"]
            check_arguments(theirs, **options)
            if options.pop("axis", 0) == 1:
                raise NotImplementedError("axis=1 of lazy samples is not supported; transpose them")
            return kind(**options).fit_transform(X)

    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in ("session", "run_kwargs")
    ]
    parameters = [*signature.parameters.values(), *extra]
    face.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    face.__doc__ = f"{summary} See sklearn.preprocessing.{name}."
    face.__module__ = __name__
    del face.__wrapped__
    return cast(Scaling, face)


binarize: Scaling = _by("binarize", Binarizer, "Return which values are larger than a threshold.")
maxabs_scale: Scaling = _by("maxabs_scale", MaxAbsScaler, "Divide columns by their largest values.")
minmax_scale: Scaling = _by("minmax_scale", MinMaxScaler, "Scale each column to a range.")
quantile_transform: Scaling = _by(
    "quantile_transform", QuantileTransformer, "Map columns to quantiles."
)
robust_scale: Scaling = _by("robust_scale", RobustScaler, "Scale each column by its quantiles.")
scale: Scaling = _by("scale", StandardScaler, "Give each column mean zero and variance one.")


@as_mars
@public_call
def normalize(
    X: Any, norm: str = "l2", *, axis: int = 1, copy: bool = True, return_norm: bool = False
) -> Any:
    """Scale each row (or with ``axis=0`` each column) to norm one.

    See sklearn.preprocessing.normalize.
    """
    X = adopted(X)
    if not is_lazy(X):
        return preprocessing.normalize(X, norm, axis=axis, copy=copy, return_norm=return_norm)
    check_arguments(preprocessing.normalize, norm=norm, axis=axis, return_norm=return_norm)
    if axis == 1 and not return_norm:
        return Normalizer(norm).fit_transform(X)
    return _with_norms(X, norm, axis, return_norm)


def _with_norms(X: Any, norm: str, axis: int, return_norm: bool) -> Any:
    """Scale rows or columns by norms that are wanted, or need all rows."""
    if norm not in _NORMS or axis not in (0, 1):
        raise ValueError(f"{norm!r} is not a supported norm, or {axis!r} not a supported axis")
    rows = collect(FiniteBlocks(as_rows(X, half=True), allow_nan=False))
    norms = _NORMS[norm](rows, axis)
    divisors = where(norms == 0, rows.dtype.type(1), norms)
    result = rows / (divisors[:, np.newaxis] if axis == 1 else divisors)
    return (result, norms) if return_norm else result


def _l1(rows: Any, axis: int) -> Any:
    return abs(rows).sum(axis=axis)


def _l2(rows: Any, axis: int) -> Any:
    return sqrt((rows * rows).sum(axis=axis))


def _largest(rows: Any, axis: int) -> Any:
    return abs(rows).max(axis=axis)


_NORMS = {"l1": _l1, "l2": _l2, "max": _largest}
