"""Rows that are drawn are read once, and one task fits each estimator."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import marsdask.tensor as mt
from marsdask.learn.ensemble.members import Drawn, fit_members

SAMPLES = np.arange(20.0).reshape(10, 2) ** 2
TARGETS = np.arange(10.0)


def test_rows_are_told_apart():
    """Which they are, in what order, and how often."""
    drawn = Drawn.of(np.array([1]), np.array([5, 2, 5, 7]))
    assert drawn.rows.tolist() == [2, 5, 7]
    assert drawn.counts.tolist() == [1, 2, 1]
    assert drawn.rows[drawn.order].tolist() == [5, 2, 5, 7]


def test_rows_weigh_as_often_as_they_are_drawn():
    """Or are repeated, for estimators without weights."""
    rows, target = (mt.tensor(item, chunk_size=3).node for item in (SAMPLES, TARGETS))
    indices = np.array([9, 0, 9, 4])
    draws = [Drawn.of(np.array([1, 0]), indices)]
    expected = LinearRegression().fit(SAMPLES[indices][:, [1, 0]], TARGETS[indices])
    for counted in (True, False):
        (model,) = fit_members([LinearRegression()], draws, rows, target, counted=counted)
        np.testing.assert_allclose(model.coef_, expected.coef_)
    (model,) = fit_members([KNeighborsRegressor(3)], draws, rows, target, counted=False)
    np.testing.assert_array_equal(model._fit_X, SAMPLES[indices][:, [1, 0]])
