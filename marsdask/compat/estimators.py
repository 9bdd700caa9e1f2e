"""Keywords that scikit-learn has given up: estimators and functions of ``mars.learn`` take them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marsdask.core.collection import Collection
from marsdask.tensor import absolute, clip, tensor

from .keywords import Ignored, Keyword, LeftOut, Renamed, taking


@dataclass(frozen=True)
class Clipped:
    """How far predicted probabilities are kept from zero and one."""

    word: str = "clip the predictions before"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        if value in ("auto", "warn"):
            return method(owner, *args, **kwargs)
        keyword = next((key for key in ("y_proba", "y_pred") if key in kwargs), None)
        if keyword is not None:
            kwargs = {**kwargs, keyword: _clipped(kwargs[keyword], value)}
        elif args:
            args = (_clipped(args[0], value), *args[1:])
        return method(owner, *args, **kwargs)


def _clipped(values: Any, eps: float) -> Any:
    clip_values = clip if isinstance(values, Collection) else np.clip
    return clip_values(values, eps, 1 - eps)


@dataclass(frozen=True)
class Differences:
    """Whether the differences of rows are summed."""

    word: str = "use abs(X[:, None] - Y[None])"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        if value in (True, "deprecated"):
            return method(owner, *args, **kwargs)
        matrices = [tensor(item) for item in (owner, *args, *kwargs.values()) if item is not None]
        X, Y = matrices[0], matrices[-1]
        if X.issparse() or Y.issparse():
            raise TypeError("sum_over_features=False is not supported for sparse matrices")
        return absolute(X[:, np.newaxis] - Y[np.newaxis]).reshape(-1, X.shape[1])


def _gone(word: str, *values: Any) -> LeftOut:
    return LeftOut(word, values, "scikit-learn")


_ESTIMATOR: Final = {"base_estimator": Renamed("estimator")}
_FINITE: Final = {"force_all_finite": Renamed("ensure_all_finite")}

#: By module and function, or class and method.
KEYWORDS: Final[dict[str, dict[str, Mapping[str, Keyword]]]] = {
    "cluster": {"KMeans.predict": {"sample_weight": Ignored()}},
    "ensemble": {
        "BaggingClassifier.__init__": _ESTIMATOR,
        "BaggingRegressor.__init__": _ESTIMATOR,
    },
    "linear_model": {
        "LogisticRegression.__init__": {
            "multi_class": _gone(
                "leave it out, or use OneVsRestClassifier", "auto", "multinomial", "deprecated"
            )
        },
        "LinearRegression.__init__": {
            "normalize": _gone(
                "leave it out, or scale the samples by StandardScaler", False, "deprecated"
            )
        },
    },
    "metrics": {"log_loss": {"eps": Clipped()}},
    "metrics.pairwise": {"manhattan_distances": {"sum_over_features": Differences()}},
    "utils": {"check_array": _FINITE, "check_X_y": _FINITE},
}

_REPLACED: list[tuple[Any, str, Any]] = []


def offer() -> None:
    """Let what is imported take what it took."""
    replaced_names = {(id(owner), name) for owner, name, _ in _REPLACED}
    for path, members in KEYWORDS.items():
        module = sys.modules.get(f"marsdask.learn.{path}")
        if module is None:
            continue
        for title, old in members.items():
            owner_name, _, name = title.rpartition(".")
            owner = getattr(module, owner_name) if owner_name else module
            if (id(owner), name) not in replaced_names:
                _replace(owner, name, title.removesuffix(".__init__"), old)


def _replace(owner: Any, name: str, title: str, old: Mapping[str, Keyword]) -> None:
    func = getattr(owner, name)
    new = taking(func, title, old, "scikit-learn")
    owners = [owner]
    if not isinstance(owner, type):
        # Functions are pickled by their names in the modules that define them.
        owners.append(sys.modules[func.__module__])
    for one in owners:
        _REPLACED.append((one, name, vars(one).get(name)))
        setattr(one, name, new)


def withdraw() -> None:
    """Give the classes and modules their own functions back."""
    for owner, name, before in reversed(_REPLACED):
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
    _REPLACED.clear()
