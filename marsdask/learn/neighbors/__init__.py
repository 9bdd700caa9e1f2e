"""The nearest of samples."""

from .k_neighbors import KNeighborsClassifier, KNeighborsRegressor
from .nearest import NearestNeighbors

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors"]
