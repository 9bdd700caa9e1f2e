"""Chunks computed by nothing but the rules of their grids."""

from __future__ import annotations

from typing import Any

from marsdask.core.grids.grid import Grid, Ref


def value(grid: Grid, index: Any) -> Any:
    """Compute a chunk."""
    func, args, kwargs = grid.rule.cell(index)
    return func(*map(argument, args), **kwargs)


def argument(arg: Any) -> Any:
    """Compute what a kernel is given."""
    if type(arg) is list:
        return [value(*ref) for ref in arg]
    return value(*arg) if isinstance(arg, Ref) else arg
