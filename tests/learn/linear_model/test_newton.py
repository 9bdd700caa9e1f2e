"""Every search finds the same minimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def test_few_rows_give_a_head_start(monkeypatch):
    """The search from there ends at the same minimum, after fewer passes over all rows."""
    of_all = objective().penalized(0.01)
    assert newton.head_start(of_all, 0.0, np.log(2)) is None  # there are too few rows
    monkeypatch.setattr(newton, "FEW", 20)
    monkeypatch.setattr(newton, "FEW_EACH", 1)
    monkeypatch.setattr(newton, "STEP", 3)
    start = newton.head_start(of_all, 0.0, np.log(2))
    options: dict[str, Any] = {"absolute": 0.0, "tol": 1e-3, "max_iter": 50, "name": "M"}
    first, last = (newton.minimum(of_all, at, **options) for at in (np.zeros(5), start))
    np.testing.assert_allclose(first.coefficients, last.coefficients, atol=0.02)
    assert last.n_iter <= first.n_iter
    assert of_all(start).loss < 0.95 * of_all(np.zeros(5)).loss
    assert newton.head_start(of_all, 0.0, 0.0) is None  # zeros are as good
    monkeypatch.setattr(newton, "STEP", 60)
    monkeypatch.setattr(newton, "FEW", 1)
    monkeypatch.setattr(newton, "FEW_EACH", 0)
    single = replace(of_all, targets=as_node(np.arange(60) % 23, 23))
    assert newton.head_start(single, 0.0, np.log(2)) is None  # they have one class
