"""Covariances and correlations of variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.sizes import known, numbers

from ..elementwise.ufuncs import (
    add,
    astype,
    clip,
    conj,
    divide,
    imag,
    maximum,
    multiply,
    real,
    sqrt,
    subtract,
)
from ..linalg import dot
from ..manipulation.diagonals import diagonal
from ..manipulation.join import concatenate, length
from ..manipulation.shape import expand_dims, squeeze, transpose
from ..operands import as_node
from ..typing import public
from ..unknown_lengths import ResultSpec, waits_for_lengths
from .reductions import average, mean
from .reductions import sum as total


def _covariance(m: Any, y: Any, rowvar: bool, dtype: Any, **given: Any) -> ResultSpec:
    nodes = [as_node(x) for x in (m, y) if x is not None]
    kind = np.result_type(*(node.meta.dtype for node in nodes), np.float64)
    counts = [
        1
        if len(node.chunks) < 2
        else node.shape[0 if _has_rows(node, rowvar, second=i == 1) else 1]
        for i, node in enumerate(nodes)
    ]
    sizes = (sum(numbers(counts)),) if known(counts) else None
    axes = 0 if sizes == (1,) else 2
    kind = kind if dtype is None else np.dtype(dtype)
    if given["fweights"] is not None or given["aweights"] is not None:
        kind = np.result_type(kind, np.float64)
    return ResultSpec(kind, (sizes,) * axes)


@public
@waits_for_lengths(_covariance)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Node:
    """Estimate a covariance matrix. See numpy.cov.

    Differs from NumPy: the signs of weights that are tensors are not checked, and of an unknown
    number of variables the result is a matrix, also if there turns out to be one.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    ddof = ddof if ddof is not None else 0 if bias else 1
    sets = [_observations(m, rowvar)]
    if sets[0].shape[0] == 0:  # as in NumPy, whatever the other arguments
        return as_node(np.zeros((0, 0)))
    if y is not None:
        sets.append(_observations(y, rowvar, second=True))
    if dtype is None:
        kind = np.result_type(*(x.dtype for x in sets), np.float64)
    else:
        kind = np.dtype(dtype)
        np.cov([[0.0, 0.0]], dtype=kind)  # raises for types in which NumPy does not subtract means
    values = astype.node((concatenate.node(sets, 0) if len(sets) > 1 else sets[0]), kind)
    count = length(values, 1)
    if fweights is None and aweights is None:
        centred = subtract.node(values, mean.node(values, axis=1, keepdims=True))
        product = dot.node(centred, conj.node(transpose.node(centred)))
        return astype.node(
            squeeze.node(divide.node(product, np.float64(max(count - ddof, 0)))), kind
        )
    weights, free = _weights(fweights, aweights, ddof, count)
    centre, _ = average(values, 1, weights, returned=True)
    centred = astype.node(subtract.node(values, expand_dims.node(centre, 1)), kind)
    product = dot.node(centred, conj.node(transpose.node(multiply.node(centred, weights))))
    return squeeze.node(divide.node(product, free))  # weights are float64, and so is the result


def _weights(fweights: Any, aweights: Any, ddof: int, count: int) -> tuple[Any, Any]:
    """Return the weight of each observation and the divisor, as defined in NumPy's cov."""
    often = 1 if fweights is None else _checked_weights("fweights", fweights, count)
    much = 1.0 if aweights is None else _checked_weights("aweights", aweights, count)
    weights = multiply(often, much)
    whole = total.node(weights)
    correction = (
        ddof
        if aweights is None
        else divide.node(multiply.node(ddof, total.node(multiply.node(weights, much))), whole)
    )
    return weights, maximum(subtract.node(whole, correction), 0.0)


def _checked_weights(name: str, weights: Any, count: int) -> Any:
    lazy = isinstance(weights, Collection)
    weights = weights if lazy else np.asarray(weights)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape != (count,):
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    broken = name == "fweights" and weights.dtype.kind not in "biu"
    if broken and (lazy or (weights != np.around(weights)).any()):
        raise TypeError("fweights must be integer")
    if not lazy and (weights < 0).any():
        raise ValueError(f"{name} cannot be negative")
    return weights


def _has_rows(x: Any, rowvar: bool, *, second: bool) -> bool:
    """Tell whether rows are variables; NumPy does not transpose a second set of one row."""
    return rowvar or (second and x.shape[0] == 1)


def _observations(x: Any, rowvar: bool, *, second: bool = False) -> Any:
    """Return a matrix with one row per variable."""
    x = wrap(as_node(x))
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if x.ndim < 2:
        return expand_dims(x.ravel(), 0)
    return x if _has_rows(x, rowvar, second=second) else transpose(x)


@public
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Node:
    """Return the correlation coefficients. See numpy.corrcoef.

    Differs from NumPy: of an unknown number of variables the result is a matrix, also if there
    turns out to be one.
    """
    c = cov.node(x, y, rowvar, dtype=dtype)
    if c.meta.ndim == 0:
        return divide.node(c, c)
    spread = sqrt.node(real.node(diagonal.node(c)))
    c = divide.node(divide.node(c, expand_dims.node(spread, 1)), expand_dims.node(spread, 0))
    if c.meta.dtype.kind != "c":
        return clip.node(c, -1, 1)
    return add.node(
        clip.node(real.node(c), -1, 1), multiply.node(1j, clip.node(imag.node(c), -1, 1))
    )
