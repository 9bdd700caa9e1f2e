"""Samples of classes as a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from marsdask.core.public import public_call
from marsdask.dataframe import DataFrame, Series
from marsdask.tensor.random import RandomState

from .classification import make_classification


@public_call
def make_classification_df(
    n_samples: int = 10000,
    response_rate: float = 0.5,
    predictability: float = 0.1,
    random_state: Any = None,
    chunks: Any = None,
    dates: Any = None,
    **kwargs: Any,
) -> tuple[DataFrame, Series]:
    """Generate samples of two classes, as a lazy frame and a series.

    dask-ml's function of this name, with another stream.

    Parameters
    ----------
    n_samples : int
        The number of samples.
    response_rate, predictability : float
        The share of the second class, and that of samples whose class their features tell.
    random_state : int or RandomState, optional
        The seed.
    chunks : int, optional
        How many samples each chunk has.
    dates : tuple of datetime, optional
        Two days between which each sample gets one, in the column ``date``.
    **kwargs
        Other arguments of ``make_classification``.

    Returns
    -------
    tuple of DataFrame and Series
        The samples, of columns ``var0`` and so on, and their classes, of name ``target``.

    Raises
    ------
    ValueError
        If a share is not between zero and one.

    Examples
    --------
    >>> from marsdask.learn.datasets import make_classification_df
    >>> X, y = make_classification_df(100, n_features=4, random_state=0, chunks=50)
    >>> list(X.columns), y.name
    (['var0', 'var1', 'var2', 'var3'], 'target')
    """
    for name, share in (("response_rate", response_rate), ("predictability", predictability)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} should be between 0 and 1, got {share}")
    random = check_random_state(random_state)
    weights = [1 - response_rate, response_rate]
    how: dict[str, Any] = {"weights": weights, "flip_y": 1 - predictability, **kwargs}
    X, y = make_classification(n_samples, random_state=random, chunks=chunks, **how)
    frame = DataFrame(X, columns=[f"var{column}" for column in range(X.shape[1])])
    if dates is not None:
        first, last = np.asarray(dates, "M8[D]")
        draws = RandomState(random.randint(2**31))
        days = draws.randint(
            0, max(1, int((last - first) / np.timedelta64(1, "D"))), n_samples, chunks=chunks
        )
        frame["date"] = first + days.astype("timedelta64[D]")
    return frame, Series(y, name="target")
