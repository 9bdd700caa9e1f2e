"""Any estimator of scikit-learn over lazy samples: predicting in parallel, learning by chunks."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self, TypeVar

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.public import public_methods
from marsdask.core.sizes import known_chunks
from marsdask.learn.batches import runs
from marsdask.learn.fitted_values import Twinned, known
from marsdask.learn.lazy import is_lazy
from marsdask.learn.methods import METHODS, mars_methods, wrap_methods
from marsdask.learn.predictions import predictions, rows_of

F = TypeVar("F", bound=Callable[..., Any])


def _offered(method: F) -> F:
    """Return a method that is there if the estimator has one of its name."""

    def check(self: Any) -> bool:
        self._offers(method.__name__)
        return True

    result: F = available_if(check)(method)
    return result


def _value(item: Any) -> Any:
    return item.compute() if isinstance(item, Collection) else item


class _Wrapper(MetaEstimatorMixin, BaseEstimator, Twinned):
    """Common parts of wrappers: the estimator's methods of rows, for lazy samples run by run."""

    estimator: Any
    scoring: Any
    predict_meta: Any
    predict_proba_meta: Any
    transform_meta: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        wrap_methods(cls)
        public_methods(cls)
        mars_methods(cls, executes=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            own = get_tags(self.estimator)
            tags.estimator_type, tags.target_tags = own.estimator_type, deepcopy(own.target_tags)
            tags.classifier_tags = deepcopy(own.classifier_tags)
            tags.regressor_tags = deepcopy(own.regressor_tags)
            tags.input_tags = deepcopy(own.input_tags)
        return tags

    def __getattr__(self, name: str) -> Any:
        # An estimator that was fitted before has its attributes.
        is_fitted = name.endswith("_") and not name.startswith("_") and name != "estimator_"
        if is_fitted and "estimator_" not in vars(self) and vars(self).get("estimator") is not None:
            return known(getattr(self.estimator, name))
        if name in METHODS and name in dir(type(self)):
            model = self._fitted_or_given()
            words = f"The wrapped estimator {model!r} does not have a {name!r} method."
            raise AttributeError(words)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _fitted_or_given(self) -> Any:
        return vars(self).get("estimator_", self.estimator)

    def _offers(self, method: str) -> None:
        """Raise the estimator's AttributeError if it has no such method."""
        getattr(self._fitted_or_given(), method)

    def _take_over(self) -> None:
        """Offer what the estimator has learnt under its own names."""
        for name, value in vars(self.estimator_).items():
            if name.endswith("_") and not name.startswith("_") and name != "estimator_":
                setattr(self, name, known(value))

    def __sklearn_is_fitted__(self) -> bool:
        # An estimator that was fitted before is ready.
        try:
            check_is_fitted(self._fitted_or_given())
        except ValueError:  # NotFittedError is one
            return False
        return True

    def to_sklearn(self) -> BaseEstimator:
        """Return the fitted estimator of scikit-learn.

        Returns
        -------
        BaseEstimator
            The estimator, without this wrapper.

        Examples
        --------
        >>> from marsdask.learn.wrappers import ParallelPostFit
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = ParallelPostFit(GaussianNB())
        >>> model.fit([[0.0], [1.0]], [0, 1]).to_sklearn()
        GaussianNB()
        """
        model = self._fitted_or_given()
        result: BaseEstimator = model.to_sklearn() if isinstance(model, Twinned) else model
        return result

    def _taught(self, model: Any, method: str, X: Any, y: Any, **kwargs: Any) -> Any:
        """Return an estimator after its ``fit`` or ``partial_fit``."""
        raise NotImplementedError

    def _learn(self, model: Any, method: str, X: Any, y: Any, **kwargs: Any) -> Self:
        self.estimator_ = self._taught(model, method, X, y, **kwargs)
        self._take_over()
        return self

    def fit(self, X: Any, y: Any = None, **kwargs: Any) -> Self:
        """Fit a copy of the estimator.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like, optional
            Their targets.
        **kwargs
            Arguments of the estimator's method.

        Returns
        -------
        Self
            This estimator.

        Examples
        --------
        >>> from marsdask.learn.wrappers import ParallelPostFit
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = ParallelPostFit(GaussianNB())
        >>> model.fit([[0.0], [1.0]], [0, 1]).classes_.tolist()
        [0, 1]
        """
        # Mars's wrapper lets the estimator itself learn.
        model = self.estimator if options.mars_results else clone(self.estimator)
        return self._learn(model, "fit", X, y, **kwargs)

    @_offered
    def partial_fit(self, X: Any, y: Any = None, **kwargs: Any) -> Self:
        """Let the estimator learn from more samples.

        Parameters
        ----------
        X, y, **kwargs : object
            As those of :meth:`fit`.

        Returns
        -------
        Self
            This estimator.

        Examples
        --------
        >>> from marsdask.learn.wrappers import Incremental
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = Incremental(GaussianNB())
        >>> model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1]).class_count_.tolist()
        [1.0, 1.0]
        """
        model = vars(self)["estimator_"] if "estimator_" in vars(self) else clone(self.estimator)
        return self._learn(model, "partial_fit", X, y, **kwargs)

    def _mapped(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        model = self.to_sklearn()
        if not is_lazy(X):
            return getattr(model, method)(X)
        rows, sample = rows_of(X)
        meta = getattr(self, f"{method}_meta", None)
        return predictions(model, method, rows, sample, told=meta)

    @_offered
    def predict(self, X: Any) -> Any:
        """Return the prediction of each sample, lazy for lazy samples."""
        return self._mapped("predict", X)

    @_offered
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of each sample's classes, lazy for lazy samples."""
        return self._mapped("predict_proba", X)

    @_offered
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of probabilities, lazy for lazy samples."""
        return self._mapped("predict_log_proba", X)

    @_offered
    def decision_function(self, X: Any) -> Any:
        """Return the decisions of each sample, lazy for lazy samples."""
        return self._mapped("decision_function", X)

    @_offered
    def transform(self, X: Any) -> Any:
        """Return the transformed samples, lazy for lazy samples."""
        return self._mapped("transform", X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score by ``scoring``, or the estimator's own, of samples that are computed.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like, optional
            Their targets.
        sample_weight : array_like, optional
            The weight of each.

        Returns
        -------
        float
            The score.

        Examples
        --------
        >>> from marsdask.learn.wrappers import ParallelPostFit
        >>> from sklearn.naive_bayes import GaussianNB
        >>> model = ParallelPostFit(GaussianNB())
        >>> model.fit([[0.0], [1.0]], [0, 1]).score([[0.0]], [0])
        1.0
        """
        options = {} if sample_weight is None else {"sample_weight": _value(sample_weight)}
        model = self.to_sklearn()
        if self.scoring is None:
            return float(model.score(_value(X), _value(y), **options))
        return float(get_scorer(self.scoring)(model, _value(X), _value(y), **options))


class ParallelPostFit(_Wrapper):
    """Learn in memory, predict lazily: any estimator of scikit-learn.

    Mars's and dask-ml's class of this name. Lazy samples are computed to learn from: those that are
    larger than the memory of this process are refused by MemoryError.

    Parameters
    ----------
    estimator : object
        An estimator of scikit-learn, fitted already or not.
    scoring : str or callable, optional
        How to score; by default as the estimator does.
    predict_meta, predict_proba_meta, transform_meta : array_like, optional
        Results of a few rows or of none, which tell the type and the width; by default the
        estimator is called with a row.

    Examples
    --------
    >>> from marsdask.learn.wrappers import ParallelPostFit
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = ParallelPostFit(DecisionTreeClassifier()).fit([[0.0], [1.0]], [0, 1])
    >>> model.predict(mt.tensor([[0.1], [0.9]], chunk_size=1)).compute()
    array([0, 1])
    """

    def __init__(
        self,
        estimator: Any = None,
        scoring: Any = None,
        predict_meta: Any = None,
        predict_proba_meta: Any = None,
        transform_meta: Any = None,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.predict_meta = predict_meta
        self.predict_proba_meta = predict_proba_meta
        self.transform_meta = transform_meta

    def _taught(self, model: Any, method: str, X: Any, y: Any, **kwargs: Any) -> Any:
        return getattr(model, method)(_value(X), _value(y), **kwargs)


class Incremental(_Wrapper):
    """Learn chunk by chunk, by the estimator's ``partial_fit``.

    dask-ml's class of this name. One chunk after the other is brought to this process. Differs from
    dask-ml: chunks come in their order by default.

    Parameters
    ----------
    estimator : object
        An estimator of scikit-learn with ``partial_fit``.
    scoring : str or callable, optional
        How to score; by default as the estimator does.
    shuffle_blocks : bool
        Whether the chunks come in an order that is drawn.
    random_state : int, RandomState or None
        What draws the order.
    assume_equal_chunks : bool
        Whether samples and targets are promised to have equal chunks; without the promise, targets
        in other chunks are cut like the samples. With it, other chunks are an error.
    predict_meta, predict_proba_meta, transform_meta : array_like, optional
        Results of a few rows or of none, which tell the type and the width; by default the
        estimator is called with a row.

    Examples
    --------
    >>> from marsdask.learn.wrappers import Incremental
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = mt.tensor([[0.0], [5.0], [1.0], [6.0]], chunk_size=2), mt.tensor([0, 1, 0, 1])
    >>> Incremental(GaussianNB()).fit(X, y, classes=[0, 1]).predict(X).compute()
    array([0, 1, 0, 1])
    """

    def __init__(
        self,
        estimator: Any = None,
        scoring: Any = None,
        shuffle_blocks: bool = False,
        random_state: Any = None,
        assume_equal_chunks: bool = False,
        predict_meta: Any = None,
        predict_proba_meta: Any = None,
        transform_meta: Any = None,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.shuffle_blocks = shuffle_blocks
        self.random_state = random_state
        self.assume_equal_chunks = assume_equal_chunks
        self.predict_meta = predict_meta
        self.predict_proba_meta = predict_proba_meta
        self.transform_meta = transform_meta

    def _taught(self, model: Any, method: str, X: Any, y: Any, **kwargs: Any) -> Any:
        del method
        if self.assume_equal_chunks and is_lazy(X) and is_lazy(y):
            cuts = X.node.chunks[0], y.node.chunks[0]
            if known_chunks(cuts) and cuts[0] != cuts[1]:
                raise ValueError(
                    f"samples have chunks {cuts[0]}, but targets {cuts[1]}; rechunk one of them, "
                    "or use assume_equal_chunks=False"
                )
        order = check_random_state(self.random_state) if self.shuffle_blocks else None
        for samples, targets in runs(X, y, order=order):
            model.partial_fit(samples, targets, **kwargs)
        return model
