"""The graph that a tensor compiles to."""

from __future__ import annotations

from typing import Any

from marsdask.core.compilation.tiling import Compilation
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Stage


def first_graph(lazy: Any) -> Any:
    """Return the tasks of the first stage, on the tensor's own grid."""
    stage = Compilation([lazy.node], plan=Plan(coalesce=False)).advance({})
    assert isinstance(stage, Stage)
    return stage.graph
