"""The nanny: starts a worker process, restarts it when it dies, and knows why it ended."""

from __future__ import annotations

from typing import Any

import dask.config
import distributed

from .. import hooks
from .hooks import NANNY_HOOKS
from .server import MarsWorker


class MarsNanny(distributed.Nanny):
    """A dask nanny whose worker process is a :class:`.MarsWorker`, unless it is told another class.

    Without ``restart`` a worker process that died stays dead, and the nanny ends with it.
    """

    def __init__(
        self,
        *args: Any,
        restart_worker: bool = True,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, NANNY_HOOKS)
        self.reason: str | None = None
        self.restart_worker = restart_worker
        options.setdefault("worker_class", MarsWorker)
        super().__init__(*args, **options)
        # distributed derives the section of its configuration from the class's name.
        self.blocked_handlers = dask.config.get("distributed.nanny.blocked-handlers", [])
        self.id = self.id.replace(type(self).__name__, "Nanny", 1)

    async def start_unsafe(self) -> Any:
        """Start the worker process and watch it."""
        await super().start_unsafe()
        if not self.restart_worker:
            super().close_gracefully(reason="worker processes are not recovered")
        return self

    def close_gracefully(self, reason: str = "nanny-close-gracefully") -> None:
        """Take note that the worker is going to end, and why."""
        self.reason = reason
        super().close_gracefully(reason=reason)
