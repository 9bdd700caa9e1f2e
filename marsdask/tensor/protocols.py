"""Python's operators and NumPy's protocols for tensors: lazy, or computed immediately."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar
from typing import cast as typed

import numpy as np

import marsdask.tensor
from marsdask.core.collection import Collection, wrap
from marsdask.core.sizes import Unknown

from .chunks import check_device
from .elementwise.ufunc_methods import call_method
from .elementwise.ufuncs import apply, conjugate, elementwise, sqrt, square
from .indexing.assignment import assign
from .indexing.iteration import rows
from .io.dask_arrays import is_dask_array
from .kernels.duck_arrays import in_memory
from .operands import to_change
from .reduction import reductions
from .sparse.blocks import dense, is_sparse
from .typing import ArrayLike

if TYPE_CHECKING:
    from .tensor import Tensor

R = TypeVar("R")

_OURS = (np.ndarray, np.generic, numbers.Number, str, bytes, list, tuple)


def is_tensor(obj: Any) -> bool:
    """Distinguish tensors from frames and from other objects."""
    if not isinstance(obj, Collection):
        return False
    meta = obj.node.meta
    return isinstance(meta, np.ndarray) or is_sparse(meta)


def operand_of(obj: Any) -> bool:
    """Tell whether our operator accepts ``obj``, rather than deferring to it."""
    if isinstance(obj, Collection):
        return is_tensor(obj)
    if isinstance(obj, _OURS) or is_dask_array(obj):
        return True
    # Other classes with the protocol (a pandas frame) decide themselves.
    return not hasattr(obj, "__array_ufunc__")


#: Objects of other packages that NumPy has no type for, such as offsets of times and frames, and
#: what applies an operator's function to two operands of which one is such an object.
object_operators: dict[type, Callable[[str, Any, Any], Any]] = {}
#: Objects in memory of other packages, to which a ufunc applies lazily where a tensor is beside
#: them, and what makes lazy ones of them.
lazy_objects: dict[type, Callable[[Any], Any]] = {}


def _applied(func: Callable[..., Any], a: Any, b: Any, other: Any) -> Any:
    """Apply an operator's function to a tensor and another operand, in their order."""
    if type(other) not in _PLAIN:
        for kind, apply_to in object_operators.items():
            if isinstance(other, kind):
                return apply_to(_NAMES.get(func.__name__, func.__name__), a, b)
    return func(a, b) if operand_of(other) else NotImplemented


#: The ufuncs of operators that compare anything.
_NAMES = {"alike": "equal", "unlike": "not_equal"}

_PLAIN = {int, float, complex, bool, np.ndarray}


def binary(func: Callable[..., R]) -> Callable[[Any, ArrayLike], R]:
    """Return the operator ``self <func> other``."""

    def call(self: Any, other: Any) -> Any:
        return _applied(func, self, other, other)

    return call


def reflected(func: Callable[..., R]) -> Callable[[Any, ArrayLike], R]:
    """Return the operator ``other <func> self``."""

    def call(self: Any, other: Any) -> Any:
        return _applied(func, other, self, other)

    return call


def inplace(ufunc: np.ufunc) -> Callable[[Any, ArrayLike], Tensor]:
    """Return the in-place operator: ``self`` holds the result, in its own type and shape."""

    def call(self: Any, other: Any) -> Any:
        if not operand_of(other):
            return NotImplemented
        return assign(self, apply(ufunc, to_change(self, "output array"), other))

    return call


def inplace_by(func: Callable[..., Any]) -> Callable[[Any, ArrayLike], Tensor]:
    """Return the in-place operator of a function of tensors."""

    def call(self: Any, other: Any) -> Any:
        if not operand_of(other):
            return NotImplemented
        return assign(self, func(to_change(self, "output array"), other).node)

    return call


def power(self: Any, exponent: ArrayLike) -> Tensor:
    """Raise to a power; squares and roots use their own functions, as NumPy's operator does."""
    if type(exponent) in (int, float) and self.dtype.kind in "biufc":
        if exponent == 2 and (type(exponent) is int or self.dtype.kind in "fc"):
            return square(self)
        if exponent == 0.5 and self.dtype.kind in "fc":
            return sqrt(self)
    return raised(self, exponent)


raised: Final = binary(elementwise(np.power))


def module() -> Any:
    """Return ``marsdask.tensor``, which contains every function but imports the class itself."""
    return marsdask.tensor


@cache
def lazy_ufunc(ufunc: np.ufunc) -> Any:
    """Return the lazy form of any ufunc, SciPy's included."""
    if ufunc.signature is None:
        return elementwise(ufunc)
    function = getattr(module(), ufunc.__name__, None)
    if function is None:
        raise NotImplementedError(
            f"{ufunc.__name__}() of tensors is not supported; use compute() first, or map_blocks()"
        )
    return function


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Implement a NumPy ufunc."""
    if not all(map(operand_of, inputs)):
        lazy = tuple(map(lazy_object, inputs))
        same = all(a is b for a, b in zip(lazy, inputs, strict=True))
        return NotImplemented if same else getattr(ufunc, method)(*lazy, **kwargs)
    outputs = kwargs.pop("out", ())
    if any(isinstance(item, np.ndarray) for item in outputs):
        return _filled(self, ufunc, method, inputs, kwargs, outputs)
    if outputs:
        kwargs["out"] = outputs if len(outputs) > 1 else outputs[0]
    if method == "__call__":
        return lazy_ufunc(ufunc)(*inputs, **kwargs)
    return call_method(ufunc, method, *inputs, **kwargs)


def lazy_object(obj: Any) -> Any:
    """Return an object in memory of another package as a lazy one; others as they are."""
    makers = [make for kind, make in lazy_objects.items() if isinstance(obj, kind)]
    return makers[0](obj) if makers else obj


def _filled(
    self: Any,
    ufunc: np.ufunc,
    method: str,
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any],
    outputs: tuple[Any, ...],
) -> Any:
    """Compute immediately, since the results are stored in arrays in memory."""
    results = array_ufunc(self, ufunc, method, *inputs, **kwargs)
    several = results if isinstance(results, tuple) else (results,)
    # A reduction's mask selects its elements; that of a call selects results.
    where = kwargs.get("where", True) if method == "__call__" else True
    casting = kwargs.get("casting", "same_kind")
    for out, result in zip(outputs, several, strict=True):
        if isinstance(out, np.ndarray):
            value = np.asarray(result.compute())
            if method != "__call__" and out.shape != value.shape:
                raise ValueError(
                    f"output parameter for {method} has shape {out.shape}, not {value.shape}"
                )
            np.copyto(out, value, casting, np.asarray(where, bool))
        elif out is not None:
            assign(out, result.node)
    return outputs if len(outputs) > 1 else outputs[0]


def array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Compute for NumPy's conversion to an array."""
    if copy is False:
        raise ValueError(
            "Unable to avoid copy while creating an array as requested: tensors are computed"
        )
    return np.asarray(dense(self.compute()), dtype=dtype)


def buffer(self: Any, flags: int) -> memoryview:
    """Return the values of a computed tensor as a buffer, which Python asks for from 3.12.

    NumPy makes arrays of buffers rather than of ``__array__``, and ignores their errors: what it
    would compute twice, and what would come back in another type, has no buffer.
    """
    held = self._held()
    if held is None:
        raise BufferError("a tensor that is not computed has no buffer; use execute() first")
    dtype = held.meta.dtype
    sample: Any = np.empty(0, dtype)
    if np.asarray(memoryview(sample)).dtype != dtype or dtype.metadata is not None:
        raise BufferError(f"cannot include dtype {dtype} in a buffer")
    view: memoryview = array(self).__buffer__(flags)
    return view


#: Versions of the array API standard that are complete.
API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def array_namespace(self: Any, *, api_version: str | None = None) -> Any:
    """Return the module whose functions take tensors."""
    if api_version is not None and api_version not in API_VERSIONS:
        raise ValueError(
            f"version {api_version!r} of the array API standard is none of {API_VERSIONS}"
        )
    return module()


def device(self: Any) -> str:
    """Return the device of the chunks, as defined by the array API."""
    return "cpu"


def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """Return the tensor on a device; only its own is supported."""
    check_device(device)
    if stream is not None:
        raise ValueError("stream= is for devices that have streams")
    return self


def dlpack(
    self: Any,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Compute, and export the memory to another library."""
    if copy is False:
        raise BufferError(
            "Unable to avoid copy while creating an array as requested: tensors are computed"
        )
    values = np.asarray(in_memory(self.compute()))
    # Results may be read-only, which the protocol supports since its version 1.
    if not values.flags.writeable and (max_version is None or max_version < (1, 0)):
        values = values.copy()
    return values.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


def dlpack_device(self: Any) -> tuple[int, int]:
    """Return the device of the values of :func:`dlpack`: the CPU's memory."""
    return np.empty(0).__dlpack_device__()


def _single(self: Any) -> Any:
    """Compute a tensor that must be 0-d."""
    if self.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return np.asarray(in_memory(self.compute()))[()]


def truth(self: Any) -> bool:
    """Compute the truth of one element."""
    size = self.size
    if size != 1 and not math.isnan(size):
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous. "
            "Use a.any() or a.all()"
            if size
            else "The truth value of an empty array is ambiguous. Use a.size > 0"
        )
    return bool(np.asarray(in_memory(self.compute())))


def conjugated(self: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Return the complex conjugate, of real numbers the tensor itself. See numpy.ndarray.conj.

    Parameters
    ----------
    *args, **kwargs
        Arguments of :func:`marsdask.tensor.conjugate`, such as ``out``.

    Returns
    -------
    Tensor
        The conjugate numbers.
    """
    if self.dtype.kind in "biuf" and not (args or kwargs):
        return typed("Tensor", self)
    return conjugate(self, *args, **kwargs)


def as_int(self: Any) -> int:
    """Compute one element as an int."""
    return int(_single(self))


def as_float(self: Any) -> float:
    """Compute one element as a float."""
    return float(_single(self))


def as_rounded(self: Any, ndigits: int | None = None) -> Any:
    """Compute a number, and round it as NumPy's numbers are."""
    return round(_single(self), ndigits)


def as_complex(self: Any) -> complex:
    """Compute one element as a complex number."""
    return complex(_single(self))


def as_index(self: Any) -> int:
    """Compute one integer element."""
    if self.dtype.kind not in "iu":
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    return operator.index(_single(self))


def formatted(self: Any, spec: str) -> str:
    """Compute one element for a format, as in ``f"{x.mean():.2f}"``."""
    return format(_single(self), spec) if spec else str(self)


def length(self: Any) -> int:
    """Return the length of the first axis; unknown lengths are computed."""
    if not self.ndim:
        raise TypeError("len() of unsized object")
    if isinstance(self.node.shape[0], Unknown):
        self.execute()
    return int(self.shape[0])


def contains(self: Any, item: Any) -> bool:
    """Compute whether some element equals ``item``."""
    return bool(reductions.any(wrap(apply(np.equal, self, item))))


def iterate(self: Any) -> Iterator[Any]:
    """Iterate over the first axis; many rows are read at a time."""
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    length(self)  # executes if necessary
    return rows(self)


def item(self: Any, *args: Any) -> Any:
    """Compute one element as a Python scalar."""
    return np.asarray(in_memory(self.compute())).item(*args)


def tolist(self: Any) -> Any:
    """Compute, and return nested lists of Python scalars."""
    return np.asanyarray(in_memory(self.compute())).tolist()  # None where masked
