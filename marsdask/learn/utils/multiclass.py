"""The kinds of targets: classes of two kinds or more, several labels, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import multiclass

from marsdask.core.public import public_call
from marsdask.core.sizes import numbers
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import adopted, is_lazy, running
from marsdask.learn.metrics.operands import as_operand
from marsdask.learn.rows import fold
from marsdask.learn.targets import target_classes

from .checks import assert_all_finite

__all__ = [
    "assert_all_finite",
    "check_classification_targets",
    "is_multilabel",
    "type_of_target",
    "unique_labels",
]

#: More distinct values tell scikit-learn no more.
_DISTINCT = 3


@as_mars
@public_call
def type_of_target(
    y: Any,
    input_name: str = "",
    raise_unknown: bool = False,
    *,
    session: Any = None,
    run_kwargs: Any = None,
) -> str:
    """Return what kind of target it is. See sklearn.utils.multiclass.type_of_target.

    Lazy targets are computed, but only few of their values are held.

    Examples
    --------
    >>> from marsdask.learn.utils.multiclass import type_of_target
    >>> type_of_target(mt.tensor([0, 1, 2]))
    'multiclass'
    """
    with running(session, run_kwargs):
        how = {"input_name": input_name, "raise_unknown": raise_unknown}
        return str(multiclass.type_of_target(_alike(y), **how))


@as_mars
@public_call
def is_multilabel(y: Any, *, session: Any = None, run_kwargs: Any = None) -> bool:
    """Tell whether a target has several labels. See sklearn.utils.multiclass.is_multilabel.

    Examples
    --------
    >>> from marsdask.learn.utils.multiclass import is_multilabel
    >>> is_multilabel(mt.tensor([[0, 1], [1, 0]]))
    True
    """
    with running(session, run_kwargs):
        return bool(multiclass.is_multilabel(_alike(y)))


@public_call
def check_classification_targets(y: Any, *, session: Any = None, run_kwargs: Any = None) -> None:
    """Raise ValueError unless targets are classes.

    See sklearn.utils.multiclass.check_classification_targets.

    Examples
    --------
    >>> from marsdask.learn.utils.multiclass import check_classification_targets
    >>> check_classification_targets(mt.tensor([0, 1]))
    """
    with running(session, run_kwargs):
        multiclass.check_classification_targets(_alike(y))


@as_mars
@public_call
def unique_labels(*ys: Any, session: Any = None, run_kwargs: Any = None) -> Any:
    """Return the sorted labels of all targets. See sklearn.utils.multiclass.unique_labels.

    Lazy targets are computed; only what is different is held.

    Examples
    --------
    >>> from marsdask.learn.utils.multiclass import unique_labels
    >>> unique_labels(mt.tensor([3, 1, 3]), [2])
    array([1, 2, 3])
    """
    with running(session, run_kwargs):
        return multiclass.unique_labels(*map(_labels, ys))


def _labels(y: Any) -> Any:
    alike = _alike(y)
    classes = is_lazy(adopted(y)) and multiclass.type_of_target(alike) in ("binary", "multiclass")
    return target_classes(adopted(y)) if classes else alike


def _alike(y: Any) -> Any:
    """Return targets in memory; of lazy ones a few of the same kind."""
    y = adopted(y)
    if not is_lazy(y):
        return y
    rows = as_operand(y)
    values = fold(telling, union, rows, nbytes=128)
    if len(rows.shape) == 1:
        return values
    (width,) = numbers(rows.shape[1:])
    return np.resize(values, (-(-len(values) // max(1, width)), width))


def telling(block: Any) -> Any:
    """Return a few different values, and one that is no whole number, and one not finite."""
    values = np.ravel(block)
    few = pd.unique(values)[:_DISTINCT]
    if values.dtype.kind != "f":
        return few
    with np.errstate(invalid="ignore"):
        broken = values[values != np.trunc(values)]
    return np.concatenate([few, broken[:1], values[~np.isfinite(values)][:1]])


def union(a: Any, b: Any) -> Any:
    """Return what tells of both."""
    return telling(np.concatenate([a, b]))
