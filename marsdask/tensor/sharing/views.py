"""Views as users meet them: made by functions, asked for their base, and whether they overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.collection import Collection, collect, rebind
from marsdask.core.node import Node

from ..elementwise.nodes import Elementwise
from ..manipulation.reshape import Reshape
from ..sparse.blocks import is_sparse
from .memory import READ_ONLY, Memory, View, share
from .selections import Step, function_of, path, refusal_of
from .standins import stand_in


def show(base: Collection, node: Node, *, read_only: bool) -> Collection | None:
    """Return the view of a tensor whose node is given, ``None`` if NumPy's array is a copy."""
    if is_sparse(base.node.meta) or is_sparse(node.meta):
        return None
    if _is_no_part(node):
        return frozen(node)
    found = steps_to(base, node, read_only=read_only)
    if found is None:
        return None
    steps, count = found
    new = steps[len(steps) - count :]
    if any(step.kind is Reshape for step in new) and not _reshapes(base, steps):
        return None
    user: Collection = collect(node)
    view = base._view
    refusal = view.refusal if isinstance(view, View) else None
    share(base, user, steps, refusal or refusal_of(steps, read_only=read_only))
    return user


def steps_to(
    base: Collection, node: Node, *, read_only: bool
) -> tuple[tuple[Step, ...], int] | None:
    """Return the steps from all elements to a node, and how many of them ``base`` does not have."""
    view, own = base._view, base.node
    shares = isinstance(view, View)
    ends = (own, view.memory.node) if shares else (own,)
    found = path(node, ends, read_only=read_only)
    if found is None:
        return None
    end, new = found
    before = view.steps if shares and end is own else ()
    return (*before, *new), len(new)


def _is_no_part(node: Node) -> bool:
    """Recognise the imaginary part of real numbers: zeros, which NumPy does not let write to."""
    return (
        type(node) is Elementwise
        and function_of(node) is np.imag
        and node.inputs[0].meta.dtype.kind != "c"
    )


def frozen(node: Node) -> Collection:
    """Return a tensor of its own memory that refuses writes."""
    user: Collection = collect(node)
    user._view = View(Memory(node), refusal=ValueError(READ_ONLY))
    user._view.memory.add(user)
    return user


def _reshapes(base: Collection, steps: tuple[Step, ...]) -> bool:
    """Tell whether the steps, among them a change of shape, need no copy in NumPy."""
    try:
        array_of(base, steps)
    except ValueError:
        return False
    return True


def array_of(tensor: Collection, steps: tuple[Step, ...] | None = None) -> Any:
    """Return the stand-in of a tensor, or of what ``steps`` show of its memory."""
    view = tensor._view
    if not isinstance(view, View):
        return stand_in(tensor.node, () if steps is None else steps)
    return stand_in(view.memory.node, view.steps if steps is None else steps)


def shapeshift(tensor: Collection, node: Node) -> None:
    """Give a tensor another shape in place. Its elements, and who shares them, stay.

    Raises
    ------
    AttributeError
        If NumPy would have to copy.
    """
    view = tensor._view
    if not isinstance(view, View):
        rebind(tensor, node)
        return
    found = steps_to(tensor, node, read_only=False)
    if found is None or not _reshapes(tensor, found[0]):
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
            "the desired shape."
        )
    view.steps, tensor._own = found[0], node


def shares_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Tell whether two tensors share elements. See numpy.shares_memory."""
    return _overlap(np.shares_memory, a, b, -1 if max_work is None else max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int | None = 0) -> bool:
    """Tell whether two tensors might share elements. See numpy.may_share_memory."""
    return _overlap(np.may_share_memory, a, b, 0 if max_work is None else max_work)


def _overlap(ask: Any, a: Any, b: Any, max_work: int) -> bool:
    if not isinstance(a, Collection) or not isinstance(b, Collection):
        return bool(ask(a, b, max_work)) if not isinstance(a, Collection) and not isinstance(b, Collection) else False
    if a is b:
        return bool(a.size)
    views = [item._view for item in (a, b)]
    if not all(isinstance(view, View) for view in views) or views[0].memory is not views[1].memory:
        return False
    return bool(ask(array_of(a), array_of(b), max_work))
