"""Distances and kernels between the rows of matrices, lazy if one of the matrices is."""

from .distances import (
    PAIRWISE_DISTANCE_FUNCTIONS,
    check_pairwise_arrays,
    cosine_distances,
    cosine_similarity,
    euclidean_distances,
    haversine_distances,
    laplacian_kernel,
    linear_kernel,
    manhattan_distances,
    nan_euclidean_distances,
    pairwise_distances,
    pairwise_kernels,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)
from .nearest import (
    pairwise_distances_argmin,
    pairwise_distances_argmin_min,
    pairwise_distances_topk,
)

__all__ = [
    "PAIRWISE_DISTANCE_FUNCTIONS",
    "check_pairwise_arrays",
    "cosine_distances",
    "cosine_similarity",
    "euclidean_distances",
    "haversine_distances",
    "laplacian_kernel",
    "linear_kernel",
    "manhattan_distances",
    "nan_euclidean_distances",
    "pairwise_distances",
    "pairwise_distances_argmin",
    "pairwise_distances_argmin_min",
    "pairwise_distances_topk",
    "pairwise_kernels",
    "polynomial_kernel",
    "rbf_kernel",
    "sigmoid_kernel",
]
