"""Singular value decomposition of samples, exact from one pass or by random projections."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import decomposition
from sklearn.utils.validation import check_is_fitted, check_random_state

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator
from marsdask.learn.batches import check_some
from marsdask.learn.lazy import is_lazy
from marsdask.learn.moments import (
    Moments,
    merge_products,
    merge_squares,
    merge_triangles,
    products,
    refuse,
    squares,
    triangle,
)
from marsdask.learn.rows import add, fold, held
from marsdask.learn.sparse import sparse_products, sparse_squares
from marsdask.tensor.sparse.blocks import is_sparse

from .pca import WEAK

#: So many features have products that are found faster than several projections.
FEW = 512


class Singular(NamedTuple):
    """The strongest singular values and their components, with the variances of samples."""

    values: Any
    components: Any
    variances: Any
    total_variance: float


class Projected(NamedTuple):
    """Moments of the samples' columns and of their projections."""

    columns: Moments
    projections: Moments


class TruncatedSVD(RowsEstimator, decomposition.TruncatedSVD):
    """Decompose samples without subtracting their mean. See sklearn.decomposition.TruncatedSVD.

    Differs from scikit-learn: takes tensors and frames, sparse ones as well. The decomposition of
    up to 512 features is exact, from one pass over their products, or two if these have lost
    digits. Of more features lazy samples are held, and "randomized" takes ``n_iter + 2`` passes;
    it draws as scikit-learn does if there are fewer features than samples. "arpack" means
    "randomized" then.

    Examples
    --------
    >>> from marsdask.learn.decomposition import TruncatedSVD
    >>> X = mt.tensor([[3.0, 0.0], [0.0, 1.0], [4.0, 0.0]], chunk_size=2)
    >>> TruncatedSVD(n_components=1).fit(X).singular_values_.tolist()
    [5.0]
    """

    _takes_sparse = True
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components."""
        if is_lazy(X):
            self._fit_lazy(X)
        else:
            super().fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the components and project the samples on them."""
        if is_lazy(X):
            self._fit_lazy(X)
            return self.transform(X)
        return super().fit_transform(X)

    def transform(self, X: Any) -> Any:
        """Project samples on the components."""
        check_is_fitted(self)
        return self._predictions("transform", X) if is_lazy(X) else super().transform(X)

    def _fit_lazy(self: Any, X: Any) -> None:
        self._validate_params()
        rows = self._samples(X, reset=True)
        width = self.n_features_in_
        if width < 2:
            raise ValueError(
                f"Found array with {width} feature(s) (shape={X.shape}) while a minimum of 2 is "
                "required by TruncatedSVD."
            )
        if self.n_components > width:
            raise ValueError(f"n_components({self.n_components}) must be <= n_features({width}).")
        singular = _exact(self, rows) if width <= FEW else self._randomized(rows)
        leading, dtype = slice(self.n_components), rows.meta.dtype
        self.components_ = singular.components[leading].astype(dtype)
        self.singular_values_ = singular.values[leading].astype(dtype)
        self.explained_variance_ = singular.variances[leading].astype(dtype)
        ratios = singular.variances[leading] / singular.total_variance
        self.explained_variance_ratio_ = ratios.astype(dtype)

    def _randomized(self: Any, rows: Node) -> Singular:
        """Decompose by random projections, whose passes are two products with each run."""
        (rows,) = held(rows)
        check_some(self, rows.shape[0])
        length, width = numbers(rows.shape)
        size = min(self.n_components + self.n_oversamples, width)
        state = check_random_state(self.random_state)
        basis = state.normal(size=(width, size))
        nbytes = 8 * width * size
        for _ in range(self.n_iter):
            (across,) = fold(project_back, add, rows, nbytes=nbytes, basis=basis)
            basis = np.linalg.qr(across)[0]
        top, across = fold(project, merge_projections, rows, nbytes=nbytes, basis=basis)
        # An orthogonal basis of the projections is theirs divided by the triangle.
        _, strength, right = np.linalg.svd(top, full_matrices=False)
        is_strong = strength > strength.max(initial=0.0) * np.finfo(np.float64).eps * max(
            length, size
        )
        across = across @ right[is_strong].T / strength[is_strong]
        components, values, _ = np.linalg.svd(across, full_matrices=False)
        components = _signed(components.T)[: self.n_components]
        values = values[: self.n_components]
        moments = fold(
            of_projections, merge_projected, rows, nbytes=16 * width, components=components
        )
        return Singular(
            values,
            components,
            moments.projections.products / length,
            float(moments.columns.products.sum() / length),
        )


def _exact(model: Any, rows: Node) -> Singular:
    """Decompose the products of the columns, or their triangle if strong ones are few."""
    width = numbers(rows.shape[1:])[0]
    kernel_of = sparse_products if is_sparse(rows.meta) else products
    nbytes = 8 * width * (width + 1)
    moments = fold(kernel_of, merge_products, rows, nbytes=nbytes)
    check_some(model, moments.count)
    inner = moments.products + moments.count * np.outer(moments.mean, moments.mean)
    squared, vectors = np.linalg.eigh(inner)
    values, components = np.sqrt(np.maximum(squared[::-1], 0.0)), vectors.T[::-1]
    weak = squared[0] < WEAK * squared[-1]
    if weak and not is_sparse(rows.meta):
        top = fold(triangle, merge_triangles, rows, nbytes=nbytes, mean=0.0)
        _, values, components = np.linalg.svd(top, full_matrices=True)
        values = np.append(values, np.zeros(width - len(values)))
    components = _signed(components)
    covariance = moments.products / moments.count
    spread = np.einsum("ij,jk,ik->i", components, covariance, components)
    leading = slice(moments.count)  # fewer samples than features have no more components
    spread = np.maximum(spread[leading], 0.0)
    return Singular(values[leading], components[leading], spread, float(np.trace(covariance)))


def _signed(components: Any) -> Any:
    """Turn each component so that its largest share is positive, as scikit-learn does."""
    largest = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    return components * signs[:, np.newaxis]


def _product(block: Any, basis: Any) -> Any:
    product = block @ basis
    if not np.isfinite(product.sum()):
        refuse(block.data if is_sparse(block) else block, allow_nan=False)
    return product


@kernel(scratch=0.5)
def project_back(block: Any, *, basis: Any) -> tuple[Any]:
    """Return the products of the columns with the projections of a run."""
    return (block.T @ _product(block, basis),)


@kernel(scratch=0.5)
def project(block: Any, *, basis: Any) -> tuple[Any, Any]:
    """Return the triangle of the projections of a run, and their products with the columns."""
    projections = _product(block, basis)
    return triangle(projections, mean=0.0), block.T @ projections


def merge_projections(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the triangle and the products of both."""
    return merge_triangles(a[0], b[0]), a[1] + b[1]


@kernel(scratch=0.5)
def of_projections(block: Any, *, components: Any) -> Projected:
    """Return the moments of the columns of a run and of its projections."""
    of_columns = sparse_squares if is_sparse(block) else squares
    projections = np.ascontiguousarray(block @ components.T)
    return Projected(of_columns(block, allow_nan=False), squares(projections, allow_nan=False))


def merge_projected(a: Projected, b: Projected) -> Projected:
    """Return the moments of both."""
    return Projected(
        merge_squares(a.columns, b.columns), merge_squares(a.projections, b.projections)
    )
