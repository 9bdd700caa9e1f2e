"""Samples of classes that are clusters around the corners of a hypercube."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.utils import Bunch
from sklearn.utils.random import sample_without_replacement

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_call
from marsdask.learn.rows import RowMap
from marsdask.tensor.creation.from_shape import arange

from .draws import Dealing, Draws, row_sizes

#: What is not scikit-learn's to check, or of its own size.
_OWN = ("n_samples", "n_features", "random_state", "return_X_y", "chunks", "chunk_size")


@public_call
def make_classification(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    n_informative: int = 2,
    n_redundant: int = 2,
    n_repeated: int = 0,
    n_classes: int = 2,
    n_clusters_per_class: int = 2,
    weights: Any = None,
    flip_y: float = 0.01,
    class_sep: float = 1.0,
    hypercube: bool = True,
    shift: Any = 0.0,
    scale: Any = 1.0,
    shuffle: bool = True,
    random_state: Any = None,
    return_X_y: bool = True,
    chunks: Any = None,
    chunk_size: Any = None,
) -> Any:
    """Generate samples of classes, as lazy tensors. See sklearn.datasets.make_classification.

    Differs from scikit-learn: another stream. What a ``random_state`` gives does not depend on the
    chunks.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the samples.
    n_informative, n_redundant, n_repeated : int
        How many features tell the class, are sums of these, and are copies.
    n_classes, n_clusters_per_class : int
        The number of classes, and of the places where samples of a class are.
    weights : array_like, optional
        The share of each class.
    flip_y : float
        The share of samples whose class is drawn anew.
    class_sep : float
        How far clusters are from each other.
    hypercube : bool
        Whether clusters are at the corners of a hypercube, or of another polytope.
    shift, scale : float or array_like, optional
        What is added to features, and what they are multiplied by; ``None`` draws it.
    shuffle : bool
        Whether samples and features are mixed.
    random_state : int or RandomState, optional
        The seed.
    return_X_y : bool
        Whether a tuple is wanted, or a Bunch with what features are.
    chunks, chunk_size : int or tuple, optional
        How many samples each chunk has.

    Returns
    -------
    tuple of Tensor or Bunch
        The samples and their classes.

    Examples
    --------
    >>> from marsdask.learn.datasets import make_classification
    >>> X, y = make_classification(100, 5, random_state=0, chunk_size=50)
    >>> X.shape, y.shape
    ((100, 5), (100,))
    """
    options = {name: item for name, item in locals().items() if name not in _OWN}
    draws = Draws(random_state)
    # scikit-learn checks the parameters: of one sample.
    datasets.make_classification(min(n_samples, 1), n_features, random_state=0, **options)
    shape = (n_samples, n_features)
    recipe = _recipe(draws, shape, options)
    X, y = _samples(draws, recipe, shape, (chunks, chunk_size))
    if return_X_y:
        return X, y
    return _bunch(X, y, recipe, options)


def _bunch(X: Any, y: Any, recipe: ClusterRecipe, given: dict[str, Any]) -> Bunch:
    """Return the samples with what their features are."""
    kinds = ("informative", "redundant", "repeated")
    counts = [given[f"n_{kind}"] for kind in kinds]
    names = np.repeat([*kinds, "random"], [*counts, recipe.random])
    return Bunch(
        DESCR=make_classification.__doc__,
        parameters={**given, "n_samples": X.shape[0], "n_features": X.shape[1]},
        feature_info=names[recipe.order].tolist(),
        X=X,
        y=y,
    )


@dataclass(frozen=True)
class ClusterRecipe:
    """The settings that turn random numbers into samples."""

    dealing: Dealing
    classes: int
    flips: float
    corners: Any
    turns: Any
    mixture: Any
    copies: Any
    random: int
    shift: Any
    scale: Any
    order: Any


def _recipe(draws: Draws, shape: tuple[int, int], given: dict[str, Any]) -> ClusterRecipe:
    generator, separation = draws.generator, given["class_sep"]
    samples, width = shape
    informative, redundant = given["n_informative"], given["n_redundant"]
    clusters = given["n_classes"] * given["n_clusters_per_class"]
    corners = 2.0 * separation * _corners(clusters, informative, generator) - separation
    if not given["hypercube"]:
        corners *= generator.uniform(size=(clusters, 1)) * generator.uniform(size=(1, informative))
    useful = informative + redundant
    copies = ((useful - 1) * generator.uniform(size=given["n_repeated"]) + 0.5).astype(np.intp)
    shift, scale = given["shift"], given["scale"]
    if shift is None:
        shift = (2.0 * generator.uniform(size=width) - 1.0) * separation
    if scale is None:
        scale = 1.0 + 100.0 * generator.uniform(size=width)
    return ClusterRecipe(
        dealing=draws.dealing(_counts(samples, given), shuffle=given["shuffle"]),
        classes=given["n_classes"],
        flips=given["flip_y"],
        corners=corners,
        turns=2.0 * generator.uniform(size=(clusters, informative, informative)) - 1.0,
        mixture=2.0 * generator.uniform(size=(informative, redundant)) - 1.0,
        copies=copies,
        random=width - useful - len(copies),
        shift=shift,
        scale=scale,
        order=generator.permutation(width) if given["shuffle"] else np.arange(width),
    )


def _corners(count: int, dimensions: int, generator: Any) -> Any:
    """Return different corners of the unit hypercube."""
    low = min(dimensions, 30)
    numbers = sample_without_replacement(2**low, count, random_state=generator)
    bits = numbers[:, np.newaxis] >> np.arange(low) & 1
    more = generator.randint(2, size=(count, dimensions - low))
    return np.hstack([more, bits]).astype(float)


def _counts(samples: int, given: dict[str, Any]) -> list[int]:
    """Return the number of samples of each cluster; those of a class are so many apart."""
    classes, number = given["n_classes"], given["n_clusters_per_class"]
    weights = given["weights"]
    shares = [1.0 / classes] * classes if weights is None else [float(item) for item in weights]
    if len(shares) < classes:
        shares.append(1.0 - sum(shares))
    counts = [int(samples * shares[place % classes] / number) for place in range(classes * number)]
    for place in range(samples - sum(counts)):
        counts[place % len(counts)] += 1
    return counts


def _samples(
    draws: Draws, recipe: ClusterRecipe, shape: tuple[int, int], chunks: tuple[Any, Any]
) -> tuple[Any, Any]:
    samples, width = shape
    sizes = row_sizes(samples, width, *chunks)
    places = arange.node(samples, chunk_size=(sizes,))
    extent = (samples, recipe.corners.shape[1] + recipe.random)
    noise = draws.lazy.standard_normal(extent, chunk_size=(sizes, -1)).node
    chances = draws.lazy.random((samples, 2), chunk_size=(sizes, -1)).node
    how = {"recipe": recipe}
    X = RowMap(features, (places, noise), np.dtype(np.float64), width, how)
    y = RowMap(labels, (places, chances), np.dtype(np.int64), None, how)
    return collect(X), collect(y)


@kernel(scratch=3.0)
def features(places: Any, noise: Any, *, recipe: ClusterRecipe) -> Any:
    """Return the features of samples."""
    clusters = recipe.dealing(places)
    informative = np.empty((len(places), recipe.corners.shape[1]))
    for cluster, (turn, corner) in enumerate(zip(recipe.turns, recipe.corners, strict=True)):
        rows = clusters == cluster
        informative[rows] = noise[rows, : len(corner)] @ turn + corner
    useful = np.hstack([informative, informative @ recipe.mixture])
    result = np.hstack([useful, useful[:, recipe.copies], noise[:, informative.shape[1] :]])
    result += recipe.shift
    result *= recipe.scale
    return result[:, recipe.order]


def labels(places: Any, chances: Any, *, recipe: ClusterRecipe) -> Any:
    """Return the classes of samples, of which some are drawn anew."""
    classes = (chances[:, 1] * recipe.classes).astype(np.int64)
    return np.where(chances[:, 0] < recipe.flips, classes, recipe.dealing(places) % recipe.classes)
