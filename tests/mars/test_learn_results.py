"""Results of mars.learn are tensors, as Mars's, for samples in memory and lazy ones."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sps
import sklearn.metrics
import sklearn.neighbors
import sklearn.preprocessing
import sklearn.utils
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import marsdask
import marsdask.compat
import marsdask.tensor as mt
from marsdask.learn.fitted_values import FittedList, FittedText

X = np.array([[0.0, 1.0], [2.0, 1.0], [8.0, 9.5], [9.0, 7.0]])
Y = np.array([0, 0, 1, 1])
SCORES = np.array([0.1, 0.4, 0.35, 0.8])


@pytest.fixture(autouse=True, scope="module")
def mars() -> Iterator[None]:
    """Install the alias, with a session in process as the default one."""
    marsdask.compat.install()
    with marsdask.new_session("synchronous"):
        yield
    marsdask.compat.uninstall()


def learn(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return vars(importlib.import_module(f"mars.learn.{module}"))[name]


def model(path: str, *args: Any, **kwargs: Any) -> Any:
    return learn(path)(*args, **kwargs)


#: What gives one tensor, and what scikit-learn gives.
TENSORS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], Any]]] = {
    "KMeans.transform": (
        lambda x, y: model("cluster.KMeans", 2, init=X[1:3], n_init=1).fit(x).transform(x),
        lambda: sklearn.metrics.euclidean_distances(X, [[1.0, 1.0], [8.5, 8.25]]),
    ),
    "StandardScaler.fit_transform": (
        lambda x, y: model("preprocessing.StandardScaler").fit_transform(x),
        lambda: sklearn.preprocessing.StandardScaler().fit_transform(X),
    ),
    "LinearRegression.predict": (
        lambda x, y: model("linear_model.LinearRegression").fit(x, y).predict(x),
        lambda: LinearRegression().fit(X, Y).predict(X),
    ),
    "PCA.get_covariance": (
        lambda x, y: model("decomposition.PCA").fit(x).get_covariance(),
        lambda: np.cov(X.T),
    ),
    "LabelEncoder.fit_transform": (
        lambda x, y: model("preprocessing.LabelEncoder").fit_transform(y),
        lambda: Y,
    ),
    "label_binarize": (
        lambda x, y: model("preprocessing.label_binarize", y, classes=[0, 1, 2]),
        lambda: sklearn.preprocessing.label_binarize(Y, classes=[0, 1, 2]),
    ),
    "normalize": (
        lambda x, y: model("preprocessing.normalize", x),
        lambda: sklearn.preprocessing.normalize(X),
    ),
    "minmax_scale": (
        lambda x, y: model("preprocessing.minmax_scale", x),
        lambda: sklearn.preprocessing.minmax_scale(X),
    ),
    "multilabel_confusion_matrix": (
        lambda x, y: model("metrics.multilabel_confusion_matrix", y, 1 - y),
        lambda: sklearn.metrics.multilabel_confusion_matrix(Y, 1 - Y),
    ),
    "pairwise_distances": (
        lambda x, y: model("metrics.pairwise_distances", x),
        lambda: sklearn.metrics.pairwise_distances(X),
    ),
    "manhattan_distances": (
        lambda x, y: model("metrics.pairwise.manhattan_distances", x),
        lambda: sklearn.metrics.pairwise.manhattan_distances(X),
    ),
    "unique_labels": (lambda x, y: model("utils.multiclass.unique_labels", y), lambda: [0, 1]),
    "row_norms": (
        lambda x, y: model("utils.extmath.row_norms", x),
        lambda: np.linalg.norm(X, axis=1),
    ),
    "softmax of integers": (
        lambda x, y: model("utils.extmath.softmax", [[1, 1]]),
        lambda: [[0.5, 0.5]],
    ),
    "check_array": (lambda x, y: model("utils.check_array", x), lambda: X),
    "shuffle": (
        lambda x, y: model("utils.shuffle", x, random_state=0),
        lambda: sklearn.utils.shuffle(X, random_state=0),
    ),
}


#: What Mars leaves lazy for lazy samples.
LAZY = {
    *("normalize", "pairwise_distances", "manhattan_distances", "row_norms", "check_array"),
    "shuffle",
}


@pytest.mark.parametrize("lazy", [False, True], ids=["in memory", "lazy"])
@pytest.mark.parametrize("name", TENSORS)
def test_tensors(name: str, lazy: bool) -> None:
    """Each result is a tensor, which is executed where Mars's is."""
    make, expected = TENSORS[name]
    operands = (mt.tensor(X, chunk_size=3), mt.tensor(Y, chunk_size=3)) if lazy else (X, Y)
    result = make(*operands)
    assert isinstance(result, mt.Tensor)
    if not lazy or name not in LAZY:
        assert type(result.fetch()) is np.ndarray
    np.testing.assert_allclose(result.execute().fetch(), expected())


@pytest.mark.parametrize("lazy", [False, True], ids=["in memory", "lazy"])
def test_sparse_results(lazy: bool) -> None:
    """What scikit-learn gives as a sparse matrix is a sparse tensor."""
    rows = mt.tensor(X, chunk_size=3) if lazy else X
    graph = learn("neighbors.NearestNeighbors")(n_neighbors=2).fit(rows).kneighbors_graph(rows)
    assert graph.issparse()
    ours = graph.execute().fetch()
    theirs = sklearn.neighbors.NearestNeighbors(n_neighbors=2).fit(X).kneighbors_graph(X)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    labels = mt.tensor(Y, chunk_size=3) if lazy else Y
    columns = learn("preprocessing.label_binarize")(labels, classes=[0, 1, 2], sparse_output=True)
    assert columns.issparse()
    np.testing.assert_array_equal(columns.todense().execute().fetch()[:, 1], Y)


@pytest.mark.parametrize("lazy", [False, True], ids=["in memory", "lazy"])
def test_several_results(lazy: bool) -> None:
    """A curve, shuffled samples and the nearest of samples execute together."""
    labels, scores, rows = (
        mt.tensor(item, chunk_size=3) if lazy else item for item in (Y, SCORES, X)
    )
    curve = learn("metrics.roc_curve")(labels, scores)
    theirs = sklearn.metrics.roc_curve(Y, SCORES)
    for ours, other in zip(curve.execute().fetch(), theirs, strict=True):
        np.testing.assert_array_equal(ours, other)
    np.testing.assert_array_equal(curve.fetch()[2], theirs[2])
    assert learn("metrics.auc")(*curve[:2]).fetch() == 0.75
    two = learn("utils.shuffle")(rows, labels, random_state=0).execute().fetch()
    np.testing.assert_array_equal(two[0][:, 0] > 5, two[1])
    distances, places = learn("neighbors.NearestNeighbors")().fit(rows).kneighbors(rows, 1)
    np.testing.assert_array_equal(places.fetch()[:, 0], range(4))
    assert isinstance(distances, mt.Tensor)


def test_scalars() -> None:
    """Scores, kinds of targets and elements of what was learnt have execute and fetch."""
    for metric in ("accuracy_score", "f1_score", "roc_auc_score", "r2_score", "log_loss"):
        found = learn(f"metrics.{metric}")(Y, Y if metric != "log_loss" else SCORES)
        assert type(found.execute().fetch()) is np.float64
    kind = learn("utils.multiclass.type_of_target")(Y)
    assert kind.fetch() == "binary"
    assert type(kind.fetch()) is str
    assert type(pickle.loads(pickle.dumps(kind))) is str
    assert learn("utils.multiclass.is_multilabel")(Y).execute().fetch() is False
    kmeans = learn("cluster.KMeans")(2, init=X[1:3], n_init=1).fit(X)
    assert kmeans.labels_[2].fetch() == 1
    assert type(kmeans.labels_[2].fetch()) is int
    assert kmeans.cluster_centers_[0].fetch().tolist() == [1.0, 1.0]
    difference = (kmeans.cluster_centers_ - [[1.0, 1.0], [8.5, 8.0]]) ** 2
    assert difference.sum().to_numpy() == difference.to_numpy().sum() == 0.0625
    assert kmeans.transform(kmeans.cluster_centers_).fetch()[1, 1] == 0


def test_ensembles() -> None:
    """The members of an ensemble are a list that is fetched."""
    voting = learn("ensemble.BlockwiseVotingClassifier")(DecisionTreeClassifier())
    voting.fit(mt.tensor(X, chunk_size=(2, 2)), mt.tensor(Y, chunk_size=2))
    assert isinstance(voting.estimators_, FittedList)
    members = voting.estimators_.fetch()
    assert (type(members), len(members)) == (list, 2)
    assert type(pickle.loads(pickle.dumps(voting.estimators_))) is list
    assert isinstance(voting.score(X, Y).fetch(), float)


@pytest.mark.parametrize("lazy", [False, True], ids=["in memory", "lazy"])
@pytest.mark.parametrize(
    ("library", "name"), [("lightgbm", "LGBMClassifier"), ("xgboost", "XGBClassifier")]
)
def test_boosted_trees(library: str, name: str, lazy: bool) -> None:
    """Predictions of methods and of functions are executed tensors."""
    pytest.importorskip(library)
    how = {"verbose": -1} if library == "lightgbm" else {}
    rows, labels = np.repeat(X, 5, axis=0), np.repeat(Y, 5)
    model = learn(f"contrib.{library}.{name}")(n_estimators=1, **how).fit(rows, labels)
    samples = mt.tensor(rows, chunk_size=10) if lazy else rows
    for found in (
        model.predict(samples),
        model.predict_proba(samples),
        learn(f"contrib.{library}.predict")(model, samples),
    ):
        assert isinstance(found, mt.Tensor)
        assert len(found.fetch()) == 20


def test_wrappers() -> None:
    """ParallelPostFit lets its estimator learn, and says what that lacks."""
    wrapper = learn("wrappers.ParallelPostFit")(LinearRegression()).fit(X, Y)
    assert wrapper.score(X, Y).fetch() == wrapper.estimator.score(X, Y)
    with pytest.raises(AttributeError, match=r"wrapped estimator .* have a 'predict_proba' method"):
        wrapper.predict_proba(X)


def test_errors_come_at_the_call() -> None:
    """Labels that are not known, sparse samples, and values that are not finite."""
    encoder = learn("preprocessing.LabelEncoder")().fit(mt.tensor([1, 2], chunk_size=1))
    with pytest.raises(ValueError, match="unseen labels"):
        encoder.transform(mt.tensor([1, 3], chunk_size=1))
    sparse = sps.csr_matrix(X)
    for samples in (sparse, mt.tensor(sparse)):
        with pytest.raises(TypeError, match=r"A sparse tensor was passed.*Use X\.todense\(\)"):
            learn("utils.check_array")(samples)
        refused = pytest.raises(TypeError, match="sum_over_features")
        with refused, pytest.warns(DeprecationWarning, match="sum_over"):
            learn("metrics.pairwise.manhattan_distances")(samples, sum_over_features=False)
    with pytest.raises(ValueError, match="Complex data not supported"):
        learn("utils.check_array")(sparse.astype(complex))


def test_finite_values() -> None:
    """assert_all_finite answers True, or looks at nothing where that is asked for."""
    finite = learn("utils.multiclass.assert_all_finite")
    values = mt.tensor([1.0, np.inf], chunk_size=1)
    assert finite(values[:1]).execute().fetch() is True
    for refused in (values, np.array([np.nan]), sps.csr_matrix([[np.nan]])):
        with pytest.raises(ValueError, match=r"contains (infinity|NaN)"):
            finite(refused)
    with marsdask.option_context() as context:
        context.learn.assume_finite = True
        assert finite(values) is None
        assert finite(values, check_only=False) is values
    with pytest.raises(ValueError, match="contains infinity"):
        finite(values)


def test_differences_of_all_features() -> None:
    """manhattan_distances gives each difference where sums are not wanted, as it did."""
    with pytest.warns(DeprecationWarning, match="sum_over_features"):
        found = learn("metrics.pairwise.manhattan_distances")(X, X[:2], sum_over_features=False)
    expected = np.abs(X[:, np.newaxis] - X[:2]).reshape(-1, 2)
    np.testing.assert_array_equal(found.execute().fetch(), expected)


def test_without_the_option() -> None:
    """Results are scikit-learn's types again, and what is lazy has to be executed."""
    with marsdask.option_context({"mars_results": False}):
        scaler = learn("preprocessing.StandardScaler")()
        assert type(scaler.fit_transform(X)) is np.ndarray
        assert type(scaler.mean_ + 1) is np.ndarray
        assert type(learn("utils.multiclass.type_of_target")(Y)) is not FittedText
        assert type(learn("metrics.roc_curve")(Y, SCORES)) is tuple
        with pytest.raises(ValueError, match="has not been executed"):
            mt.ones(3).fetch()
