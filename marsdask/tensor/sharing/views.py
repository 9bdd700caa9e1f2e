"""Views as users meet them: made by functions, asked for their base, and whether they overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection, Writes, collect, rebind
from marsdask.core.node import Node
from marsdask.core.sizes import known

from ..elementwise.nodes import Elementwise
from ..manipulation.reshape import Reshape, reshape
from ..manipulation.shape import View
from ..memory_order import in_order, moved
from .layout_arrays import stand_in
from .memory import ElementsView, owns, reshaped, share, view_of
from .parts import PartsView
from .selections import READ_ONLY, UNTRACED, distance, function_of, refusal_of


def show(
    base: Collection, node: Node, writes: Writes, through: tuple[type[Node], ...]
) -> Collection | None:
    """Return the view of a tensor whose node is given, ``None`` if NumPy's array is a copy."""
    own = base.node
    if node is not own and type(node) is Elementwise and _is_no_part(node):
        return frozen(node, READ_ONLY)
    if writes == "untraced":
        return frozen(node, UNTRACED)
    view = base._view
    ends = (own, view.memory.node) if isinstance(view, ElementsView) else (own,)
    route = distance(node, ends, through)
    if route is None:
        return None
    end, count, kinds = route
    user: Collection = collect(node)
    share(base, user, count, refusal_of(kinds, writes), whole=end is not own)
    whole = not isinstance(view, ElementsView) or view.lies_in_order
    if kinds == {Reshape} and whole and end.memory_order is None:
        view_of(user).in_order = True  # so that long chains need not ask NumPy for each
    elif Reshape in kinds and not _reshapes(user):
        # Axes that turn out to be of one element might make it a view.
        copied = _gathered(node)
        return collect(copied) if known(end.shape) else frozen(copied, UNTRACED)
    return user


def _gathered(node: Node) -> Node:
    """Return a reshaped node that NumPy copies, in C order before its last axes are moved."""
    order = moved(None, node.axes, node.shape) if isinstance(node, View) else None
    return in_order(node, order)


def _is_no_part(node: Node) -> bool:
    """Recognise the imaginary part of real numbers: zeros, which NumPy does not let write to."""
    return function_of(node) is np.imag and node.inputs[0].meta.dtype.kind != "c"


def frozen(node: Node, refusal: Exception) -> Collection:
    """Return a tensor of its own memory that refuses writes."""
    user: Collection = collect(node)
    owns(user, refusal)
    return user


def _reshapes(user: Collection) -> bool:
    """Tell whether a view whose shape was changed needs no copy in NumPy."""
    try:
        array_of(user)
    except ValueError:
        return False
    return True


def array_of(tensor: Collection) -> Any:
    """Return the stand-in of a tensor."""
    view = tensor._view
    if not isinstance(view, ElementsView):
        return stand_in(tensor.node, ())
    return view.array


def shapeshift(tensor: Collection, shape: Any) -> None:
    """Give a tensor another shape in place. Its elements, and who shares them, stay.

    Raises
    ------
    AttributeError
        If NumPy would have to copy.
    """
    view = tensor._view
    if not isinstance(view, ElementsView):
        rebind(tensor, reshape.node(tensor, shape))
        return
    result = reshape(tensor, shape)
    if isinstance(result._view, ElementsView) and result._view.memory is view.memory:
        reshaped(tensor, result._view.steps, result.node)
    else:
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
            "the desired shape."
        )


def shares_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Tell whether two tensors share elements. See numpy.shares_memory."""
    return _overlap(np.shares_memory, a, b, -1 if max_work is None else max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int | None = 0) -> bool:
    """Tell whether two tensors might share elements. See numpy.may_share_memory."""
    return _overlap(np.may_share_memory, a, b, 0 if max_work is None else max_work)


def _overlap(ask: Any, a: Any, b: Any, max_work: int) -> bool:
    if not isinstance(a, Collection) and not isinstance(b, Collection):
        return bool(ask(a, b, max_work))
    a, b = elements_of(a), elements_of(b)
    if a is not b and (_memory(a) is None or _memory(a) is not _memory(b)):
        return False
    return bool(ask(array_of(a), array_of(b), max_work))


def elements_of(obj: Any) -> Any:
    """Return what has the elements: of a tensor that is made of parts, the first of them."""
    view = obj._view if isinstance(obj, Collection) else None
    return view.parts[0] if isinstance(view, PartsView) else obj


def _memory(obj: Any) -> Any:
    view = obj._view if isinstance(obj, Collection) else None
    return view.memory if isinstance(view, ElementsView) else None
