"""Functions of tensors, and methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import marsdask.tensor as mt
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.methods import methods

X = np.array([[4.0, 1.0, 3.0], [2.0, np.nan, 5.0]])
Y = np.array([[4, 1, 3], [2, 0, 5]])
R = np.array([[0.5, 0.25, 0.1], [0.75, -0.5, 0.3]])
V = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
FLAGS = np.array([[True, False, True], [False, False, True]])
DAYS = np.array(["2024-01-05", "2024-01-06", "2024-03-01"], dtype="M8[D]")

#: The arguments that functions need, by groups of functions and alone.
GROUPS: dict[str, tuple[Any, ...]] = {
    "sum mean std var max min prod ptp amax amin cumsum cumprod argsort sort": (X,),
    "nansum nanmean nanstd nanvar nanmax nanmin nanprod nanmedian nanargmax nanargmin": (X,),
    "nancumsum nancumprod argmax argmin": (X,),
    "cumulative_sum cumulative_prod": (V,),
    "all any median average flip squeeze ravel count_nonzero trace diff round around": (Y,),
    "nonzero argwhere flatnonzero copy ones_like zeros_like empty_like ndim size shape": (Y,),
    "diagonal diag diagflat tril triu rot90 fliplr flipud unstack vander1": (Y,),
    "array asarray asanyarray ascontiguousarray asfortranarray require transpose": (Y,),
    "unique unique_all unique_counts unique_inverse unique_values cov corrcoef": (Y,),
    "matrix_transpose permute_dims sort_complex trapezoid gradient unwrap": (Y,),
    "iscomplex isreal iscomplexobj isrealobj isneginf isposinf real imag angle": (X,),
    "nan_to_num isfortran fix i0 sinc atleast_1d atleast_2d atleast_3d histogram": (R,),
    "histogram_bin_edges": (R,),
    "percentile nanpercentile": (X, 40),
    "quantile nanquantile": (X, 0.4),
    "ones zeros empty": ((2, 3),),
    "bartlett blackman hamming hanning identity": (4,),
    "concatenate concat stack vstack hstack dstack column_stack block": ([Y, Y + 1],),
    "array_split split": (np.arange(8), 2),
    "hsplit vsplit dsplit": (np.arange(8).reshape(2, 2, 2), 2),
    "isclose allclose": (Y, Y + 1e-4),
    "array_equal array_equiv": (X, X),
    "intersect1d setdiff1d setxor1d union1d": ([3, 1, 2, 2], [2, 5]),
    "dot inner outer vdot vecdot tensordot kron matmul": (Y[:, :2], Y[:, :2]),
    "convolve correlate": (V, [1.0, 2.0]),
    "argpartition partition": (V, 2),
    "isfinite isinf isnan signbit sign spacing fabs floor ceil trunc rint": (R,),
    "abs absolute negative positive square exp exp2 expm1 sin cos tan sinh cosh tanh": (R,),
    "arcsin arccos arctan arcsinh arctanh asin acos atan asinh atanh conj conjugate": (R,),
    "cbrt deg2rad rad2deg degrees radians frexp modf": (R,),
    "arccosh acosh log log2 log10 log1p sqrt reciprocal": (V,),
    "bitwise_count bitwise_invert bitwise_not invert": (Y,),
    "logical_not": (FLAGS,),
    "add subtract multiply divide true_divide floor_divide mod remainder fmod power": (R, 2),
    "pow float_power maximum minimum fmax fmin arctan2 atan2 hypot copysign nextafter": (R, 2),
    "heaviside logaddexp logaddexp2 less less_equal greater greater_equal equal": (R, 2),
    "not_equal divmod": (R, 2),
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift": (Y, 2),
    "left_shift right_shift gcd lcm ldexp": (Y, 2),
    "logical_and logical_or logical_xor": (FLAGS, [True, False, False]),
    "matvec": (Y, np.arange(3)),
    "vecmat": (np.arange(2), Y),
    "fromiter": ([1, 2, 3], float),
    "mask_indices": (3, np.triu),
    "diag_indices": (3,),
    "tril_indices triu_indices": (3,),
    "diag_indices_from tril_indices_from triu_indices_from": (np.ones((3, 3)),),
}
ALONE: dict[str, tuple[Any, ...]] = {
    "append": (Y, [7]),
    "apply_along_axis": (np.sum, 0, Y),
    "apply_over_axes": (np.sum, Y, [0]),
    "arange": (5,),
    "astype": (Y, "float64"),
    "bincount": ([1, 2, 2],),
    "broadcast_to": (Y[0], (2, 3)),
    "busday_count": (DAYS, DAYS[::-1]),
    "busday_offset": (DAYS[:1], 1),
    "is_busday": (DAYS,),
    "choose": ([0, 1, 1], [[1, 2, 3], [4, 5, 6]]),
    "clip": (Y, 1, 3),
    "compress": ([True, False], Y),
    "cross": (Y, Y[::-1]),
    "datetime_as_string": (DAYS,),
    "delete": (Y, 1),
    "digitize": ([0.5, 2.0], [0, 1, 2]),
    "ediff1d": (V,),
    "einsum": ("ij,kj", Y, Y),
    "expand_dims": (Y, 0),
    "extract": (FLAGS, Y),
    "eye": (3,),
    "fromfunction": (np.add, (2, 3)),
    "full": ((2,), 3),
    "full_like": (Y, 3),
    "geomspace": (1, 8, 4),
    "histogram2d": (V, V[::-1]),
    "histogramdd": (R,),
    "indices": ((2, 3),),
    "insert": (Y, 1, 9),
    "interp": ([-1.0, 1.5, 9.0], [1.0, 2.0, 3.0], [4.0, 5.0, 7.0]),
    "isdtype": (np.dtype("int8"), "integral"),
    "isin": (Y, [1, 2]),
    "isnat": (DAYS,),
    "ix_": ([0, 1], [2]),
    "kaiser": (4, 2.0),
    "lexsort": (Y,),
    "linspace": (0, 1, 5),
    "logspace": (0, 1, 5),
    "meshgrid": ([1, 2], [3, 4, 5]),
    "moveaxis": (Y, 0, 1),
    "packbits": (FLAGS,),
    "unpackbits": (Y.astype("u1"),),
    "pad": (Y, 1),
    "piecewise": (V, [V < 3, V >= 3], [0.0, 1.0]),
    "polyfit": (V, V**2, 1),
    "polyval": ([1.0, 2.0], V),
    "put_along_axis": (Y, np.array([[0], [1]]), 9, 1),
    "ravel_multi_index": (([0, 1], [2, 0]), (2, 3)),
    "unravel_index": ([1, 4], (2, 3)),
    "repeat": (Y, 2),
    "reshape": (Y, (3, 2)),
    "resize": (Y, (3, 3)),
    "roll": (Y, 1),
    "rollaxis": (Y, 1),
    "searchsorted": (np.arange(5), [1, 2]),
    "select": ([V < 2, V < 4], [V, -V]),
    "swapaxes": (Y, 0, 1),
    "take": (Y, [0, 1]),
    "take_along_axis": (Y, np.array([[0], [1]])),
    "tile": (Y, 2),
    "tri": (3,),
    "trim_zeros": ([0, 0, 1, 2, 0],),
    "vander": ([1, 2, 3],),
    "where": (FLAGS, Y, 0),
    "fill_diagonal": (np.ones((3, 3)), 7),
    "copyto": (np.ones((2, 3)), Y),
    "place": (np.ones((2, 3)), FLAGS, [5.0]),
    "put": (np.ones((2, 3)), [0, 4], [5.0]),
    "putmask": (np.ones((2, 3)), FLAGS, [5.0]),
}
ARGUMENTS = {
    **{name: args for names, args in GROUPS.items() for name in names.split()},
    **ALONE,
}
#: Functions whose results are no arrays, or that are NumPy's own.
LEFT_OUT = {
    *("broadcast_arrays", "broadcast_shapes", "can_cast", "common_type", "datetime_data"),
    *("describe_option", "from_dlpack", "frombuffer", "fromfile", "fromregex", "fromstring"),
    *("genfromtxt", "get_printoptions", "geterr", "isscalar", "issubdtype", "iterable", "load"),
    *("loadtxt", "may_share_memory", "min_scalar_type", "mintypecode", "printoptions"),
    *("promote_types", "result_type", "save", "savetxt", "savez", "savez_compressed"),
    *("set_printoptions", "seterr", "shares_memory", "typename", "empty", "empty_like"),
}
#: The arguments that methods of tensors need.
NEEDED: dict[str, dict[str, Any]] = {
    "argpartition": {"kth": 1},
    "partition": {"kth": 1},
    "astype": {"dtype": "float32"},
    "clip": {"min": 2.0},
    "compress": {"condition": [True, False]},
    "dot": {"b": np.ones((3, 2))},
    "put": {"indices": [0, 2], "values": [7, 8]},
    "repeat": {"repeats": 2},
    "take": {"indices": [0, 2]},
}
METHOD_LEFT_OUT = {
    *("item", "tolist", "tobytes", "tofile", "dump", "dumps", "getfield", "setflags", "view"),
    *("to_device", "resize", "choose", "fill", "reshape", "swapaxes", "searchsorted"),
}


class _Changed:
    """A function that changes its first argument: its result is the argument as it is then."""

    def __init__(self, function: Any, own: bool) -> None:
        self.function, self.own = function, own

    def __call__(self, first: Any, *args: Any, **kwargs: Any) -> Any:
        first = mt.tensor(first) if self.own else first.copy()
        self.function(first, *args, **kwargs)
        return first


IN_PLACE = {"fill_diagonal", "copyto", "place", "put", "putmask", "put_along_axis"}


def common(model: Any, ours: Any, left_out: set[str]) -> Iterator[str]:
    """Yield the names of the functions of two modules."""
    for name in dir(ours):
        function = getattr(model, name, None)
        kinds = isinstance(function, type) or isinstance(getattr(ours, name), type)
        if name.startswith("_") or name in left_out or not callable(function) or kinds:
            continue
        if callable(getattr(ours, name)):
            yield name


def functions() -> list[Case]:
    """Return the functions of tensors that NumPy has."""
    cases: list[Case] = []
    for name in common(np, mt, LEFT_OUT):
        model, ours = getattr(np, name), getattr(mt, name)
        signature = model
        if name in IN_PLACE:
            model, ours = _Changed(model, own=False), _Changed(ours, own=True)
        cases.append(Case(f"np.{name}", model, ours, signature, ARGUMENTS.get(name, ())))
    return cases


def array_methods() -> list[Case]:
    """Return the methods of tensors that arrays have."""
    return list(methods("array", X.copy, lambda: mt.tensor(X), NEEDED, METHOD_LEFT_OUT))
