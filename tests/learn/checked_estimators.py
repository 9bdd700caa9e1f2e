"""The estimators that scikit-learn's checks run over, and what each of them may fail."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import linear_model as plain
from sklearn.tree import DecisionTreeClassifier

from marsdask.learn.cluster import KMeans, MiniBatchKMeans
from marsdask.learn.compose import ColumnTransformer
from marsdask.learn.contrib.lightgbm import LGBMClassifier, LGBMRegressor
from marsdask.learn.contrib.xgboost import XGBClassifier, XGBRegressor
from marsdask.learn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from marsdask.learn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    BlockwiseVotingClassifier,
    BlockwiseVotingRegressor,
    IsolationForest,
)
from marsdask.learn.feature_extraction import FeatureHasher
from marsdask.learn.feature_extraction.text import CountVectorizer, HashingVectorizer
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
from marsdask.learn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    HyperbandSearchCV,
    IncrementalSearchCV,
    InverseDecaySearchCV,
    RandomizedSearchCV,
    SuccessiveHalvingSearchCV,
)
from marsdask.learn.naive_bayes import GaussianNB
from marsdask.learn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
)
from marsdask.learn.preprocessing import (
    Binarizer,
    BlockTransformer,
    Categorizer,
    DummyEncoder,
    FunctionTransformer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from marsdask.learn.semi_supervised import LabelPropagation
from marsdask.learn.wrappers import Incremental, ParallelPostFit
from tests.learn.over_tensors import OF_LAZY

_LATER = {"check_estimators_nan_inf": OF_LAZY}

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

#: Estimators that `make test` checks, and for each check that one may fail the reason.
QUICK: dict[Any, dict[str, str]] = {
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
    SGDClassifier(max_iter=5, tol=1.0): _STEPS,
    SGDRegressor(max_iter=10, tol=None): _STEPS,
    GaussianNB(): {},
    TruncatedSVD(n_components=1): {},
    IncrementalPCA(): {},
    MiniBatchKMeans(n_clusters=3, max_iter=5, n_init=1): _DRAWN,
    KMeans(n_clusters=3, max_iter=5, n_init=1): _DRAWN | _LATER,
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

#: What learns chunk by chunk depends on them.
_ORDER = {"check_regressor_data_not_an_array": _CHUNKS}

#: What searches draw from.
_DRAWS = {"alpha": [1e-4, 1e-3]}

_SEARCHED = {"check_requires_y_none": "scikit-learn's own search fails it"}

_HALVED = _SEARCHED | dict.fromkeys(
    (
        "check_fit2d_1sample",
        "check_estimators_nan_inf",
        "check_classifiers_one_label_sample_weights",
        "check_fit2d_1feature",
        "check_supervised_y_2d",
    ),
    "scikit-learn's own search fails it",
)

_COLUMNS = dict.fromkeys(
    (
        "check_estimators_empty_data_messages",
        "check_estimators_nan_inf",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_fit1d",
        "check_fit2d_predict1d",
        "check_complex_data",
        "check_fit2d_1feature",
    ),
    "scikit-learn's own ColumnTransformer fails it",
)

#: Those that `make estimators` checks, with many fits each.
SLOW: dict[Any, dict[str, str]] = {
    ColumnTransformer([("first", StandardScaler(), [0, 1])]): _COLUMNS,
    PolynomialFeatures(): _LATER,
    LabelBinarizer(): {},
    LabelEncoder(): {},
    FeatureHasher(): {},
    HashingVectorizer(): {},
    CountVectorizer(): {},
    BlockTransformer(np.abs): {},
    Categorizer(): {},
    DummyEncoder(): {},
    ParallelPostFit(plain.Ridge()): {},
    Incremental(plain.SGDRegressor(random_state=0)): _ORDER,
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, error_score="raise"): _SEARCHED,
    RandomizedSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, n_iter=2, cv=2, random_state=0
    ): _SEARCHED,
    HalvingGridSearchCV(
        Ridge(), {"alpha": [0.1, 1.0]}, cv=2, min_resources="smallest", random_state=0
    ): _HALVED,
    HalvingRandomSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, random_state=0): _HALVED,
    IncrementalSearchCV(plain.SGDRegressor(random_state=0), _DRAWS, "grid", max_iter=2): _ORDER,
    InverseDecaySearchCV(plain.SGDRegressor(random_state=0), _DRAWS, "grid", max_iter=2): _ORDER,
    SuccessiveHalvingSearchCV(
        plain.SGDRegressor(random_state=0), _DRAWS, "grid", n_initial_iter=1
    ): _ORDER,
    HyperbandSearchCV(plain.SGDRegressor(random_state=0), _DRAWS, max_iter=3): _ORDER,
    LGBMClassifier(n_estimators=2, verbose=-1): {},
    LGBMRegressor(n_estimators=2, verbose=-1): {},
    XGBClassifier(n_estimators=2): {},
    XGBRegressor(n_estimators=2): {},
}

#: Classes with ``fit`` that scikit-learn's checks are not for.
UNCHECKED = {
    "LGBMRanker": "its samples come in groups, of which the checks know nothing",
    "MarsDistributedModel": "statsmodels's interface, which has no parameters of estimators",
}
