"""Samples that are generated chunk by chunk, as lazy tensors."""

from .blobs import make_blobs
from .classification import make_classification
from .regression import make_counts, make_low_rank_matrix, make_regression
from .table import make_classification_df

__all__ = [
    "make_blobs",
    "make_classification",
    "make_classification_df",
    "make_counts",
    "make_low_rank_matrix",
    "make_regression",
]
