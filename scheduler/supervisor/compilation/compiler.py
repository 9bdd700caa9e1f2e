"""Compiles one job: it unpickles what the user sent, and makes tasks of it."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping
from typing import NamedTuple

import cloudpickle
import tblib.pickling_support

from ...base import ChunkInfo, Done, Key, Machine, Stage
from ...cluster.failures import clear
from ..submissions import GraphFailed, PreparedGraph, name_of, prepare
from .packing import unpacked


class Failure(NamedTuple):
    """Why a job failed: its message, and the pickled outcome for the client."""

    message: str
    outcome: bytes


class Finished(NamedTuple):
    """The end of a compilation: the pickled outcome for the client, and the keys of the results."""

    outcome: bytes
    keys: tuple[Key, ...]


class Compiler:
    """The compilation of one job, planned for a machine.

    Its answers contain no compilation, so it may be in another process.
    """

    def __init__(self, data: bytes, machine: Machine) -> None:
        self._compilation = unpacked(data)
        self._compilation.fit(machine)
        self.recomputes: bool = hasattr(self._compilation, "recompute")

    def advance(
        self, infos: Mapping[Key, ChunkInfo | bytes], ahead: int
    ) -> PreparedGraph | Finished:
        """Take the descriptions of results, pickled or not; return the next graph or the end.

        ``ahead`` tasks are submitted at a time.
        """
        found = {
            key: pickle.loads(info) if isinstance(info, bytes) else info
            for key, info in infos.items()
        }
        step: Stage | Done = self._compilation.advance(found)
        if isinstance(step, Done):
            return Finished(cloudpickle.dumps((step, None, None, None)), step.keys)
        prepared = prepare(step, ahead)
        if hasattr(self._compilation, "outline"):
            prepared.outline = self._compilation.outline()
            # One key of each name is enough.
            names = {name_of(key): key for key in step.graph}
            owners = {name: self._compilation.owner(key) for name, key in names.items()}
            prepared.owners = {name: owner for name, owner in owners.items() if owner is not None}
        return prepared

    def recompute(self, keys: Collection[Key], held: Collection[Key], ahead: int) -> PreparedGraph:
        """Return the tasks of lost results again, down to held ones."""
        return prepare(self._compilation.recompute(keys, frozenset(held)), ahead)

    def explain(self, failed: GraphFailed) -> Failure:
        """Return why a task failed."""
        error, node = clear(failed.error()), None
        if hasattr(self._compilation, "explain"):
            error, node = self._compilation.explain(failed.key, error)
        return failure(error, failed.key, node)


def failure(error: BaseException, key: Key | None = None, node: str | None = None) -> Failure:
    """Return the failure of a job, pickled."""
    message = f"{type(error).__name__}: {error}"
    tblib.pickling_support.install(error)  # the frames of the user's function go along
    try:
        data: bytes = cloudpickle.dumps((None, error, key, node))
        pickle.loads(data)  # an exception with its own constructor often cannot be unpickled
    except Exception:  # noqa: BLE001 - pickling may raise any exception
        substitute = RuntimeError(message)
        substitute.__notes__ = list(getattr(error, "__notes__", ()))
        data = cloudpickle.dumps((None, substitute, key, node))
    error.__traceback__ = None
    return Failure(message, data)
