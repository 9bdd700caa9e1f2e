"""The helpers of Mars's estimators, for estimators that users write."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from sklearn import get_config
from sklearn.base import BaseEstimator

from marsdask.core.collection import Collection
from marsdask.dataframe import DataFrame, Series
from marsdask.learn.lazy import adopted
from marsdask.tensor import tensor


def convert_to_tensor_or_dataframe(item: Any) -> Any:
    """Return a frame of pandas as a frame, others as a tensor; what is lazy stays as it is.

    Parameters
    ----------
    item : array_like or frame
        The samples or targets.

    Returns
    -------
    Tensor, DataFrame or Series
        The same, lazily.

    Examples
    --------
    >>> from marsdask.learn.utils import convert_to_tensor_or_dataframe
    >>> convert_to_tensor_or_dataframe([1, 2]).compute()
    array([1, 2])
    """
    item = adopted(item)
    if isinstance(item, Collection):
        return item
    if isinstance(item, pd.DataFrame):
        return DataFrame(item)
    return Series(item) if isinstance(item, pd.Series) else tensor(item)


def copy_learned_attributes(from_estimator: BaseEstimator, to_estimator: BaseEstimator) -> None:
    """Give an estimator what another has learnt: attributes whose names end with an underscore.

    Parameters
    ----------
    from_estimator, to_estimator : BaseEstimator
        The estimators.

    Examples
    --------
    >>> from marsdask.learn.utils import copy_learned_attributes
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> other = MaxAbsScaler()
    >>> copy_learned_attributes(MaxAbsScaler().fit([[2.0]]), other)
    >>> other.scale_.tolist()
    [2.0]
    """
    for name, value in vars(from_estimator).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(to_estimator, name, value)


def get_chunk_n_rows(
    row_bytes: int, max_n_rows: int | None = None, working_memory: float | None = None
) -> int:
    """Return how many rows may be worked on at a time.

    Parameters
    ----------
    row_bytes : int
        What a row takes.
    max_n_rows : int, optional
        The most rows.
    working_memory : float, optional
        The room in MiB; by default that of scikit-learn's configuration.

    Returns
    -------
    int
        The number, at least one.

    Examples
    --------
    >>> from marsdask.learn.utils import get_chunk_n_rows
    >>> get_chunk_n_rows(2**10, working_memory=1)
    1024
    """
    memory = get_config()["working_memory"] if working_memory is None else working_memory
    rows = int(memory * 2**20 // row_bytes)
    rows = rows if max_n_rows is None else min(rows, max_n_rows)
    if rows < 1:
        size = -(-row_bytes // 2**20)
        warnings.warn(
            f"Could not adhere to working_memory config. Currently {memory:.0f}MiB, "
            f"{size}MiB required.",
            UserWarning,
            stacklevel=2,
        )
    return max(1, rows)
