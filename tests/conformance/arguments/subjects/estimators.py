"""Estimators' parameters, their methods' keywords, and functions of learners."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import marsdask.tensor as mt
from tests.conformance.arguments.case import Case, computed

RANDOM = np.random.default_rng(3)
X = np.round(RANDOM.normal(size=(24, 3)) * [1.0, 3.0, 0.5] + [0.0, 1.0, 2.0], 2)
LABELS = np.array([0, 1, 1, 0, 1, 2] * 4)
TARGET = np.round(X @ [1.0, -0.5, 2.0] + RANDOM.normal(size=24), 2)
COUNTS = np.abs(np.round(TARGET)) + 1
CATEGORIES = np.array([[0, 2], [1, 1], [0, 0], [1, 2], [0, 1], [1, 0]] * 4)
GAPS = np.where(X > 2.2, np.nan, X)
WEIGHTS = np.linspace(0.5, 2.0, 24)
TRUE, GUESSED = LABELS, np.roll(LABELS, 1)
BINARY, SCORES = (LABELS > 0).astype(int), np.round(1 / (1 + np.exp(-X[:, 1])), 3)
SHARES = np.stack([SCORES, 1 - SCORES], 1)
RANKS = np.array([[1, 0, 2], [0, 1, 0], [2, 1, 0]])
MARKS = np.array([[0.5, 0.2, 0.9], [0.1, 0.8, 0.3], [0.4, 0.6, 0.2]])

#: Estimators of each module: the data that they are fitted to, and the parameters that they need.
ESTIMATORS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "cluster.KMeans": (X, None, {"n_clusters": 3, "random_state": 0}),
    "cluster.MiniBatchKMeans": (X, None, {"n_clusters": 3, "random_state": 0}),
    "decomposition.PCA": (X, None, {}),
    "decomposition.IncrementalPCA": (X, None, {}),
    "decomposition.TruncatedSVD": (X, None, {"algorithm": "arpack", "random_state": 0}),
    "ensemble.BaggingClassifier": (X, LABELS, {"n_estimators": 3, "random_state": 0}),
    "ensemble.BaggingRegressor": (X, TARGET, {"n_estimators": 3, "random_state": 0}),
    "ensemble.IsolationForest": (X, None, {"n_estimators": 3, "random_state": 0}),
    "impute.SimpleImputer": (GAPS, None, {}),
    "linear_model.ElasticNet": (X, TARGET, {}),
    "linear_model.GammaRegressor": (X, COUNTS, {}),
    "linear_model.Lasso": (X, TARGET, {}),
    "linear_model.LinearRegression": (X, TARGET, {}),
    "linear_model.LogisticRegression": (X, LABELS, {"tol": 1e-8}),
    "linear_model.PoissonRegressor": (X, COUNTS, {}),
    "linear_model.Ridge": (X, TARGET, {}),
    "linear_model.SGDClassifier": (X, LABELS, {"random_state": 0, "max_iter": 50}),
    "linear_model.SGDRegressor": (X, TARGET, {"random_state": 0, "max_iter": 50}),
    "linear_model.TweedieRegressor": (X, COUNTS, {}),
    "naive_bayes.GaussianNB": (X, LABELS, {}),
    "neighbors.KNeighborsClassifier": (X, LABELS, {"n_neighbors": 3}),
    "neighbors.KNeighborsRegressor": (X, TARGET, {"n_neighbors": 3}),
    "neighbors.NearestNeighbors": (X, None, {"n_neighbors": 3}),
    "preprocessing.Binarizer": (X, None, {}),
    "preprocessing.FunctionTransformer": (X, None, {"func": np.square}),
    "preprocessing.LabelBinarizer": (LABELS, None, {}),
    "preprocessing.LabelEncoder": (LABELS, None, {}),
    "preprocessing.MaxAbsScaler": (X, None, {}),
    "preprocessing.MinMaxScaler": (X, None, {}),
    "preprocessing.Normalizer": (X, None, {}),
    "preprocessing.OneHotEncoder": (CATEGORIES, None, {}),
    "preprocessing.OrdinalEncoder": (CATEGORIES, None, {}),
    "preprocessing.PolynomialFeatures": (X, None, {}),
    "preprocessing.QuantileTransformer": (X, None, {"n_quantiles": 10}),
    "preprocessing.RobustScaler": (X, None, {}),
    "preprocessing.StandardScaler": (X, None, {}),
    "preprocessing.TargetEncoder": (CATEGORIES, TARGET, {"random_state": 0}),
    "semi_supervised.LabelPropagation": (X, np.where(LABELS == 2, -1, LABELS), {}),
}
#: Estimators whose results are random: only that they change is compared.
IS_RANDOM = {
    *("cluster.KMeans", "cluster.MiniBatchKMeans", "ensemble.BaggingClassifier"),
    *("ensemble.BaggingRegressor", "ensemble.IsolationForest", "linear_model.SGDClassifier"),
    *("linear_model.SGDRegressor", "preprocessing.TargetEncoder"),
}
#: Methods whose keywords are compared, and what they need of the data: the rows, and the target.
VERBS = {
    "fit": "Xy",
    "partial_fit": "Xy",
    "predict": "X",
    "transform": "X",
    "inverse_transform": "T",
    "score": "Xy",
    "kneighbors": "X",
    "kneighbors_graph": "X",
    "radius_neighbors": "X",
    "get_feature_names_out": "",
}
#: The arguments that functions need.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    **{
        f"metrics.{name}": (TRUE, GUESSED)
        for name in (
            *("accuracy_score", "balanced_accuracy_score", "class_likelihood_ratios"),
            *("classification_report", "cohen_kappa_score", "confusion_matrix", "hamming_loss"),
            *("matthews_corrcoef", "multilabel_confusion_matrix", "zero_one_loss"),
            *("precision_recall_fscore_support",),
        )
    },
    **{
        f"metrics.{name}": (BINARY, np.roll(BINARY, 1))
        for name in (
            *("f1_score", "jaccard_score", "precision_score", "recall_score"),
            "class_likelihood_ratios",
        )
    },
    "metrics.fbeta_score": (BINARY, np.roll(BINARY, 1)),
    **{
        f"metrics.{name}": (BINARY, SCORES)
        for name in (
            *("average_precision_score", "brier_score_loss", "det_curve", "log_loss"),
            *("precision_recall_curve", "roc_auc_score", "roc_curve", "hinge_loss"),
            "d2_log_loss_score",
        )
    },
    **{
        f"metrics.{name}": (COUNTS, np.roll(COUNTS, 1))
        for name in (
            *("d2_absolute_error_score", "d2_pinball_score", "d2_tweedie_score", "r2_score"),
            *("explained_variance_score", "max_error", "mean_absolute_error"),
            *("mean_absolute_percentage_error", "mean_gamma_deviance", "mean_pinball_loss"),
            *("mean_poisson_deviance", "mean_squared_error", "mean_squared_log_error"),
            *("mean_tweedie_deviance", "median_absolute_error", "root_mean_squared_error"),
            "root_mean_squared_log_error",
        )
    },
    **{f"metrics.{name}": (RANKS, MARKS) for name in ("dcg_score", "ndcg_score")},
    **{
        f"metrics.{name}": (RANKS > 0, MARKS)
        for name in (
            *("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"),
        )
    },
    "metrics.auc": (np.sort(SCORES), SCORES),
    "metrics.top_k_accuracy_score": (LABELS, X),
    **{
        f"metrics.{name}": (X, X[:4])
        for name in (
            *("euclidean_distances", "nan_euclidean_distances", "pairwise_distances"),
            *("pairwise_distances_argmin", "pairwise_distances_argmin_min", "pairwise_kernels"),
        )
    },
    "neighbors.kneighbors_graph": (X, 3),
    "neighbors.radius_neighbors_graph": (X, 1.5),
    **{
        f"preprocessing.{name}": (X,)
        for name in (
            *("binarize", "maxabs_scale", "minmax_scale", "normalize", "quantile_transform"),
            *("robust_scale", "scale"),
        )
    },
    "preprocessing.label_binarize": (LABELS,),
    "utils.check_array": (X,),
    "utils.check_X_y": (X, LABELS),
    "utils.column_or_1d": (TARGET[:, None],),
    "utils.assert_all_finite": (X,),
}
NEEDED: dict[str, dict[str, Any]] = {
    "naive_bayes.GaussianNB.partial_fit": {"classes": [0, 1, 2]},
    "linear_model.SGDClassifier.partial_fit": {"classes": [0, 1, 2]},
    "metrics.fbeta_score": {"beta": 2.0},
    "preprocessing.label_binarize": {"classes": [0, 1, 2]},
    "preprocessing.quantile_transform": {"n_quantiles": 10},
}


def _lazy(value: Any) -> Any:
    """Return an array as a tensor of two chunks."""
    if isinstance(value, np.ndarray) and len(value) > 3:
        return mt.tensor(value, chunk_size=(len(value) + 1) // 2)
    return value


@dataclass(frozen=True)
class Fit:
    """An estimator with some parameters: what it learns from data, and tells of them."""

    kind: Any
    data: tuple[Any, Any]
    own: bool

    def __call__(self, **params: Any) -> Mapping[str, Any]:
        """Return the attributes and predictions of a fit."""
        rows, target = map(_lazy, self.data) if self.own else self.data
        model = self.kind(**params)
        model.fit(rows) if target is None else model.fit(rows, target)
        return facts(model, rows)


@dataclass(frozen=True)
class Verb:
    """A method of an estimator that is fitted anew for each call."""

    kind: Any
    params: Mapping[str, Any]
    data: tuple[Any, Any]
    name: str
    own: bool

    def __call__(self, **how: Any) -> Any:
        """Return what the method returns, or the facts of the estimator that it changed."""
        rows, target = map(_lazy, self.data) if self.own else self.data
        model = self.kind(**self.params)
        takes = VERBS[self.name]
        if "fit" not in self.name:
            model.fit(rows) if target is None else model.fit(rows, target)
        given = {"X": (rows,), "Xy": (rows, target), "T": (), "": ()}[takes]
        given = (model.transform(rows),) if takes == "T" else given
        given = tuple(x for x in given if x is not None)
        value = getattr(model, self.name)(*given, **how)
        return facts(model, rows) if value is model else value


def facts(model: Any, rows: Any) -> dict[str, Any]:
    """Return what a fitted estimator knows and says of rows."""
    names = [x for x in dir(model) if x.endswith("_") and not x.startswith("_")]
    known = {name: _attribute(model, name) for name in names if name != "n_iter_"}
    for verb in ("predict", "transform", "kneighbors"):
        if callable(_attribute(model, verb)):
            known[verb] = getattr(model, verb)(rows)
    return {name: dense(computed(value)) for name, value in known.items() if not callable(value)}


def _attribute(model: Any, name: str) -> Any:
    try:
        return getattr(model, name)
    except AttributeError:
        return None


def dense(value: Any) -> Any:
    """Return sparse values as arrays, and lists of arrays likewise."""
    if isinstance(value, list | tuple):
        return [dense(item) for item in value]
    if isinstance(value, dict):
        return {key: dense(item) for key, item in value.items()}
    if sparse.issparse(value):
        return value.toarray()
    return value


def close(a: Any, b: Any) -> bool:
    """Tell whether results are equal but for the last digits of solvers."""
    return _compared(dense(a), dense(b), values=True)


def shaped(a: Any, b: Any) -> bool:
    """Tell whether results have equal shapes."""
    return _compared(dense(a), dense(b), values=False)


def _compared(a: Any, b: Any, *, values: bool) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return all(_compared(a[key], b[key], values=values) for key in set(a) & set(b))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(_compared(x, y, values=values) for x, y in pairs)
    if isinstance(a, np.ndarray | np.generic | float | int | pd.DataFrame):
        left, right = np.asarray(a), np.asarray(b)
        if left.shape == right.shape and left.dtype == object:
            return _compared(left.tolist(), right.tolist(), values=values)
        if left.shape != right.shape or not values:
            return bool(left.shape == right.shape)
        if left.dtype.kind in "fc" and right.dtype.kind in "fciu":
            return bool(np.allclose(left, right, rtol=2e-2, atol=2e-3, equal_nan=True))
        return bool(np.array_equal(left, right))
    return a == b if isinstance(a, str) and isinstance(b, str) else True


def _own(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(_lazy, args))


def _module(library: str, name: str) -> tuple[Any, str]:
    module, _, attribute = name.partition(".")
    return importlib.import_module(f"{library}.{module}"), attribute


def estimators() -> list[Case]:
    """Return the estimators, their methods and the functions of learners."""
    return [*_estimators(), *_functions()]


def _estimators() -> Iterator[Case]:
    for name, (rows, target, needed) in ESTIMATORS.items():
        theirs, ours = (getattr(*_module(x, name)) for x in ("sklearn", "marsdask.learn"))
        alike = shaped if name in IS_RANDOM else close
        data = rows, target
        model, own = Fit(theirs, data, own=False), Fit(ours, data, own=True)
        yield Case(name, model, own, theirs, needed=needed, alike=alike)
        for verb, takes in VERBS.items():
            method = getattr(theirs, verb, None)
            if not hasattr(ours, verb) or method is None:
                continue
            names = list(inspect.signature(method).parameters)
            skipped = ("self", "X", "y", "params")
            if name == "preprocessing.FunctionTransformer" and not takes:
                continue
            if takes != "T" and [x for x in names if x not in skipped]:
                their_verb = Verb(theirs, needed, data, verb, own=False)
                our_verb = Verb(ours, needed, data, verb, own=True)
                signature = _without_data(method)
                extra = NEEDED.get(f"{name}.{verb}", {})
                title = f"{name}.{verb}"
                yield Case(title, their_verb, our_verb, signature, needed=extra, alike=alike)


def _without_data(method: Any) -> Any:
    """Return a function of a method's keywords alone."""
    signature = inspect.signature(method)
    rest = [x for key, x in signature.parameters.items() if key not in {"self", "X", "y"}]

    def keywords() -> None:
        """Stand in for the method."""

    keywords.__doc__ = inspect.getdoc(method)
    keywords.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
    return keywords


def _functions() -> Iterator[Case]:
    for name, args in FUNCTIONS.items():
        theirs, ours = (getattr(*_module(x, name)) for x in ("sklearn", "marsdask.learn"))

        def own(*args: Any, ours: Any = ours, **how: Any) -> Any:
            return ours(*_own(args), **{key: _lazy(value) for key, value in how.items()})

        needed = NEEDED.get(name, {})
        yield Case(name, theirs, own, theirs, args, needed, close)
