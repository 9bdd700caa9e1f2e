"""The nearest of samples."""

from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE

from .graphs import kneighbors_graph, radius_neighbors_graph
from .k_neighbors import KNeighborsClassifier, KNeighborsRegressor
from .nearest import NearestNeighbors

__all__ = [
    "VALID_METRICS",
    "VALID_METRICS_SPARSE",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "kneighbors_graph",
    "radius_neighbors_graph",
]
