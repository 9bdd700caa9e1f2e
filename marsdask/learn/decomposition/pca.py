"""Principal component analysis from one pass over the samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
from sklearn import decomposition
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.batches import check_some
from marsdask.learn.moments import (
    Moments,
    merge_products,
    merge_squares,
    merge_triangles,
    products,
    squares,
    triangle,
)
from marsdask.learn.rows import FiniteBlocks, as_rows, fold
from marsdask.learn.sparse import sparse_products
from marsdask.learn.tables import refuse_sparse
from marsdask.tensor import Tensor
from marsdask.tensor.linalg import dot
from marsdask.tensor.sparse.blocks import is_sparse
from marsdask.tensor.typing import ArrayLike

from .minka_mle import infer_dimension

#: A variance below this share of the largest has lost half its digits in the products.
WEAK = 1e-8


#: The solvers that take sparse samples.
OF_SPARSE = ("auto", "arpack", "covariance_eigh")


@dataclass(frozen=True)
class Spectrum:
    """All components of the samples, the strongest first."""

    count: int
    mean: Any
    variances: Any
    components: Any


def by_products(rows: Node) -> Spectrum:
    """Decompose the covariance of the columns: one pass, but half the digits of weak components."""
    width = _width(rows)
    func = sparse_products if is_sparse(rows.meta) else products
    moments = fold(func, merge_products, rows, nbytes=8 * width * (width + 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = moments.products / (moments.count - 1)
    if moments.count < 2:
        return _spectrum(moments, np.full(1, np.nan), np.eye(1, width))
    variances, vectors = np.linalg.eigh(covariance)
    count = min(moments.count, width)
    return _spectrum(moments, np.maximum(variances[::-1], 0.0)[:count], vectors.T[::-1][:count])


def by_triangles(rows: Node) -> Spectrum:
    """Decompose the R of the centred samples: two passes, full precision."""
    width = _width(rows)
    moments = fold(squares, merge_squares, rows, nbytes=24 * width, allow_nan=False)
    moments = moments._replace(count=int(moments.count.max(initial=0)))
    top = fold(triangle, merge_triangles, rows, nbytes=8 * width * width, mean=moments.mean)
    _, values, components = np.linalg.svd(top, full_matrices=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        return _spectrum(moments, values**2 / np.float64(moments.count - 1), components)


def _width(rows: Node) -> int:
    return numbers(rows.shape[1:])[0]


def _spectrum(seen: Moments, variances: Any, components: Any) -> Spectrum:
    """Turn each component so that its largest share is positive, as scikit-learn does."""
    largest = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    return Spectrum(seen.count, seen.mean, variances, components * signs[:, np.newaxis])


class PCA(RowsEstimator, decomposition.PCA):
    """Project samples on the directions of their largest variance.

    See sklearn.decomposition.PCA.

    Differs from scikit-learn: takes tensors and frames, sparse ones as well. The components are
    always exact: ``svd_solver`` "auto" decomposes the covariance. It decomposes the samples if the
    covariance has lost digits, or if there are fewer samples than columns. "covariance_eigh" always
    uses the covariance, "full" the samples; "randomized" and "arpack" mean "auto". Sparse samples
    have their covariance decomposed.

    Examples
    --------
    >>> from marsdask.learn.decomposition import PCA
    >>> X = mt.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], chunk_size=2)
    >>> model = PCA(1).fit(X)
    >>> model.transform(X).shape, model.explained_variance_.round(6).tolist()
    ((3, 1), [2.0])
    """

    _takes_sparse = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components."""
        self._validate_params()
        rows = self._samples(X, reset=True)
        self._check_wish(rows)
        spectrum = self._decompose(rows)
        check_some(self, spectrum.count)
        self._learn(spectrum, rows.meta.dtype)
        return self

    def _check_wish(self, rows: Node) -> None:
        """Raise for an impossible number of components, as far as it is known."""
        if is_sparse(rows.meta) and self.svd_solver not in OF_SPARSE:
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, '
                f'while "{self.svd_solver}" was passed. See TruncatedSVD for a possible '
                "alternative."
            )
        limit = min(size for size in rows.shape if isinstance(size, int))
        solver = "full" if self.svd_solver == "auto" else self.svd_solver
        _check_components(self.n_components, limit, solver)
        if self.svd_solver == "arpack" and self.n_components == limit:
            raise ValueError(
                f"n_components={self.n_components!r} must be strictly less than "
                f"min(n_samples, n_features)={limit} with svd_solver='arpack'"
            )

    def _decompose(self, rows: Node) -> Spectrum:
        if is_sparse(rows.meta):
            return by_products(rows)
        samples, columns = rows.shape
        few = isinstance(samples, int) and isinstance(columns, int) and samples < columns
        if self.svd_solver == "full" or (few and self.svd_solver != "covariance_eigh"):
            return by_triangles(rows)
        spectrum = by_products(rows)
        if self.svd_solver == "covariance_eigh" or spectrum.count < 2:
            return spectrum
        variances = spectrum.variances[: self._wanted(spectrum)]
        weak = variances.size and variances[-1] < WEAK * variances[0]
        return by_triangles(rows) if weak else spectrum

    def _wanted(self, found: Spectrum) -> int:
        """Return the requested number of components."""
        wish: Any = self.n_components
        limit = len(found.variances)
        if wish is None:
            return limit - int(self.svd_solver == "arpack")
        if wish == "mle":
            if found.count < found.components.shape[1]:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            return infer_dimension(found.variances, found.count)
        _check_components(wish, limit, self.svd_solver)
        if 0 < wish < 1:
            shares = np.cumsum(found.variances / found.variances.sum())
            return int(np.searchsorted(shares, wish, side="right")) + 1
        return int(wish)

    def _learn(self, found: Spectrum, dtype: Any) -> None:
        count = self._wanted(found)
        tail = found.variances[count:]
        # A single sample has no variance: nan, without a warning of the division.
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = found.variances / found.variances.sum()
        self.n_samples_ = found.count
        self.n_components_ = count
        self.mean_ = found.mean.astype(dtype)
        self.components_ = found.components[:count].astype(dtype)
        self.explained_variance_ = found.variances[:count].astype(dtype)
        self.explained_variance_ratio_ = ratios[:count].astype(dtype)
        self.singular_values_ = np.sqrt(found.variances[:count] * max(0, found.count - 1)).astype(
            dtype
        )
        self.noise_variance_ = float(tail.mean()) if len(tail) else 0.0

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """Find the components and project the samples on them."""
        return self.fit(X).transform(X)

    def transform(self, X: ArrayLike) -> Any:
        """Project samples on the components."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)
        rows = self._samples(X, reset=False)
        if is_sparse(rows.meta):
            return self._predictions("transform", X)
        samples = wrap(FiniteBlocks(rows, allow_nan=False))
        projected = dot(samples, self.components_.T) - self.mean_ @ self.components_.T
        return projected / self._scale() if self.whiten else projected

    @overload
    def inverse_transform(self, X: Collection) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def inverse_transform(self, X: ArrayLike) -> np.ndarray[Any, Any]: ...
    def inverse_transform(self, X: Any) -> Any:
        """Return the samples of these projections."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().inverse_transform(X)
        projected = wrap(as_rows(X))
        if self.whiten:
            projected = projected * self._scale()
        return dot(projected, self.components_) + self.mean_

    def _scale(self) -> Any:
        deviations = np.sqrt(self.explained_variance_)
        return np.maximum(deviations, np.finfo(deviations.dtype).eps)

    @overload
    def score_samples(self, X: Collection) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def score_samples(self, X: ArrayLike) -> np.ndarray[Any, Any]: ...
    def score_samples(self, X: Any) -> Any:
        """Return the log-likelihood of each sample."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().score_samples(X)
        refuse_sparse(X)
        away = wrap(self._finite(X)) - self.mean_
        precision = self.get_precision().astype(away.dtype)
        _, determinant = np.linalg.slogdet(precision)
        constant = self.n_features_in_ * math.log(2.0 * math.pi) - float(determinant)
        return -0.5 * ((away * dot(away, precision)).sum(axis=1) + constant)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the samples."""
        likelihoods = self.score_samples(X)
        return float(likelihoods.mean().compute() if is_lazy(X) else likelihoods.mean())


def _check_components(wish: Any, limit: int, solver: str) -> None:
    """Raise for a number of components that a solver cannot find."""
    least = int(solver in ("arpack", "randomized"))
    if isinstance(wish, str) and least:
        raise ValueError(f"n_components={wish!r} cannot be a string with svd_solver={solver!r}")
    if wish is not None and not isinstance(wish, str) and not least <= wish <= limit:
        raise ValueError(
            f"n_components={wish} must be between {least} and "
            f"min(n_samples, n_features)={limit} with svd_solver={solver!r}"
        )
