"""L1 to L6: scikit-learn's estimators and their peers on the same data."""

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


def told(s: System, width: int) -> Data:
    """Hold a million observations, and numbers that they tell but for some noise."""
    n, chunk = s.size.tall(1000000), s.size.tall(100000)
    x, noise = s.array((n, width), (chunk, width)), s.array((n,), (chunk,), seed=1)
    return x, s.hold((x * np.linspace(-1.0, 1.0, width)).sum(axis=1) + noise - 0.5)[0]


def l3a_data(s: System) -> Data:
    """Hold a million observations of 50 variables with their targets."""
    return told(s, 50)


def l3a(s: System, x: Any, y: Any) -> Data:
    """Fit a linear regression."""
    model = s.estimator("linear_model", "LinearRegression")(**s.linear_options)
    return (s.fitted(model.fit(x, y).coef_),)


def l3b_data(s: System) -> Data:
    """Hold a million observations of 20 variables with their classes."""
    x, y = told(s, 20)
    return x, s.hold((y > 0).astype("i8"))[0]


def l3b(s: System, x: Any, y: Any) -> Data:
    """Fit a logistic regression in at most 20 iterations."""
    model = s.estimator("linear_model", "LogisticRegression")(max_iter=20)
    return (s.fitted(model.fit(x, y).coef_),)


def l4_data(s: System) -> Data:
    """Hold two million observations of 50 variables."""
    return (s.array((s.size.tall(2000000), 50), (s.size.tall(200000), 50)),)


def l4(s: System, x: Any) -> Data:
    """Divide the observations, learn means and deviations of most, and scale the others."""
    split = s.estimator("model_selection", "train_test_split")
    train, test = split(x, test_size=0.25, random_state=0, shuffle=True)
    model = s.estimator("preprocessing", "StandardScaler")().fit(train)
    scaled = model.transform(test).std(axis=0)
    return s.fitted(model.mean_), s.fitted(model.var_), scaled


def l4b(s: System, x: Any) -> Data:
    """Scale the observations to the range from zero to one."""
    return (s.estimator("preprocessing", "MinMaxScaler")().fit_transform(x).mean(axis=0),)


def l5_data(s: System) -> Data:
    """Hold 20000 points."""
    return (s.array((s.size.tall(20000), 8), (s.size.tall(5000), 8)),)


def l5(s: System, x: Any) -> Data:
    """Find each point's five nearest ones, itself among them."""
    model = s.estimator("neighbors", "NearestNeighbors")(n_neighbors=5).fit(x)
    return (model.kneighbors(x)[0],)


def l6_data(s: System) -> Data:
    """Hold 8000 points of 50 variables."""
    return (s.array((s.size.side(8000), 50), (s.size.side(2000), 50)),)


def l6(s: System, x: Any) -> Data:
    """Measure the distance of each two points, and average them."""
    return (s.estimator("metrics.pairwise", "euclidean_distances")(x, x).mean(),)


ROWS = (
    Workload("L1_kmeans", l1_data, l1, rtol=1e-4),
    Workload("L2_pca", l2_data, l2),
    Workload("L3a_linreg", l3a_data, l3a, loose={"dask": 1e-2}),
    Workload("L3b_logreg", l3b_data, l3b, rtol=2e-2, atol=2e-2, loose={"dask": 0.5}),
    Workload("L4_split_scale", l4_data, l4, rtol=2e-2),
    Workload("L4b_minmax", l4_data, l4b),
    Workload("L5_neighbors", l5_data, l5, atol=1e-6),
    Workload("L6_pairwise", l6_data, l6),
)
