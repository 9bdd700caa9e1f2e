"""The number of components by Minka's approximate evidence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln

#: The least variance that is not taken for noise, as in scikit-learn.
LEAST = 1e-15


def infer_dimension(variances: Any, samples: int) -> int:
    """Return the most probable number of components for these variances.

    T. Minka, "Automatic choice of dimensionality for PCA", NIPS 2000, equation 77.
    """
    ranks = range(1, len(variances))
    evidence = [-math.inf, *(_evidence(variances, rank, samples) for rank in ranks)]
    return int(np.argmax(evidence))


def _evidence(variances: Any, rank: int, samples: int) -> float:
    """Return the logarithm of the evidence for ``rank`` components."""
    columns = len(variances)
    signal, tail = variances[:rank], variances[rank:]
    if signal[-1] < max(LEAST, np.finfo(variances.dtype).eps * variances[0]):
        return -math.inf
    noise = max(float(tail.mean()), LEAST)
    halves = (columns - np.arange(rank)) / 2
    prior = float((gammaln(halves) - halves * math.log(math.pi)).sum()) - rank * math.log(2)
    fit = -samples / 2 * float(np.log(signal).sum() + (columns - rank) * math.log(noise))
    parameters = columns * rank - rank * (rank + 1) / 2
    # The volume around the maximum: pairs of a component and any later direction.
    shrunk = np.concatenate([signal, np.full(columns - rank, noise)])
    i, j = np.triu_indices(columns, 1)
    i, j = i[i < rank], j[i < rank]
    curvature = np.log((1 / shrunk[j] - 1 / shrunk[i]) * (variances[i] - variances[j]))
    volume = float(curvature.sum()) + len(i) * math.log(samples)
    return (
        prior
        + fit
        + (parameters + rank) / 2 * math.log(2 * math.pi)
        - volume / 2
        - rank / 2 * math.log(samples)
    )
