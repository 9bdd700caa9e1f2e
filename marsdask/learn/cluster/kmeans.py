"""k-means over tensors and frames."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, NamedTuple, Self, overload

import numpy as np
from joblib import cpu_count
from sklearn import cluster
from sklearn.exceptions import ConvergenceWarning

# scikit-learn's own constraints use these classes, which have no public name.
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, check_random_state

from marsdask.core.collection import Collection, execute, wrap
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.fitted_values import executed_as_mars
from marsdask.learn.rows import Fold, Value, add, as_weights, check_weights, fold, held, rowwise
from marsdask.learn.sparse import column_moments
from marsdask.tensor import Tensor
from marsdask.tensor.operands import Literal
from marsdask.tensor.typing import ArrayLike

from . import lloyd, seeding


class _Run(NamedTuple):
    """The result of one initialization."""

    centers: Any
    labels: Any
    inertia: float
    sizes: Any
    n_iter: int


class CentersEstimator(RowsEstimator):
    """An estimator that clusters sparse or dense rows around centres."""

    _takes_sparse = True
    labels_: Any

    @overload
    def fit_predict(self, X: Collection, y: Any = ..., sample_weight: Any = ...) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def fit_predict(
        self, X: ArrayLike, y: Any = ..., sample_weight: Any = ...
    ) -> np.ndarray[Any, Any]: ...
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the centres and return the samples' clusters."""
        return self.fit(X, sample_weight=sample_weight).labels_  # type: ignore[attr-defined]


class KMeans(CentersEstimator, cluster.KMeans):
    """Cluster samples around their means. See sklearn.cluster.KMeans.

    Differs from scikit-learn: takes tensors and frames, sparse ones as well. Lazy samples are
    computed once and held during the fit; ``labels_`` is then a tensor. ``init`` may also be
    "k-means||", which draws ``oversampling_factor * n_clusters`` samples in each of ``init_iter``
    passes. For every ``algorithm`` the iterations are Lloyd's, which give the same result.

    Examples
    --------
    >>> from marsdask.learn.cluster import KMeans
    >>> X = mt.tensor([[0.0], [1.0], [8.0], [9.0]], chunk_size=2)
    >>> model = KMeans(2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 8.5]
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012 - scikit-learn declares it so
        **cluster.KMeans._parameter_constraints,
        "init": [StrOptions({"k-means++", "random", "k-means||"}), callable, "array-like"],
        "algorithm": [StrOptions({"lloyd", "elkan", "auto", "full"})],
        "oversampling_factor": [Interval(Real, 0, None, closed="neither")],
        "init_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        oversampling_factor: float = 2,
        init_iter: int = 5,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            verbose=verbose,
            random_state=random_state,
            copy_x=copy_x,
            algorithm=algorithm,
        )
        self.oversampling_factor = oversampling_factor
        self.init_iter = init_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centres."""
        self._validate_params()
        rows = self._samples(X, reset=True)
        rows, weight = held(rows, as_weights(sample_weight, rows))
        if weight is not None and is_lazy(sample_weight):
            check_weights(float(abs(wrap(weight)).max().compute()))
        start = given_centers(self, rows.meta.dtype)
        moments = column_moments(rows)
        (samples,) = numbers(rows.shape[:1])
        if samples < self.n_clusters:
            raise ValueError(f"n_samples={samples} should be >= n_clusters={self.n_clusters}.")
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=3,
            )
        tol = self.tol * float(np.mean(moments.products / samples))
        state = check_random_state(self.random_state)
        best = self._run(rows, weight, start, tol, state)
        self._n_init = starts(self, 10)
        for _ in range(1, self._n_init):
            run = self._run(rows, weight, start, tol, state)
            if run.inertia < best.inertia and not _same(run, best):
                best = run
        self._learn(best, rows.meta.dtype, lazy=is_lazy(X))
        return self

    def _seeds(self, rows: Node, weight: Node | None, state: Any) -> Any:
        if callable(self.init):
            X = rows.array if isinstance(rows, Literal) else wrap(rows)
            centers = self.init(X, self.n_clusters, random_state=state)
            centers = centers.compute() if is_lazy(centers) else centers
            return checked_centers(self, check_array(centers, dtype=rows.meta.dtype))
        if self.init == "random":
            return seeding.at_random(rows, weight, self.n_clusters, state)
        if self.init == "k-means++":
            return seeding.plus_plus(rows, weight, self.n_clusters, state)
        return seeding.parallel(
            rows,
            weight,
            self.n_clusters,
            state,
            rate=self.oversampling_factor,
            rounds=self.init_iter,
        )

    def _run(self, rows: Node, weight: Node | None, start: Any, tol: float, state: Any) -> _Run:
        """Iterate from one initialization until the centres converge."""
        centers = self._seeds(rows, weight, state) if start is None else start
        centers = centers.astype(np.float64)
        iteration = 0
        for iteration in range(1, self.max_iter + 1):
            means = lloyd.improve(rows, weight, centers)
            shift = float(np.square(means - centers).sum())
            centers = means
            if self.verbose:
                print(f"Iteration {iteration}, centers moved by {shift}.")  # noqa: T201 - asked for
            if shift <= tol:
                break
        labels = rowwise(lloyd.labels, rows, dtype=np.int32, centers=centers)
        inertia, sizes = judge(rows, labels, weight, centers)
        return _Run(centers, labels, inertia, sizes, iteration)

    def _learn(self, best: _Run, dtype: Any, *, lazy: bool) -> None:
        distinct = np.count_nonzero(best.sizes)
        if distinct < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.cluster_centers_ = best.centers.astype(dtype)
        self._n_features_out = self.n_clusters
        self._n_threads = cpu_count()  # which scikit-learn's own methods read
        self.labels_ = best.labels if lazy else best.labels.fetch()
        self.inertia_ = best.inertia
        self.n_iter_ = best.n_iter

    @overload
    def fit_transform(self, X: Collection, y: Any = ..., sample_weight: Any = ...) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def fit_transform(
        self, X: ArrayLike, y: Any = ..., sample_weight: Any = ...
    ) -> np.ndarray[Any, Any]: ...
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the centres and return the samples' distances from them."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    @overload
    def predict(self, X: Collection) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, X: ArrayLike) -> np.ndarray[Any, Any]: ...
    def predict(self, X: Any) -> Any:
        """Return the cluster of each sample."""
        return self._mapped(lloyd.labels, X, np.int32, None)

    def transform(self, X: ArrayLike) -> Any:
        """Return the distance of each sample from each centre."""
        result = self._mapped(lloyd.distances, X, None, self.n_clusters)
        if X is self.cluster_centers_:
            np.fill_diagonal(result, 0)  # scikit-learn compares the rows of one matrix then
        return result

    def _mapped(self, func: Any, X: Any, dtype: Any, width: int | None) -> Any:
        check_is_fitted(self)
        rows = self._finite(X) if is_lazy(X) else self._samples(X, reset=False)
        centers = self.cluster_centers_.astype(np.float64)
        dtype = dtype or rows.meta.dtype
        result = rowwise(func, rows, dtype=dtype, width=width, centers=centers)
        return result if is_lazy(X) else result.compute()

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of the squared distances from the centres."""
        return score_of(self, X, sample_weight)


def score_of(model: Any, X: Any, sample_weight: Any) -> float:
    """Return minus the sum of the squared distances of samples from a model's centres."""
    check_is_fitted(model)
    rows = model._samples(X, reset=False)
    centers = model.cluster_centers_.astype(np.float64)
    labels = rowwise(lloyd.labels, rows, dtype=np.int32, centers=centers)
    inertia, _ = judge(rows, labels, as_weights(sample_weight, rows), centers)
    return -inertia


def given_centers(model: Any, dtype: Any) -> Any:
    """Return the centres given as ``init``, ``None`` if they are to be chosen."""
    if isinstance(model.init, str) or callable(model.init):
        return None
    centers = model.init.compute() if is_lazy(model.init) else model.init
    return checked_centers(model, check_array(centers, dtype=dtype)).astype(np.float64)


def checked_centers(model: Any, centers: Any) -> Any:
    """Return centres; raise scikit-learn's error for those of another shape."""
    if centers.shape[0] != model.n_clusters:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"clusters {model.n_clusters}."
        )
    if centers.shape[1] != model.n_features_in_:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"features of the data {model.n_features_in_}."
        )
    return centers


def starts(model: Any, default: int) -> int:
    """Return the number of initializations; ``default`` is that of draws."""
    is_drawn = isinstance(model.init, str) or callable(model.init)
    if model.n_init == "auto":
        far = isinstance(model.init, str) and model.init != "random"
        return 1 if far or not is_drawn else default
    if not is_drawn and model.n_init != 1:
        warnings.warn(
            "Explicit initial center position passed: performing only one init in "
            f"{type(model).__name__} instead of n_init={model.n_init}.",
            RuntimeWarning,
            stacklevel=5,
        )
        return 1
    return int(model.n_init)


def judge(rows: Node, found: Any, weight: Node | None, centers: Any) -> tuple[float, Any]:
    """Compute the labels, with the inertia and the clusters' sizes."""
    operands = (rows, found.node) if weight is None else (rows, found.node, weight)
    value = Value(Fold(lloyd.inertia, add, operands, {"centers": centers}, 8 * len(centers)))
    execute(found, value)
    inertia, sizes = value.fetch()
    return float(inertia), sizes


def _same(a: _Run, b: _Run) -> bool:
    """Tell whether two clusterings are equal up to the clusters' numbers."""
    (meetings,) = fold(
        lloyd.meetings,
        add,
        a.labels.node,
        b.labels.node,
        nbytes=8 * len(a.sizes) ** 2,
        count=len(a.sizes),
    )
    return bool((np.count_nonzero(meetings, axis=0) <= 1).all()) and bool(
        (np.count_nonzero(meetings, axis=1) <= 1).all()
    )


@executed_as_mars
@public_call
def k_means(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    init: Any = "k-means++",
    n_init: int | str = "auto",
    max_iter: int = 300,
    verbose: int = 0,
    tol: float = 1e-4,
    random_state: Any = None,
    copy_x: bool = True,
    algorithm: str = "lloyd",
    oversampling_factor: float = 2,
    init_iter: int = 5,
    return_n_iter: bool = False,
    session: Any = None,
    run_kwargs: Any = None,
) -> tuple[Any, ...]:
    """Cluster samples around their means: return centres, labels and inertia.

    See sklearn.cluster.k_means, and KMeans for the parameters that it does not have.

    Parameters
    ----------
    return_n_iter : bool
        Whether to return the number of iterations too.

    Returns
    -------
    tuple
        The centres, the cluster of each sample (a tensor if samples are lazy), and the inertia.

    Examples
    --------
    >>> from marsdask.learn.cluster import k_means
    >>> X = mt.tensor([[0.0], [1.0], [10.0], [11.0]], chunk_size=2)
    >>> centers, labels, inertia = k_means(X, 2, random_state=0)
    >>> sorted(centers.ravel().tolist()), inertia
    ([0.5, 10.5], 1.0)
    """
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        verbose=verbose,
        tol=tol,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
        oversampling_factor=oversampling_factor,
        init_iter=init_iter,
    )
    model.fit(X, sample_weight=sample_weight, session=session, run_kwargs=run_kwargs)  # type: ignore[call-arg]
    results = model.cluster_centers_, model.labels_, model.inertia_
    return (*results, model.n_iter_) if return_n_iter else results
