"""Rows that depend on all rows before them: a state is carried from chunk to chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from marsdask.core.grids.grid import Grid
from marsdask.core.grids.scan import scan
from marsdask.core.machine.costs import FunctionWrapper

from ..nodes.frame_node import SameRows


class Carry(NamedTuple):
    """What is carried: a state that each chunk comes to, and what its rows make of the one before.

    All three get the node's keyword arguments.
    """

    total: Callable[..., Any]
    """``total(block)``: the state that a chunk that has rows comes to by itself."""
    combine: Callable[..., Any]
    """``combine(state, total)``: the state after one more chunk."""
    step: Callable[..., Any]
    """``step(block, state)``: the result; the state is ``None`` if nothing precedes."""


@dataclass(frozen=True, eq=False)
class CarriedRows(SameRows):
    """A function of each chunk and of the state that the chunks before it come to."""

    carry: Carry
    kwargs: tuple[tuple[str, Any], ...] = ()
    backward: bool = False
    """Whether the state goes from the last chunk to the first one."""

    @property
    def meta(self) -> Any:
        return self.carry.step(self.a.meta, None, **dict(self.kwargs))

    @property
    def rows_behind(self) -> int | None:
        return None if self.backward else 0

    def tile(self, a: Grid) -> Grid:
        kwargs = dict(self.kwargs)
        return scan(
            a,
            0,
            TotalOf(self.carry.total),
            StatesOf(self.carry.combine),
            StepFrom(self.carry.step),
            total_kwargs=kwargs,
            starts_kwargs=kwargs,
            step_kwargs=kwargs,
            meta=self.meta,
            itemsize=self.itemsize,
            backward=self.backward,
        )


class TotalOf(FunctionWrapper):
    """Returns the state of a chunk, ``None`` if it has no rows."""

    def __call__(self, block: Any, **kwargs: Any) -> Any:
        return self.func(block, **kwargs) if len(block) else None


class StatesOf(FunctionWrapper):
    """Returns the states before all chunks, ``None`` where no rows precede."""

    def __call__(self, totals: list[Any], **kwargs: Any) -> list[Any]:
        states: list[Any] = [None]
        for total in totals:
            last = states[-1]
            if last is None or total is None:
                states.append(total if last is None else last)
            else:
                states.append(self.func(last, total, **kwargs))
        return states


class StepFrom(FunctionWrapper):
    """Calls a function with a chunk and the state before it."""

    def __call__(
        self, block: Any, states: list[Any] | None = None, position: int = 0, **kwargs: Any
    ) -> Any:
        state = states[position] if states and position else None
        return self.func(block, state, **kwargs)
