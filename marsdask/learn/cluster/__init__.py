"""Clustering of samples."""

from .kmeans import KMeans

__all__ = ["KMeans"]
