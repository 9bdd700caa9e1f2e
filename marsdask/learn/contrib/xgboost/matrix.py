"""Samples with what goes with them, as XGBoost takes them: chunk by chunk, or as Futures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from xgboost import dask as xgboost_dask

from marsdask.learn.batches import runs
from marsdask.learn.contrib.boosting import beside, held_samples, in_memory, whole_samples
from marsdask.learn.lazy import adopted, is_lazy
from marsdask.learn.rows import check_lengths
from marsdask.tensor.operands import as_node

#: What each sample may have besides features.
PARTS = ("label", "weight", "base_margin")


class ChunkIterator(xgboost.DataIter):
    """Gives XGBoost the rows of one chunk after the other, in each of its passes."""

    def __init__(self, samples: Any, parts: dict[str, Any], names: dict[str, Any]) -> None:
        self._samples = samples
        self._parts = parts
        self._names = names
        self._chunks: Iterator[tuple[Any, ...]] = iter(())
        super().__init__()

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Pass on the next chunk; tell whether there was one."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        block, *tail = chunk
        input_data(data=block, **dict(zip(self._parts, tail, strict=True)), **self._names)
        return True

    def reset(self) -> None:
        """Begin with the first chunk again."""
        self._chunks = runs(self._samples, *self._parts.values())


def quantile_matrix(data: Any, parts: dict[str, Any], names: dict[str, Any], **how: Any) -> Any:
    """Return XGBoost's matrix of the quantiles of lazy samples."""
    samples = held_samples(data)
    there = {name: in_memory(item) for name, item in parts.items() if item is not None}
    check_lengths(samples.node, *(as_node(np.asarray(item)) for item in there.values()))
    return xgboost.QuantileDMatrix(ChunkIterator(samples, there, names), **how)


class MarsDMatrix:
    """Samples, targets and weights for :func:`train`. See xgboost.QuantileDMatrix.

    Differs from XGBoost: takes tensors and frames. Their quantiles are found chunk by chunk, and
    only the histogram method learns from them. In this process the targets are in memory, and the
    features as bins, of mostly one byte each.

    Parameters
    ----------
    data : array_like or frame
        The samples.
    label : array_like, optional
        Their targets.
    missing : float, optional
        What stands for a missing value; by default nan.
    weight : array_like, optional
        The weight of each sample.
    base_margin : array_like, optional
        The prediction from which to start.
    feature_names, feature_types : list of str, optional
        What the features are.

    Examples
    --------
    >>> from marsdask.learn.contrib.xgboost import MarsDMatrix, train
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> train({}, MarsDMatrix(X, [0, 0, 1, 1]), num_boost_round=2).num_boosted_rounds()
    2
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        missing: float | None = None,
        weight: Any = None,
        base_margin: Any = None,
        feature_names: Any = None,
        feature_types: Any = None,
    ) -> None:
        self.data = adopted(data)
        self.missing = np.nan if missing is None else missing
        self.feature_names = feature_names
        self.feature_types = feature_types
        self._parts = dict(zip(PARTS, map(adopted, (label, weight, base_margin)), strict=True))

    def _names(self) -> dict[str, Any]:
        return {"feature_names": self.feature_names, "feature_types": self.feature_types}

    def local(self, ref: Any = None, max_bin: int | None = None) -> Any:
        """Return the matrix of XGBoost in this process.

        Parameters
        ----------
        ref : xgboost.DMatrix, optional
            The matrix whose bins it takes: that of the samples to learn from.
        max_bin : int, optional
            How many bins a feature has.

        Returns
        -------
        xgboost.DMatrix
            The matrix.

        Examples
        --------
        >>> from marsdask.learn.contrib.xgboost import MarsDMatrix
        >>> MarsDMatrix(mt.ones((4, 2), chunk_size=3)).local().num_row()
        4
        """
        if is_lazy(self.data):
            how = {"ref": ref, "max_bin": max_bin, "missing": self.missing}
            how["enable_categorical"] = isinstance(self.data.node.meta, pd.DataFrame)
            return quantile_matrix(self.data, self._parts, self._names(), **how)
        parts = {name: in_memory(item) for name, item in self._parts.items()}
        how = {"missing": self.missing, **parts, **self._names()}
        how["enable_categorical"] = isinstance(self.data, pd.DataFrame)
        return xgboost.DMatrix(self.data, **how)

    def on_cluster(self, client: Any, ref: Any = None, max_bin: int | None = None) -> Any:
        """Return the matrix of XGBoost's Dask interface over the session's Futures.

        Parameters
        ----------
        client : distributed.Client
            The client of the session.
        ref : xgboost.dask.DaskDMatrix, optional
            The matrix whose bins it takes.
        max_bin : int, optional
            How many bins a feature has.

        Returns
        -------
        xgboost.dask.DaskQuantileDMatrix
            The matrix.

        Examples
        --------
        >>> from marsdask.learn.contrib.xgboost import MarsDMatrix
        >>> with marsdask.new_session(client):  # doctest: +SKIP
        ...     MarsDMatrix(mt.ones((4, 2))).on_cluster(client)
        """
        samples = whole_samples(self.data)
        parts = {name: beside(item, samples) for name, item in self._parts.items()}
        how = {"ref": ref, "max_bin": max_bin, "missing": self.missing, **self._names()}
        how["enable_categorical"] = isinstance(samples.node.meta, pd.DataFrame)
        return xgboost_dask.DaskQuantileDMatrix(client, samples.to_dask(), **parts, **how)
