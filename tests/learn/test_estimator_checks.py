"""scikit-learn's checks of all estimators, over arrays and over tensors."""

from __future__ import annotations

import pytest

from marsdask.learn.impute import SimpleImputer
from marsdask.learn.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)
from marsdask.learn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
)
from tests.learn.over_tensors import assert_is_an_estimator

#: What samples hold is seen when they are transformed.
_LATER = {"check_estimators_nan_inf": "fit reads no lazy samples"}

#: Estimators, and for each check that one may fail the reason.
MODELS = {
    LinearRegression(): {},
    Ridge(): {"check_non_transformer_estimators_n_iter": "n_iter_ is None, as scikit-learn's"},
    Lasso(): {},
    ElasticNet(): {},
    LogisticRegression(): {},
    PoissonRegressor(): {},
    GammaRegressor(tol=1e-8, max_iter=1000): {},
    TweedieRegressor(power=1.5): {},
    MaxAbsScaler(): {},
    MinMaxScaler(): {},
    Normalizer(): _LATER,
    OneHotEncoder(): {},
    OrdinalEncoder(): {},
    RobustScaler(): {},
    SimpleImputer(): {},
}


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_it_is_an_estimator_of_scikit_learn(model):
    """All checks pass that scikit-learn's own class passes, but for those with a reason."""
    assert_is_an_estimator(model, MODELS[model])
