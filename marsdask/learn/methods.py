"""Common parts of estimators' methods: sessions, Dask's collections, lazy results."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

import pandas as pd
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection

from .fitted_values import FittedFloat, as_mars, known, unmarked
from .lazy import adopted, is_lazy, running
from .scores import accuracy, r2
from .tables import as_frame

C = TypeVar("C", bound=type)

#: Methods that take samples and return a value for each.
ROWWISE = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "inverse_transform",
    "score_samples",
)

#: All methods that take samples.
METHODS = (*ROWWISE, "fit", "partial_fit", "fit_transform", "fit_predict", "score")


def wrap_methods(cls: type) -> None:
    """Let the methods of an estimator take lazy samples, ``session`` and ``run_kwargs``.

    Those of scikit-learn that map rows stay lazy for lazy samples, those of ours are called.
    """
    for name in METHODS:
        member = inspect.getattr_static(cls, name, None)
        # A method that only some parameters offer is the ``fn`` of a descriptor.
        method = inspect.getattr_static(member, "fn", member)
        if not isinstance(method, FunctionType) or "takes_lazy" in vars(method):
            continue
        call = _wrapped(method, name)
        setattr(
            cls,
            name,
            call if method is member else available_if(member.check)(as_mars(call, executes=True)),
        )


#: Methods of scikit-learn without samples whose results are tensors in Mars.
_OF_ARRAYS = ("get_covariance", "get_precision")


def mars_methods(cls: C, *, executes: bool = True) -> C:
    """Let the methods that users call of an estimator give Mars's results where that is wanted."""
    for name in [*vars(cls), *_OF_ARRAYS]:
        member = inspect.getattr_static(cls, name, None)
        if isinstance(member, FunctionType) and not name.startswith("_"):
            setattr(cls, name, as_mars(member, executes=executes))
    return cls


def _wrapped(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    lazily = _of_lazy(method, name)

    @wraps(method)
    def call(
        self: Any, *args: Any, session: Any = None, run_kwargs: Any = None, **kwargs: Any
    ) -> Any:
        first = [adopted(item) for item in args]
        keywords = {key: adopted(item) for key, item in kwargs.items()}
        X = first[0] if first else keywords.get("X")
        with running(session, run_kwargs):
            if is_lazy(X):
                result = lazily(self, *first, **keywords)
            else:
                result = method(
                    self,
                    *map(_value, first),
                    **{key: _value(item) for key, item in keywords.items()},
                )
        return known(result) if name == "score" else unmarked(result)

    call.takes_lazy = True  # type: ignore[attr-defined]
    return call


def _value(item: Any) -> Any:
    """Return an argument that goes with samples in memory."""
    return item.compute() if isinstance(item, Collection) else item


def _of_lazy(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return what a method does with lazy samples."""
    # scikit-learn wraps what transforms, to make pandas frames of arrays.
    transforms = name in ("transform", "fit_transform")
    plain = getattr(method, "__wrapped__", method) if transforms else method
    if method.__module__.startswith("sklearn."):
        plain = _LAZILY.get(name, plain)
    if name in ROWWISE and method.__module__.startswith("sklearn."):
        plain = _rowwise(name)
    return _framed(plain) if transforms else plain


def _rowwise(name: str) -> Callable[..., Any]:
    def lazily(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return self._predictions(name, X)

    return lazily


def score_of_lazy(self: Any, X: Any, y: Any, sample_weight: Any = None) -> FittedFloat:
    """Return the score of lazy predictions."""
    if not (is_classifier(self) or is_regressor(self)):
        raise NotImplementedError(
            f"score() of {type(self).__name__} is not supported with lazy samples; compute() them"
        )
    of = accuracy if is_classifier(self) else r2
    return FittedFloat(of(y, self.predict(X), sample_weight))


def _fit_transform(self: Any, X: Any, y: Any = None, **kwargs: Any) -> Any:
    fitted = self.fit(X, **kwargs) if y is None else self.fit(X, y, **kwargs)
    return fitted.transform(X)


_LAZILY: dict[str, Callable[..., Any]] = {"score": score_of_lazy, "fit_transform": _fit_transform}


def _framed(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``set_output`` make a frame of ours from a lazy result."""

    def call(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        result = plain(self, X, *args, **kwargs)
        if not is_lazy(result):  # a function of the user may have computed it
            return result
        if isinstance(result.node.meta, pd.DataFrame) or not makes_frames(self):
            return result
        return as_frame(result, X, self.get_feature_names_out())

    return call


def makes_frames(model: Any) -> bool:
    """Tell whether ``set_output`` wants frames of pandas's kind."""
    wish = getattr(model, "_sklearn_output_config", {}).get("transform")
    wish = wish or get_config()["transform_output"]
    if wish not in ("default", "pandas"):
        raise NotImplementedError(
            f"set_output({wish!r}) of lazy samples is not supported; use 'pandas'"
        )
    return bool(wish == "pandas")
