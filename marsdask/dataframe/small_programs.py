"""Programs of few rows run in the caller's thread: tasks would take most of their time."""

from __future__ import annotations

import contextvars
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from marsdask.core.config import options
from marsdask.core.grids.blockwise import Blockwise, same
from marsdask.core.grids.grid import Grid, Ref
from marsdask.core.grids.ownership import CopiedBlocks, owned
from marsdask.core.machine.costs import cost_of
from marsdask.core.machine.plan import Plan, current_plan
from marsdask.core.node import Node
from marsdask.core.results.stored import InMemoryBlocks, Stored
from marsdask.core.session import Session, is_watched
from marsdask.core.sizes import Index, total

#: The most rows of all sources, and the most operations.
ROWS, NODES = 5_000, 64


def value_of(root: Node, session: Session) -> Any:
    """Return what a program of few rows computes; ``None`` if tasks must run it.

    Nobody watches its tasks, none of its operations calls a function of the user, and none has to
    look at results before it is tiled. If an operation fails, tasks run it again, whose errors name
    it.
    """
    if session.scheduler.name != "threads" or options.verify or not options.coalesce:
        return None
    nodes = _small(root)
    if nodes is None or is_watched():
        return None
    try:
        return contextvars.copy_context().run(_run, nodes, session)
    except Exception:  # noqa: BLE001 - whatever it is, it is raised again by the tasks
        return None


def _small(root: Node) -> list[Node] | None:
    """Return the operations of a small program, inputs first; ``None`` of others."""
    order: dict[Node, None] = {}
    stack = [(root, False)]
    rows = 0
    while stack:
        node, expanded = stack.pop()
        if node in order:
            continue
        if expanded:
            order[node] = None
            continue
        plain = isinstance(node, Stored) or node.runs_inline()
        is_single = len(node.chunks) == 1 and len(node.chunks[0]) == 1
        if not plain or not is_single or len(order) + len(stack) > 2 * NODES:
            return None
        if not node.inputs:
            count = total(node.chunks[0])
            rows += count if isinstance(count, int) else ROWS + 1
            if rows > ROWS:
                return None
        stack.append((node, True))
        stack.extend((child, False) for child in node.inputs)
    return list(order) if len(order) > 1 else None


def _run(nodes: Sequence[Node], session: Session) -> Any:
    current_plan.set(Plan())
    grids: dict[Node, Grid] = {}
    blocks: list[Any] = []
    for node in nodes:
        if isinstance(node, Stored):
            blocks.append(_held(node, session))
            grids[node] = Grid(Blockwise(same, varying=Held(blocks[-1])), node.chunks, node.meta)
            continue
        grid = _tiled(node, [grids[child] for child in node.inputs])
        if grid is None or len(grid) != 1:
            return None
        if isinstance(node, InMemoryBlocks):
            blocks.extend(node.blocks.values())
        grids[node] = grid
    value = Chunks()(owned(grids[nodes[-1]]), (0,))
    if not isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return None
    return value.copy() if any(value is block for block in blocks) else value


@dataclass(frozen=True)
class Held:
    """Gives the one chunk of a result that a session holds."""

    value: Any

    def __call__(self, index: Index) -> tuple[Any]:
        return (self.value,)


def _held(node: Stored, session: Session) -> Any:
    """Return the one chunk of a result of the session; raise for others."""
    if node.result.scheduler is not session.scheduler:
        raise KeyError(node.name)
    (value,) = session.scheduler.gather(list(node.result.layout.keys.values()))
    return value


def _tiled(node: Node, inputs: Sequence[Grid]) -> Grid | None:
    """Return the grid of an operation, ``None`` if it has to look first."""
    tiling = node.tile(*inputs)
    if not isinstance(tiling, Generator):
        return tiling if isinstance(tiling, Grid) else None
    try:
        next(tiling)
    except StopIteration as stop:
        return stop.value if isinstance(stop.value, Grid) else None
    tiling.close()
    return None


class Chunks:
    """Computes chunks of grids, each once."""

    def __init__(self) -> None:
        self._values: dict[tuple[int, Index], Any] = {}

    def __call__(self, grid: Grid, index: Index) -> Any:
        key = id(grid), index
        if key not in self._values:
            call = grid.rule.cell(index)
            func = CopiedBlocks(call.func) if cost_of(call.func).writes else call.func
            args = [self._argument(arg) for arg in call.args]
            kwargs = {name: self._argument(arg) for name, arg in call.kwargs.items()}
            self._values[key] = func(*args, **kwargs)
        return self._values[key]

    def _argument(self, arg: Any) -> Any:
        if isinstance(arg, Ref):
            return self(*arg)
        return [self._argument(item) for item in arg] if type(arg) is list else arg
