"""Special functions: every ufunc of scipy.special over chunks, and functions composed of them.

SciPy is imported on access to the first of them. The table is SciPy's own: it contains the
functions of the installed version.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

from marsdask.core.node import Node
from marsdask.tensor.manipulation.reshape import reshape

from ..elementwise.ufuncs import (
    apply,
    astype,
    divide,
    elementwise,
    exp,
    isfinite,
    log,
    sinc,
    subtract,
)
from ..elementwise.ufuncs import result_type as promoted
from ..indexing.boolean import where
from ..manipulation.shape import broadcast_arrays
from ..operands import as_node
from ..reduction.reductions import max as largest
from ..reduction.reductions import reduction
from ..reduction.reductions import sum as total
from ..typing import TensorFunction, public

#: Elementwise functions of SciPy's that are not ufuncs.
_FUNCTIONS = (
    "comb diric ellip_harm ellip_harm_2 ellip_normal h1vp h2vp ivp jvp kvp lambertw multigammaln "
    "perm polygamma softplus spherical_in spherical_jn spherical_kn spherical_yn stirling2 yvp zeta"
)
FUNCTIONS = tuple(_FUNCTIONS.split())

#: Functions defined here, or in NumPy.
OWN = ("factorial", "factorial2", "factorialk", "log_softmax", "logsumexp", "sinc", "softmax")

Partial = tuple[Any, Any, Any]


def scipy_special() -> Any:
    """Return SciPy's module."""
    from scipy import special  # heavy, and only these functions need it

    return special


def __getattr__(name: str) -> TensorFunction:
    """Make the lazy form of SciPy's function of this name."""
    if name == "__all__":
        return __dir__()  # type: ignore[return-value]  # the only one that is no function
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    func = vars(scipy_special()).get(name)
    if not isinstance(func, np.ufunc) and (func is None or name not in FUNCTIONS):
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}: it has SciPy's functions of arrays"
        )
    return _lazy(func, name)


@cache
def _lazy(func: Callable[..., Any], name: str) -> TensorFunction:
    lazy = elementwise(func, name)
    lazy.__doc__ = f"Apply ``{name}`` to each element. See scipy.special.{name}."
    return lazy


def __dir__() -> list[str]:
    """List what the installed SciPy has."""
    scipy = scipy_special()
    ufuncs = [name for name, func in vars(scipy).items() if isinstance(func, np.ufunc)]
    functions = [name for name in FUNCTIONS if hasattr(scipy, name)]
    return sorted({*ufuncs, *functions, *OWN})


def factorials(block: Any, name: str, args: tuple[Any, ...], options: tuple[Any, ...]) -> Any:
    """Call one of SciPy's factorials; for no elements it does not determine the type."""
    func = vars(scipy_special())[name]
    result = func(block, *args, **dict(options))
    if np.size(block):
        return result
    return result.astype(func(np.ones(1, block.dtype), *args, **dict(options)).dtype)


def _factorial(name: str) -> TensorFunction:
    def lazy(n: Any, *args: Any, **kwargs: Any) -> Any:
        how = {"name": name, "args": args, "options": tuple(sorted(kwargs.items()))}
        return apply(factorials, as_node(n), **how)

    lazy.__name__ = lazy.__qualname__ = name
    lazy.__doc__ = f"Apply ``{name}`` to each element. See scipy.special.{name}."
    return public(lazy)


factorial: Final = _factorial("factorial")
factorial2: Final = _factorial("factorial2")
factorialk: Final = _factorial("factorialk")


def scaled_exponentials(
    block: Any, axis: tuple[int, ...], where: Any = 1, keepdims: Any = True
) -> Partial:
    """Return the largest real part, the weights there, and the others' sum relative to it."""
    with np.errstate(all="ignore"):
        height = np.where(np.not_equal(where, 0), block.real, np.array(-np.inf, block.real.dtype))
        top = np.max(height, axis=axis, keepdims=keepdims, initial=-np.inf)
        at_top = height == top
        phase = np.exp(1j * block.imag) if block.dtype.kind == "c" else 1
        weights = where * phase * np.ones((), block.dtype)
        lower = np.where(at_top | (height == -np.inf), 0, weights * np.exp(height - top))
        there = np.where(at_top, weights, 0)
        return (
            top,
            np.sum(there, axis=axis, keepdims=keepdims, dtype=block.dtype),
            np.sum(lower, axis=axis, keepdims=keepdims, dtype=block.dtype),
        )


def merge_exponentials(a: Partial, b: Partial) -> Partial:
    """Return the sums of both relative to the larger of their largest."""
    top = np.maximum(a[0], b[0])
    there, lower = np.zeros_like(a[1]), np.zeros_like(a[2])
    with np.errstate(all="ignore"):
        for own, weights, below in (a, b):
            share = np.exp(own - top)
            at_top = own == top
            there = there + np.where(at_top, weights, 0)
            lower = lower + np.where(at_top, below, (weights + below) * share)
    return top, there, lower


def log_of_sum(partial: Partial) -> Any:
    """Return the logarithm of the sum, nan where it is negative."""
    top, there, lower = partial
    if there.dtype.kind == "c":
        with np.errstate(all="ignore"):
            value = np.log(there + lower) + top
        return np.where(top == -np.inf, np.array(-np.inf, value.dtype), value)
    negative = (top != -np.inf) & (there + lower < 0)
    return np.where(negative, np.array(np.nan, top.dtype), log_of_size(partial))


def log_of_size(partial: Partial) -> Any:
    """Return the logarithm of the sum's absolute value.

    The largest is kept separately, so that no digit of the others is lost (Blanchard, Higham and
    Higham, IMA J. Numer. Anal. 41, 2021).
    """
    top, there, lower = partial
    with np.errstate(all="ignore"):
        if there.dtype.kind == "c":
            value = np.log(np.abs(there + lower)) + top
        else:
            share = np.where(lower == 0, lower, lower / there)
            share = np.where(share < -1, -share - 2, share)
            value = np.log1p(share) + np.log(np.abs(there)) + top
    return np.where(top == -np.inf, top, value)


def sign_of_sum(partial: Partial) -> Any:
    """Return the sum's sign, or its direction for complex numbers."""
    top, there, lower = partial
    with np.errstate(all="ignore"):
        return np.where(top == -np.inf, np.zeros_like(there), np.sign(there + lower))


def _exponentials(finalize: Callable[..., Any]) -> TensorFunction:
    return reduction(
        scaled_exponentials,
        merge_exponentials,
        finalize,
        name="logsumexp",
        takes=("keepdims", "weights"),
        tiled=True,
    )


_log_of_sum = _exponentials(log_of_sum)
_log_of_size = _exponentials(log_of_size)
_sign_of_sum = _exponentials(sign_of_sum)


@public
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Return the logarithm of the (weighted) sum of exponentials, reading the data once.

    See scipy.special.logsumexp.
    """
    a = _floating(a, b)
    how = {"axis": axis, "keepdims": keepdims}
    if b is not None:
        a, how["weights"] = broadcast_arrays.node(a, b)
    if return_sign:
        return _log_of_size.node(a, **how), _sign_of_sum.node(a, **how)
    return _log_of_sum.node(a, **how)


def _floating(a: Any, *others: Any) -> Node:
    """Return a node of floats, with at least one axis."""
    a = as_node(a)
    kinds = [as_node(operand).meta.dtype for operand in others if operand is not None]
    kind = np.result_type(promoted(a), *kinds)
    node = astype.node(a, kind if kind.kind in "fc" else np.float64)
    return node if node.meta.ndim else reshape.node(node, 1)


@public
def softmax(x: Any, axis: Any = None) -> Node:
    """Return exponentials over their sum. See scipy.special.softmax."""
    x = _floating(x)
    powers = exp.node(subtract.node(x, largest.node(x, axis=axis, keepdims=True)))
    return divide.node(powers, total.node(powers, axis=axis, keepdims=True))


@public
def log_softmax(x: Any, axis: Any = None) -> Node:
    """Return the logarithm of softmax. See scipy.special.log_softmax."""
    x = _floating(x)
    top = largest.node(x, axis=axis, keepdims=True)
    below = subtract.node(x, where.node(isfinite.node(top), top, 0))
    return subtract.node(below, log.node(total.node(exp.node(below), axis=axis, keepdims=True)))


sinc = sinc  # noqa: PLW0127 - NumPy's, which SciPy has too
