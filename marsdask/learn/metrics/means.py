"""Metrics that are means over the samples: scikit-learn's of each run, weighted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.learn.rows import fold

from .contingency import merge_pairs, pairs
from .metric import MetricCall, gathered


@kernel(scratch=3.0)
def run_mean(
    *blocks: Any,
    function: Callable[..., Any],
    names: Sequence[str],
    options: Mapping[str, Any],
    classes: Any = None,
) -> tuple[float, Any]:
    """Return the weight of a run of samples, and a metric of it; ``names`` are the blocks'.

    Some metrics see no other ``classes`` than those of the run: one sample without weight has each.
    """
    if not len(blocks[0]):
        return 0.0, None
    columns = dict(zip(names, blocks, strict=True))
    weight = columns.pop("sample_weight", None)
    total = float(len(blocks[0]) if weight is None else weight.sum())
    if classes is not None:
        weight = np.ones(len(blocks[0])) if weight is None else weight
        weight = np.concatenate([weight, np.zeros(len(classes))])
        columns = _with_classes(columns, classes)
    if weight is not None:
        columns["sample_weight"] = weight
    return (total, function(**columns, **options)) if total else (0.0, None)


def _with_classes(columns: Mapping[str, Any], classes: Any) -> dict[str, Any]:
    """Return targets and scores with a sample of each class at their end."""
    (target, true), (score, scores) = columns.items()
    true = true.reshape(-1)
    more = np.repeat(scores[:1], len(classes), axis=0)
    return {target: np.concatenate([true, classes]), score: np.concatenate([scores, more])}


def merge_means(a: tuple[float, Any], b: tuple[float, Any]) -> tuple[float, Any]:
    """Return the weighted mean of both."""
    if not a[0] or not b[0]:
        return a if a[0] else b
    total = a[0] + b[0]
    return total, a[1] + (b[1] - a[1]) * (b[0] / total)


def merge_largest(a: tuple[float, Any], b: tuple[float, Any]) -> tuple[float, Any]:
    """Return the larger of both."""
    if not a[0] or not b[0]:
        return a if a[0] else b
    return a[0] + b[0], np.maximum(a[1], b[1])


def over_runs(
    call: MetricCall,
    merge: Callable[[Any, Any], Any] = merge_means,
    function: Callable[..., Any] | None = None,
    classes: Any = None,
    **options: Any,
) -> tuple[float, Any]:
    """Compute a metric of each run of samples, with some options changed; merge the results."""
    names = [*call.columns, *([] if call.weight is None else ["sample_weight"])]
    result: tuple[float, Any] = fold(
        run_mean,
        merge,
        *call.columns.values(),
        call.weight,
        nbytes=1024,
        function=function or call.function,
        names=tuple(names),
        options=dict(call.options) | options,
        **({} if classes is None else {"classes": classes}),
    )
    return result


def by_means(call: MetricCall) -> Any:
    """One pass takes the mean of scikit-learn's results of the chunks."""
    total, value = over_runs(call)
    return value if total else gathered(call)


def by_classes(call: MetricCall) -> Any:
    """One pass finds the classes, and one takes the mean of the chunks' results.

    Targets with a column for each class need no pass to find them.
    """
    target = next(iter(call.columns.values()))
    columns = len(target.shape) == 2 and target.shape[1] != 1
    classes = None if columns else distinct(target)
    normalized: dict[str, Any] = {"normalize": True} if "normalize" in call.options else {}
    total, value = over_runs(call, classes=classes, **normalized)
    if not total:
        return gathered(call)
    return value * total if call.options.get("normalize") is False else value


def distinct(column: Node) -> Any:
    """Return the sorted distinct values of a column."""
    table = fold(pairs, merge_pairs, column, column, nbytes=2**16)
    return np.unique(table.first)
