"""Samples whose targets are sums of features, or counts that depend on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from sklearn import datasets

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Sizes
from marsdask.learn.rows import RowMap
from marsdask.tensor import Tensor
from marsdask.tensor.linalg import qr

from .draws import Draws, row_sizes

_FLOAT = np.dtype(np.float64)

#: What is not scikit-learn's to check, or of its own size.
_OWN = ("n_samples", "n_features", "random_state", "chunks", "chunk_size")


@public_call
def make_regression(
    n_samples: int = 100,
    n_features: int = 100,
    *,
    n_informative: int = 10,
    n_targets: int = 1,
    bias: float = 0.0,
    effective_rank: int | None = None,
    tail_strength: float = 0.5,
    noise: float = 0.0,
    shuffle: bool = True,
    coef: bool = False,
    random_state: Any = None,
    chunks: Any = None,
    chunk_size: Any = None,
) -> tuple[Any, ...]:
    """Generate samples and sums of some features. See sklearn.datasets.make_regression.

    Differs from scikit-learn: lazy tensors of another stream. What a ``random_state`` gives does
    not depend on the chunks, but for rounding if there is an ``effective_rank``.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the samples.
    n_informative : int
        How many features the targets depend on.
    n_targets : int
        The number of targets.
    bias : float
        What is added to the targets.
    effective_rank : int, optional
        How many singular values explain most of the samples; by default features are independent.
    tail_strength : float
        The weight of the other singular values.
    noise : float
        The standard deviation of what is added to the targets.
    shuffle : bool
        Whether features are mixed. Samples are independent, and stay where they are.
    coef : bool
        Whether the coefficients are wanted, too.
    random_state : int or RandomState, optional
        The seed.
    chunks, chunk_size : int or tuple, optional
        How many samples each chunk has.

    Returns
    -------
    tuple
        The tensors of samples and targets, and maybe the array of coefficients.

    Examples
    --------
    >>> from marsdask.learn.datasets import make_regression
    >>> X, y, coef = make_regression(50, 3, coef=True, random_state=0, chunk_size=10)
    >>> bool(np.allclose((X @ coef).compute(), y.compute()))
    True
    """
    options = {name: item for name, item in locals().items() if name not in _OWN}
    draws = Draws(random_state)
    # scikit-learn checks the parameters: of one sample.
    datasets.make_regression(min(n_samples, 1), n_features, random_state=0, **options)
    sizes = row_sizes(n_samples, n_features, chunks, chunk_size)
    if effective_rank is None:
        rows = _normal(draws, (n_samples, n_features), sizes)
    else:
        rows = _low_rank(draws, (n_samples, n_features), sizes, effective_rank, tail_strength)
    truth = np.zeros((n_features, n_targets))
    informative = min(n_features, n_informative)
    truth[:informative] = 100.0 * draws.generator.uniform(size=(informative, n_targets))
    if shuffle:
        truth = truth[draws.generator.permutation(n_features)]
    errors = [_normal(draws, (n_samples, n_targets), sizes)] if noise > 0.0 else []
    width = n_targets if n_targets > 1 else None
    how = {"truth": np.squeeze(truth, 1) if width is None else truth, "bias": bias, "noise": noise}
    y = collect(RowMap(targets, (rows, *errors), _FLOAT, width, how))
    return (collect(rows), y, np.squeeze(truth)) if coef else (collect(rows), y)


def _normal(draws: Draws, shape: tuple[int, int], sizes: Sizes) -> Node:
    node: Node = draws.lazy.standard_normal(shape, chunk_size=(sizes, -1)).node
    return node


@kernel(scratch=1.0)
def targets(rows: Any, errors: Any = None, *, truth: Any, bias: float, noise: float) -> Any:
    """Return the targets of samples."""
    result = rows @ truth + bias
    return result if errors is None else result + noise * errors.reshape(result.shape)


@public_call
def make_low_rank_matrix(
    n_samples: int = 100,
    n_features: int = 100,
    *,
    effective_rank: int = 10,
    tail_strength: float = 0.5,
    random_state: Any = None,
    chunks: Any = None,
    chunk_size: Any = None,
) -> Tensor:
    """Generate a matrix whose singular values fall fast. See sklearn.datasets.make_low_rank_matrix.

    Differs from scikit-learn: a lazy tensor of another stream. A matrix of one side's length, the
    lesser, is made in this process.

    Parameters
    ----------
    n_samples, n_features : int
        The shape.
    effective_rank : int
        How many singular values are large.
    tail_strength : float
        The weight of the others.
    random_state : int or RandomState, optional
        The seed.
    chunks, chunk_size : int or tuple, optional
        How many samples each chunk has.

    Returns
    -------
    Tensor
        The matrix.

    Examples
    --------
    >>> from marsdask.learn.datasets import make_low_rank_matrix
    >>> make_low_rank_matrix(50, 5, effective_rank=2, random_state=0, chunk_size=10).shape
    (50, 5)
    """
    draws = Draws(random_state)
    how: dict[str, Any] = {"effective_rank": effective_rank, "tail_strength": tail_strength}
    # scikit-learn checks the parameters: of one sample.
    datasets.make_low_rank_matrix(min(n_samples, 1), n_features, random_state=0, **how)
    sizes = row_sizes(n_samples, n_features, chunks, chunk_size)
    result: Tensor = collect(
        _low_rank(draws, (n_samples, n_features), sizes, effective_rank, tail_strength)
    )
    return result


def _low_rank(
    draws: Draws, shape: tuple[int, int], sizes: Sizes, rank: int, tail_strength: float
) -> Node:
    samples, width = shape
    side = min(shape)
    left = qr.node(_normal(draws, (samples, side), sizes))[0]
    right, _ = scipy.linalg.qr(
        draws.generator.standard_normal(size=(width, side)), mode="economic", check_finite=False
    )
    place = np.arange(side) / rank
    values = (1.0 - tail_strength) * np.exp(-np.square(place)) + tail_strength * np.exp(
        -0.1 * place
    )
    return RowMap(product, (left,), _FLOAT, width, {"factor": values[:, np.newaxis] * right.T})


@kernel(scratch=1.0)
def product(rows: Any, *, factor: Any) -> Any:
    """Return the product of rows and a matrix."""
    return rows @ factor


@public_call
def make_counts(
    n_samples: int = 1000,
    n_features: int = 100,
    *,
    n_informative: int = 2,
    scale: float = 1.0,
    random_state: Any = None,
    chunks: Any = None,
    chunk_size: Any = None,
) -> tuple[Tensor, Tensor]:
    """Generate samples and counts of Poisson's distribution that depend on some features.

    dask-ml's function of this name, with another stream. What a ``random_state`` gives does not
    depend on the chunks.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the samples.
    n_informative : int
        How many features the counts depend on.
    scale : float
        How much they do.
    random_state : int or RandomState, optional
        The seed.
    chunks, chunk_size : int or tuple, optional
        How many samples each chunk has.

    Returns
    -------
    tuple of Tensor
        The samples, and the counts.

    Raises
    ------
    ValueError
        If more features are informative than there are.

    Examples
    --------
    >>> from marsdask.learn.datasets import make_counts
    >>> X, y = make_counts(50, 3, random_state=0, chunk_size=10)
    >>> bool((y >= 0).all().compute())
    True
    """
    if n_informative > n_features:
        raise ValueError(f"n_informative={n_informative} must be at most n_features={n_features}")
    draws = Draws(random_state)
    sizes = row_sizes(n_samples, n_features, chunks, chunk_size)
    rows = _normal(draws, (n_samples, n_features), sizes)
    truth = np.zeros(n_features)
    features = draws.generator.choice(n_features, n_informative, replace=False)
    truth[features] = (draws.generator.uniform(size=n_informative) - 1.0) * scale
    rate = collect(RowMap(rates, (rows,), _FLOAT, None, {"truth": truth}))
    return collect(rows), draws.lazy.poisson(rate, size=(n_samples,), chunk_size=(sizes,))


@kernel(scratch=1.0)
def rates(rows: Any, *, truth: Any) -> Any:
    """Return the rates of samples' counts."""
    return np.exp(rows @ truth)
