"""Samples in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.utils

from marsdask.core.public import public_call
from marsdask.learn.fitted_values import as_mars
from marsdask.learn.lazy import running
from marsdask.learn.model_selection.samples import of_known_length


@as_mars
@public_call
def shuffle(
    *arrays: Any,
    random_state: Any = None,
    n_samples: int | None = None,
    axes: Any = (0,),
    session: Any = None,
    run_kwargs: Any = None,
) -> Any:
    """Return samples in a random order, the same for all. See sklearn.utils.shuffle.

    Lazy ones stay lazy; the order of the rows is held in memory. Mars's ``axes`` are shuffled each,
    in the arrays that have them.

    Examples
    --------
    >>> from marsdask.learn.utils import shuffle
    >>> x, y = shuffle(mt.arange(5), np.arange(5), random_state=0)
    >>> bool((x.compute() == y).all())
    True
    """
    axes = np.atleast_1d(axes).tolist()
    with running(session, run_kwargs):
        samples = of_known_length(*arrays)
        if axes == [0]:
            how = {"random_state": random_state, "n_samples": n_samples}
            return sklearn.utils.shuffle(*samples, **how)
        if n_samples is not None:
            raise NotImplementedError("n_samples is not supported with axes other than 0")
        state = sklearn.utils.check_random_state(random_state)
        for axis in axes:
            samples = _along(samples, axis, state)
    return samples[0] if len(samples) == 1 else samples


def _along(arrays: list[Any], axis: int, state: Any) -> list[Any]:
    """Return arrays with the same order along an axis, those that have it."""
    lengths = {array.shape[axis] for array in arrays if axis < array.ndim}
    if len(lengths) > 1:
        raise ValueError(f"Found arrays of inconsistent lengths along axis {axis}: {lengths}")
    order = state.permutation(lengths.pop())
    return [_take(array, order, axis) if axis < array.ndim else array for array in arrays]


def _take(array: Any, order: Any, axis: int) -> Any:
    places = (*(slice(None),) * axis, order)
    return array.iloc[places] if hasattr(array, "iloc") else array[places]
