"""Decomposition of samples into components."""

from .incremental_pca import IncrementalPCA
from .pca import PCA
from .truncated_svd import TruncatedSVD

__all__ = ["PCA", "IncrementalPCA", "TruncatedSVD"]
