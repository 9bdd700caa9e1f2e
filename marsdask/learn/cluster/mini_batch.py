"""k-means by small batches of samples, drawn from one chunk after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import cpu_count
from scipy.sparse import issparse
from sklearn import cluster
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import check_array, check_random_state

from marsdask.core.collection import collect
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.batches import held_runs, runs, take_over
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import as_weights, check_weights, held, rowwise
from marsdask.learn.sparse import column_moments, narrow
from marsdask.tensor.operands import as_node

from . import lloyd
from .kmeans import CentersEstimator, checked_centers, given_centers, judge, score_of, starts

#: Rows of a run from which batches are drawn, in batches.
BATCHES = 8


class Progress(NamedTuple):
    """The smoothed inertia of batches, its minimum, and for how many batches it has not fallen."""

    smooth: float | None = None
    least: float | None = None
    waited: int = 0

    def after(self, inertia: float, share: float) -> Progress:
        """Return the progress after a batch whose share of all samples is given."""
        smooth = inertia if self.smooth is None else self.smooth + share * (inertia - self.smooth)
        if self.least is None or smooth < self.least:
            return Progress(smooth, smooth, 0)
        return Progress(smooth, self.least, self.waited + 1)


class MiniBatchKMeans(CentersEstimator, cluster.MiniBatchKMeans):
    """Cluster samples by small batches of them. See sklearn.cluster.MiniBatchKMeans.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit; ``labels_`` is then a tensor. Batches are drawn from one run of at least eight batches
    after the other, in as many draws as the run has a share of all weights. Of one chunk they are
    scikit-learn's. ``partial_fit`` takes each chunk as a batch.

    Examples
    --------
    >>> from marsdask.learn.cluster import MiniBatchKMeans
    >>> X = mt.tensor([[0.0], [0.0], [9.0], [9.0]], chunk_size=2)
    >>> model = MiniBatchKMeans(2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.0, 9.0]
    """

    cluster_centers_: Any
    n_features_in_: int
    inertia_: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centres."""
        self._validate_params()
        if not is_lazy(X):
            super().fit(X, sample_weight=sample_weight)
            return self
        rows = self._samples(X, reset=True)
        start = given_centers(self, rows.meta.dtype)
        rows, weight = held(rows, as_weights(sample_weight, rows))
        (samples,) = numbers(rows.shape[:1])
        if samples < self.n_clusters:
            raise ValueError(f"n_samples={samples} should be >= n_clusters={self.n_clusters}.")
        total = float(samples if weight is None else collect(weight).sum().compute())
        check_weights(total)
        state = check_random_state(self.random_state)
        twin = self._twin_of_arrays()
        twin.random_state = twin._random_state = state
        batch = min(self.batch_size, samples)
        self._prepare(twin, self._seeds(rows, weight, start, state), rows.meta.dtype, batch)
        steps = (self.max_iter * samples) // batch
        batches = _drawn(rows, weight, total, batch, steps, state)
        smooth = self._descend(twin, batches, batch, samples, self._tolerance(rows))
        twin.n_iter_ = int(np.ceil(twin.n_steps_ * batch / samples))
        self._learn(twin, rows, weight, smooth * total)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more samples; each chunk of lazy ones is a batch."""
        self._validate_params()
        if not is_lazy(X):
            super().partial_fit(X, sample_weight=sample_weight)
            return self
        rows = self._samples(X, reset="cluster_centers_" not in vars(self))
        rows, weight = held(rows, as_weights(sample_weight, rows))
        twin = self._twin_of_arrays()
        twin.compute_labels = False
        for block, _, part in held_runs(self, rows, None, weight):
            if part is None or part.any():
                twin.partial_fit(block, sample_weight=part)
        self._learn(twin, rows, weight, None)
        return self

    def _prepare(self, twin: Any, centers: Any, dtype: Any, batch: int) -> None:
        """Give a twin the centres to begin with, as scikit-learn's own fit does."""
        twin.compute_labels = False
        twin.cluster_centers_ = np.array(centers, dtype, order="C")
        twin.n_features_in_ = self.n_features_in_
        twin._counts = np.zeros(self.n_clusters, dtype)
        twin._n_since_last_reassign = twin.n_steps_ = 0
        twin._batch_size, twin._n_threads = batch, cpu_count()

    def _seeds(self, rows: Node, weight: Node | None, start: Any, state: Any) -> Any:
        """Return the best of several starts; each is chosen among a few samples."""
        (samples,) = numbers(rows.shape[:1])
        size = self.init_size or 3 * min(self.batch_size, samples)
        size = min(3 * self.n_clusters if size < self.n_clusters else size, samples)
        few, w = _take(rows, weight, state.randint(0, samples, size))
        best, least = None, np.inf
        for _ in range(starts(self, 3)):
            places = state.randint(0, samples, size) if size < samples else np.arange(samples)
            centers = start
            if start is None:
                centers = self._chosen(*_take(rows, weight, places), state)
            inertia = w @ lloyd.squared_distances(few, np.asarray(centers, float)).min(axis=1)
            if inertia < least:
                best, least = centers, inertia
        return best

    def _chosen(self, few: Any, weight: Any, state: Any) -> Any:
        if callable(self.init):
            centers = self.init(few, self.n_clusters, random_state=state)
            return checked_centers(self, check_array(centers, dtype=few.dtype))
        if self.init == "random":
            share = weight / weight.sum()
            centers = few[state.choice(len(weight), self.n_clusters, replace=False, p=share)]
        else:
            centers, _ = kmeans_plusplus(
                few, self.n_clusters, sample_weight=weight, random_state=state
            )
        return centers.toarray() if issparse(centers) else centers

    def _tolerance(self, rows: Node) -> float:
        if not self.tol:
            return 0.0
        moments = column_moments(rows)
        return float(self.tol * np.mean(moments.products / moments.count))

    def _descend(
        self, twin: Any, drawn: Iterator[Any], batch: int, samples: int, tol: float
    ) -> float:
        """Learn from batches until nothing is gained; return their smoothed inertia."""
        progress = Progress()
        share = min(1.0, 2.0 * batch / (samples + 1))
        for block in drawn:
            before = twin.cluster_centers_.copy()
            inertia = lloyd.squared_distances(block, before.astype(float)).min(axis=1).sum()
            twin.partial_fit(block)
            if twin.n_steps_ == 1:
                continue  # the inertia of the start
            progress = progress.after(float(inertia) / batch, share)
            if tol and np.square(twin.cluster_centers_ - before).sum() <= tol:
                break
            if self.max_no_improvement is not None and progress.waited >= self.max_no_improvement:
                break
        return progress.smooth or 0.0

    def _learn(self, twin: Any, rows: Node, weight: Node | None, inertia: float | None) -> None:
        take_over(self, twin)
        self._n_features_out = self.n_clusters
        if inertia is not None:
            self.inertia_ = inertia
        if self.compute_labels:
            centers = self.cluster_centers_.astype(np.float64)
            self.labels_ = rowwise(lloyd.labels, rows, dtype=np.int32, centers=centers)
            self.inertia_, _ = judge(rows, self.labels_, weight, centers)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of the squared distances from the centres."""
        if is_lazy(X):
            return score_of(self, X, sample_weight)
        return float(super().score(X, sample_weight=sample_weight))


def _take(rows: Node, weight: Node | None, positions: Any) -> tuple[Any, Any]:
    """Return samples in memory, and their weights."""
    few = collect(as_node(collect(rows)[positions], sparse=True)).compute()
    w = np.ones(len(positions)) if weight is None else collect(weight)[positions].compute()
    return narrow(few) if issparse(few) else few, w


def _drawn(
    rows: Node, weight: Node | None, total: float, batch: int, steps: int, state: Any
) -> Iterator[Any]:
    """Draw batches from one run after the other, each as often as its weights are a share."""
    (samples,) = numbers(rows.shape[:1])
    count, progress = 0, 0.0
    while count < steps:
        weights = None if weight is None else collect(weight)
        for block, part in runs(collect(rows), weights, least=BATCHES * batch):
            w = np.ones(block.shape[0]) if part is None else part
            mass = float(w.sum())
            progress += mass
            due = min(steps, int(progress / total * samples / batch + 1e-9))
            for _ in range(count, due if mass else count):
                yield block[state.choice(len(w), batch, p=w / mass)]
            count = max(count, due)
