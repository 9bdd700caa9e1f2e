"""L1 to L3: scikit-learn's estimators and their peers on the same data."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rows import Workload
from benchmarks.systems import System

Data = tuple[Any, ...]


def l1_data(s: System) -> Data:
    """Hold 500000 points and the centres every system starts from."""
    x = s.array((s.size.tall(500000), 20), (s.size.tall(50000), 20))
    return x, np.asarray(s.value(x[:8]))


def l1(s: System, x: Any, start: np.ndarray) -> Data:
    """Run ten iterations of k-means."""
    kmeans = s.estimator("cluster", "KMeans")
    model = kmeans(n_clusters=8, init=start, n_init=1, max_iter=10, tol=0.0, **s.kmeans_options)
    return (s.fitted(model.fit(x).cluster_centers_),)


def l2_data(s: System) -> Data:
    """Hold a million observations of 50 variables."""
    return (s.array((s.size.tall(1000000), 50), (s.size.tall(100000), 50)),)


def l2(s: System, x: Any) -> Data:
    """Fit ten principal components."""
    model = s.estimator("decomposition", "PCA")(n_components=10, **s.pca_options)
    return (s.fitted(model.fit(x).explained_variance_),)


ROWS = (
    Workload("L1_kmeans", l1_data, l1, rtol=1e-4),
    Workload("L2_pca", l2_data, l2),
)
