"""One pass gives the loss and the derivatives of all samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from marsdask.learn.linear_model.losses import Binomial, Multinomial
from marsdask.learn.linear_model.passes import Objective
from marsdask.tensor.operands import as_node
from tests.learn.samples import blobs


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("loss", "outputs"), [(Binomial(), 1), (Multinomial(), 3)])
def test_derivatives_are_limits_of_differences(loss, outputs, sparse):
    """Of the mean loss with its penalty, weights of samples and of classes, chunks cut unlike."""
    samples = blobs() / 10
    labels = np.arange(60) % max(2, outputs)
    weights = np.random.default_rng(0).random(60)
    nodes = (
        as_node(sp.csr_array(samples) if sparse else samples, 17, sparse=True),
        as_node(labels, 23),
        as_node(weights, 31),
    )
    objective = Objective(*nodes, loss, outputs, True, np.arange(1.0, 4.0)).penalized(0.3)
    point = np.random.default_rng(1).normal(size=5 * outputs)
    seen = objective(point)
    assert objective.penalties().reshape(outputs, 5)[:, -1].tolist() == [0.0] * outputs
    for i in range(len(point)):
        step = np.eye(len(point))[i] * 1e-5
        high, low = objective(point + step, hessian=False), objective(point - step, hessian=False)
        assert seen.gradient[i] == pytest.approx((high.loss - low.loss) / 2e-5, abs=1e-7)
        np.testing.assert_allclose(
            seen.hessian[i], (high.gradient - low.gradient) / 2e-5, atol=1e-7
        )


@pytest.mark.parametrize("sparse", [False, True])
def test_every_so_many_rows(sparse):
    """Of each chunk, with their targets and weights."""
    samples, labels, weights = blobs() / 10, np.arange(60) % 2, np.linspace(0.5, 2.0, 60)
    given = sp.csr_array(samples) if sparse else samples
    nodes = (as_node(given, 21, sparse=True), as_node(labels, 21), as_node(weights, 21))
    point = np.linspace(-1.0, 1.0, 5)
    places = np.r_[0:60:7]  # also of merged chunks: each begins at a seventh row
    for weight in (weights, None):
        objective = Objective(
            *nodes[:2], nodes[2] if weight is not None else None, Binomial(), 1, True
        )
        few = objective.penalized(0.3).of_every(7)
        rest = None if weight is None else as_node(weights[places])
        whole = Objective(
            as_node(samples[places]), as_node(labels[places]), rest, Binomial(), 1, True
        )
        expected = whole.penalized(0.3)(point)
        for found, wanted in zip(few(point), expected, strict=True):
            np.testing.assert_allclose(found, wanted)
