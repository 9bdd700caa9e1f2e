"""Principal components batch by batch, in the order of the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn import decomposition
from sklearn.utils import gen_batches

from marsdask.learn.base import RowsEstimator
from marsdask.learn.batches import HeldRuns, held_runs, take_over
from marsdask.learn.lazy import is_lazy
from marsdask.tensor.sparse.blocks import is_sparse


class IncrementalPCA(RowsEstimator, decomposition.IncrementalPCA):
    """Find components batch by batch. See sklearn.decomposition.IncrementalPCA.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. The batches are those of scikit-learn, whatever the chunks; only one of them is dense
    if samples are sparse. ``partial_fit`` takes each chunk of lazy samples as a batch. ``PCA``
    finds exact components in one pass.

    Examples
    --------
    >>> from marsdask.learn.decomposition import IncrementalPCA
    >>> X = mt.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], chunk_size=2)
    >>> IncrementalPCA(n_components=1, batch_size=2).fit(X).components_.round(4).tolist()
    [[0.7071, 0.7071]]
    """

    _takes_sparse = True
    components_: Any
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components."""
        self._validate_params()
        if not is_lazy(X):
            super().fit(X)
            return self
        samples = held_runs(self, self._samples(X, reset=True))
        twin = decomposition.IncrementalPCA(**self.get_params(deep=False))
        twin.batch_size_ = self.batch_size or 5 * self.n_features_in_
        slices = gen_batches(samples.count, twin.batch_size_, min_batch_size=self.n_components or 0)
        for batch in _batches(samples, slices):
            twin.partial_fit(batch)
        take_over(self, twin)
        return self

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Learn from more samples; each chunk of lazy ones is a batch."""
        self._validate_params()
        if not is_lazy(X):
            super().partial_fit(X, check_input=check_input)
            return self
        rows = self._samples(X, reset="components_" not in vars(self))
        if is_sparse(rows.meta):
            raise TypeError(
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data to "
                "dense or use IncrementalPCA.fit to do so in batches."
            )
        twin = self._twin_of_arrays()
        for block, *_ in held_runs(self, rows):
            twin.partial_fit(block)
        take_over(self, twin)
        return self


def _batches(samples: HeldRuns, slices: Iterator[slice]) -> Iterator[Any]:
    """Return the rows of each slice as an array; they follow each other without gaps."""
    chunks = iter(samples)
    blocks: list[Any] = []
    for rows in slices:
        count = rows.stop - rows.start
        while sum(part.shape[0] for part in blocks) < count:
            blocks.append(next(chunks)[0])
        block = blocks[0] if len(blocks) == 1 else _joined(blocks)
        batch = block[:count]
        blocks = [block[count:]]
        yield batch.toarray() if issparse(batch) else batch


def _joined(parts: list[Any]) -> Any:
    return vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)
