"""A value that needed no tasks, held by a scheduler as if it had computed it."""

from __future__ import annotations

from marsdask.scheduler.base import Scheduler

from ..node import Node
from ..registry import class_of
from ..results.layout import Layout
from ..results.stored import InMemoryBlocks, Result, Stored, store
from .lowering import lower


def held_by(scheduler: Scheduler, node: Node, little: InMemoryBlocks) -> Stored:
    """Let a scheduler hold the value of a node, which needed no tasks: its only chunk."""
    grid = little.tile()
    tasks, hints, _ = lower(list(grid.refs()))
    key = grid.key((0,))
    scheduler.submit(tasks, (key,), hints=hints).wait()
    (info,) = scheduler.info((key,))
    meta = class_of(node.meta)._settled(node.meta, [info])
    return store(
        node, Result(scheduler, Layout(grid.chunks, {(0,): key}, {(0,): info.nbytes}, meta))
    )
