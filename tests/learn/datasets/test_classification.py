"""Samples of classes are as scikit-learn makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import datasets as theirs

from marsdask.learn.datasets import make_classification

CASES = [
    {},
    {"weights": [0.9], "flip_y": 0.0},
    {"n_classes": 3, "n_clusters_per_class": 1, "n_informative": 3, "weights": [0.2, 0.3, 0.5]},
    {"hypercube": False, "shift": None, "scale": None, "n_repeated": 2},
]


@pytest.mark.parametrize("options", CASES)
def test_they_are_like_those_of_scikit_learn(options):
    """As many of each class but for those drawn anew, and features of the same rank."""
    how = {**options, "random_state": 0, "n_features": 10}
    X, y = make_classification(200, **how, chunk_size=64)
    their_X, their_y = theirs.make_classification(200, **how)
    found, expected = np.bincount(y.compute()), np.bincount(their_y)
    np.testing.assert_allclose(found, expected, atol=0 if options.get("flip_y") == 0.0 else 6)
    rank = np.linalg.matrix_rank
    assert rank(X.compute() - X.compute().mean(0)) == rank(their_X - their_X.mean(0))


def test_features_are_told_apart():
    """By the names of what they are, in the order without mixing."""
    made = make_classification(
        300, 7, n_informative=3, n_repeated=1, shuffle=False, flip_y=0.0, class_sep=5.0,
        n_clusters_per_class=1, random_state=1, return_X_y=False, chunk_size=100,
    )  # fmt: skip
    assert made.feature_info == ["informative"] * 3 + ["redundant"] * 2 + ["repeated", "random"]
    X, y = made.X.compute(), made.y.compute()
    assert (np.diff(y) >= 0).all()
    away = np.abs(X[y == 0].mean(0) - X[y == 1].mean(0))
    assert away[:3].max() > 8.0
    assert away[6] < 0.5
    assert any(np.array_equal(X[:, 5], X[:, column]) for column in range(5))
    mixed = make_classification(20, 7, n_informative=3, random_state=1, return_X_y=False)
    assert sorted(mixed.feature_info) == sorted(
        ["informative"] * 3 + ["redundant"] * 2 + ["random"] * 2
    )


def test_labels_are_drawn_anew():
    """As often as asked for: half of the flips fall on another class."""
    how: dict[str, Any] = {
        "shuffle": False,
        "n_clusters_per_class": 1,
        "random_state": 2,
        "chunk_size": 500,
    }
    before = make_classification(4000, flip_y=0.0, **how)[1].compute()
    after = make_classification(4000, flip_y=0.4, **how)[1].compute()
    assert abs(np.mean(before != after) - 0.2) < 0.03


def test_what_is_refused():
    """In scikit-learn's words, at the call."""
    with pytest.raises(ValueError, match="must be smaller or equal"):
        make_classification(n_classes=9)
    with pytest.raises(ValueError, match="'n_samples' parameter"):
        make_classification(0)
