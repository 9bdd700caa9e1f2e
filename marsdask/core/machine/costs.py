"""The cost of a kernel: memory, and whether its result is a view."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..snapshots.functions import function_name


class Cost(NamedTuple):
    """The memory of a kernel besides its inputs and its result."""

    scratch: float = 1.0
    """Working memory as a multiple of the largest argument; a list of chunks is one argument."""
    view: bool = False
    """Whether the result takes no memory of its own: a view of an input, a constant."""
    piecewise: bool = False
    """Whether lists are worked off item by item: the multiple is of the largest item."""
    buffer: int = 0
    """Bytes of a buffer besides, which is never larger than the result."""
    least: int = 0
    """Bytes taken at least, however small the arguments: what users' functions do is unknown, so
    they are never small enough to run in the caller's thread."""
    tiled: bool = False
    """Whether it reads each argument once, tile by tile."""
    deferred: Callable[..., Any] | bool | None = None
    """What takes the same arguments and makes its result tile by tile, as a reader asks for it.

    True for a kernel that does so itself.
    """
    shares: bool = False
    """Whether the result may be a view of an input all the same, though memory is set aside."""
    writes: bool = False
    """Whether it may write into its arguments: it gets copies of those that others read."""


_COSTS: dict[Any, Cost] = {operator.getitem: Cost(0.0, view=True)}


def kernel(
    *, scratch: float = 1.0, view: bool = False, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the cost of a kernel (see :class:`Cost`); views take no memory."""
    cost = Cost(0.0 if view else scratch, view, **more)

    def mark(func: Callable[..., Any]) -> Callable[..., Any]:
        func.cost = cost  # type: ignore[attr-defined]
        return func

    return mark


def register_cost(func: Any, cost: Cost) -> None:
    """Declare the cost of a foreign function, or of all functions of a type."""
    _COSTS[func] = cost


def cost_of(func: Callable[..., Any]) -> Cost:
    """Return the declared cost of a kernel."""
    declared = getattr(func, "cost", None)
    if isinstance(declared, Cost):
        return declared
    try:
        cost = _COSTS.get(func)
    except TypeError:  # a callable object that has no hash
        cost = None
    return cost or _COSTS.get(type(func)) or Cost()


@dataclass(frozen=True)
class FunctionWrapper:
    """Calls a function in another way, under its own name and cost."""

    func: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return function_name(self.func)

    @property
    def cost(self) -> Cost:
        return cost_of(self.func)
