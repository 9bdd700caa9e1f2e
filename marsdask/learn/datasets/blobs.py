"""Samples around centres."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn import datasets

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_call
from marsdask.learn.rows import RowMap
from marsdask.tensor import Tensor
from marsdask.tensor.creation.from_shape import arange

from .draws import Dealing, Draws, row_sizes


@public_call
def make_blobs(
    n_samples: Any = 100,
    n_features: int = 2,
    *,
    centers: Any = None,
    cluster_std: Any = 1.0,
    center_box: tuple[float, float] = (-10.0, 10.0),
    shuffle: bool = True,
    random_state: Any = None,
    return_centers: bool = False,
    chunks: Any = None,
    chunk_size: Any = None,
) -> tuple[Any, ...]:
    """Generate samples around centres, as lazy tensors. See sklearn.datasets.make_blobs.

    Differs from scikit-learn: samples are another stream, the centres the same. What a
    ``random_state`` gives does not depend on the chunks.

    Parameters
    ----------
    n_samples : int or array_like
        The number of samples, or of samples of each centre.
    n_features : int
        The number of features.
    centers : int or array_like, optional
        The number of centres, or where they are.
    cluster_std : float or array_like
        The standard deviation of the samples of a centre.
    center_box : tuple of float
        Between which values centres are drawn.
    shuffle : bool
        Whether samples of the centres are mixed.
    random_state : int or RandomState, optional
        The seed.
    return_centers : bool
        Whether the centres are wanted, too.
    chunks, chunk_size : int or tuple, optional
        How many samples each chunk has.

    Returns
    -------
    tuple
        The tensor of samples, the tensor of their centres' numbers, and maybe the centres.

    Examples
    --------
    >>> from marsdask.learn.datasets import make_blobs
    >>> X, y = make_blobs(6, centers=2, random_state=0, chunk_size=2)
    >>> X.shape, np.bincount(y.compute())
    ((6, 2), array([3, 3]))
    """
    draws = Draws(random_state)
    counts = list(n_samples) if isinstance(n_samples, Iterable) else None
    # scikit-learn checks the parameters and draws the centres: of one sample each.
    _, _, centers = datasets.make_blobs(
        min(n_samples, 1) if counts is None else [1] * len(counts),
        n_features,
        centers=centers,
        cluster_std=cluster_std,
        center_box=center_box,
        shuffle=shuffle,
        random_state=draws.generator,
        return_centers=True,
    )
    if counts is None:
        part, remainder = divmod(n_samples, len(centers))
        counts = [part + (place < remainder) for place in range(len(centers))]
    spread = np.broadcast_to(np.asarray(cluster_std, float), len(centers))
    dealing = draws.dealing(counts, shuffle=shuffle)
    result = _blobs(draws, dealing, np.asarray(centers), spread, (chunks, chunk_size))
    return (*result, centers) if return_centers else result


def _blobs(
    draws: Draws, dealing: Dealing, centers: Any, spread: Any, chunks: tuple[Any, Any]
) -> tuple[Tensor, Tensor]:
    samples, width = dealing.ends[-1], centers.shape[1]
    sizes = row_sizes(samples, width, *chunks)
    places = arange.node(samples, chunk_size=(sizes,))
    noise = draws.lazy.standard_normal((samples, width), chunk_size=(sizes, -1)).node
    how = {"dealing": dealing, "centers": centers, "spread": spread}
    X = RowMap(around, (places, noise), np.dtype(np.float64), width, how)
    y = RowMap(groups, (places,), np.dtype(np.int64), None, {"dealing": dealing})
    return collect(X), collect(y)


@kernel(scratch=2.0)
def around(places: Any, noise: Any, *, dealing: Dealing, centers: Any, spread: Any) -> Any:
    """Return samples around their centres."""
    clusters = dealing(places)
    return centers[clusters] + spread[clusters, np.newaxis] * noise


def groups(places: Any, *, dealing: Dealing) -> Any:
    """Return the groups of samples."""
    return dealing(places)
