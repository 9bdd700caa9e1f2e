"""Elements selected among several arrays, or changed where conditions hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marsdask.core.collection import Collection, wrap
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import known, numbers

from ..chunkwise.map_blocks import map_blocks
from ..elementwise.ufuncs import apply
from ..memory_order import in_order, in_order_of
from ..operands import as_node
from ..typing import public
from .assignment import into
from .output_rules import CHOSEN


def _several(arrays: Any) -> list[Any]:
    """Return the items of a list or of a tensor's first axis."""
    if isinstance(arrays, Sequence | np.ndarray):
        return list(arrays)
    return list(iter(arrays))


@kernel(scratch=0.0)
def choose_from(places: Any, *choices: Any, mode: str) -> Any:
    """Take each element from the choice with the index at its position."""
    return np.choose(places, choices, mode=mode)  # type: ignore[call-overload]


@public
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Node:
    """Take each element from the choice whose index is in ``a``. See numpy.choose."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    places = as_node(a)
    if not np.can_cast(places.meta.dtype, np.intp, "same_kind"):
        raise TypeError(
            f"Cannot cast array data from {places.meta.dtype!r} to {np.dtype(np.intp)!r} "
            "according to the rule 'safe'"
        )
    several = _several(choices)
    shapes = [as_node(choice).shape for choice in several] + [places.shape]
    if all(map(known, shapes)):
        np.broadcast_shapes(*map(numbers, shapes))  # refuses those that do not fit
    node = in_order_of(as_node(apply(choose_from, places, *several, mode=mode)), "C")
    return into(out, node, "unsafe", CHOSEN)


@kernel(scratch=1.0)
def select_from(*args: Any, count: int) -> Any:
    """Choose by the first of ``count`` conditions that holds; the default comes last."""
    return np.select(list(args[:count]), list(args[count:-1]), args[-1])


@public
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Node:
    """Choose by the first condition that holds. See numpy.select."""
    conditions, choices = _several(condlist), _several(choicelist)
    if len(conditions) != len(choices):
        raise ValueError("list of cases must be same length as list of conditions")
    if not conditions:
        raise ValueError("select with an empty condition list is not possible")
    for position, condition in enumerate(conditions):
        if as_node(condition).meta.dtype != np.bool_:
            raise TypeError(f"invalid entry {position} in condlist: should be boolean ndarray")
    result = apply(select_from, *conditions, *choices, default, count=len(conditions))
    return in_order_of(as_node(result), "C")


def change_where(
    block: Any, *conditions: Any, functions: Sequence[Any], args: Any, options: Any
) -> Any:
    """Apply to each element the function whose condition holds."""
    spread = [np.broadcast_to(condition, block.shape) for condition in conditions]
    return np.piecewise(block, spread, functions, *args, **options)


def _is_one(conditions: Any, ndim: int) -> bool:
    """Distinguish one condition from a list of them."""
    if isinstance(conditions, Collection):
        return len(conditions.node.chunks) == ndim
    if np.isscalar(conditions):
        return True
    return ndim > 0 and not isinstance(conditions[0], list | np.ndarray | Collection)


@public
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Node:
    """Apply to each element the function whose condition holds. See numpy.piecewise.

    Functions are called with the elements of one chunk at a time.
    """
    tensor = as_node(x)
    if _is_one(condlist, tensor.meta.ndim):
        condlist = [condlist]
    conditions = [wrap(as_node(item)).astype(bool) for item in condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    result = map_blocks.node(
        change_where,
        tensor,
        *conditions,
        dtype=tensor.meta.dtype,
        functions=list(funclist),
        args=args,
        options=kw,
    )
    return in_order(as_node(result), tensor.memory_order)
