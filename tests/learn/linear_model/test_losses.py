"""Derivatives of losses are those that differences tell."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.learn.linear_model.losses import Binomial, Multinomial, Square, Tweedie

RAW = np.linspace(-3.0, 3.0, 7)


@pytest.mark.parametrize("loss", [Binomial(), Square(), *map(Tweedie, (1.0, 1.5, 2.0))], ids=repr)
def test_derivatives_are_limits_of_differences(loss):
    """The gradient is the slope of the loss, the Hessian that of the gradient."""
    y = np.array([0.0, 1.0] * 3 + [1.0])
    step = 1e-6
    high, low = (loss.terms(y, RAW + sign * step) for sign in (1, -1))
    _, gradient, hessian = loss.terms(y, RAW)
    np.testing.assert_allclose(gradient, (high[0] - low[0]) / (2 * step), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hessian, (high[1] - low[1]) / (2 * step), rtol=1e-6, atol=1e-8)


def test_large_predictions_do_not_overflow():
    """Losses of a thousand stay finite, and probabilities add up to one."""
    loss, _, _ = Binomial().terms(np.array([0.0, 1.0]), np.array([1e3, -1e3]))
    np.testing.assert_array_equal(loss, [1e3, 1e3])
    raw = np.array([[1e3, -1e3, 0.0]])
    loss, shares = Multinomial().probabilities(np.array([1]), raw)
    assert loss[0] == 2e3
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_losses_that_are_not_convex_lead_downhill():
    """A power of three has negative curvature; what stands for it is positive."""
    assert (Tweedie(3.0).terms(np.ones(7), RAW)[2] > 0).all()
