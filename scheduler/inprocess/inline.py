"""Schedulers without threads: the caller's thread runs the tasks inside ``submit``."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace

from .. import limits
from ..base import Callback, Hint, Machine, TaskGraph
from ..storage.spill import SpillStore
from .engine import Engine
from .handles import LocalHandle, LocalScheduler


class InlineScheduler(LocalScheduler):
    """Runs each submission to its end before ``submit`` returns, in this process's memory.

    Nothing is written to disk. Exceptions are raised by ``handle.wait()``, not by ``submit``, as in
    all schedulers.
    """

    name = "inline"
    capabilities = replace(LocalScheduler.capabilities, forks=True)

    def __init__(self, *, keep_frames: bool = False) -> None:
        super().__init__(Engine(math.inf, SpillStore(), keep_frames=keep_frames))
        self._memory = limits.memory()

    def machine(self) -> Machine:
        """Return the machine: one thread, and what this process may take."""
        return Machine(memory=self._memory, spill=0)

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Hashable],
        *,
        hints: Mapping[Hashable, Hint] | None = None,
        callbacks: Iterable[Callback] = (),
    ) -> LocalHandle:
        return self._submit(graph, keys, hints, callbacks, drive=True)


class SynchronousScheduler(InlineScheduler):
    """Runs like ``inline``, for debugging: the frames of a failed task keep their variables.

    ``breakpoint()`` in a kernel stops in the caller's thread, and after an exception ``pdb.pm()``
    shows the kernel as it failed. ``inline`` clears the frames so that arrays are freed at once.
    """

    name = "synchronous"

    def __init__(self) -> None:
        super().__init__(keep_frames=True)
