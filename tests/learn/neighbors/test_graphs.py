"""Graphs of neighbours are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import neighbors as theirs

import marsdask.tensor as mt
from marsdask.learn import neighbors as ours

SAMPLES = np.random.default_rng(0).normal(size=(20, 2))


@pytest.mark.parametrize("include_self", [True, False, "auto"])
@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs(mode, include_self):
    """Of tensors, lazily; of arrays; of what is an index already."""
    how = {"mode": mode, "include_self": include_self}
    for name, value in (("kneighbors_graph", 3), ("radius_neighbors_graph", 0.6)):
        expected = getattr(theirs, name)(SAMPLES, value, **how).toarray()
        lazy = mt.tensor(SAMPLES, chunk_size=7)
        index = ours.NearestNeighbors().fit(lazy)
        for samples in (lazy, SAMPLES, index):
            found = getattr(ours, name)(samples, value, **how)
            found = found.compute() if samples is not SAMPLES else found
            np.testing.assert_allclose(found.toarray(), expected, atol=1e-7)
    with pytest.raises(ValueError, match="'cosine' for metric"):
        ours.kneighbors_graph(index, 2, metric="cosine")
