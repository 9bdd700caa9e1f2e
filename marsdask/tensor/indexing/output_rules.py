"""The values of ``out`` that functions accept, and NumPy's errors for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from marsdask.core.node import Node
from marsdask.core.sizes import Size, known, numbers, shape_text

from ..elementwise.nodes import Elementwise

Shape: TypeAlias = tuple[Size, ...]
ShapeError: TypeAlias = Callable[[Shape, Shape], Exception]
"""Makes the error of the shape of ``out`` and that of the result."""

CastError: TypeAlias = Callable[[Node, "np.dtype[Any]", Any], Exception]
"""Makes the error of the result, the type of ``out``, and the casting rule."""


def not_broadcast(out: Shape, result: Shape) -> Exception:
    """Return the error of ufuncs for an output to which the result does not broadcast."""
    return ValueError(
        f"non-broadcastable output operand with shape {shape_text(out)} doesn't match the "
        f"broadcast shape {shape_text(result)}"
    )


def not_together(out: Shape, result: Shape, count: int) -> Exception:
    """Return the error of a ufunc whose operands, ``count`` of the result's shape, do not fit."""
    if known(out) and known(result):
        try:
            np.broadcast_shapes(numbers(out), numbers(result))
        except ValueError:
            shapes = " ".join(map(shape_text, (*(result,) * count, out)))
            return ValueError(f"operands could not be broadcast together with shapes {shapes}")
    return not_broadcast(out, result)


def in_words(
    out: Shape, result: Shape, words: str, error: type[Exception] = ValueError
) -> Exception:
    """Return an error in words of NumPy's that lack the shapes."""
    return error(f"{words}: out has shape {shape_text(out)}, the result {shape_text(result)}")


def not_input(out: Shape, result: Shape) -> Exception:
    """Return the error of an assignment of the result."""
    return ValueError(
        f"could not broadcast input array from shape {shape_text(result)} into shape "
        f"{shape_text(out)}"
    )


def own_cast_error(result: Node, out: np.dtype[Any], casting: Any) -> Exception:
    """Return the error of the ufunc that makes the result, if one does."""
    if isinstance(result, Elementwise) and isinstance(result.func, np.ufunc):
        samples = [
            np.ones((), arg.meta.dtype) if isinstance(arg, Node) else arg for arg in result.args
        ]
        try:
            with np.errstate(all="ignore"):
                options = {**dict(result.kwargs), "casting": casting}
                result.func(*samples, out=np.empty((), out), **options)
        except TypeError as error:
            return error
    return TypeError(
        f"Cannot cast output from {result.meta.dtype!r} to {out!r} with casting rule {casting!r}"
    )


def ufunc_cast_error(result: Node, out: np.dtype[Any], casting: Any, name: str) -> Exception:
    """Return the error of a ufunc of which the function consists."""
    return TypeError(
        f"Cannot cast ufunc {name!r} output from {result.meta.dtype!r} to {out!r} "
        f"with casting rule {casting!r}"
    )


def array_cast_error(result: Node, out: np.dtype[Any], casting: Any) -> Exception:
    """Return the error of an array that is cast to the type of ``out``."""
    return TypeError(
        f"Cannot cast array data from {result.meta.dtype!r} to {out!r} "
        f"according to the rule {casting!r}"
    )


def read_cast_error(result: Node, out: np.dtype[Any], casting: Any) -> Exception:
    """Return the error of an ``out`` that is cast to the type of the result."""
    kind = "array data" if result.meta.ndim else "scalar"
    return TypeError(
        f"Cannot cast {kind} from {out!r} to {result.meta.dtype!r} "
        f"according to the rule {casting!r}"
    )


@dataclass(frozen=True)
class OutputRule:
    """The values of ``out`` that a function accepts, and its errors for others."""

    shape_error: ShapeError = not_broadcast
    cast_error: CastError = own_cast_error
    reads: bool = False
    """Whether NumPy casts ``out`` to the type of the result before it casts the result to it."""

    def check(self, out: Node, result: Node, casting: Any) -> None:
        """Raise the error of an output that the result does not fit."""
        if out.shape != result.shape and not may_fit(result.shape, out.shape):
            raise self.shape_error(out.shape, result.shape)
        kinds = (result.meta.dtype, out.meta.dtype)
        source, target = reversed(kinds) if self.reads else kinds
        if source != target and not np.can_cast(source, target, casting):
            raise self.cast_error(result, out.meta.dtype, casting)


def may_fit(shape: Sequence[Any], target: Sequence[Any]) -> bool:
    """Tell whether shapes may turn out to be equal."""
    if len(shape) != len(target):
        return False
    pairs = zip(shape, target, strict=True)
    return all(pair[0] == pair[1] or not known(pair) for pair in pairs)


#: The rule of functions that have none of their own.
OUTPUT: Final = OutputRule()

#: The rule of functions that assign their result to ``out``.
ASSIGNED: Final = OutputRule(not_input)


def ufunc_rule(name: str, count: int) -> OutputRule:
    """Return the rule of a function that ends in a ufunc of ``count`` operands."""
    return OutputRule(partial(not_together, count=count), partial(ufunc_cast_error, name=name))


def read_rule(words: str) -> OutputRule:
    """Return the rule of functions that read ``out`` as an array of the result's type."""
    return OutputRule(partial(in_words, words=words), read_cast_error, reads=True)


TAKEN: Final = read_rule("output array does not match result of ndarray.take")

CHOSEN: Final = OutputRule(
    partial(in_words, words="choose: invalid shape for output array", error=TypeError)
)


def rounded_rule(result: Node, decimals: int) -> OutputRule:
    """Return the rule of ``round``, which scales numbers with a fraction."""
    shape_error = partial(in_words, words="invalid output shape")
    if result.meta.dtype.kind not in "fc":
        return OutputRule(shape_error, array_cast_error)
    name = "rint" if not decimals else "multiply" if decimals > 0 else "divide"
    return OutputRule(shape_error, partial(ufunc_cast_error, name=name))


def not_joined(out: Shape, result: Shape) -> Exception:
    """Return the error of ``concatenate`` for an output of another shape."""
    is_alike = len(out) == len(result)
    words = (
        "Output array is the wrong shape" if is_alike else "Output array has wrong dimensionality"
    )
    return in_words(out, result, words)


JOINED: Final = OutputRule(not_joined, array_cast_error)


def not_accumulated(out: Shape, result: Shape) -> Exception:
    """Return the error of accumulations for an output of another shape."""
    if len(result) == 1:
        return in_words(out, result, "provided out is the wrong size for the accumulation")
    shapes = (f"{shape_text(s)}->{shape_text(s[: len(result)])}" for s in (out, result))
    return ValueError(
        "operands could not be broadcast together with remapped shapes [original->remapped]: "
        + " ".join(shapes)
    )


ACCUMULATED: Final = OutputRule(not_accumulated)

_NOT_ACCEPTABLE = (
    "output array is not acceptable "
    "(must have the right datatype, number of dimensions, and be a C-Array)"
)


def not_dot(out: Shape, result: Shape) -> Exception:
    """Return the error of ``dot`` for an output of another shape."""
    is_alike = len(out) == len(result)
    return in_words(
        out, result, "output array has wrong dimensions" if is_alike else _NOT_ACCEPTABLE
    )


def dot_cast_error(result: Node, out: np.dtype[Any], casting: Any) -> Exception:
    """Return the error of ``dot``, which casts nothing."""
    del casting
    return ValueError(f"{_NOT_ACCEPTABLE}: out has {out!r}, the result {result.meta.dtype!r}")


DOT: Final = OutputRule(not_dot, dot_cast_error)


def not_matmul(out: Shape, result: Shape, signature: str, core: int) -> Exception:
    """Return the error of ``matmul``, whose result has ``core`` axes besides those of stacks."""
    if len(out) >= core:
        pairs = zip(out[len(out) - core :], result[len(result) - core :], strict=True)
        for axis, (own, length) in enumerate(pairs):
            if own != length and known((own, length)):
                words = (
                    f"matmul: Output operand 0 has a mismatch in its core dimension {axis}, with "
                    f"gufunc signature {signature} (size {own} is different from {length})"
                )
                return in_words(out, result, words)
    return not_together(out, result, 1)


def matmul_rule(signature: str, core: int) -> OutputRule:
    """Return the rule of ``matmul`` for a result with ``core`` axes besides those of stacks."""
    return OutputRule(
        partial(not_matmul, signature=signature, core=core),
        partial(ufunc_cast_error, name="matmul"),
    )
