"""scikit-learn's checks of all estimators, over arrays and over tensors."""

from __future__ import annotations

import pytest
from sklearn import linear_model as plain
from sklearn.tree import DecisionTreeClassifier

from marsdask.learn.cluster import KMeans, MiniBatchKMeans
from marsdask.learn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from marsdask.learn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    BlockwiseVotingClassifier,
    BlockwiseVotingRegressor,
    IsolationForest,
)
from marsdask.learn.impute import SimpleImputer
from marsdask.learn.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    SGDClassifier,
    SGDRegressor,
    TweedieRegressor,
)
from marsdask.learn.naive_bayes import GaussianNB
from marsdask.learn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
)
from marsdask.learn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from marsdask.learn.semi_supervised import LabelPropagation
from tests.learn.over_tensors import assert_is_an_estimator

#: What samples hold is seen when they are transformed.
_LATER = {"check_estimators_nan_inf": "fit reads no lazy samples"}

#: Weights are probabilities of draws.
_DRAWN = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "scikit-learn's, too, draws other samples",
)
_CHUNKS = "samples in memory are one chunk, tensors are two"

#: What is no array goes to scikit-learn, whose order inside of an epoch is another.
_STEPS = {
    "check_sample_weight_equivalence_on_dense_data": "weight two is one step, not two",
    "check_sample_weight_equivalence_on_sparse_data": "weight two is one step, not two",
    "check_classifier_data_not_an_array": _CHUNKS,
    "check_regressor_data_not_an_array": _CHUNKS,
}

#: Estimators, and for each check that one may fail the reason.
MODELS = {
    BaggingClassifier(n_estimators=3, max_samples=20): _DRAWN,
    BaggingRegressor(n_estimators=2, max_samples=20): _DRAWN,
    BlockwiseVotingClassifier(DecisionTreeClassifier(random_state=0)): {
        "check_classifier_data_not_an_array": _CHUNKS
    },
    BlockwiseVotingRegressor(plain.LinearRegression()): {
        "check_regressor_data_not_an_array": _CHUNKS
    },
    IsolationForest(n_estimators=2): _DRAWN,
    NearestNeighbors(): {},
    KNeighborsClassifier(): dict.fromkeys(
        (
            "check_classifier_multioutput",
            "check_classifiers_multilabel_output_format_predict_proba",
        ),
        "lazy probabilities are of one target",
    ),
    KNeighborsRegressor(): {},
    LabelPropagation(gamma=5, max_iter=5): {},
    LinearRegression(): {},
    Ridge(): {"check_non_transformer_estimators_n_iter": "n_iter_ is None, as scikit-learn's"},
    Lasso(): {},
    ElasticNet(): {},
    LogisticRegression(): {},
    PoissonRegressor(): {},
    GammaRegressor(tol=1e-8, max_iter=1000): {},
    TweedieRegressor(power=1.5): {},
    SGDClassifier(max_iter=10, tol=1.0): _STEPS,
    SGDRegressor(max_iter=10, tol=None): _STEPS,
    GaussianNB(): {},
    TruncatedSVD(n_components=1): {},
    IncrementalPCA(): {},
    MiniBatchKMeans(max_iter=5): _DRAWN,
    KMeans(n_clusters=3, max_iter=5): _DRAWN | _LATER,
    PCA(): _LATER,
    Binarizer(): _LATER,
    FunctionTransformer(): {},
    QuantileTransformer(n_quantiles=10): {},
    StandardScaler(): {},
    MaxAbsScaler(): {},
    MinMaxScaler(): {},
    Normalizer(): _LATER,
    OneHotEncoder(): {},
    OrdinalEncoder(): {},
    RobustScaler(): {},
    SimpleImputer(): {},
    TargetEncoder(smooth=1.0): dict.fromkeys(
        ("check_transformer_data_not_an_array", "check_transformer_general"),
        "fit_transform encodes each part by the others, scikit-learn's, too",
    ),
}


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_it_is_an_estimator_of_scikit_learn(model):
    """All checks pass that scikit-learn's own class passes, but for those with a reason."""
    assert_is_an_estimator(model, MODELS[model])
