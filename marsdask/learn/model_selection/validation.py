"""Estimators fitted and judged on parts of the samples, over lazy samples too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn import model_selection

from marsdask.learn.lazy import running
from marsdask.learn.metrics.scorer import get_scorer

from .samples import held


def _of_parts(name: str, summary: str) -> Any:
    """Return scikit-learn's function of this name, for lazy samples and our scorers too."""
    theirs: Callable[..., Any] = getattr(model_selection, name)

    @wraps(theirs)
    def face(estimator: Any, X: Any, y: Any = None, **options: Any) -> Any:
        with running(options.pop("session", None), options.pop("run_kwargs", None)):
            X, y, groups = held(X, y, options.pop("groups", None))
            if isinstance(options.get("scoring"), str):
                options["scoring"] = get_scorer(options["scoring"])
            return theirs(estimator, X, y, groups=groups, **options)

    face.__doc__ = (
        f"{summary} See sklearn.model_selection.{name}.\n\n"
        "Lazy samples are computed once and held; parts of them stay lazy."
    )
    face.__module__ = __name__
    face.__signature__ = inspect.signature(theirs)  # type: ignore[attr-defined]
    del face.__wrapped__
    return face


cross_val_predict: Callable[..., Any] = _of_parts(
    "cross_val_predict", "Predict each part by the others."
)
cross_val_score: Callable[..., Any] = _of_parts("cross_val_score", "Return the score of each part.")
cross_validate: Callable[..., Any] = _of_parts(
    "cross_validate", "Return scores and times of each part."
)
learning_curve: Callable[..., Any] = _of_parts(
    "learning_curve", "Return scores for numbers of samples."
)
permutation_test_score: Callable[..., Any] = _of_parts(
    "permutation_test_score", "Return the score, and those of permuted targets."
)
validation_curve: Callable[..., Any] = _of_parts(
    "validation_curve", "Return scores for values of a parameter."
)
