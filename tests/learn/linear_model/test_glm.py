"""Models of counts and positive targets equal scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

import marsdask.tensor as mt
from marsdask.learn import glm
from marsdask.learn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from tests.learn.samples import blobs, in_form

SAMPLES = (blobs() - blobs().mean(axis=0)) / blobs().std(axis=0)
MEANS = np.exp(0.5 * SAMPLES[:, 0] + 0.2)
COUNTS = np.random.default_rng(0).poisson(MEANS).astype(float)
POSITIVE = MEANS * np.random.default_rng(0).gamma(2.0, 1.0, 60)
WEIGHTS = np.random.default_rng(3).random(60) + 0.1

MODELS: dict[str, tuple[type, dict[str, Any], Any]] = {
    "poisson": (PoissonRegressor, {}, COUNTS),
    "poisson through zero": (PoissonRegressor, {"fit_intercept": False, "alpha": 0.1}, COUNTS),
    "gamma": (GammaRegressor, {}, POSITIVE),
    "tweedie": (TweedieRegressor, {"power": 1.5}, COUNTS),
    "steep": (TweedieRegressor, {"power": 3.0, "alpha": 0.1}, POSITIVE),
    "normal": (TweedieRegressor, {"power": 0.0}, POSITIVE),
    "normal, log": (TweedieRegressor, {"power": 0.0, "link": "log"}, POSITIVE),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize(("kind", "options", "y"), MODELS.values(), ids=MODELS.keys())
def test_it_learns_what_scikit_learn_learns(kind, options, y, weights):
    """Coefficients, intercept, predictions and the explained deviance."""
    X = in_form(SAMPLES, "tensor")
    ours = kind(tol=1e-7, **options).fit(X, mt.tensor(y, chunk_size=23), sample_weight=weights)
    theirs = getattr(linear_model, kind.__name__)(tol=1e-9, max_iter=5000, **options)
    theirs.fit(SAMPLES, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    np.testing.assert_allclose(ours.predict(X).compute(), theirs.predict(SAMPLES), rtol=1e-4)
    score = theirs.score(SAMPLES, y, sample_weight=weights)
    assert ours.score(X, y, sample_weight=weights) == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (PoissonRegressor(), -COUNTS, "out of the valid range of the loss 'HalfPoissonLoss'"),
        (GammaRegressor(), np.zeros(60), "out of the valid range of the loss 'HalfGammaLoss'"),
        (PoissonRegressor(), np.full(60, np.nan), "Input y contains NaN"),
        (PoissonRegressor(), None, "requires y to be passed"),
    ],
)
def test_targets_that_cannot_be_are_refused(model, y, message):
    """Negative counts, zeros of gamma, missing ones: in scikit-learn's words."""
    y = y if y is None else mt.tensor(y, chunk_size=23)
    with pytest.raises(ValueError, match=message):
        model.fit(in_form(SAMPLES, "tensor"), y)


def test_a_loss_of_negative_powers_is_refused_when_lazy():
    """NotImplementedError names what to use."""
    with pytest.raises(NotImplementedError, match="link='log'"):
        TweedieRegressor(power=-1).fit(in_form(SAMPLES, "tensor"), POSITIVE)


def test_mars_has_another_name_for_the_module():
    """The classes of `marsdask.learn.glm` are the same."""
    assert glm.PoissonRegressor is PoissonRegressor
