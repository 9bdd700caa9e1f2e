"""Clustering of samples."""

from .kmeans import KMeans, k_means
from .mini_batch import MiniBatchKMeans

__all__ = ["KMeans", "MiniBatchKMeans", "k_means"]
