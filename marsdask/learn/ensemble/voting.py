"""An estimator for each chunk of the samples, which vote: dask-ml's blockwise ensembles."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect, compute
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.predictions import predictions
from marsdask.learn.rows import Fold, RowMap, Value
from marsdask.learn.targets import as_classes, as_targets, check_given
from marsdask.tensor.kernels.assembly import assemble

from .members import MEMBER_BYTES


@dataclass(frozen=True, eq=False)
class ChunkFold(Fold):
    """A fold over the chunks that the user sees of the first operand."""

    pins_grid: ClassVar[bool] = True

    def tile(self, *grids: Grid) -> Generator[Look, Any, Grid]:
        first, *tail = grids
        if any(grid.chunks[0] != first.chunks[0] for grid in tail):
            first, *tail = yield from resolved(first, *tail)
        rows = first.chunks[0]
        parts = [recut(grid, (rows, *grid.chunks[1:]), assemble) for grid in tail]
        return (yield from super().tile(first, *parts))


def fit_chunk(rows: Any, target: Any, *, model: Any, how: Mapping[str, Any]) -> list[Any]:
    """Return an estimator fitted to a chunk, in a list; none of an empty chunk."""
    return [clone(model).fit(rows, target, **how)] if len(rows) else []


def joined(a: list[Any], b: list[Any]) -> list[Any]:
    """Return the estimators of both, in order."""
    return a + b


@dataclass(frozen=True)
class Votes:
    """Estimators of chunks, of which each may know some of the classes only."""

    models: list[Any]
    classes: Any = None
    soft: bool = False

    def predict(self, X: Any) -> Any:
        """Return the class that most choose, the mean of probabilities, or that of numbers."""
        if self.classes is None:
            return np.mean([model.predict(X) for model in self.models], axis=0)
        if self.soft:
            return self.classes[np.argmax(self.predict_proba(X), axis=1)]
        votes = np.zeros((X.shape[0], len(self.classes)), int)
        for model in self.models:
            votes[np.arange(len(votes)), model.predict(X)] += 1
        return self.classes[np.argmax(votes, axis=1)]

    def predict_proba(self, X: Any) -> Any:
        """Return the mean probability of each class."""
        result = np.zeros((X.shape[0], len(self.classes)))
        for model in self.models:
            result[:, model.classes_] += model.predict_proba(X)
        return result / len(self.models)


class FittedChunks(MetaEstimatorMixin, RowsEstimator, BaseEstimator):
    """Fits a copy of an estimator to each chunk."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        model: Any = self
        tags.input_tags.allow_nan = get_tags(model.estimator).input_tags.allow_nan
        return tags

    def _samples(self, X: Any, *, reset: bool, allow_nan: bool = False) -> Node:
        allow_nan = self.__sklearn_tags__().input_tags.allow_nan
        return super()._samples(X, reset=reset, allow_nan=allow_nan)

    def _fit_chunks(self, X: Any, rows: Node, target: Node, how: Mapping[str, Any]) -> None:
        model: Any = self
        kwargs = {"model": model.estimator, "how": how}
        if is_lazy(X):
            operands = (rows, target)
            value = Value(ChunkFold(fit_chunk, joined, operands, kwargs, MEMBER_BYTES))
            self.estimators_ = compute(value)[0]
        else:
            samples = [compute(collect(node))[0] for node in (rows, target)]
            self.estimators_ = fit_chunk(*samples, **kwargs)

    def _votes(self) -> Votes:
        return Votes(self.estimators_)

    def _mapped(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        rows = self._samples(X, reset=False)
        votes = self._votes()
        if not is_lazy(X):
            return getattr(votes, method)(rows.array)  # type: ignore[attr-defined]
        sample = np.zeros((1, *numbers(rows.shape[1:])), rows.meta.dtype)
        return predictions(votes, method, rows, sample)

    def predict(self, X: Any) -> Any:
        """Return what the estimators predict together, lazy for lazy samples.

        Parameters
        ----------
        X : array_like or frame
            The samples.

        Returns
        -------
        Tensor or array
            The prediction of each sample.

        Examples
        --------
        >>> from marsdask.learn.ensemble import BlockwiseVotingRegressor
        >>> from sklearn.linear_model import LinearRegression
        >>> model = BlockwiseVotingRegressor(LinearRegression()).fit(mt.ones((3, 1)), [1, 1, 1])
        >>> model.predict(mt.ones((1, 1))).compute()
        array([1.])
        """
        return self._mapped("predict", X)


class BlockwiseVotingRegressor(RegressorMixin, FittedChunks):
    """A regressor for each chunk of the samples; their mean counts.

    dask-ml's class of this name. Samples in memory are one chunk.

    Parameters
    ----------
    estimator : object
        The estimator of which a copy is fitted to each chunk.

    Examples
    --------
    >>> from marsdask.learn.ensemble import BlockwiseVotingRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = BlockwiseVotingRegressor(LinearRegression()).fit(X, 2 * X[:, 0])
    >>> len(model.estimators_), model.predict(X[3:]).compute().round(6)
    (2, array([6.]))
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, **kwargs: Any) -> Self:
        """Fit a copy of the estimator to each chunk.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like
            Their targets.
        **kwargs
            Arguments of the estimator's method.

        Returns
        -------
        Self
            This estimator.

        Examples
        --------
        >>> from marsdask.learn.ensemble import BlockwiseVotingRegressor
        >>> from sklearn.linear_model import LinearRegression
        >>> model = BlockwiseVotingRegressor(LinearRegression()).fit(mt.ones((3, 1)), [1, 1, 1])
        """
        check_given(self, y)
        rows = self._samples(X, reset=True)
        self._fit_chunks(X, rows, as_targets(y, rows), kwargs)
        return self

    def to_sklearn(self) -> BaseEstimator:
        """Return scikit-learn's VotingRegressor of the fitted estimators.

        Returns
        -------
        BaseEstimator
            scikit-learn's estimator.

        Examples
        --------
        >>> from marsdask.learn.ensemble import BlockwiseVotingRegressor
        >>> from sklearn.linear_model import LinearRegression
        >>> model = BlockwiseVotingRegressor(LinearRegression()).fit(mt.ones((3, 1)), [1, 1, 1])
        >>> type(model.to_sklearn()).__name__
        'VotingRegressor'
        """
        twin = ensemble.VotingRegressor(_named(self.estimators_))
        twin.estimators_ = self.estimators_
        return twin


def _named(models: list[Any]) -> list[tuple[str, Any]]:
    return [(f"chunk{position}", model) for position, model in enumerate(models)]


def _is_soft(self: Any) -> bool:
    if self.voting != "soft":
        raise AttributeError(f"predict_proba is not available when voting={self.voting!r}")
    return True


class BlockwiseVotingClassifier(ClassifierMixin, FittedChunks):
    """A classifier for each chunk of the samples, which vote.

    dask-ml's class of this name. Samples in memory are one chunk. The estimators learn positions
    among the classes. A chunk may lack classes.

    Parameters
    ----------
    estimator : object
        The estimator of which a copy is fitted to each chunk.
    voting : {"hard", "soft"}
        Whether the class counts that most estimators choose, or the mean of probabilities.
    classes : array_like, optional
        The classes; by default those of the targets.

    Examples
    --------
    >>> from marsdask.learn.ensemble import BlockwiseVotingClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = mt.tensor([[0.0], [5.0], [1.0], [6.0]], chunk_size=2)
    >>> model = BlockwiseVotingClassifier(GaussianNB()).fit(X, ["a", "b", "a", "b"])
    >>> len(model.estimators_), model.predict(X).compute().tolist()
    (2, ['a', 'b', 'a', 'b'])
    """

    def __init__(self, estimator: Any = None, voting: str = "hard", classes: Any = None) -> None:
        self.estimator = estimator
        self.voting = voting
        self.classes = classes

    def fit(self, X: Any, y: Any, classes: Any = None, **kwargs: Any) -> Self:
        """Fit a copy of the estimator to each chunk.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like
            Their classes.
        classes : array_like, optional
            All classes; by default those of the targets.
        **kwargs
            Arguments of the estimator's method.

        Returns
        -------
        Self
            This estimator.

        Raises
        ------
        ValueError
            If ``voting`` is unknown, or a target is none of the classes.

        Examples
        --------
        >>> from marsdask.learn.ensemble import BlockwiseVotingClassifier
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = BlockwiseVotingClassifier(GaussianNB())
        >>> model.fit([[0.0], [1.0]], [0, 1], classes=[0, 1, 2]).classes_.tolist()
        [0, 1, 2]
        """
        check_given(self, y)
        if self.voting not in ("hard", "soft"):
            raise ValueError(f"voting must be 'hard' or 'soft', got {self.voting!r}")
        rows = self._samples(X, reset=True)
        target = as_classes(y, rows)
        labels = self.classes if classes is None else classes
        codes = target.codes
        self.classes_ = target.labels if labels is None else np.unique(np.asarray(labels))
        if labels is not None:
            if not np.isin(target.labels, self.classes_).all():
                raise ValueError(f"y has labels that are none of the classes {labels}")
            places = np.searchsorted(self.classes_, target.labels)
            codes = RowMap(picked, (codes,), np.dtype(np.int64), None, {"places": places})
        self._fit_chunks(X, rows, codes, kwargs)
        return self

    def _votes(self) -> Votes:
        return Votes(self.estimators_, np.asarray(self.classes_), self.voting == "soft")

    @available_if(_is_soft)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the mean probabilities of each sample's classes, lazy for lazy samples.

        Parameters
        ----------
        X : array_like or frame
            The samples.

        Returns
        -------
        Tensor or array
            A row for each sample, a column for each class.

        Examples
        --------
        >>> from marsdask.learn.ensemble import BlockwiseVotingClassifier
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = BlockwiseVotingClassifier(GaussianNB(), voting="soft")
        >>> model.fit([[0.0], [1.0], [0.2], [0.8]], [0, 1, 0, 1]).predict_proba([[0.0]]).round()
        array([[1., 0.]])
        """
        return self._mapped("predict_proba", X)

    def to_sklearn(self) -> BaseEstimator:
        """Return scikit-learn's VotingClassifier of the fitted estimators.

        Returns
        -------
        BaseEstimator
            scikit-learn's estimator.

        Raises
        ------
        NotImplementedError
            If probabilities count, and a chunk lacked classes.

        Examples
        --------
        >>> from marsdask.learn.ensemble import BlockwiseVotingClassifier
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = BlockwiseVotingClassifier(GaussianNB())
        >>> type(model.fit([[0.0], [1.0]], [0, 1]).to_sklearn()).__name__
        'VotingClassifier'
        """
        models, labels = self.estimators_, np.asarray(self.classes_)
        if self.voting == "soft" and any(len(m.classes_) < len(labels) for m in models):
            raise NotImplementedError(
                "scikit-learn's VotingClassifier takes no estimators that know some classes only; "
                "use voting='hard'"
            )
        twin = ensemble.VotingClassifier(_named(models), voting=self.voting)
        twin.estimators_, twin.classes_ = models, labels
        twin.le_ = LabelEncoder().fit(labels)
        return twin


def picked(codes: Any, *, places: Any) -> Any:
    """Return the places of codes."""
    return places[codes]
