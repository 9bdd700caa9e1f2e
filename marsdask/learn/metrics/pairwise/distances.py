"""Distances and kernels of scikit-learn between the rows of lazy matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import pairwise
from sklearn.utils import check_array

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public
from marsdask.core.sizes import numbers
from marsdask.learn.arguments import check_arguments
from marsdask.learn.fitted_values import as_mars, plain
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.moments import merge_products, merge_squares, products, squares
from marsdask.learn.rows import TILE_BYTES, as_rows, fold, in_memory
from marsdask.tensor import tensor
from marsdask.tensor.elementwise.ufuncs import astype
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import is_sparse, to_csr

from .blocks import PairwiseBlocks

#: The least rows of a tile: products of fewer are slow.
ROWS = 128

#: Measures that scikit-learn may call ``metric`` of ``pairwise_distances``, by rows alone.
EUCLIDEAN = ("euclidean", "l2")


def samples(X: Any, finite: Any = True, *, sparse: bool = False) -> Node:
    """Return lazy samples, or samples in memory, as the node of a matrix of floats.

    ``finite`` tells what is checked of samples in memory, as ``ensure_all_finite`` does. They may
    be ``sparse`` where the function that they are for tells by itself whether it takes such.
    """
    X = adopted(X)
    if is_lazy(X):
        return as_rows(X, sparse=sparse)
    kinds = [np.float64, np.float32]
    accept = "csr" if sparse else False
    rows = check_array(X, accept_sparse=accept, dtype=kinds, ensure_all_finite=finite)
    return as_node(tensor(rows), sparse=True) if is_sparse(rows) else in_memory(rows)


def of_rows(
    function: Callable[..., Any],
    X: Any,
    Y: Any,
    *,
    zeros: bool = False,
    finite: Any = True,
    sparse: bool = True,
    **options: Any,
) -> Any:
    """Return scikit-learn's function of two matrices, lazy if one of them is."""
    X, Y = adopted(X), adopted(Y)
    if not is_lazy(X) and not is_lazy(Y):
        return function(X, Y, **options)
    options = plain(options)
    if "dense_output" in options:
        options["dense_output"] = True
    a = samples(X, finite, sparse=sparse)
    b = a if Y is None else samples(Y, finite, sparse=sparse)
    # Two rows tell the type, and have scikit-learn check the widths and the options.
    dtype = np.asarray(function(_one(a), _one(b), **options)).dtype
    return PairwiseBlocks(function, dtype, options, a, b, zeros and Y is None)


def _one(rows: Node) -> Any:
    row = np.ones((1, *numbers(rows.shape[1:])), rows.meta.dtype)
    return to_csr(row) if is_sparse(rows.meta) else row


@kernel(scratch=1.0)
def between_rows(a: Any, b: Any, *, squared: bool) -> Any:
    """Return Euclidean distances, tile by tile in cache."""
    dtype = np.result_type(a, b)
    factor = np.asarray(b, np.float64)
    offsets = np.einsum("ij,ij->i", factor, factor)
    factor = -2.0 * factor.T
    result = np.empty((len(a), len(b)), dtype)
    step = max(ROWS, TILE_BYTES // (8 * max(1, len(b))))
    finite = np.isfinite(offsets).all()
    for start in range(0, len(a), step):
        rows = np.asarray(a[start : start + step], np.float64)
        out = result[start : start + step]
        tile = np.matmul(rows, factor, out=out if dtype == np.float64 else None)
        lengths = np.einsum("ij,ij->i", rows, rows)
        finite &= np.isfinite(lengths).all()
        tile += lengths[:, np.newaxis]
        tile += offsets
        np.maximum(tile, 0.0, out=tile)
        if not squared:
            np.sqrt(tile, out=tile)
        if dtype != np.float64:
            out[...] = tile
    if not finite:
        check_array(a)
        check_array(b)
    return result


@as_mars
@public
def euclidean_distances(
    X: Any,
    Y: Any = None,
    *,
    Y_norm_squared: Any = None,
    squared: bool = False,
    X_norm_squared: Any = None,
) -> Any:
    """Return the distance of each row from each row.

    See sklearn.metrics.pairwise.euclidean_distances. Differs from scikit-learn: the squared norms
    of lazy rows are computed anew.
    """
    norms = {"Y_norm_squared": Y_norm_squared, "X_norm_squared": X_norm_squared}
    if not any(is_lazy(adopted(item)) for item in (X, Y)):
        return pairwise.euclidean_distances(X, Y, squared=squared, **norms)
    check_arguments(pairwise.euclidean_distances, squared=squared, **norms)
    result = of_rows(pairwise.euclidean_distances, X, Y, zeros=True, squared=squared)
    return _fast(result, squared=squared)


def _fast(found: PairwiseBlocks, *, squared: bool) -> Node:
    if is_sparse(found.a.meta) or is_sparse(found.b.meta):
        return found
    return PairwiseBlocks(
        between_rows, found.dtype, {"squared": squared}, found.a, found.b, found.zeros
    )


@as_mars
@public
def check_pairwise_arrays(
    X: Any, Y: Any = None, *, precomputed: bool = False, dtype: Any = "infer_float"
) -> Any:
    """Return two matrices of floats whose rows may be compared, as tensors.

    See sklearn.metrics.pairwise.check_pairwise_arrays. What rows hold is checked when it is used.
    """
    a = samples(X)
    b = a if Y is None else samples(Y)
    width = a.shape[1]
    columns = b.shape[0] if precomputed else b.shape[1]
    if columns != width:
        if precomputed:
            raise ValueError(
                "Precomputed metric requires shape (n_queries, n_indexed). Got "
                f"({a.shape[0]}, {width}) for {columns} indexed."
            )
        raise ValueError(
            "Incompatible dimension for X and Y matrices: "
            f"X.shape[1] == {width} while Y.shape[1] == {columns}"
        )
    if dtype == "infer_float":
        single = a.meta.dtype == b.meta.dtype == np.float32
        dtype = np.float32 if single else np.float64
    return tuple(
        node if dtype is None or node.meta.dtype == dtype else astype.node(node, dtype)
        for node in (a, b)
    )


@as_mars
@public
def cosine_distances(X: Any, Y: Any = None) -> Any:
    """Return one minus the cosine of rows. See sklearn.metrics.pairwise.cosine_distances."""
    return of_rows(pairwise.cosine_distances, X, Y, zeros=True)


@as_mars
@public
def cosine_similarity(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    """Return the cosine of each two rows. See sklearn.metrics.pairwise.cosine_similarity."""
    return of_rows(pairwise.cosine_similarity, X, Y, dense_output=dense_output)


@as_mars
@public
def haversine_distances(X: Any, Y: Any = None) -> Any:
    """Return distances on a sphere. See sklearn.metrics.pairwise.haversine_distances."""
    # scikit-learn's are wrong for sparse rows of the first matrix.
    return of_rows(pairwise.haversine_distances, X, Y, sparse=False)


@as_mars
@public
def manhattan_distances(X: Any, Y: Any = None) -> Any:
    """Return sums of absolute differences. See sklearn.metrics.pairwise.manhattan_distances."""
    return of_rows(pairwise.manhattan_distances, X, Y)


@as_mars
@public
def nan_euclidean_distances(
    X: Any, Y: Any = None, *, squared: bool = False, missing_values: Any = np.nan, copy: bool = True
) -> Any:
    """Return distances over the values that both rows have.

    See sklearn.metrics.pairwise.nan_euclidean_distances.
    """
    how = {"squared": squared, "missing_values": missing_values, "copy": copy}
    function = pairwise.nan_euclidean_distances
    return of_rows(function, X, Y, zeros=True, finite="allow-nan", **how)


@as_mars
@public
def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Any:
    """Return the Gaussian kernel of each two rows. See sklearn.metrics.pairwise.rbf_kernel."""
    return of_rows(pairwise.rbf_kernel, X, Y, gamma=gamma)


@as_mars
@public
def linear_kernel(X: Any, Y: Any = None, dense_output: bool = True) -> Any:
    """Return the products of each two rows. See sklearn.metrics.pairwise.linear_kernel."""
    return of_rows(pairwise.linear_kernel, X, Y, dense_output=dense_output)


@as_mars
@public
def laplacian_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Any:
    """Return the Laplacian kernel of rows. See sklearn.metrics.pairwise.laplacian_kernel."""
    return of_rows(pairwise.laplacian_kernel, X, Y, gamma=gamma)


@as_mars
@public
def polynomial_kernel(
    X: Any, Y: Any = None, degree: float = 3, gamma: float | None = None, coef0: float = 1
) -> Any:
    """Return the polynomial kernel of rows. See sklearn.metrics.pairwise.polynomial_kernel."""
    how: dict[str, Any] = {"degree": degree, "gamma": gamma, "coef0": coef0}
    return of_rows(pairwise.polynomial_kernel, X, Y, **how)


@as_mars
@public
def sigmoid_kernel(X: Any, Y: Any = None, gamma: float | None = None, coef0: float = 1) -> Any:
    """Return the sigmoid kernel of rows. See sklearn.metrics.pairwise.sigmoid_kernel."""
    return of_rows(pairwise.sigmoid_kernel, X, Y, gamma=gamma, coef0=coef0)


@as_mars
@public
def pairwise_distances(
    X: Any,
    Y: Any = None,
    metric: str | Callable[..., Any] = "euclidean",
    *,
    n_jobs: int | None = None,
    ensure_all_finite: bool | str = True,
    **kwds: Any,
) -> Any:
    """Return the distance of each row from each row. See sklearn.metrics.pairwise_distances."""
    how = {"n_jobs": n_jobs, "ensure_all_finite": ensure_all_finite, **kwds}
    if metric == "precomputed" and is_lazy(adopted(X)):
        return samples(X)
    if not any(is_lazy(adopted(item)) for item in (X, Y)):
        return pairwise.pairwise_distances(X, Y, metric=metric, **how)
    if Y is None:
        how |= _of_all_rows(samples(X, sparse=True), metric, kwds)
    finite = "allow-nan" if metric == "nan_euclidean" else ensure_all_finite
    how |= {"zeros": Y is None, "metric": metric, "finite": finite}
    result = of_rows(pairwise.pairwise_distances, X, Y, **how)
    plainly = metric in EUCLIDEAN and not kwds and ensure_all_finite is True
    return _fast(result, squared=False) if plainly else result


def _of_all_rows(rows: Node, metric: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statistics of all rows that some metrics scale by."""
    (width,) = numbers(rows.shape[1:])
    if metric == "seuclidean" and "V" not in given:
        moments = fold(squares, merge_squares, rows, nbytes=24 * width, allow_nan=False)
        return {"V": moments.products / (moments.count - 1)}
    if metric == "mahalanobis" and "VI" not in given:
        moments = fold(products, merge_products, rows, nbytes=8 * width * (width + 1))
        return {"VI": np.linalg.inv(moments.products / (moments.count - 1)).T}
    return {}


@as_mars
@public
def pairwise_kernels(
    X: Any,
    Y: Any = None,
    metric: str | Callable[..., Any] = "linear",
    *,
    filter_params: bool = False,
    n_jobs: int | None = None,
    **kwds: Any,
) -> Any:
    """Return the kernel of each row and each row. See sklearn.metrics.pairwise.pairwise_kernels."""
    if metric == "precomputed" and is_lazy(adopted(X)):
        return check_pairwise_arrays.node(X, Y, precomputed=True)[0]
    how = {"metric": metric, "filter_params": filter_params, "n_jobs": n_jobs, **kwds}
    return of_rows(pairwise.pairwise_kernels, X, Y, **how)


#: The distances by their names in ``pairwise_distances``, as in scikit-learn.
PAIRWISE_DISTANCE_FUNCTIONS = {
    "cityblock": manhattan_distances,
    "cosine": cosine_distances,
    "euclidean": euclidean_distances,
    "haversine": haversine_distances,
    "l2": euclidean_distances,
    "l1": manhattan_distances,
    "manhattan": manhattan_distances,
    "precomputed": None,
    "nan_euclidean": nan_euclidean_distances,
}
