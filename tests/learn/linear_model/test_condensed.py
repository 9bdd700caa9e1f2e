"""Few rows have the squares and products of all."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.learn.linear_model import condensed
from marsdask.tensor.operands import as_node
from tests.learn.samples import blobs


@pytest.mark.parametrize("limit", [1e6, 0.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_few_rows_are_those_of_all(limit, weighted, monkeypatch):
    """From the products or from the triangles, with weights or without, about the means."""
    monkeypatch.setattr(condensed, "ILL_CONDITIONED", limit)
    samples, targets = blobs(), blobs()[:, :2] ** 2
    weights = np.random.default_rng(0).random(60) if weighted else np.ones(60)
    nodes = [as_node(item, 17) for item in (samples, targets, weights)]
    found = condensed.condensed(nodes[0], nodes[1], nodes[2] if weighted else None, center=True)
    assert found.rows == 60
    assert len(found.samples) == 6
    assert found.weight == pytest.approx(weights.sum())
    few = np.hstack([found.samples, found.targets])
    both = np.hstack([samples, targets])
    both = both - np.average(both, axis=0, weights=weights)
    np.testing.assert_allclose(few.T @ few, both.T @ (both * weights[:, None]), rtol=1e-9)
