"""Decomposition of samples into components."""

from .pca import PCA

__all__ = ["PCA"]
