"""Metrics of scikit-learn over lazy targets: few values of all samples, then its own function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

from sklearn import metrics

from marsdask.core.collection import collect, compute
from marsdask.core.node import Node
from marsdask.learn.fitted_values import executed_as_mars, known, plain
from marsdask.learn.lazy import adopted, is_lazy, running

from .operands import as_operand, as_weight, consistent

#: What a metric is called with are scikit-learn's arguments.
Metric = Callable[..., Any]

#: The arguments of metrics that have a row for each sample, besides the weights.
COLUMNS = ("y_true", "y_pred", "y_score", "y_proba", "pred_decision", "y1", "y2", "x", "y")


class MetricCall(NamedTuple):
    """A call of a metric: the function, its columns, their weights, and the other arguments."""

    function: Callable[..., Any]
    columns: Mapping[str, Node]
    weight: Node | None
    options: Mapping[str, Any]

    def of(self, *columns: Any, weight: Any = None, **options: Any) -> Any:
        """Call scikit-learn's function with other columns and weights."""
        arguments = dict(zip(self.columns, columns, strict=True)) | dict(self.options) | options
        return self.function(**arguments, **({} if weight is None else {"sample_weight": weight}))


def metric(name: str, way: Callable[[MetricCall], Any], summary: str) -> Metric:
    """Return scikit-learn's metric of this name, with lazy columns calculated by ``way``."""
    theirs = getattr(metrics, name)
    signature = inspect.signature(theirs)

    @executed_as_mars
    @wraps(theirs)
    def face(*args: Any, session: Any = None, run_kwargs: Any = None, **kwargs: Any) -> Any:
        binding = signature.bind(*map(adopted, args), **{k: adopted(v) for k, v in kwargs.items()})
        with running(session, run_kwargs):
            if not any(map(is_lazy, binding.arguments.values())):
                return answering(theirs(*binding.args, **binding.kwargs))
            return answering(way(_call(theirs, binding.arguments)))

    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in ("session", "run_kwargs")
    ]
    parameters = [*signature.parameters.values(), *extra]
    face.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    face.__doc__ = (
        f"{summary} See sklearn.metrics.{name}.\n\nFor lazy columns: {inspect.getdoc(way)}"
    )
    face.__module__ = way.__module__
    del face.__wrapped__
    return face


def _call(theirs: Callable[..., Any], arguments: Mapping[str, Any]) -> MetricCall:
    """Separate the columns and weights of a call from its other arguments."""
    names = [name for name in COLUMNS if name in arguments and not isinstance(arguments[name], str)]
    weight = arguments.get("sample_weight")
    nodes = [as_operand(arguments[name]) for name in names]
    nodes += [] if weight is None else [as_weight(weight)]
    consistent(nodes)
    options = {
        name: plain(item)
        for name, item in arguments.items()
        if name not in {*names, "sample_weight"}
    }
    columns = dict(zip(names, nodes[: len(names)], strict=True))
    return MetricCall(theirs, columns, None if weight is None else nodes[-1], options)


def answering(result: Any) -> Any:
    """Return a result whose numbers and arrays answer ``execute`` and ``fetch``."""
    if isinstance(result, tuple):
        return tuple(map(known, result))
    return known(result)


def gathered(call: MetricCall) -> Any:
    """Bring all values into one place."""
    nodes = [*call.columns.values(), *([] if call.weight is None else [call.weight])]
    values = compute(*map(collect, nodes))
    count = len(call.columns)
    return call.of(*values[:count], weight=None if call.weight is None else values[-1])
