"""The numbers of axes and elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marsdask.core.collection import Collection, ExecutableTuple, wrap
from marsdask.core.node import Node

from ..operands import as_node
from ..typing import ArrayLike
from .shape import normalize_axis

if TYPE_CHECKING:
    from ..tensor import Tensor


def ndim(a: Any) -> int:
    """Return the number of axes. See numpy.ndim."""
    return len(_node(a).chunks)


def size(a: ArrayLike, axis: int | None = None) -> int | float:
    """Return the number of elements, nan if it is unknown. See numpy.size."""
    tensor: Tensor = wrap(_node(a))
    return tensor.size if axis is None else tensor.shape[normalize_axis(axis, tensor.ndim)]


def shape(a: ArrayLike) -> ExecutableTuple:
    """Return the lengths of the axes, nan if they are unknown. See numpy.shape.

    As in Mars the tuple has ``execute()`` and ``fetch()``, which return it unchanged.
    """
    return ExecutableTuple(wrap(_node(a)).shape)


def _node(a: Any) -> Node:
    """Return the node of a possibly masked object: lengths do not depend on the mask."""
    return a.node if isinstance(a, Collection) else as_node(a)
