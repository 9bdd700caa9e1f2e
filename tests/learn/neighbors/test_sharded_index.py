"""What chunks find is merged; memory is bounded."""

from __future__ import annotations

import numpy as np
from sklearn import get_config
from sklearn.neighbors import NearestNeighbors

from marsdask.config import option_context
from marsdask.learn.neighbors import sharded_index


def test_merged_neighbours_are_the_nearest():
    """Equally near ones of the first run come first; chunks with too few leave room."""
    a = np.array([[1.0, 3.0, 5.0, 6.0]])
    b = np.array([[1.0, np.inf, 7.0, -1.0]])
    assert sharded_index.NearestOfBoth(2)(a, b).tolist() == [[1.0, 1.0, 5.0, 7.0]]


def test_a_small_or_empty_run_finds_fewer():
    """What is missing is infinitely far."""
    index = sharded_index.fit_run(np.array([[2.0]]), model=NearestNeighbors())
    assert sharded_index.nearest(np.array([[0.0]]), index, 7, k=2).tolist() == [
        [2.0, np.inf, 7.0, -1.0]
    ]
    assert sharded_index.fit_run(np.empty((0, 1)), model=NearestNeighbors()) is None
    assert np.isinf(sharded_index.nearest(np.array([[0.0]]), None, 0, k=1)[0, 0])


def test_scikit_learn_takes_little_memory():
    """No more for distances than a chunk may have."""

    class Asked(NearestNeighbors):
        def kneighbors(self, X, n_neighbors):
            megabytes = get_config()["working_memory"]
            return np.full((1, n_neighbors), megabytes), np.zeros((1, n_neighbors))

    index = Asked().fit([[0.0]])
    with option_context({"chunk_store_limit": 5 * 2**20}):
        assert sharded_index.nearest(np.zeros((1, 1)), index, 0, k=1)[0, 0] == 5.0


def test_small_chunks_share_an_index():
    """As long as it stays small; each has its own where chunks are not merged."""
    row = sharded_index.SHARED_INDEX // 10
    with option_context({"coalesce": True}):
        assert sharded_index.run_sizes((4, 0, 6, 1, 11, 2), row) == (10, 1, 11, 2)
    with option_context({"coalesce": False}):
        assert sharded_index.run_sizes((4, 0, 6), row) == (4, 0, 6)
