"""Tasks that stay pickled in the supervisor: only workers unpickle them.

Between the processes there are numbers, texts, tuples and the like: nothing that could run code.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from ...base import Key, Stage
from ...inprocess.worker_process import dumps
from ..submissions import PreparedGraph
from .compiler import Failure, Finished


class PackedTask:
    """A pickled task, of which the scheduler knows the keys that it needs."""

    __slots__ = ("data", "dependencies")

    #: distributed reads it of every run spec.
    data_producer = False

    def __init__(self, data: bytes, dependencies: frozenset[Key]) -> None:
        self.data = data
        self.dependencies = dependencies

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self.data,)


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Refuse everything that is not built into the format."""
        raise pickle.UnpicklingError(f"{module}.{name} in the answer of a compile process")


def plain(data: bytes) -> Any:
    """Unpickle what contains no classes and no functions."""
    return _Plain(io.BytesIO(data)).load()


def packed_answer(answer: Any) -> tuple[Any, ...]:
    """Return the answer of a compiler without any classes."""
    if isinstance(answer, Finished | Failure):
        return type(answer).__name__, *answer
    if not isinstance(answer, PreparedGraph):
        return "value", answer
    stage = answer.stage
    return (
        "graph",
        [(key, tuple(node.dependencies), dumps(node)) for key, node in answer.graph.items()],
        answer.annotations,
        tuple(answer.outside),
        (stage.keys, stage.kept, stage.dropped, stage.later),
        dict(answer.outline),
        answer.owners,
    )


def unpacked_answer(parts: tuple[Any, ...]) -> Any:
    """Return the answer of a compiler whose tasks are packed."""
    kind, *fields = parts
    if kind == "Finished":
        return Finished(*fields)
    if kind == "Failure":
        return Failure(*fields)
    if kind == "value":
        return fields[0]
    tasks, annotations, outside, (keys, keep, drop, later), outline, owners = fields
    graph: Any = {key: PackedTask(data, frozenset(needs)) for key, needs, data in tasks}
    stage = Stage({}, keys, {}, later=later, kept=keep, dropped=drop)
    return PreparedGraph(stage, graph, annotations, set(outside), outline, owners)
