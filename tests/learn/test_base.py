"""What all our estimators have of scikit-learn's: pipelines, clones, names, frames."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import cluster, decomposition, impute, preprocessing
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.learn import decomposition as our_parts
from marsdask.learn import impute as our_impute
from marsdask.learn import preprocessing as our_preprocessing
from marsdask.learn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_lazy
from marsdask.learn.cluster import KMeans
from marsdask.learn.decomposition import PCA
from marsdask.learn.impute import SimpleImputer
from marsdask.learn.linear_model import LogisticRegression, PoissonRegressor
from marsdask.learn.naive_bayes import GaussianNB
from marsdask.learn.neighbors import KNeighborsClassifier, NearestNeighbors
from marsdask.learn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from tests.learn.samples import blobs, every_form, in_form, value

MODELS = [StandardScaler(with_mean=False), PCA(2, whiten=True), KMeans(3, random_state=1)]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@every_form
def test_a_pipeline_of_ours_is_one_of_theirs(form):
    """Scaler, components and clusters in scikit-learn's Pipeline, over every form of samples."""
    samples = blobs()
    X = in_form(samples, form)
    ours = make_pipeline(StandardScaler(), PCA(2), KMeans(3, random_state=0))
    theirs = make_pipeline(
        preprocessing.StandardScaler(),
        decomposition.PCA(2, svd_solver="full"),
        cluster.KMeans(3, random_state=0),
    )
    expected = theirs.fit_predict(samples)
    np.testing.assert_array_equal(value(ours.fit_predict(X)), expected)
    found = ours.predict(X)
    assert is_lazy(found) == is_lazy(X)
    np.testing.assert_array_equal(value(found), expected)


@each_model
def test_no_samples_or_features_are_refused(model):
    """As by scikit-learn, where it is known beforehand."""
    with pytest.raises(ValueError, match=r"0 sample|n_samples=0"):
        clone(model).fit(md.DataFrame(np.ones((0, 3))))
    with pytest.raises(ValueError, match="0 feature"):
        clone(model).fit(mt.ones((3, 0)))


@pytest.mark.parametrize("model", [KMeans(2), StandardScaler()], ids=str)
@pytest.mark.parametrize(("weight", "message"), [(np.nan, "NaN"), (0.0, "non-zero")])
def test_lazy_weights_are_refused_when_they_are_seen(model, weight, message):
    """As weights in memory are at once."""
    with pytest.raises(ValueError, match=message):
        clone(model).fit(blobs(), sample_weight=mt.full(60, weight, chunk_size=25))


@each_model
def test_clones_have_the_parameters_and_nothing_learnt(model):
    """clone, get_params and set_params work as of any estimator."""
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(in_form(blobs(), "tensor"))


@each_model
def test_names_of_columns_are_learnt_and_kept(model):
    """Frames name the features; frames with other names are refused."""
    frame = in_form(blobs(), "our frame")
    fitted = clone(model).fit(frame)
    assert list(fitted.feature_names_in_) == ["c0", "c1", "c2", "c3"]
    assert fitted.n_features_in_ == 4
    other = md.DataFrame(pd.DataFrame(blobs(), columns=list("wxyz")), chunk_size=9)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(other)


@each_model
@pytest.mark.parametrize("form", ["tensor", "our frame"])
def test_set_output_makes_a_lazy_frame(model, form):
    """set_output("pandas") names the columns of a lazy result, too."""
    X = in_form(blobs(), form)
    fitted = clone(model).set_output(transform="pandas").fit(X)
    result = fitted.transform(X)
    assert isinstance(result, md.DataFrame)
    assert list(result.columns) == list(fitted.get_feature_names_out())
    plain = clone(model).fit(X).transform(X)
    np.testing.assert_allclose(result.compute().to_numpy(), plain.compute())


def test_set_output_to_what_is_not_lazy_is_refused():
    """Polars frames of lazy samples: NotImplementedError names the alternative."""
    model = StandardScaler().set_output(transform="polars").fit(in_form(blobs(), "tensor"))
    with pytest.raises(NotImplementedError, match="pandas"):
        model.transform(in_form(blobs(), "tensor"))


def test_what_was_learnt_from_tensors_serves_arrays():
    """A model fitted on lazy samples transforms arrays at once, and the other way round."""
    samples = blobs()
    X = in_form(samples, "tensor")
    lazy, plain = PCA(2).fit(X), PCA(2).fit(samples)
    np.testing.assert_allclose(lazy.transform(samples), plain.transform(X).compute())


def test_importing_learn_loads_nothing_heavy():
    """marsdask.learn alone loads neither scikit-learn nor pandas."""
    code = "import sys, marsdask.learn; sys.exit(bool({'sklearn', 'pandas'} & sys.modules.keys()))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_estimators_of_users_score_lazy_samples():
    """By Mars's classes of the names: accuracy of classes, R2 of numbers."""

    class PredictsOne(BaseEstimator):
        def predict(self, X):
            return X[:, 0] * 0 + 1

    class ClassifierOfUsers(ClassifierMixin, PredictsOne):
        pass

    class RegressorOfUsers(RegressorMixin, PredictsOne):
        pass

    samples, target = mt.ones((4, 2), chunk_size=3), [1, 1, 0, 1]
    assert ClassifierOfUsers().score(samples, mt.tensor(target)) == 0.75
    assert ClassifierOfUsers().score(samples, target, [1, 1, 0, 0]) == 1.0
    assert RegressorOfUsers().score(samples, target) == pytest.approx(-1 / 3)


@pytest.mark.parametrize(
    "model",
    [
        StandardScaler(),
        MinMaxScaler(),
        MaxAbsScaler(),
        RobustScaler(),
        SimpleImputer(),
        SimpleImputer(strategy="most_frequent"),
        PCA(1),
        PCA(1, svd_solver="full"),
        NearestNeighbors(),
        GaussianNB(),
        KNeighborsClassifier(),
        LogisticRegression(),
        PoissonRegressor(),
    ],
    ids=str,
)
def test_no_samples_are_refused_when_they_are_counted(model):
    """As by scikit-learn, if nothing is left of samples that are chosen by value."""
    X, y = mt.ones((5, 2), chunk_size=(3, 1)), mt.ones(5, chunk_size=3)
    with pytest.raises(ValueError, match="0 sample"):
        clone(model).fit(X[X[:, 0] > 1], y[X[:, 0] > 1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    ("model", "method"),
    [
        (StandardScaler(), "transform"),
        (MinMaxScaler(), "transform"),
        (MaxAbsScaler(), "transform"),
        (RobustScaler(), "transform"),
        (RobustScaler(), "fit"),
        (PCA(2), "transform"),
        (PCA(2), "score_samples"),
        (KMeans(2, random_state=0), "predict"),
    ],
)
def test_values_that_are_refused(model, method, bad):
    """By methods of lazy samples as by those of samples in memory."""
    samples = blobs()
    broken = samples.copy()
    broken[-1, -1] = bad
    lazy = mt.tensor(broken, chunk_size=(17, 3))
    fitted = clone(model).fit(samples)
    try:
        expected = getattr(fitted, method)(broken)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).split(" or")[0].split("\n")[0]):
            value(getattr(fitted, method)(lazy))
    else:
        found = value(getattr(fitted, method)(lazy))
        if method != "fit":
            np.testing.assert_allclose(found, expected)


def transformers():
    """Yield each transformer of samples that we share with scikit-learn, by name."""
    modules = ((our_preprocessing, preprocessing), (our_impute, impute), (our_parts, decomposition))
    special = {"FunctionTransformer", "LabelBinarizer", "LabelEncoder", "TargetEncoder"}
    for ours, theirs in modules:
        for name in sorted(set(vars(ours)) & set(vars(theirs)) - special):
            kind = getattr(ours, name)
            if isinstance(kind, type) and hasattr(kind, "transform"):
                yield name, kind, getattr(theirs, name)


TRANSFORMERS = list(transformers())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "bool"])
@pytest.mark.filterwarnings("ignore")
def test_types_of_transformed_samples(dtype):
    """Each transformer declares and gives scikit-learn's type for samples of each type."""
    numbers = np.random.default_rng(0).integers(1, 5, (12, 3))
    samples = numbers > 2 if dtype == "bool" else numbers.astype(dtype)
    few = {"n_components": 2, "random_state": 0, "n_quantiles": 5, "sparse_output": False}
    for name, kind, their_kind in TRANSFORMERS:
        taken = {key: few[key] for key in few if key in kind().get_params()}
        wanted = their_kind(**taken).fit(samples).transform(samples)
        model = kind(**taken).fit(mt.tensor(samples, chunk_size=5))
        found = model.transform(mt.tensor(samples, chunk_size=5))
        assert (found.dtype, value(found).dtype) == (wanted.dtype, wanted.dtype), name
        if "components_" not in vars(model):
            accuracy = 4 * np.finfo(wanted.dtype).eps if wanted.dtype.kind == "f" else 0
            np.testing.assert_allclose(value(found), wanted, accuracy, accuracy, err_msg=name)


def test_names_of_transformers():
    """The table of types has the transformers that keep float16, and others."""
    names = {name for name, _, _ in TRANSFORMERS}
    assert names >= {"StandardScaler", "PolynomialFeatures", "Normalizer", "SimpleImputer", "PCA"}
