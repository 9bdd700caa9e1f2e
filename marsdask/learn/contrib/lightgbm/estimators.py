"""LightGBM's estimators over lazy samples."""

from __future__ import annotations

from typing import Any, Self

import lightgbm
import numpy as np
import pandas as pd
from sklearn.utils import column_or_1d, compute_sample_weight

from marsdask.core.collection import collect
from marsdask.core.node import Node
from marsdask.core.sizes import numbers
from marsdask.learn.contrib.boosting import (
    BoostedTrees,
    beside,
    check_supported,
    held_samples,
    in_memory,
    pairs,
    pairs_of_dask,
    session_client,
    whole_samples,
)
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import check_lengths
from marsdask.tensor import tensor
from marsdask.tensor.operands import as_node
from marsdask.tensor.sparse.blocks import dense, is_sparse

from .dataset import dataset, held_rows
from .predicting import OfMatrices

#: Arguments of LightGBM's own fit that lazy samples may have.
_SUPPORTED = ("group", "eval_set", "eval_names", "eval_metric", "callbacks")


class LightGBMTrees(BoostedTrees):
    """The parts that the classes have in common."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, init_score: Any = None, **kwargs: Any
    ) -> Self:
        """Learn the trees. See lightgbm.LGBMModel.fit.

        Parameters
        ----------
        X : array_like or frame
            The samples.
        y : array_like
            Their targets, which are brought to this process.
        sample_weight, init_score : array_like, optional
            The weight of each, and the prediction from which to start.
        **kwargs
            Other arguments of LightGBM's method. Lazy samples may have ``group``, ``eval_set``,
            ``eval_names``, ``eval_metric`` and ``callbacks``.

        Returns
        -------
        Self
            This estimator.

        Raises
        ------
        NotImplementedError
            If lazy samples come with other arguments, or in this process with a function as
            ``eval_metric`` or ``objective``.
        """
        if not is_lazy(X):
            kwargs = {name: in_memory(item) for name, item in kwargs.items()}
            super().fit(  # type: ignore[misc]
                X, y, sample_weight=sample_weight, init_score=init_score, **kwargs
            )
            return self
        check_supported("lightgbm", kwargs, _SUPPORTED)
        client = session_client()
        if client is None:
            self._fit_here(X, y, sample_weight, init_score, **kwargs)
        else:
            self._fit_on(client, X, y, sample_weight, init_score, **kwargs)
        return self

    def _fit_here(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        init_score: Any,
        *,
        group: Any = None,
        eval_set: Any = None,
        eval_names: Any = None,
        eval_metric: Any = None,
        callbacks: Any = None,
    ) -> None:
        """Learn in this process. A plain twin that has seen a few samples tells the parameters."""
        _check_names(eval_metric=eval_metric, objective=self._given().get("objective"))
        rows, labels = held_rows(X), _targets(y)
        start, group = in_memory(init_score), in_memory(group)
        weight = self._weights(labels, in_memory(sample_weight))
        lengths = (as_node(np.asarray(data)) for data in (labels, weight) if data is not None)
        check_lengths(rows, *lengths)
        names = _names(X)
        twin = self._of_few(rows, labels, names, group is not None, eval_metric)
        params = {**twin.booster_.params, "verbose": self._given().get("verbose", 1)}
        params.pop("num_iterations", None)
        # Beside rows on demand LightGBM drops features that could be split.
        params["feature_pre_filter"] = False
        classes = twin.classes_ if isinstance(twin, lightgbm.LGBMClassifier) else None
        how = {"weight": weight, "init_score": start, "group": group, "params": params}
        train = dataset(rows, names, label=_codes(labels, classes), **how)
        valid_sets = []
        for data, targets in pairs(eval_set):
            if data is X and targets is y:
                valid_sets.append(train)
                continue
            codes = _codes(_targets(targets), classes)
            # Beside weighted samples LightGBM takes missing weights, and ones, for zeros.
            equal = None if weight is None else np.full(len(codes), 2.0)
            how = {"label": codes, "weight": equal, "params": params, "reference": train}
            valid_sets.append(dataset(held_rows(data), names, **how))
        how = {"valid_sets": valid_sets, "valid_names": eval_names}
        self._train(twin, params, train, callbacks=list(callbacks or ()), **how)
        self._take(twin)

    def _weights(self, labels: Any, weight: Any) -> Any:
        """Return the weights of samples and of their classes."""
        if weight is not None and np.ndim(weight) != 1:
            raise ValueError("Sample weights must be 1D array or scalar")
        if (of_classes := self._given()["class_weight"]) is None:
            return weight
        by_class = compute_sample_weight(of_classes, labels)
        return by_class if weight is None else weight * by_class

    def _train(self, twin: Any, params: Any, train: Any, callbacks: list[Any], **how: Any) -> None:
        """Give a plain twin the real trees, and what LightGBM's own ``fit`` keeps of them."""
        history: dict[str, Any] = {}
        twin._Booster = lightgbm.train(
            params,
            train,
            num_boost_round=self._given()["n_estimators"],
            callbacks=[*callbacks, lightgbm.record_evaluation(history)],
            **how,
        )
        twin._evals_result = history
        twin._best_iteration = twin.booster_.best_iteration
        twin._best_score = twin.booster_.best_score
        twin._class_weight = self._given()["class_weight"]

    def _given(self) -> dict[str, Any]:
        params: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]
        return params

    def _of_few(self, rows: Node, labels: Any, names: Any, ranks: bool, metric: Any) -> Any:
        """Return LightGBM's own estimator after one tree of a few samples of all targets."""
        (count,) = numbers(rows.shape[:1])
        places = np.arange(min(count, 2))
        if isinstance(self, lightgbm.LGBMClassifier):
            _, first = np.unique(labels, return_index=True)
            places = np.union1d(places, first)
        elif count and not ranks:  # some objectives refuse targets that are all zero
            places = np.union1d(places, [labels.argmin(), labels.argmax()])
        few: Any = np.asarray(dense(collect(rows)[places].compute()))
        few = pd.DataFrame(few, columns=names) if isinstance(names, list) else few
        twin = self.to_sklearn()
        twin.set_params(n_estimators=1, verbose=-1, class_weight=None)
        how = {"group": [len(places)]} if ranks else {}
        return twin.fit(few, labels[places], eval_metric=metric, **how)

    def _fit_on(
        self, client: Any, X: Any, y: Any, sample_weight: Any, init_score: Any, **kwargs: Any
    ) -> None:
        """Learn by LightGBM's Dask interface, from the session's Futures."""
        samples = whole_samples(X if isinstance(X.node.meta, pd.DataFrame) else _dense(X))
        if (group := kwargs.pop("group", None)) is not None:
            samples, kwargs["group"] = whole_groups(samples, in_memory(group))
        twin = self._of_dask(**self._given())
        twin.client = client
        own = {"sample_weight": sample_weight, "init_score": init_score}
        how = {name: beside(item, samples) for name, item in own.items()}
        evaluated = pairs_of_dask(pairs(kwargs.pop("eval_set", None)), X, samples)
        twin.fit(samples.to_dask(), beside(y, samples), eval_set=evaluated, **how, **kwargs)
        self._take(twin.to_local())

    def _take(self, twin: Any) -> None:
        """Have learnt what a plain estimator has."""
        names = {name for name in vars(twin) if "_" in (name[0], name[-1])} - {"_other_params"}
        vars(self).update({name: vars(twin)[name] for name in names})

    def _plain(self) -> Any:
        return OfMatrices(self.to_sklearn())


def _dense(X: Any) -> Any:
    if is_sparse(X.node.meta):
        raise NotImplementedError(
            "sparse samples are not supported on a distributed.Client, where lightgbm.dask does "
            "not take them; use a session without one"
        )
    return collect(as_node(X))


def whole_groups(samples: Any, group: Any) -> tuple[Any, Any]:
    """Return samples in chunks of whole groups, and the groups' sizes cut in the same way.

    A chunk ends where the group ends in which it ended.
    """
    sizes = np.asarray(group)
    ends = np.cumsum(sizes)
    if not len(ends) or ends[-1] != samples.shape[0]:
        raise ValueError(
            f"the sizes of groups add up to {ends[-1] if len(ends) else 0}, but there are "
            f"{samples.shape[0]} samples"
        )
    chunk_ends = np.cumsum(numbers(samples.node.chunks[0]))
    last = np.unique(np.searchsorted(ends, chunk_ends[chunk_ends > 0]))
    rows = tuple(np.diff(ends[last], prepend=0).tolist())
    is_frame = isinstance(samples.node.meta, pd.DataFrame)
    result = samples.rechunk(rows if is_frame else {0: rows})
    counts = tuple(np.diff(last, prepend=-1).tolist())
    return held_samples(result), held_samples(tensor(sizes, chunks=(counts,))).to_dask()


def _targets(y: Any) -> Any:
    """Return the targets of samples in memory; the errors are scikit-learn's."""
    if y is None:
        raise ValueError("LightGBM requires y to be passed, but the target y is None")
    return np.asarray(column_or_1d(in_memory(y), warn=True))


def _names(X: Any) -> Any:
    """Return the names of the columns of lazy samples as LightGBM takes them."""
    meta = X.node.meta
    return list(map(str, meta.columns)) if isinstance(meta, pd.DataFrame) else "auto"


def _codes(labels: Any, classes: Any) -> Any:
    """Return the numbers that LightGBM learns for labels."""
    if classes is None:
        return labels
    codes = np.searchsorted(classes, labels)
    unseen = classes.take(codes, mode="clip") != labels
    if unseen.any():
        raise ValueError(f"y contains previously unseen labels: {np.unique(labels[unseen])}")
    return codes


def _check_names(**options: Any) -> None:
    """Refuse functions where LightGBM also takes names."""
    for name, item in options.items():
        if any(map(callable, item if isinstance(item, list | tuple) else [item])):
            raise NotImplementedError(
                f"a callable {name} is not supported with lazy samples; give the name of one of "
                "LightGBM's, or compute() the samples"
            )


class LGBMRegressor(LightGBMTrees, lightgbm.LGBMRegressor):
    """Regression by LightGBM. See lightgbm.LGBMRegressor.

    Differs from LightGBM: takes tensors and frames of numbers. On a session with a
    ``distributed.Client`` it learns by ``lightgbm.dask``; else in this process, to which one run of
    rows after the other is brought; sparse rows are made dense as many at a time.

    Examples
    --------
    >>> from marsdask.learn.contrib.lightgbm import LGBMRegressor
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = LGBMRegressor(min_child_samples=1, min_data_in_bin=1, verbose=-1)
    >>> model.fit(X, [0.0, 0.0, 4.0, 4.0]).predict(X).compute().round(1).tolist()
    [0.0, 0.0, 4.0, 4.0]
    """

    def _of_dask(self, **params: Any) -> Any:
        return lightgbm.DaskLGBMRegressor(**params)


class LGBMClassifier(LightGBMTrees, lightgbm.LGBMClassifier):
    """Classification by LightGBM. See lightgbm.LGBMClassifier.

    Differs from LightGBM: takes tensors and frames of numbers. On a session with a
    ``distributed.Client`` it learns by ``lightgbm.dask``; else in this process, to which one run of
    rows after the other is brought; sparse rows are made dense as many at a time.

    Examples
    --------
    >>> from marsdask.learn.contrib.lightgbm import LGBMClassifier
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = LGBMClassifier(min_child_samples=1, min_data_in_bin=1, verbose=-1)
    >>> model.fit(X, ["a", "a", "b", "b"]).predict(X).compute().tolist()
    ['a', 'a', 'b', 'b']
    """

    def _of_dask(self, **params: Any) -> Any:
        return lightgbm.DaskLGBMClassifier(**params)


class LGBMRanker(LightGBMTrees, lightgbm.LGBMRanker):
    """Ranking by LightGBM. See lightgbm.LGBMRanker.

    Differs from LightGBM: takes tensors and frames of numbers. On a session with a
    ``distributed.Client`` it learns by ``lightgbm.dask``, from chunks of whole groups; else in this
    process, to which one run of rows after the other is brought; sparse rows are made dense as
    many at a time.

    Examples
    --------
    >>> from marsdask.learn.contrib.lightgbm import LGBMRanker
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> model = LGBMRanker(min_child_samples=1, verbose=-1).fit(X, [0, 1, 0, 1], group=[2, 2])
    >>> model.predict(X).shape
    (4,)
    """

    def _of_dask(self, **params: Any) -> Any:
        return lightgbm.DaskLGBMRanker(**params)
