"""Masked tensors: chunks are masked arrays of ``numpy.ma``.

Elementwise functions call NumPy's masked ones chunk by chunk. Moving operations apply to the data
and the mask. Reductions ignore masked elements. Both use plain tensors, so no kernel of plain
chunks receives masked ones. A masked tensor's meta is an empty masked array.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from typing import cast as typed

import numpy as np

from marsdask.core.collection import Collection, collect, rebind, register_collection, wrap
from marsdask.core.config import options
from marsdask.core.grids.align import aligned
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import Cost
from marsdask.core.node import MemoryOrder, Node
from marsdask.core.public import public_methods
from marsdask.core.sizes import Index

from ..blocks import assemble
from ..chunkwise.rechunk import recut
from ..elementwise import ufuncs
from ..elementwise.nodes import Elementwise, operands
from ..indexing import setitem
from ..indexing.assignment import assign
from ..manipulation import views
from ..operands import as_node, empty, meta_of
from ..sharing.flags import Flags
from ..sharing.parts import PartsView
from ..tensor import Tensor
from ..typing import public

if TYPE_CHECKING:
    from ..tensor import Tensor


@dataclass(frozen=True)
class MaskedFunction:
    """A function of masked blocks, without warnings about masked elements."""

    func: Callable[..., Any]
    cost: ClassVar[Cost] = Cost(shares=True)

    @property
    def __name__(self) -> str:
        return self.func.__name__

    def __call__(self, *blocks: Any, **options: Any) -> Any:
        shapes = [np.shape(block) for block in blocks]
        flat = not any(shapes)
        if flat:
            # For single elements NumPy would return numbers, and one object for all masked ones.
            blocks = tuple(
                block.reshape(1) if isinstance(block, np.ndarray) else block for block in blocks
            )
        with np.errstate(all="ignore"):
            result = np.ma.asanyarray(self.func(*blocks, **options))
        return result.reshape(()) if flat else result


@dataclass(frozen=True, eq=False)
class MaskedMap(Elementwise):
    """A function of masked chunks (and plain ones) whose results are masked."""

    fuses: ClassVar[bool] = False

    @property
    def _sample(self) -> Any:
        args = [_example(arg.meta) if isinstance(arg, Node) else arg for arg in self.args]
        return self.func(*args, **dict(self.kwargs))

    @property
    def meta(self) -> Any:
        return _empty_like(self._sample, len(self.chunks))

    def _aligned(self, grids: tuple[Grid, ...]) -> Generator[Any, Any, Any]:
        grids, chunks = yield from aligned(grids, recut)
        return self._map(grids, chunks)


@dataclass(frozen=True, eq=False)
class DataOrMask(Elementwise):
    """The data or the mask of masked chunks."""

    fuses: ClassVar[bool] = False

    @property
    def _sample(self) -> Any:
        (arg,) = self.args
        return self.func(_example(arg.meta))


def _example(meta: Any) -> Any:
    if not isinstance(meta, np.ma.MaskedArray):
        return empty(meta.dtype, 1)
    return _empty_like(meta, 1)


def _empty_like(block: Any, ndim: int) -> Any:
    meta = np.ma.empty((0,) * ndim, block.dtype)
    meta.fill_value = block.fill_value
    if np.ma.getmask(block) is not np.ma.nomask:
        meta.mask = False
    return meta


def masked_block(data: Any, mask: Any, fill_value: Any = None, shrinks: bool = True) -> Any:
    """Make a masked block of data and mask.

    ``shrinks`` tells that NumPy omits the mask if it masks nothing. The meta, an empty block, has
    no mask then.
    """
    block = np.ma.masked_array(data, mask=mask, fill_value=fill_value)
    return block.shrink_mask() if shrinks and not block.size else block


@public_methods
class MaskedTensor(Tensor):
    """A lazy masked array; its value is one of ``numpy.ma``."""

    __slots__ = ()
    _reduced: ClassVar[Callable[..., Any]]
    """The reductions, whose module stands on this one."""
    _operators: ClassVar[dict[np.ufunc, Callable[[Any, Any], Tensor]]] = {}
    """The functions of Python's operators, by the ufunc that arrays call for them."""
    compressed: ClassVar[Callable[..., Tensor]]
    count: ClassVar[Callable[..., Tensor]]

    @staticmethod
    def _apply(func: Callable[..., Any], args: Any, out: Any, where: Any, kwargs: Any) -> Any:
        return apply(func, args, out, where, kwargs)

    @classmethod
    def _assemble(
        cls, parts: Mapping[Index, Any], meta: Any, *, owned: bool, order: MemoryOrder = None
    ) -> Any:
        result = assemble(parts, meta, owned=owned, order=order)
        if isinstance(result, np.ma.MaskedArray) and result.ndim:
            result.fill_value = meta.fill_value
        return result

    @property
    def node(self) -> Node:
        """The operation behind it."""
        node = self._own if self._view is None else self._view.derived(self)
        assert node is not None
        return node

    @property
    def data(self) -> Tensor:
        """A view of the values, including masked ones."""
        return views.view(parts_of(self)[0])

    @property
    def mask(self) -> Tensor:
        """A view of the mask."""
        return views.view(parts_of(self)[1])

    @mask.setter
    def mask(self, value: Any) -> None:
        setitem.setitem(parts_of(self)[1], ..., value)

    @property  # type: ignore[misc]
    def real(self) -> MaskedTensor:  # type: ignore[override]
        """A view of the real part; its mask is its own, as in NumPy."""
        return joined(parts_of(self)[0].real, mask_of(self), None)

    @property  # type: ignore[misc]
    def imag(self) -> MaskedTensor:  # type: ignore[override]
        """A view of the imaginary part; its mask is its own, as in NumPy."""
        return joined(parts_of(self)[0].imag, mask_of(self), None)

    @property
    def base(self) -> Tensor | None:
        """The tensor whose values it shows, ``None`` if they are its own."""
        return parts_of(self)[0].base

    @property
    def flags(self) -> Flags:
        """The memory layout of the values."""
        return Flags(parts_of(self)[0])

    @property
    def fill_value(self) -> Any:
        """The value of masked elements in :meth:`filled`."""
        return self.node.meta.fill_value

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        fill(self, value)

    def filled(self, fill_value: Any = None) -> Tensor:
        """Return a plain tensor with a value in place of the masked ones."""
        return filled(self, fill_value)

    def astype(self, dtype: Any, **options: Any) -> MaskedTensor:
        """Return the tensor in another type."""
        return map_masked_blocks(cast_masked, self, dtype=np.dtype(dtype))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            raise NotImplementedError(
                f"{ufunc.__name__}.{method} of masked tensors is not supported; use functions of ma"
            )
        if isinstance(inputs[0], np.ndarray) and ufunc in self._operators and not kwargs:
            return self._operators[ufunc](*inputs)  # an array's operator, which NumPy leaves to us
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)


register_collection(np.ma.MaskedArray, MaskedTensor)


def has_mask(obj: Any) -> bool:
    """Recognise masked tensors and arrays."""
    return isinstance(obj, MaskedTensor | np.ma.MaskedArray)


def node_of(obj: Any) -> Node:
    """Return the node of a masked tensor, or other objects unchanged."""
    if isinstance(obj, Collection):
        return obj.node
    if isinstance(obj, np.ma.MaskedArray):
        node: Node = from_masked(obj).node
        return node
    return as_node(obj)


@public
def from_masked(array: Any, chunk_size: Any = None) -> MaskedTensor:
    """Return the tensor of a masked array.

    Parameters
    ----------
    array : numpy.ma.MaskedArray
        The masked array.
    chunk_size : int, tuple or dict, optional
        The sizes of chunks; by default they are chosen.

    Returns
    -------
    MaskedTensor
        A masked tensor.

    Examples
    --------
    >>> mt.ma.from_masked(np.ma.masked_equal([1, 2], 2)).sum().compute()
    np.int64(1)
    """
    data = wrap(as_node(np.ma.getdata(array), chunk_size))
    mask = wrap(as_node(np.ma.getmaskarray(array), data.node.chunks))
    return with_mask(data, mask, array.fill_value, shrinks(array))


def shrinks(a: Any) -> bool:
    """Tell whether NumPy has no mask at all if nothing is masked."""
    return np.ma.getmask(meta_of(a)) is np.ma.nomask


def with_mask(data: Any, mask: Any, fill_value: Any, shrinks: bool = True) -> MaskedTensor:
    """Return the masked tensor of data and a mask."""
    tensor: MaskedTensor = wrap(joined_parts(data.node, mask.node, fill_value, shrinks))
    return tensor


def joined_parts(data: Node, mask: Node, fill_value: Any, shrinks: bool = True) -> Node:
    """Return the masked node of data and a mask."""
    options = (("fill_value", fill_value), ("shrinks", shrinks))
    return MaskedMap(MaskedFunction(masked_block), (data, mask), options)


def parts_of(a: MaskedTensor) -> tuple[Tensor, Tensor]:
    """Return the tensors of the values and of the mask, which only this masked tensor has."""
    view = a._view
    if not isinstance(view, PartsView):
        data, mask = (collect(node) for node in parts_in(a.node))
        view = sharing(a, data, mask)
    view.seen_by(a)
    first, second = view.parts
    return typed("tuple[Tensor, Tensor]", (first, second))


def sharing(a: MaskedTensor, data: Tensor, mask: Tensor) -> PartsView:
    """Let a masked tensor show values and a mask, which may be views of others."""
    join = partial(joined_parts, fill_value=a.node.meta.fill_value, shrinks=shrinks(a))
    view = PartsView((data, mask), join, parts_in)
    a._view = view
    return view


def joined(data: Any, mask: Any, fill_value: Any, shrinks: bool = True) -> MaskedTensor:
    """Return the masked tensor of data and a mask, which shares what these share with others."""
    tensor = with_mask(data, mask, fill_value, shrinks)
    if data._view is not None or mask._view is not None:
        sharing(tensor, data, mask)
    return tensor


def fill(a: MaskedTensor, fill_value: Any) -> None:
    """Set the fill value of one tensor, which others that share its elements do not see."""
    data, mask = parts_of(a)
    a._own, a._view = joined_parts(data.node, mask.node, fill_value, shrinks(a)), None
    sharing(a, data, mask)
    if options.eager_mode:
        rebind(a, a.node)


def map_masked_blocks(func: Callable[..., Any], *args: Any, **options: Any) -> MaskedTensor:
    """Call a function of masked blocks."""
    nodes = tuple(
        node_of(arg) if isinstance(arg, np.ma.MaskedArray | MaskedTensor) else arg for arg in args
    )
    nodes = operands(nodes)
    tensor: MaskedTensor = wrap(
        MaskedMap(MaskedFunction(func), nodes, tuple(sorted(options.items())))
    )
    return tensor


def apply(func: Callable[..., Any], args: Any, out: Any, where: Any, kwargs: Any) -> MaskedTensor:
    """Return the lazy form of an elementwise function with some masked arguments."""
    if where is not True or getattr(func, "nout", 1) > 1:
        raise NotImplementedError(
            f"{func.__name__}(where=) of masked tensors is not supported; use ma.where"
        )
    result = map_masked_blocks(np.ma.where if func is ufuncs.chosen else func, *args, **kwargs)
    return result if out is None else assign(out[0] if isinstance(out, tuple) else out, result.node)


def cast_masked(block: Any, dtype: Any) -> Any:
    """Return a masked block in another type."""
    return block.astype(dtype)


def parts_in(node: Node) -> tuple[Node, Node]:
    """Return the nodes of the values and of the mask."""
    if isinstance(node, MaskedMap) and node.func == MaskedFunction(masked_block):
        data, mask = node.args
        return data, mask
    return DataOrMask(np.ma.getdata, (node,)), DataOrMask(np.ma.getmaskarray, (node,))


def values_of(a: Any) -> Tensor:
    """Return a tensor of its own of the values, including masked ones."""
    node = node_of(a)
    masked = isinstance(node.meta, np.ma.MaskedArray)
    tensor: Tensor = wrap(parts_in(node)[0] if masked else node)
    return tensor


def mask_of(a: Any) -> Tensor:
    """Return a tensor of its own of which values are masked."""
    node = node_of(a)
    if not isinstance(node.meta, np.ma.MaskedArray):
        return ufuncs.not_equal(wrap(node), wrap(node)) & False
    tensor: Tensor = wrap(parts_in(node)[1])
    return tensor


@public
def getdata(a: Any) -> Tensor:
    """Return the values, including masked ones. See numpy.ma.getdata.

    Returns
    -------
    Tensor
        The values: a view, through which they can be changed.
    """
    return a.data if isinstance(a, MaskedTensor) else values_of(a)


@public
def getmaskarray(a: Any) -> Tensor:
    """Tell which values are masked. See numpy.ma.getmaskarray.

    Returns
    -------
    Tensor
        True where a value is masked. Of a masked tensor it is a view.
    """
    return a.mask if isinstance(a, MaskedTensor) else mask_of(a)


@public
def filled(a: Any, fill_value: Any = None) -> Tensor:
    """Return a plain tensor with a value in place of the masked ones. See numpy.ma.filled."""
    if not has_mask(a):
        plain: Tensor = wrap(as_node(a))
        return plain
    node = node_of(a)
    value = node.meta.fill_value if fill_value is None else fill_value
    value = np.ma.masked_array(np.ones(1, node.meta.dtype), fill_value=value).fill_value
    return ufuncs.where(mask_of(a), value, values_of(a)).astype(node.meta.dtype)
