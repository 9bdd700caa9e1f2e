"""User functions over lines and elements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from marsdask.core.collection import collect, wrap
from marsdask.core.errors import MemoryBudgetError
from marsdask.core.machine.costs import Cost
from marsdask.core.node import Node
from marsdask.core.session import own_memory
from marsdask.core.snapshots.functions import function_name

from ..elementwise.nodes import Elementwise, ElementwiseOutputs, operands
from ..manipulation.shape import expand_dims, normalize_axis
from ..operands import as_node
from ..typing import public
from .gufunc import apply_gufunc
from .map_blocks import map_blocks
from .rechunk import rechunk


def each_line(
    block: Any,
    of: Callable[..., Any],
    axis: int,
    nothing: Any,
    args: tuple[Any, ...],
    options: Any,
) -> Any:
    """Call a function with each line of a block; without lines it is not called."""
    around = (*block.shape[:axis], *block.shape[axis + 1 :])
    if 0 in around:
        return np.empty((*around[:axis], *nothing.shape, *around[axis:]), nothing.dtype)
    return np.apply_along_axis(of, axis, block, *args, **options)


@public
def apply_along_axis(
    func1d: Callable[..., Any],
    axis: int,
    arr: Any,
    *args: Any,
    dtype: Any = None,
    shape: Any = None,
    **kwargs: Any,
) -> Node:
    """Call a function with each line along an axis. See numpy.apply_along_axis.

    ``dtype`` and ``shape`` are those of one result, as in Dask; without them the function is called
    once with ones.
    """
    node = as_node(arr)
    axis = normalize_axis(operator.index(axis), node.meta.ndim)
    node = rechunk.node(node, {axis: -1})
    if dtype is None or shape is None:
        size = node.shape[axis]
        length = size if isinstance(size, int) else 1
        nbytes, room = length * node.meta.dtype.itemsize, own_memory()
        if nbytes > room:
            advice = "pass dtype= and shape=, and shorter lines"
            raise MemoryBudgetError(f"a line of {length} elements", (0,), nbytes, room, advice)
        sample = np.asarray(func1d(np.ones(length, node.meta.dtype), *args, **kwargs))
        dtype = sample.dtype if dtype is None else dtype
        shape = sample.shape if shape is None else shape
    lengths = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    ndim = len(node.chunks)
    lines = map_blocks.node(
        each_line,
        node,
        dtype=dtype,
        chunks=((None,) * axis + tuple((n,) for n in lengths) + (None,) * (ndim - 1 - axis)),
        drop_axis=axis,
        new_axis=range(axis, axis + len(lengths)),
        of=func1d,
        nothing=np.empty(lengths, dtype),
        axis=axis,
        args=args,
        options=kwargs,
    )
    return lines.replaced(of_lines=True)


@public
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Call ``func(tensor, axis)`` for one axis after the other. See numpy.apply_over_axes."""
    result = collect(as_node(a))
    ndim = result.ndim
    for axis in np.atleast_1d(axes).tolist():
        place = normalize_axis(axis, ndim)
        values = func(result, place)
        result = values if values.ndim == ndim else expand_dims(values, place)
        if result.ndim != ndim:
            raise ValueError("function is not returning an array of the correct shape")
    return result


@dataclass(frozen=True)
class EachElement:
    """Calls a Python function with each element."""

    func: Callable[..., Any]
    nin: int
    nout: int
    dtypes: tuple[np.dtype[Any], ...]
    places: tuple[Any, ...] = ()
    """For each argument its keyword, or ``None`` if it goes by position."""
    fixed: tuple[tuple[Any, Any], ...] = ()
    """Arguments that are the same for all elements, by position or keyword."""
    cost: ClassVar[Cost] = Cost(2.0, least=2**20)

    @property
    def __name__(self) -> str:
        return function_name(self.func)

    def _call(self, *values: Any) -> Any:
        items = iter(values)
        keywords = {key: value for key, value in self.fixed if isinstance(key, str)}
        positional = {key: value for key, value in self.fixed if not isinstance(key, str)}
        for place in self.places:
            target = keywords if isinstance(place, str) else positional
            target[place] = next(items)
        return self.func(*(positional[i] for i in sorted(positional)), **keywords)

    def __call__(self, *blocks: Any) -> Any:
        call = np.frompyfunc(self._call if self.places else self.func, self.nin, self.nout)
        result = call(*blocks)
        several = result if self.nout > 1 else (result,)
        outputs = tuple(
            np.asarray(values, object).astype(dtype, copy=False)
            for values, dtype in zip(several, self.dtypes, strict=True)
        )
        return outputs if self.nout > 1 else outputs[0]


def _mapped(kernel: EachElement, args: Iterable[Any]) -> Any:
    nodes = operands(tuple(args))
    if kernel.nout == 1:
        return wrap(Elementwise(kernel, nodes))
    return tuple(map(wrap, ElementwiseOutputs(kernel, nodes).parts()))


class frompyfunc:  # noqa: N801 - NumPy's name
    """A function of Python objects as a function of tensors, whose elements are objects.

    See numpy.frompyfunc. Differs from NumPy: no ``identity``, no methods like ``reduce``.
    """

    def __init__(self, func: Callable[..., Any], nin: int, nout: int) -> None:
        self.nin, self.nout, self.nargs = nin, nout, nin + nout
        self._kernel = EachElement(func, nin, nout, (np.dtype(object),) * nout)
        self.__name__ = self._kernel.__name__

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arguments, not {len(args)}")
        return _mapped(self._kernel, args)


def _general(dtype: Any) -> np.dtype[Any]:
    """Return a type without a width or a unit: the values decide them, as in NumPy."""
    general: np.dtype[Any] = np.dtype(np.dtype(dtype).char)
    return general


class vectorize:  # noqa: N801 - NumPy's name
    """A function of numbers as a function of tensors. See numpy.vectorize.

    Differs from NumPy: without ``otypes``, a call with ones determines the result's type. With a
    ``signature``, exactly the keywords are excluded. ``cache`` has no effect.
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Iterable[Any] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        del cache
        self.pyfunc = pyfunc
        self.signature = signature
        self.excluded = frozenset(excluded or ())
        self.__doc__ = doc or pyfunc.__doc__
        self._otypes = None if otypes is None else tuple(map(_general, otypes))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        fixed = tuple((key, inputs.pop(key)) for key in list(inputs) if key in self.excluded)
        if not inputs:
            raise ValueError("cannot call `vectorize` without arguments that are not excluded")
        if self.signature is not None:
            return self._of_vectors(self.signature, inputs, fixed)
        kernel = EachElement(self.pyfunc, len(inputs), 1, (), tuple(inputs), fixed)
        dtypes = self._otypes
        if dtypes is None:
            samples = [np.ones((), wrap(as_node(value)).dtype)[()] for value in inputs.values()]
            result = kernel._call(*samples)
            several = result if isinstance(result, tuple) else (result,)
            dtypes = tuple(_general(np.asarray(value).dtype) for value in several)
        kernel = EachElement(self.pyfunc, len(inputs), len(dtypes), dtypes, tuple(inputs), fixed)
        return _mapped(kernel, inputs.values())

    def _of_vectors(self, signature: str, given: dict[Any, Any], fixed: Any) -> Any:
        """Call the function of all but the core axes."""
        keywords = {key: value for key, value in fixed if isinstance(key, str)}
        if len(keywords) < len(fixed) or any(isinstance(key, str) for key in given):
            raise NotImplementedError(
                "keywords of vectorize(signature=) are not supported; use functools.partial"
            )
        func = partial(self.pyfunc, **keywords) if keywords else self.pyfunc
        how: Any = {"vectorize": True, "allow_rechunk": True, "output_dtypes": self._otypes}
        return apply_gufunc(func, signature, *given.values(), **how)
