"""Stochastic gradient descent: scikit-learn's partial_fit, one chunk after the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn import linear_model
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_random_state

from marsdask.learn.base import RowsEstimator
from marsdask.learn.batches import held_runs, take_over
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import as_weights
from marsdask.learn.targets import as_classes, as_labels, as_targets, check_given

from .least_squares import dtype_of_samples

#: Weights in place of zeros where scikit-learn wants some other: no step of them is seen.
NO_WEIGHT = float(np.finfo(np.float32).tiny)

#: The smallest rate that "adaptive" divides.
SLOWEST = 1e-6


class _StochasticGradient(RowsEstimator):
    """What both share: epochs over held samples, chunk by chunk."""

    _takes_sparse = True
    n_features_in_: int
    coef_: Any
    intercept_: Any

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Find the coefficients."""
        self._validate_params()  # type: ignore[attr-defined]
        if not is_lazy(X):
            super().fit(X, y, coef_init, intercept_init, sample_weight)  # type: ignore[misc]
        else:
            self._fit_lazy(X, y, coef_init, intercept_init, sample_weight)
        return self

    def _fit_lazy(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, weight: Any) -> None:
        """Learn from lazy samples."""
        raise NotImplementedError

    def _continues(self) -> bool:
        """Tell whether the fit goes on with all that was learnt before, averages too."""
        return False

    def _start(self, dtype: Any, coef: Any, intercept: Any, outputs: int) -> Any:
        """Return the plain estimator that is to learn, with the coefficients to start from."""
        if self.early_stopping:  # type: ignore[attr-defined]
            raise NotImplementedError(
                "early_stopping=True is not supported with lazy samples; early_stopping=False "
                "stops when the loss of all samples no longer falls"
            )
        twin = self._twin_of_arrays() if self._continues() else clone(self.to_sklearn())
        twin.t_ = 1.0
        # One state for all chunks: each call draws another order.
        twin.random_state = check_random_state(twin.random_state)
        if not self._continues() and not (coef is None and intercept is None):
            twin._allocate_parameter_mem(
                n_classes=outputs,
                n_features=self.n_features_in_,
                input_dtype=dtype,
                coef_init=None if coef is None else np.array(coef),  # steps are taken in place
                intercept_init=None if intercept is None else np.array(intercept),
            )
        return twin

    def _descend(self, twin: Any, epoch: Callable[[], Any], count: int) -> None:
        """Repeat an epoch, which returns the loss of each output, until none of them falls."""
        tol = -np.inf if twin.tol is None else twin.tol
        best: Any = np.inf
        delay: Any = 0
        for n_iter in range(1, twin.max_iter + 1):
            loss = epoch()
            twin.n_iter_ = n_iter
            delay = np.where(loss > best - tol * count, delay + 1, 0)
            best = np.minimum(best, loss)
            if delay.min() < twin.n_iter_no_change:
                continue
            if twin.learning_rate != "adaptive" or twin.eta0 <= SLOWEST:
                break
            twin.eta0, delay = twin.eta0 / 5, 0
        if tol > -np.inf and twin.n_iter_ == twin.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing "
                "max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=6,
            )
        take_over(self, twin)


class SGDClassifier(_StochasticGradient, linear_model.SGDClassifier):
    """Linear classification by stochastic gradient descent. See sklearn.linear_model.SGDClassifier.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. An epoch learns from one chunk after the other, in the order of the samples;
    ``shuffle`` mixes the samples of each chunk, not the chunks. With ``shuffle=False`` each epoch
    takes the steps of scikit-learn, unless a penalty is absolute. The loss that ends the search is
    that of each chunk after it was learnt, and several classes end together. ``partial_fit``
    learns from each chunk once. ``early_stopping`` is refused with lazy samples.

    Examples
    --------
    >>> from marsdask.learn.linear_model import SGDClassifier
    >>> X = mt.tensor([[-2.0], [-1.0], [1.0], [2.0]], chunk_size=2)
    >>> model = SGDClassifier(random_state=0).fit(X, mt.tensor(["a", "a", "b", "b"]))
    >>> model.predict(X).compute().tolist()
    ['a', 'a', 'b', 'b']
    """

    def _fit_lazy(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, weight: Any) -> None:
        check_given(self, y)
        rows = self._samples(X, reset=True)
        labels, codes = as_classes(y, rows)
        if len(labels) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(labels)} class"
            )
        samples = held_runs(self, rows, codes, as_weights(weight, rows))
        if self.warm_start and vars(self).get("coef_") is not None:
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        twin = self._start(rows.meta.dtype, coef_init, intercept_init, len(labels))
        if self.class_weight == "balanced":
            counts = sum(np.bincount(codes, minlength=len(labels)) for _, codes, _ in samples)
            shares = samples.count / (len(labels) * np.asarray(counts))
            twin.class_weight = dict(zip(labels.tolist(), shares, strict=True))

        def epoch() -> Any:
            total = 0.0
            for block, codes, part in samples:
                twin.partial_fit(block, labels[codes], labels, _some(part))
                total = total + _loss_of_classes(twin, block, codes)
            return total

        self._descend(twin, epoch, samples.count)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more samples, one chunk after the other; the first call needs ``classes``."""
        self._validate_params()
        names = classes.compute() if is_lazy(classes) else classes
        if not is_lazy(X):
            super().partial_fit(X, y, names, sample_weight)
            return self
        check_given(self, y)
        rows = self._samples(X, reset="classes_" not in vars(self))
        targets, weight = as_labels(y).node, as_weights(sample_weight, rows)
        twin = self._twin_of_arrays()
        for block, labels, part in held_runs(self, rows, targets, weight):
            twin.partial_fit(block, labels, names, _some(part))
        take_over(self, twin)
        return self


class SGDRegressor(_StochasticGradient, linear_model.SGDRegressor):
    """Linear regression by stochastic gradient descent. See sklearn.linear_model.SGDRegressor.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. An epoch learns from one chunk after the other, in the order of the samples;
    ``shuffle`` mixes the samples of each chunk, not the chunks. With ``shuffle=False`` each epoch
    takes the steps of scikit-learn, unless a penalty is absolute. The loss that ends the search is
    that of each chunk after it was learnt. ``partial_fit`` learns from each chunk once.
    ``early_stopping`` is refused with lazy samples.

    Examples
    --------
    >>> from marsdask.learn.linear_model import SGDRegressor
    >>> X = mt.tensor([[-1.0], [0.0], [1.0], [2.0]], chunk_size=2)
    >>> model = SGDRegressor(alpha=0, tol=1e-9, max_iter=5000, random_state=0)
    >>> model.fit(X, 2 * X[:, 0] + 1).predict(X).compute().round(1)
    array([-1.,  1.,  3.,  5.])
    """

    def _fit_lazy(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, weight: Any) -> None:
        samples = self._held(X, y, weight, reset=True)
        twin = self._start(dtype_of_samples(X), coef_init, intercept_init, 1)

        def epoch() -> Any:
            total = 0.0
            for block, targets, part in samples:
                twin.partial_fit(block, targets, _some(part))
                total = total + float(
                    losses(twin.loss, targets, twin.predict(block), twin.epsilon).sum()
                )
            return total

        self._descend(twin, epoch, samples.count)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from more samples, one chunk after the other."""
        self._validate_params()
        if not is_lazy(X):
            super().partial_fit(X, y, sample_weight)
            return self
        samples = self._held(X, y, sample_weight, reset="coef_" not in vars(self))
        twin = self._twin_of_arrays()
        for block, targets, weight in samples:
            twin.partial_fit(block, targets, _some(weight))
        take_over(self, twin)
        return self

    def _continues(self) -> bool:
        return bool(self.warm_start and vars(self).get("coef_") is not None)

    def _held(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        check_given(self, y)
        rows = self._samples(X, reset=reset)
        return held_runs(self, rows, as_targets(y, rows), as_weights(sample_weight, rows))


def _some(weight: Any) -> Any:
    """Return weights that scikit-learn takes: it refuses a chunk in which all of them are zero."""
    return np.full(len(weight), NO_WEIGHT) if weight is not None and not weight.any() else weight


def _loss_of_classes(twin: Any, block: Any, codes: Any) -> Any:
    """Return the sum of the losses of each of the models that tell a class from the others."""
    raw = twin.decision_function(block)
    classes = [1] if raw.ndim == 1 else range(raw.shape[1])
    columns = raw.reshape(len(codes), -1).T
    return np.array(
        [
            losses(twin.loss, np.where(codes == k, 1.0, -1.0), column, twin.epsilon).sum()
            for k, column in zip(classes, columns, strict=True)
        ]
    )


def losses(name: str, y: Any, raw: Any, epsilon: float) -> Any:
    """Return the loss of each sample; the targets of classes are 1 and -1."""
    away, margin = np.abs(raw - y), y * raw
    if name == "log_loss":
        return np.logaddexp(0.0, -margin)
    if name == "modified_huber":
        return np.where(margin >= -1, np.square(np.maximum(1 - margin, 0.0)), -4 * margin)
    if name == "huber":
        return np.where(away <= epsilon, 0.5 * away**2, epsilon * away - 0.5 * epsilon**2)
    if name == "squared_error":
        return 0.5 * away**2
    of_name = {
        "hinge": 1 - margin,
        "squared_hinge": 1 - margin,
        "perceptron": -margin,
        "epsilon_insensitive": away - epsilon,
        "squared_epsilon_insensitive": away - epsilon,
    }
    loss = np.maximum(of_name[name], 0.0)
    return loss**2 if name.startswith("squared") else loss
