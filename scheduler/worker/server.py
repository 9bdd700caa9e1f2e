"""The worker: distributed's, bound to its cores and known by the address it is told."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import dask.config
import distributed
from distributed.comm import get_address_host_port

from .. import hooks
from . import binding
from .hooks import WORKER_HOOKS


class MarsWorker(distributed.Worker):
    """A dask worker that stock schedulers and clients take for one.

    ``advertise`` is the host that others reach it by; ``cores`` the CPUs that it never leaves.
    """

    def __init__(
        self,
        *args: Any,
        advertise: str | None = None,
        cores: Sequence[int] | None = None,
        **options: Any,
    ) -> None:
        hooks.check(type(self).__name__, WORKER_HOOKS)
        self.advertise = advertise
        if options.get("nanny") and hasattr(os, "setpgid"):
            # Ctrl-C in a terminal and a container's end reach whole groups of processes, but when
            # and how a worker ends is up to its nanny.
            os.setpgid(0, 0)
        # distributed derives the section of its configuration from the class's name.
        options.setdefault(
            "blocked_handlers", dask.config.get("distributed.worker.blocked-handlers", [])
        )
        super().__init__(*args, **options)
        self.id = self.id.replace(type(self).__name__, "Worker", 1)
        if cores is not None:
            binding.bind(cores, self.state.nthreads)

    async def listen(self, port_or_addr: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Listen, and tell the address that others are to use."""
        await super().listen(port_or_addr, **options)
        if self.advertise is not None:
            listener: Any = self.listeners[0]
            _, port = get_address_host_port(listener.contact_address)
            self.contact_address = self._address = f"{listener.prefix}{self.advertise}:{port}"
