"""The array API standard 2024.12: its names, and a call of each with every keyword it has.

``CALLS`` and its like take a namespace and arrays of it. The main functions' table is written in
the standard's words: positional-only arguments stand first, the rest is given by keyword.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]

CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]

#: Which types a function takes, by kind: b bool, i signed, u unsigned, f real, c complex.
UNARY = {
    "abs": "iufc",
    "acos": "fc",
    "acosh": "fc",
    "asin": "fc",
    "asinh": "fc",
    "atan": "fc",
    "atanh": "fc",
    "bitwise_invert": "biu",
    "ceil": "iuf",
    "conj": "c",
    "cos": "fc",
    "cosh": "fc",
    "exp": "fc",
    "expm1": "fc",
    "floor": "iuf",
    "imag": "c",
    "isfinite": "iufc",
    "isinf": "iufc",
    "isnan": "iufc",
    "log": "fc",
    "log10": "fc",
    "log1p": "fc",
    "log2": "fc",
    "logical_not": "b",
    "negative": "ifc",
    "positive": "iufc",
    "real": "c",
    "reciprocal": "fc",
    "round": "iufc",
    "sign": "iufc",
    "signbit": "f",
    "sin": "fc",
    "sinh": "fc",
    "sqrt": "fc",
    "square": "iufc",
    "tan": "fc",
    "tanh": "fc",
    "trunc": "iuf",
}

BINARY = {
    "add": "iufc",
    "atan2": "f",
    "bitwise_and": "biu",
    "bitwise_left_shift": "iu",
    "bitwise_or": "biu",
    "bitwise_right_shift": "iu",
    "bitwise_xor": "biu",
    "copysign": "f",
    "divide": "fc",
    "equal": "biufc",
    "floor_divide": "iuf",
    "greater": "iuf",
    "greater_equal": "iuf",
    "hypot": "f",
    "less": "iuf",
    "less_equal": "iuf",
    "logaddexp": "f",
    "logical_and": "b",
    "logical_or": "b",
    "logical_xor": "b",
    "maximum": "iuf",
    "minimum": "iuf",
    "multiply": "iufc",
    "nextafter": "f",
    "not_equal": "biufc",
    "pow": "iufc",
    "remainder": "iuf",
    "subtract": "iufc",
}

#: Functions of the above whose results are bool, whatever they are given.
TRUTHS = [
    "equal",
    "greater",
    "greater_equal",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
]

#: The operators of arrays, and the functions that they are.
OPERATORS = {
    "__add__": "add",
    "__and__": "bitwise_and",
    "__eq__": "equal",
    "__floordiv__": "floor_divide",
    "__ge__": "greater_equal",
    "__gt__": "greater",
    "__le__": "less_equal",
    "__lshift__": "bitwise_left_shift",
    "__lt__": "less",
    "__mod__": "remainder",
    "__mul__": "multiply",
    "__ne__": "not_equal",
    "__or__": "bitwise_or",
    "__pow__": "pow",
    "__rshift__": "bitwise_right_shift",
    "__sub__": "subtract",
    "__truediv__": "divide",
    "__xor__": "bitwise_xor",
    "__abs__": "abs",
    "__invert__": "bitwise_invert",
    "__neg__": "negative",
    "__pos__": "positive",
}

Call = Callable[[Any, Any], Any]


def here(xp: Any) -> Any:
    """Return a device: each namespace has its own objects for them."""
    return xp.__array_namespace_info__().default_device()


#: Calls that create: they take the namespace and a type.
CREATION: dict[str, Call] = {
    "arange": lambda xp, t: [xp.arange(1, 7, 2, dtype=t, device=here(xp)), xp.arange(3, dtype=t)],
    "asarray": lambda xp, t: xp.asarray([[1, 0], [2, 3]], dtype=t, device=here(xp), copy=True),
    "eye": lambda xp, t: xp.eye(3, 4, k=-1, dtype=t, device=here(xp)),
    "full": lambda xp, t: xp.full((2, 3), 1, dtype=t, device=here(xp)),
    "linspace": lambda xp, t: xp.linspace(0, 6, 4, dtype=t, device=here(xp), endpoint=False),
    "ones": lambda xp, t: [xp.ones((2, 3), dtype=t, device=here(xp)), xp.ones(3)],
    "zeros": lambda xp, t: [xp.zeros((2, 3), dtype=t, device=here(xp)), xp.zeros(())],
    "empty": lambda xp, t: xp.empty((2, 0), dtype=t, device=here(xp)),
}

#: Calls that take the namespace and a matrix.
CALLS: dict[str, Call] = {
    "all": lambda xp, x: [xp.all(x), xp.all(x, axis=(0, 1), keepdims=True)],
    "any": lambda xp, x: xp.any(x, axis=1, keepdims=True),
    "argmax": lambda xp, x: [xp.argmax(x), xp.argmax(x, axis=0, keepdims=True)],
    "argmin": lambda xp, x: xp.argmin(x, axis=-1, keepdims=False),
    "argsort": lambda xp, x: xp.argsort(x, axis=0, stable=True),
    "astype": lambda xp, x: xp.astype(x, xp.float32, copy=False, device=here(xp)),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, x[:1, :], x[:, :1]),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, *x.shape)),
    "clip": lambda xp, x: [xp.clip(x, 1, 2), xp.clip(x, min=1), xp.clip(x, max=x[:1, :])],
    "concat": lambda xp, x: [xp.concat([x, x], axis=1), xp.concat((x, x), axis=None)],
    "count_nonzero": lambda xp, x: xp.count_nonzero(x, axis=0, keepdims=True),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=0, include_initial=True),
    "cumulative_sum": lambda xp, x: [
        xp.cumulative_sum(x, axis=1, dtype=xp.float64, include_initial=True),
        xp.cumulative_sum(x[0, :]),
    ],
    "diff": lambda xp, x: xp.diff(x, axis=0, n=1, prepend=x[:1, :], append=x[:1, :]),
    "empty_like": lambda xp, x: xp.empty_like(x, dtype=xp.int8, device=here(xp)) * 0,
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=1),
    "flip": lambda xp, x: [xp.flip(x), xp.flip(x, axis=1)],
    "full_like": lambda xp, x: xp.full_like(x, 1, dtype=xp.float32, device=here(xp)),
    "matmul": lambda xp, x: xp.matmul(x, xp.matrix_transpose(x)),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "max": lambda xp, x: xp.max(x, axis=0, keepdims=True),
    "meshgrid": lambda xp, x: [
        *xp.meshgrid(x[0, :], x[1, :], indexing="ij"),
        *xp.meshgrid(x[0, :], x[1, :]),
    ],
    "min": lambda xp, x: xp.min(x, axis=(0, 1), keepdims=False),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "nonzero": lambda xp, x: xp.nonzero(x),
    "ones_like": lambda xp, x: xp.ones_like(x, dtype=xp.int16, device=here(xp)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "prod": lambda xp, x: [xp.prod(x, axis=0, keepdims=True), xp.prod(x, dtype=xp.float64)],
    "repeat": lambda xp, x: [xp.repeat(x, 2, axis=1), xp.repeat(x, xp.asarray([1, 0, 2]), axis=0)],
    "reshape": lambda xp, x: xp.reshape(x, (-1, 2), copy=True),
    "roll": lambda xp, x: [xp.roll(x, 1), xp.roll(x, (1, -2), axis=(0, 1))],
    "searchsorted": lambda xp, x: xp.searchsorted(
        x[0, :], x[1, :], side="right", sorter=xp.argsort(x[0, :])
    ),
    "sort": lambda xp, x: xp.sort(x, axis=0, stable=True),
    "squeeze": lambda xp, x: xp.squeeze(x[:1, :], axis=0),
    "stack": lambda xp, x: xp.stack([x, x], axis=1),
    "sum": lambda xp, x: [xp.sum(x), xp.sum(x, axis=0, dtype=xp.float64, keepdims=True)],
    "take": lambda xp, x: xp.take(x, xp.asarray([1, 0, 1]), axis=1),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.argsort(x, axis=0), axis=0),
    "tensordot": lambda xp, x: xp.tensordot(x, x, axes=((0,), (0,))),
    "tile": lambda xp, x: xp.tile(x, (2, 1)),
    "tril": lambda xp, x: xp.tril(x, k=-1),
    "triu": lambda xp, x: xp.triu(x, k=1),
    "unique_all": lambda xp, x: xp.unique_all(x),
    "unique_counts": lambda xp, x: xp.unique_counts(x),
    "unique_inverse": lambda xp, x: xp.unique_inverse(x),
    "unique_values": lambda xp, x: xp.sort(xp.unique_values(x)),
    "unstack": lambda xp, x: xp.unstack(x, axis=1),
    "vecdot": lambda xp, x: xp.vecdot(x, x, axis=-1),
    "where": lambda xp, x: xp.where(xp.astype(x, xp.bool), x, x[:1, :]),
    "zeros_like": lambda xp, x: xp.zeros_like(x, dtype=xp.complex64, device=here(xp)),
}

#: Calls of the rest that take a matrix of real or complex floating-point numbers.
FLOATS: dict[str, Call] = {
    "mean": lambda xp, x: [xp.mean(x), xp.mean(x, axis=1, keepdims=True)],
    "std": lambda xp, x: xp.std(x, axis=0, correction=1.0, keepdims=True),
    "var": lambda xp, x: xp.var(x, axis=0, correction=0.5, keepdims=False),
    "linalg.cross": lambda xp, x: xp.linalg.cross(x, x + x[:1, :], axis=-2),
    "linalg.det": lambda xp, x: xp.linalg.det(xp.matmul(x, xp.matrix_transpose(x))),
    "linalg.diagonal": lambda xp, x: xp.linalg.diagonal(x, offset=1),
    "linalg.inv": lambda xp, x: xp.linalg.inv(x[:, :3] + 9 * xp.eye(3, dtype=x.dtype)),
    "linalg.matmul": lambda xp, x: xp.linalg.matmul(x, xp.linalg.matrix_transpose(x)),
    "linalg.matrix_norm": lambda xp, x: [
        xp.linalg.matrix_norm(x, keepdims=True, ord=order)
        for order in (1, -1, 2, -2, "fro", "nuc", xp.inf, -xp.inf)
    ],
    "linalg.matrix_power": lambda xp, x: xp.linalg.matrix_power(x[:, :3], 3),
    "linalg.matrix_rank": lambda xp, x: xp.linalg.matrix_rank(x, rtol=0.1),
    "linalg.outer": lambda xp, x: xp.linalg.outer(x[0, :], x[1, :]),
    "linalg.pinv": lambda xp, x: xp.linalg.pinv(x, rtol=0.2),
    "linalg.qr": lambda xp, x: abs(xp.linalg.qr(x[:, :2], mode="reduced").R),
    "linalg.slogdet": lambda xp, x: xp.linalg.slogdet(x[:, :3] + 9 * xp.eye(3, dtype=x.dtype)),
    "linalg.solve": lambda xp, x: xp.linalg.solve(x[:, :3] + 9 * xp.eye(3, dtype=x.dtype), x),
    "linalg.svd": lambda xp, x: xp.linalg.svd(x, full_matrices=False).S,
    "linalg.svdvals": lambda xp, x: xp.linalg.svdvals(x),
    "linalg.tensordot": lambda xp, x: xp.linalg.tensordot(x, x, axes=2),
    "linalg.trace": lambda xp, x: xp.linalg.trace(x, offset=1, dtype=xp.complex128),
    "linalg.vecdot": lambda xp, x: xp.linalg.vecdot(x, x, axis=-1),
    "linalg.vector_norm": lambda xp, x: [
        xp.linalg.vector_norm(x, axis=0, keepdims=True, ord=order)
        for order in (0, 1, 2, 3, xp.inf, -xp.inf)
    ],
    "linalg.cholesky": lambda xp, x: xp.linalg.cholesky(
        xp.matmul(x, xp.conj(xp.matrix_transpose(x))) + 9 * xp.eye(3, dtype=x.dtype), upper=True
    ),
    "linalg.eigh": lambda xp, x: (
        xp.linalg.eigh(xp.matmul(x, xp.conj(xp.matrix_transpose(x)))).eigenvalues
    ),
    "linalg.eigvalsh": lambda xp, x: xp.linalg.eigvalsh(
        xp.matmul(x, xp.conj(xp.matrix_transpose(x)))
    ),
    "fft.fft": lambda xp, x: xp.fft.fft(x, n=5, axis=0, norm="ortho"),
    "fft.ifft": lambda xp, x: xp.fft.ifft(x, n=3, axis=1, norm="forward"),
    "fft.fftn": lambda xp, x: xp.fft.fftn(x, s=(2, 5), axes=(0, 1), norm="backward"),
    "fft.ifftn": lambda xp, x: xp.fft.ifftn(x, axes=(1,), norm="ortho"),
    "fft.irfft": lambda xp, x: xp.fft.irfft(x, n=6, axis=1, norm="ortho"),
    "fft.irfftn": lambda xp, x: xp.fft.irfftn(x, axes=(0, 1), norm="ortho"),
    "fft.hfft": lambda xp, x: xp.fft.hfft(x, n=6, axis=1, norm="ortho"),
    "fft.fftshift": lambda xp, x: xp.fft.fftshift(x, axes=1),
    "fft.ifftshift": lambda xp, x: xp.fft.ifftshift(x, axes=(0, 1)),
}

#: Calls that take real numbers only.
REALS: dict[str, Call] = {
    "fft.rfft": lambda xp, x: xp.fft.rfft(x, n=5, axis=0, norm="ortho"),
    "fft.rfftn": lambda xp, x: xp.fft.rfftn(x, s=(2, 5), axes=(0, 1), norm="ortho"),
    "fft.ihfft": lambda xp, x: xp.fft.ihfft(x, n=5, axis=0, norm="ortho"),
    "fft.fftfreq": lambda xp, x: xp.fft.fftfreq(5, d=0.5, device=here(xp)),
    "fft.rfftfreq": lambda xp, x: xp.fft.rfftfreq(6, d=0.5, device=here(xp)),
}

#: Names that the tests call one by one.
ELSEWHERE = [
    "__array_namespace_info__",
    "broadcast_shapes",
    "can_cast",
    "finfo",
    "from_dlpack",
    "iinfo",
    "isdtype",
    "result_type",
]


def promoted(first: str, second: str) -> np.dtype[Any] | None:
    """Return the type that two types promote to, ``None`` where the standard leaves that open."""
    a, b = sorted((np.dtype(first), np.dtype(second)), key=lambda x: (x.kind, x.itemsize))
    kinds = a.kind + b.kind
    if a.kind == b.kind:
        return max(a, b, key=lambda x: x.itemsize)
    if kinds == "iu":
        wanted = max(a.itemsize, 2 * b.itemsize)
        return np.dtype(f"i{wanted}") if wanted <= 8 else None
    if kinds == "cf":
        return np.dtype(f"c{max(a.itemsize, 2 * b.itemsize)}")
    return None
