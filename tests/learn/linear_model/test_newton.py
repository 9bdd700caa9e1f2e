"""Every search finds the same minimum."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from marsdask.learn.linear_model import newton
from marsdask.learn.linear_model.losses import Binomial
from marsdask.learn.linear_model.passes import Objective
from marsdask.tensor.operands import as_node
from tests.learn.samples import blobs


def objective():
    """Return the loss of two classes that overlap."""
    noise = np.random.default_rng(0).normal(0.0, 6.0, 60)
    labels = (blobs()[:, 0] + noise > 0).astype(int)
    return Objective(as_node(blobs() / 5, 17), as_node(labels, 23), None, Binomial(), 1, True)


@pytest.mark.parametrize("absolute", [0.0, 0.02])
def test_lbfgs_finds_what_newton_finds(absolute, monkeypatch):
    """With an absolute penalty and without; many coefficients have no Hessian."""
    options = {"absolute": absolute, "tol": 1e-7, "max_iter": 500, "name": "M"}
    of_newton = newton.minimum(objective().penalized(0.01), np.zeros(5), **options)
    monkeypatch.setattr(newton, "DENSE", 0)
    of_lbfgs = newton.minimum(objective().penalized(0.01), np.zeros(5), **options)
    np.testing.assert_allclose(of_newton.coefficients, of_lbfgs.coefficients, atol=1e-4)
    assert of_newton.n_iter < of_lbfgs.n_iter


def test_a_search_that_ends_early_warns():
    """The warning says how many iterations it had."""
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        newton.minimum(objective(), np.zeros(5), absolute=0.0, tol=1e-9, max_iter=1, name="M")
