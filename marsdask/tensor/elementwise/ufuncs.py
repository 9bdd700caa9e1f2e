"""Elementwise functions: one line of a table each.

``name = elementwise(func)`` makes the lazy form of a function. It adds broadcasting, promotion,
errors at the call, ``out=``, ``where=`` (ufuncs), rechunking, and fusion.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, overload
from typing import cast as typed

import numpy as np

from marsdask.core.collection import Collection, ExecutableTuple
from marsdask.core.display.suggestions import check_keywords
from marsdask.core.node import Node
from marsdask.core.sizes import known, numbers, shape_text

from ..chunks import check_device
from ..indexing.assignment import assign, into
from ..indexing.output_rules import OUTPUT, OutputRule, rounded_rule, ufunc_rule
from ..memory_order import in_order, in_order_of, letter_of, lies_as, ufunc_letter
from ..operands import is_masked, meta_of, to_change, with_complete_type
from ..typing import SeveralTensors, TensorFunction, Ufunc, itself, public, public_view
from .nodes import (
    Elementwise,
    ElementwiseOutputs,
    boolean,
    cast,
    masked,
    masked_class,
    operands,
    typed_by_types,
)

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "can_cast",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "i0",
    "imag",
    "invert",
    "isclose",
    "iscomplex",
    "isfinite",
    "isinf",
    "isnan",
    "isnat",
    "isneginf",
    "isposinf",
    "isreal",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "result_type",
    "right_shift",
    "rint",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]

#: The keywords of ufuncs.
_SETTINGS = ("casting", "order", "dtype", "subok", "signature", "sig", "out", "where")


@overload
def elementwise(func: np.ufunc, name: str = "") -> Ufunc: ...
@overload
def elementwise(
    func: Callable[..., Any], name: str = "", *, masks: bool = False
) -> TensorFunction: ...
def elementwise(func: Callable[..., Any], name: str = "", *, masks: bool = False) -> TensorFunction:
    """Return the lazy form of an elementwise function, by default under its own name.

    Arguments are tensors, arrays and scalars. ``out=`` rebinds the tensor (or tuple of tensors) it
    names. Where ``where=`` is False, the result is zero or the previous value of ``out``. Only
    ufuncs and functions declared with ``masks`` accept it.
    """
    ufunc = isinstance(func, np.ufunc)
    masks = masks or ufunc
    count = func.nin if isinstance(func, np.ufunc) else _before_out(func)
    rule = ufunc_rule(name, 1) if masks and not ufunc else OUTPUT
    flags = () if ufunc else _flags(func)

    def lazy(*args: Any, out: Any = None, where: Any = True, **kwargs: Any) -> Any:
        if (masked := masked_class(args)) is not None:
            result = masked._apply(func, args, out, where, kwargs)
            return result.node if out is None else result
        if count is not None and (len(args) > count or (ufunc and len(args) < count)):
            args, out = _split_outputs(lazy.__name__, args, out, count, getattr(func, "nout", 1))
        if kwargs:
            args, kwargs = _check_keywords(func, args, kwargs, ufunc=ufunc)
        args = _with_flags(args, flags) if flags else args
        for target in out if isinstance(out, tuple) else (out,):
            to_change(target, "output array")
        if where is not True and where is not None:
            if not masks:
                raise NotImplementedError(
                    f"{lazy.__name__}(where=) is not supported; "
                    f"use where(mask, {lazy.__name__}(...), other)"
                )
            # Elements that the mask leaves out are made of the types of the results.
            args = tuple(with_complete_type(arg) for arg in args)
            return _where(func, args, out, where, kwargs, rule)
        output = _function_node(func, args, kwargs)
        if out is not None:
            return _assign_outputs(func, args, out, output, kwargs, rule, masks=masks)
        return ExecutableTuple(output) if isinstance(output, tuple) else output

    lazy.__name__ = lazy.__qualname__ = name or func.__name__
    lazy.__doc__ = f"Apply ``{lazy.__name__}`` to each element. See numpy.{lazy.__name__}."
    lazy.func = func  # type: ignore[attr-defined]
    return _handing_on(func, lazy) if isinstance(func, np.ufunc) else public(lazy)


def _handing_on(func: np.ufunc, lazy: Callable[..., Any]) -> TensorFunction:
    """Return the public form of a ufunc: operands that handle ufuncs themselves do it, as in NumPy.

    Its ``node`` takes them for arrays: operations of tensors have tensors as their steps.
    """

    @wraps(lazy)
    def handed(*args: Any, **kwargs: Any) -> Any:
        if len(args) == func.nin and _is_plain(kwargs):
            for arg in args:
                if isinstance(arg, Collection) and arg.handles_ufuncs:
                    return _call_operand(arg, func, args, kwargs)
        return lazy(*args, **kwargs)

    face = public(handed)
    face.node = lazy  # type: ignore[misc]
    return face


def _is_plain(kwargs: dict[str, Any]) -> bool:
    """Tell whether a call has neither ``out`` nor ``where``."""
    return kwargs.get("out") is None and kwargs.get("where", True) is True


def _call_operand(owner: Any, func: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what an operand makes of a ufunc."""
    options = {name: value for name, value in kwargs.items() if name not in {"out", "where", "gpu"}}
    result = owner.__array_ufunc__(func, "__call__", *args, **options)
    if result is NotImplemented:
        kinds = ", ".join(repr(type(arg).__name__) for arg in args)
        raise TypeError(f"operand type(s) all returned NotImplemented from {func!r}: {kinds}")
    return ExecutableTuple(result) if isinstance(result, tuple) else result


def several(func: np.ufunc) -> SeveralTensors:
    """Return the lazy form of a ufunc with several outputs."""
    return typed("SeveralTensors", elementwise(func))


def _flags(func: Callable[..., Any]) -> tuple[int, ...]:
    """Return the places of arguments that are truth values, not operands."""
    parameters = inspect.signature(func).parameters.values()
    return tuple(i for i, item in enumerate(parameters) if isinstance(item.default, bool))


def _with_flags(args: tuple[Any, ...], flags: tuple[int, ...]) -> tuple[Any, ...]:
    """Return arguments with truth values that are lazy computed."""
    return tuple(
        bool(arg) if place in flags and isinstance(arg, Collection) else arg
        for place, arg in enumerate(args)
    )


def _before_out(func: Callable[..., Any]) -> int | None:
    """Return the number of arguments before ``out``, ``None`` if a function has none."""
    names = list(inspect.signature(func).parameters)
    return names.index("out") if "out" in names else None


#: NumPy's default treatment of floating-point errors.
_USUAL = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


@dataclass(frozen=True)
class WithErrstate:
    """A function under the ``errstate`` of its call.

    The threads and processes that run it do not have the caller's ``errstate``.
    """

    func: Callable[..., Any]
    state: tuple[tuple[str, Any], ...]

    @property
    def __name__(self) -> str:
        return self.func.__name__

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with np.errstate(**dict(self.state)):
            return self.func(*args, **kwargs)


def apply(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Node:
    """Return the node of an elementwise function of tensors, arrays and scalars."""
    node: Node = _function_node(func, args, kwargs)
    return node


def _function_node(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the node of a function, or of each of its outputs."""
    letter = "K"
    if "order" in kwargs and isinstance(func, np.ufunc):
        letter = ufunc_letter(kwargs["order"], args)
        kwargs = {name: value for name, value in kwargs.items() if name != "order"}
    if (masked := masked_class(args)) is not None:
        return masked._apply(func, args, None, True, kwargs).node
    nodes = operands(args)
    options = tuple(sorted(kwargs.items())) if kwargs else ()
    count = func.nout if isinstance(func, np.ufunc) else 1
    if (state := np.geterr()) != _USUAL:
        func = WithErrstate(func, tuple(state.items()))
    if count == 1:
        node = Elementwise(func, nodes, options)
        return in_order_of(node, letter)
    parts = ElementwiseOutputs(func, nodes, options).parts()
    return parts if letter == "K" else tuple(in_order_of(part, letter) for part in parts)


def _split_outputs(
    name: str, args: tuple[Any, ...], out: Any, count: int, outputs: int
) -> tuple[tuple[Any, ...], Any]:
    """Accept outputs that were given by position."""
    if not count < len(args) <= count + outputs or out is not None:
        raise TypeError(
            f"{name}() takes from {count} to {count + outputs} positional arguments "
            f"but {len(args)} were given"
        )
    return args[:count], (*args[count:], *(None,) * (count + outputs - len(args)))


def _check_keywords(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, ufunc: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Check keywords; those of plain functions that hold operands become positional."""
    kwargs.pop("gpu", None)
    if ufunc:
        if "dtype" in kwargs:
            dtype = kwargs.pop("dtype")
            if dtype is not None:
                kwargs["dtype"] = np.dtype(dtype)
        check_keywords(kwargs, _SETTINGS)
        return args, kwargs
    signature = inspect.signature(func)
    hands_on = any(item.kind is item.VAR_KEYWORD for item in signature.parameters.values())
    check_keywords(kwargs, (*signature.parameters, *(_SETTINGS if hands_on else ())))
    binding = signature.bind(*args, **kwargs)
    if binding.kwargs:
        binding.apply_defaults()  # operands after one that is left out are operands, too
    return binding.args, binding.kwargs


def _targets(out: Any, count: int) -> tuple[Any, ...]:
    """Return the target of each output; ``None`` is a new tensor."""
    if out is not None and not isinstance(out, tuple) and count > 1:
        raise TypeError("'out' must be a tuple of tensors, one for each output")
    targets = out if isinstance(out, tuple) else (out,) * count
    if len(targets) != count:
        raise ValueError("The 'out' tuple must have exactly one entry per output")
    return targets


def _assign_outputs(
    func: Any,
    args: tuple[Any, ...],
    out: Any,
    found: Any,
    kwargs: dict[str, Any],
    rule: OutputRule,
    *,
    masks: bool,
) -> Any:
    """Assign results to their targets, which may have more elements."""
    nodes = found if isinstance(found, tuple) else (found,)
    targets = _targets(out, len(nodes))
    pairs = list(zip(targets, nodes, strict=True))
    if masks and any(isinstance(t, Collection) and t.node.shape != n.shape for t, n in pairs):
        return _where(func, args, out, np.True_, kwargs, rule)
    casting = kwargs.get("casting", "same_kind")
    results = [n if t is None else assign(t, n, casting, rule) for t, n in pairs]
    return results[0] if len(results) == 1 else ExecutableTuple(results)


def _check_broadcast(given: tuple[Any, ...]) -> None:
    """Refuse arguments that do not broadcast, with the shapes of all of them."""
    shapes = [getattr(arg, "shape", ()) for arg in operands(given) if arg is not None]
    if not all(map(known, shapes)):
        return
    try:
        np.broadcast_shapes(*map(numbers, shapes))
    except ValueError:
        text = " ".join(map(shape_text, shapes))
        raise ValueError(f"operands could not be broadcast together with shapes {text}") from None


def _where(
    func: Any,
    args: tuple[Any, ...],
    out: Any,
    where: Any,
    kwargs: dict[str, Any],
    rule: OutputRule,
) -> Any:
    """Call a function where a mask holds; elsewhere the result is the previous ``out``, or zero."""
    output = _function_node(func, args, kwargs)
    nodes = output if isinstance(output, tuple) else (output,)
    targets = _targets(out, len(nodes))
    casting = kwargs.get("casting", "same_kind")
    types = tuple(_kept(node, target, casting) for node, target in zip(nodes, targets, strict=True))
    mask = boolean(where)
    _check_broadcast((*args, *targets, *(() if where is np.True_ else (mask,))))
    options = {"func": func, "types": types, "options": tuple(sorted(kwargs.items()))}
    results = []
    for position, (dtype, target) in enumerate(zip(types, targets, strict=True)):
        default = np.zeros((), dtype)[()] if target is None else target
        node = apply(masked, *args, mask, default, position=position, **options)
        results.append(node if target is None else assign(target, node, casting, rule))
    return results[0] if len(results) == 1 else ExecutableTuple(results)


def _kept(node: Node, target: Any, casting: Any) -> np.dtype[Any]:
    """Return the type of masked-out elements: the target's, if results can be cast to it."""
    reference = target.node if isinstance(target, Collection) else node
    kinds: list[np.dtype[Any]] = [item.meta.dtype for item in (node, reference)]
    return kinds[np.can_cast(kinds[0], kinds[1], casting)]


@public
def astype(
    a: Any,
    dtype: Any,
    order: str = "K",
    casting: Any = "unsafe",
    copy: bool = True,
    *,
    device: Any = None,
) -> Node:
    """Return the tensor in another type. See numpy.ndarray.astype."""
    check_device(device)
    letter = letter_of(order, a)
    node = operands((a,))[0]
    dtype = np.dtype(dtype)
    if node.meta.dtype == dtype:
        result = in_order_of(node, letter, a)
        return itself(a) if isinstance(a, Collection) and not copy and result is node else result
    if not np.can_cast(node.meta.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {node.meta.dtype!r} to {dtype!r} "
            f"according to the rule {casting!r}"
        )
    return in_order_of(Elementwise(cast, (node,), (("dtype", dtype),)), letter, a)


def result_type(*items: Any) -> np.dtype[Any]:
    """Return the promoted type of operands, immediately. See numpy.result_type."""
    return np.result_type(*(_type_of(item) for item in items))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Tell immediately whether a cast is allowed. See numpy.can_cast."""
    return np.can_cast(_type_of(from_), to, casting)


def _type_of(item: Any) -> Any:
    if isinstance(item, Collection):
        item = with_complete_type(item)
    return meta_of(item).dtype if isinstance(item, Collection | Node) else item


@public
def alike(a: Any, b: Any) -> Node:
    """Tell which elements are equal: none of types that cannot be compared, like ``==``."""
    try:
        result = equal.node(a, b)
        result.meta  # noqa: B018 - refuses types that cannot be compared
    except TypeError:
        return apply(operator.eq, a, b)
    return result


@public
def unlike(a: Any, b: Any) -> Node:
    """Tell which elements differ: all of types that cannot be compared, like ``!=``."""
    try:
        result = not_equal.node(a, b)
        result.meta  # noqa: B018 - as above
    except TypeError:
        return apply(operator.ne, a, b)
    return result


def clipped(a: Any, low: Any, high: Any, **how: Any) -> Any:
    """Limit a block to an interval, either end of which may be missing."""
    return np.clip(a, low, high, **how)


_clip = elementwise(clipped, "clip", masks=True)


@public
def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **kwargs: Any,
) -> Node:
    """Limit the values to an interval. See numpy.clip."""
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip() takes a_min or min, and a_max or max, not both of one end")
    low, high = a_min if min is None else min, a_max if max is None else max
    return _clip.node(a, low, high, out=out, **kwargs)


@public
def around(a: Any, decimals: int = 0, out: Any = None) -> Node:
    """Round to the given number of decimals. See numpy.round."""
    decimals = operator.index(decimals)
    node = apply(np.round, a, decimals=decimals)
    if out is None and decimals and node.memory_order is not None and not is_masked(a):
        node = _rounded_in_order(a, node, decimals)
    return node if out is None else into(out, node, rule=rounded_rule(node, decimals))


def _rounded_in_order(a: Any, node: Node, decimals: int) -> Node:
    """Return rounded values in C order, unless ``a`` lies in Fortran's without gaps.

    So does NumPy, which copies complex numbers and integers that stay as they are.
    """
    kind = node.meta.dtype.kind
    copies = kind == "c" or (kind in "iu" and decimals > 0)
    return node if copies or lies_as(a, "F") else in_order(node, None)


round = around


_real = elementwise(np.real)


@public_view
def real(val: Any) -> Node:
    """Return the real parts, a tensor of real numbers itself. See numpy.real."""
    if isinstance(val, Collection) and not is_masked(val) and val.node.meta.dtype.kind != "c":
        return itself(val)
    return _real.node(val)


def nan_replaced(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """Replace nan and infinity in a copy. Blocks must not be modified."""
    del copy
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


_nan_to_num = elementwise(nan_replaced, "nan_to_num")


@public
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Node:
    """Replace nan and infinity, in place unless ``copy``. See numpy.nan_to_num."""
    result = _nan_to_num.node(x, True, nan, posinf, neginf)
    return result if copy or not isinstance(x, Collection) else into(x, result)


@typed_by_types
def chosen(condition: Any, x: Any, y: Any) -> Any:
    """Choose between two blocks."""
    return np.where(condition, x, y)


@public
def where(condition: Any, x: Any, y: Any) -> Node:
    """Choose from ``x`` where the condition holds, from ``y`` elsewhere. See numpy.where."""
    return apply(chosen, condition, x, y)


# Arithmetic.
add: Final = elementwise(np.add)
subtract: Final = elementwise(np.subtract)
multiply: Final = elementwise(np.multiply)
divide: Final = elementwise(np.divide)
true_divide: Final = divide
floor_divide: Final = elementwise(np.floor_divide)
remainder: Final = elementwise(np.remainder)
mod: Final = remainder
fmod: Final = elementwise(np.fmod)
divmod: Final = several(np.divmod)
power: Final = elementwise(np.power)
pow: Final = power
float_power: Final = elementwise(np.float_power)
negative: Final = elementwise(np.negative)
positive: Final = elementwise(np.positive)
absolute: Final = elementwise(np.absolute)
abs: Final = absolute
fabs: Final = elementwise(np.fabs)
sign: Final = elementwise(np.sign)
heaviside: Final = elementwise(np.heaviside)
reciprocal: Final = elementwise(np.reciprocal)
sqrt: Final = elementwise(np.sqrt)
cbrt: Final = elementwise(np.cbrt)
square: Final = elementwise(np.square)
gcd: Final = elementwise(np.gcd)
lcm: Final = elementwise(np.lcm)
hypot: Final = elementwise(np.hypot)
maximum: Final = elementwise(np.maximum)
minimum: Final = elementwise(np.minimum)
fmax: Final = elementwise(np.fmax)
fmin: Final = elementwise(np.fmin)
# Exponentials and logarithms.
exp: Final = elementwise(np.exp)
exp2: Final = elementwise(np.exp2)
expm1: Final = elementwise(np.expm1)
log: Final = elementwise(np.log)
log2: Final = elementwise(np.log2)
log10: Final = elementwise(np.log10)
log1p: Final = elementwise(np.log1p)
logaddexp: Final = elementwise(np.logaddexp)
logaddexp2: Final = elementwise(np.logaddexp2)
# Trigonometry.
sin: Final = elementwise(np.sin)
cos: Final = elementwise(np.cos)
tan: Final = elementwise(np.tan)
arcsin: Final = elementwise(np.arcsin)
asin: Final = arcsin
arccos: Final = elementwise(np.arccos)
acos: Final = arccos
arctan: Final = elementwise(np.arctan)
atan: Final = arctan
arctan2: Final = elementwise(np.arctan2)
atan2: Final = arctan2
sinh: Final = elementwise(np.sinh)
cosh: Final = elementwise(np.cosh)
tanh: Final = elementwise(np.tanh)
arcsinh: Final = elementwise(np.arcsinh)
asinh: Final = arcsinh
arccosh: Final = elementwise(np.arccosh)
acosh: Final = arccosh
arctanh: Final = elementwise(np.arctanh)
atanh: Final = arctanh
deg2rad: Final = elementwise(np.deg2rad)
radians: Final = elementwise(np.radians)
rad2deg: Final = elementwise(np.rad2deg)
degrees: Final = elementwise(np.degrees)
# Bits.
bitwise_and: Final = elementwise(np.bitwise_and)
bitwise_or: Final = elementwise(np.bitwise_or)
bitwise_xor: Final = elementwise(np.bitwise_xor)
invert: Final = elementwise(np.invert)
bitwise_not: Final = invert
bitwise_invert: Final = invert
left_shift: Final = elementwise(np.left_shift)
bitwise_left_shift: Final = left_shift
right_shift: Final = elementwise(np.right_shift)
bitwise_right_shift: Final = right_shift
bitwise_count: Final = elementwise(np.bitwise_count)
# Comparisons and logic.
equal: Final = elementwise(np.equal)
not_equal: Final = elementwise(np.not_equal)
less: Final = elementwise(np.less)
less_equal: Final = elementwise(np.less_equal)
greater: Final = elementwise(np.greater)
greater_equal: Final = elementwise(np.greater_equal)
logical_and: Final = elementwise(np.logical_and)
logical_or: Final = elementwise(np.logical_or)
logical_xor: Final = elementwise(np.logical_xor)
logical_not: Final = elementwise(np.logical_not)
isclose: Final = elementwise(np.isclose)
# Floating point.
isfinite: Final = elementwise(np.isfinite)
isinf: Final = elementwise(np.isinf)
isnan: Final = elementwise(np.isnan)
isnat: Final = elementwise(np.isnat)
isneginf: Final = elementwise(np.isneginf)
isposinf: Final = elementwise(np.isposinf)
signbit: Final = elementwise(np.signbit)
copysign: Final = elementwise(np.copysign)
nextafter: Final = elementwise(np.nextafter)
spacing: Final = elementwise(np.spacing)
modf: Final = several(np.modf)
frexp: Final = several(np.frexp)
ldexp: Final = elementwise(np.ldexp)
floor: Final = elementwise(np.floor)
ceil: Final = elementwise(np.ceil)
trunc: Final = elementwise(np.trunc)
rint: Final = elementwise(np.rint)
fix: Final = elementwise(np.trunc, "fix")
i0: Final = elementwise(np.i0)
sinc: TensorFunction = elementwise(np.sinc)
# Complex numbers.
imag: Final = public_view(elementwise(np.imag).node)
angle: Final = elementwise(np.angle)
conjugate: Final = elementwise(np.conjugate)
conj: Final = conjugate
isreal: Final = elementwise(np.isreal)
iscomplex: Final = elementwise(np.iscomplex)
