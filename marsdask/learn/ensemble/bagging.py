"""Estimators that are fitted to draws of the samples, and vote."""

from __future__ import annotations

import numbers as number_types
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import ensemble
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.rows import as_weights, check_lengths, check_weights, fold, held
from marsdask.learn.targets import as_classes, as_targets, check_given
from marsdask.learn.utils.checks import check_finite, neither

from .members import Drawn, fit_members

_SEEDS = np.iinfo(np.int32).max


class OfDraws:
    """Fits estimators to draws of lazy samples; put it before ``RowsEstimator``."""

    _takes_sparse: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # As far as the estimator takes them.
        model: Any = self
        tags.input_tags.sparse = get_tags(model._get_estimator()).input_tags.sparse
        return tags

    def _fit_draws(
        self, rows: Node, target: Node | None, weight: Any, max_samples: Any, **how: Any
    ) -> None:
        """Draw as scikit-learn does, and fit an estimator to each draw."""
        model: Any = self
        state = check_random_state(model.random_state)
        (samples,) = numbers(rows.shape[:1])
        model._n_samples = samples
        model._validate_estimator(model._get_estimator())
        if "max_depth" in how:
            model.estimator_.max_depth = how.pop("max_depth")
        model._max_samples = self._number_of_samples(max_samples, samples, weight)
        model._max_features = self._number_of_features()
        model._sample_weight = weight
        more = self._number_of_members()
        if not more:
            return
        if model.estimators_:
            state.randint(_SEEDS, size=len(model.estimators_))
        model._seeds = state.randint(_SEEDS, size=more)
        draws = [Drawn.of(*draw) for draw in model._get_estimators_indices()]
        members = [model._make_estimator(append=False, random_state=s) for s in model._seeds]
        how["counted"] = has_fit_parameter(model.estimator_, "sample_weight")
        model.estimators_ += fit_members(members, draws, rows, target, **how)
        model.estimators_features_ += [draw.features for draw in draws]

    def _number_of_samples(self, wanted: Any, samples: int, weight: Any) -> int:
        model: Any = self
        if wanted is None:
            count = samples
        elif isinstance(wanted, number_types.Integral):
            count = int(wanted)
        else:
            count = max(int(wanted * (samples if weight is None else weight.sum())), 1)
        if not model.bootstrap and count > samples:
            raise ValueError(
                f"Effective max_samples={count} must be <= n_samples={samples} to be able to "
                "sample without replacement."
            )
        return count

    def _number_of_features(self) -> int:
        model: Any = self
        limit, width = model.max_features, model.n_features_in_
        whole = isinstance(limit, number_types.Integral)
        count = int(limit if whole else limit * width)
        if count > width:
            raise ValueError("max_features must be <= n_features")
        return max(1, count)

    def _number_of_members(self) -> int:
        """Return how many estimators are wanted besides those that a warm start keeps."""
        model: Any = self
        if not model.warm_start or "estimators_" not in vars(model):
            model.estimators_, model.estimators_features_ = [], []
        more = int(model.n_estimators - len(model.estimators_))
        if more < 0:
            raise ValueError(
                f"n_estimators={model.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(model.estimators_)} when warm_start==True"
            )
        if not more:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return more


def of_known_length(rows: Node, target: Node | None = None) -> tuple[Any, Any]:
    """Return samples and targets whose length is known: else they are computed and held."""
    operands = [node for node in (rows, target) if node is not None]
    if not all(isinstance(node.shape[0], int) for node in operands):
        rows, target = held(rows, target)
    check_lengths(rows, target)
    return rows, target


def weights_in_memory(sample_weight: Any, rows: Node) -> Any:
    """Return the weight of each sample as an array: drawing needs all of them."""
    as_weights(sample_weight, rows)  # raises scikit-learn's errors
    if sample_weight is None:
        return None
    weights = sample_weight.compute() if is_lazy(sample_weight) else sample_weight
    values = np.asarray(weights, np.float64)
    check_weights(float(np.abs(values).max(initial=0.0)))
    return np.full(numbers(rows.shape[:1]), values) if values.ndim == 0 else values


class Bagging(OfDraws):
    """Fits estimators to draws of samples and targets."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit an estimator to each draw."""
        if not is_lazy(X):
            super().fit(X, y, sample_weight=sample_weight, **fit_params)  # type: ignore[misc]
            return self
        model: Any = self
        model._validate_params()
        check_given(self, y)
        if fit_params:
            raise NotImplementedError(
                f"arguments of estimators ({', '.join(fit_params)}) are not supported with lazy "
                "samples"
            )
        if model.oob_score:
            raise NotImplementedError(
                "oob_score is not supported with lazy samples; use score() of other samples"
            )
        rows = model._samples(X, reset=True, allow_nan=True)
        rows, target = of_known_length(rows, self._target(y, rows))
        weight = weights_in_memory(sample_weight, rows)
        if weight is not None and not model.bootstrap:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use "
                f"bootstrap=True, got {model.bootstrap}.",
                UserWarning,
                stacklevel=3,
            )
        self._fit_draws(rows, target, weight, model.max_samples)
        return self

    def _target(self, y: Any, rows: Node) -> Node:
        node = as_targets(y, rows, several=True)
        node = as_targets(y, rows) if node.shape[1:] == (1,) else node
        (node,) = held(node)
        # Not every row is drawn.
        fold(check_finite, neither, node, nbytes=8, how={"input_name": "y"})
        return node  # type: ignore[no-any-return] # the targets that are held


class BaggingClassifier(Bagging, RowsEstimator, ensemble.BaggingClassifier):
    """Classifiers that are fitted to draws, and vote. See sklearn.ensemble.BaggingClassifier.

    Differs from scikit-learn: takes tensors, sparse ones too, and frames. One task fits each
    estimator to what was drawn for it, which has to fit its memory: choose ``max_samples``. The
    numbers of the rows drawn are held in memory. Samples for ``oob_score`` have to be in memory.
    Shares of samples in parameters of trees are of those drawn.

    Examples
    --------
    >>> from marsdask.learn.ensemble import BaggingClassifier
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = BaggingClassifier(max_samples=4, random_state=0).fit(X, [0, 0, 1, 1])
    >>> model.predict(X).compute()
    array([0, 0, 1, 1])
    """

    def _target(self, y: Any, rows: Node) -> Node:
        classes = as_classes(y, rows)
        self.classes_ = classes.labels
        self.n_classes_ = len(classes.labels)
        return classes.codes


class BaggingRegressor(Bagging, RowsEstimator, ensemble.BaggingRegressor):
    """Average regressors that are fitted to draws. See sklearn.ensemble.BaggingRegressor.

    Differs from scikit-learn as :class:`BaggingClassifier` does.

    Examples
    --------
    >>> from marsdask.learn.ensemble import BaggingRegressor
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = BaggingRegressor(random_state=0).fit(X, [1.0, 1.0, 1.0, 1.0])
    >>> model.predict(X).compute()
    array([1., 1., 1., 1.])
    """
