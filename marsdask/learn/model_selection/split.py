"""Samples divided as scikit-learn divides them: lazy ones stay lazy."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

from sklearn import model_selection

from marsdask.core.public import public_call
from marsdask.learn.fitted_values import known
from marsdask.learn.lazy import is_lazy, running

from .samples import in_memory, of_known_length


@public_call
def train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
    session: Any = None,
    run_kwargs: Any = None,
) -> list[Any]:
    """Return samples to train on and others to test.

    See sklearn.model_selection.train_test_split.

    Tensors and frames stay lazy. The rows' positions, and the classes of ``stratify``, are held in
    memory; lengths that only running tells are computed.

    Examples
    --------
    >>> from marsdask.learn.model_selection import train_test_split
    >>> train, test = train_test_split(mt.arange(5), shuffle=False)
    >>> test.compute()
    array([3, 4])
    """
    how = {"test_size": test_size, "train_size": train_size, "random_state": random_state}
    with running(session, run_kwargs):
        samples = of_known_length(*arrays)
        if not shuffle and stratify is None and any(map(is_lazy, samples)):
            return _in_order(samples, how)
        how |= {"shuffle": shuffle, "stratify": in_memory(stratify)}
        parts: list[Any] = model_selection.train_test_split(*samples, **how)
        return parts


def _in_order(arrays: list[Any], how: dict[str, Any]) -> list[Any]:
    """Return the first samples and the last ones, by slices."""
    positions = [range(len(array)) for array in arrays]
    parts = model_selection.train_test_split(*positions, shuffle=False, **how)
    first, last = len(parts[0]), len(parts[0]) + len(parts[1])
    return [
        part for array in arrays for part in (_rows(array, 0, first), _rows(array, first, last))
    ]


def _rows(array: Any, start: int, stop: int) -> Any:
    return array.iloc[start:stop] if hasattr(array, "iloc") else array[start:stop]


class LazySplits:
    """Divides lazy samples too; put it before scikit-learn's class.

    The positions of the rows are NumPy arrays, which answer ``execute`` and ``fetch``.
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield the positions of the samples to train on, and of those to test."""
        (X,) = of_known_length(X)
        # What the rows hold does not matter.
        X = range(len(X)) if is_lazy(X) else X
        more = {"y": in_memory(y), "groups": in_memory(groups)}
        # scikit-learn refuses at the call what it needs and does not get, and warns of the rest.
        options = {name: item for name, item in more.items() if item is not None}
        parts = super().split(X, **options)  # type: ignore[misc]
        return ((known(train), known(test)) for train, test in parts)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return how often the samples are divided."""
        if X is not None:
            (X,) = of_known_length(X)
            X = range(len(X)) if is_lazy(X) else X
        count: int = super().get_n_splits(X, in_memory(y), in_memory(groups))  # type: ignore[misc]
        return count


class KFold(LazySplits, model_selection.KFold):
    """Divide samples into parts; each is tested once.

    See sklearn.model_selection.KFold.
    """


class StratifiedKFold(LazySplits, model_selection.StratifiedKFold):
    """Divide samples into parts with equal shares of the classes.

    See sklearn.model_selection.StratifiedKFold.
    """


class GroupKFold(LazySplits, model_selection.GroupKFold):
    """Divide samples into parts that share no group.

    See sklearn.model_selection.GroupKFold.
    """


class StratifiedGroupKFold(LazySplits, model_selection.StratifiedGroupKFold):
    """Divide samples into parts of whole groups with like shares of the classes.

    See sklearn.model_selection.StratifiedGroupKFold.
    """


class RepeatedKFold(LazySplits, model_selection.RepeatedKFold):
    """Divide samples into parts, several times in other orders.

    See sklearn.model_selection.RepeatedKFold.
    """


class RepeatedStratifiedKFold(LazySplits, model_selection.RepeatedStratifiedKFold):
    """Divide samples into like parts, several times in other orders.

    See sklearn.model_selection.RepeatedStratifiedKFold.
    """


class ShuffleSplit(LazySplits, model_selection.ShuffleSplit):
    """Draw samples to test, several times.

    See sklearn.model_selection.ShuffleSplit.
    """


class StratifiedShuffleSplit(LazySplits, model_selection.StratifiedShuffleSplit):
    """Draw samples to test with equal shares of the classes.

    See sklearn.model_selection.StratifiedShuffleSplit.
    """


class GroupShuffleSplit(LazySplits, model_selection.GroupShuffleSplit):
    """Draw groups to test.

    See sklearn.model_selection.GroupShuffleSplit.
    """


class LeaveOneOut(LazySplits, model_selection.LeaveOneOut):
    """Test each sample once.

    See sklearn.model_selection.LeaveOneOut.
    """


class LeaveOneGroupOut(LazySplits, model_selection.LeaveOneGroupOut):
    """Test each group once.

    See sklearn.model_selection.LeaveOneGroupOut.
    """


class TimeSeriesSplit(LazySplits, model_selection.TimeSeriesSplit):
    """Train on samples before those that are tested.

    See sklearn.model_selection.TimeSeriesSplit.
    """


class LeavePOut(LazySplits, model_selection.LeavePOut):
    """Test every choice of ``p`` samples.

    See sklearn.model_selection.LeavePOut.
    """


class LeavePGroupsOut(LazySplits, model_selection.LeavePGroupsOut):
    """Test every choice of ``n_groups`` groups.

    See sklearn.model_selection.LeavePGroupsOut.
    """


class PredefinedSplit(LazySplits, model_selection.PredefinedSplit):
    """Test the samples of each part that is given.

    See sklearn.model_selection.PredefinedSplit. Differs from scikit-learn: ``test_fold`` may be
    lazy; it is computed.
    """

    def __init__(self, test_fold: Any) -> None:
        super().__init__(in_memory(test_fold))

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield the positions of the samples to train on, and of those to test."""
        return super().split(range(len(self.test_fold)), y, groups)


def check_cv(cv: Any = 5, y: Any = None, *, classifier: bool = False, **options: Any) -> Any:
    """Return what divides samples. See sklearn.model_selection.check_cv.

    Differs from scikit-learn: a lazy ``y`` is computed; numbers of parts divide lazy samples.

    Examples
    --------
    >>> from marsdask.learn.model_selection import check_cv
    >>> check_cv(3)
    KFold(n_splits=3, random_state=None, shuffle=False)
    """
    if cv is not None and not isinstance(cv, numbers.Integral):
        return model_selection.check_cv(cv, in_memory(y), classifier=classifier, **options)
    splitter = model_selection.check_cv(cv, in_memory(y), classifier=classifier, **options)
    ours = StratifiedKFold if isinstance(splitter, model_selection.StratifiedKFold) else KFold
    names = ("n_splits", "shuffle", "random_state")
    return ours(**{name: getattr(splitter, name) for name in names})


def compute_n_splits(cv: Any, X: Any, y: Any = None, groups: Any = None) -> int:
    """Return how often samples are divided; dask-ml's function of this name.

    Parameters
    ----------
    cv : int, splitter or iterable
        What divides them.
    X : array_like or frame
        The samples.
    y, groups : array_like, optional
        Their targets and groups.

    Returns
    -------
    int
        The number of splits.

    Examples
    --------
    >>> from marsdask.learn.model_selection import compute_n_splits
    >>> compute_n_splits(4, mt.ones((8, 2)))
    4
    """
    (X,) = of_known_length(X)
    X = range(len(X)) if is_lazy(X) else X
    return int(check_cv(cv).get_n_splits(X, in_memory(y), in_memory(groups)))
