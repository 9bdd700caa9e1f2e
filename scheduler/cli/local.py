"""A whole cluster on this host for one session, as started by ``new_session(n_worker=2)``.

The supervisor and the nannies share one process, which is a child of the session's process. It
writes its address to its standard output. It ends when its standard input closes: with the session,
or with the session's process.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any

import dask.config
from distributed.security import Security

from .. import limits
from ..supervisor import Supervisor
from ..worker import MarsNanny, binding
from ..worker.memory_ledger import MemoryLedger
from . import logs
from .resources import IO_THREADS
from .serve import CLEAN, serve

_HOST = "127.0.0.1"


class LocalCluster:
    """A supervisor and ``n_worker`` worker processes, which share ``n_cpu`` cores and the memory.

    ``web`` is the port of the web service: 0 for a free port, ``None`` for no web service.
    """

    def __init__(
        self,
        n_worker: int,
        n_cpu: int | None = None,
        memory: int | None = None,
        spill_dirs: Sequence[str] = (),
        web: int | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        dask.config.set(config or {})
        # Tasks print to the standard error: the parent reads only one line of the standard output.
        self._parent = os.dup(1)
        os.dup2(2, 1)
        self.supervisor = Supervisor(
            host=_HOST,
            web=None if web is None else (_HOST, web),
            dashboard_address=f"{_HOST}:{web or 0}",
        )
        cores = n_cpu or max(n_worker, limits.cpus())
        self.threads = [len(part) for part in binding.share(range(cores), n_worker)]
        self.memory = (memory or limits.memory()) // n_worker
        self.spill_dirs = list(spill_dirs)
        self.nannies: list[MarsNanny] = []

    async def start(self) -> None:
        """Start everything and report the address to the parent."""
        await self.supervisor
        self.host = host = MemoryLedger.start(len(self.threads), self.memory * len(self.threads))
        self.nannies = [
            MarsNanny(
                self.supervisor.address,
                host=_HOST,
                nthreads=nthreads,
                memory_limit=self.memory,
                spill_dirs=self.spill_dirs,
                io_threads=IO_THREADS,
                ledger=None if host is None else (host.path, position),
                security=Security(),
            )
            for position, nthreads in enumerate(self.threads)
        ]
        await asyncio.gather(*self.nannies)
        told = {"address": self.supervisor.address}
        if self.supervisor.web is not None:
            told["web"] = f"http://{self.supervisor.web_address}"
        os.write(self._parent, json.dumps(told).encode() + b"\n")
        os.close(self._parent)

    async def finished(self) -> int:
        """Wait for the end of the standard input."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def wait() -> None:
            sys.stdin.buffer.read()
            loop.call_soon_threadsafe(ended.set)

        # A daemon, because a signal must also end the process.
        threading.Thread(target=wait, name="end of the session", daemon=True).start()
        await ended.wait()
        return await self.stop(0)

    async def stop(self, signum: int) -> int:
        """End every process."""
        for nanny in self.nannies:
            nanny.close_gracefully(reason="local-cluster-closes")
        await asyncio.gather(*(nanny.close(timeout=5) for nanny in self.nannies))
        await self.supervisor.close(reason="local-cluster-closes")
        return CLEAN


def main(argument: str) -> int:
    """Run the cluster that ``argument``, a JSON object, describes."""
    options = json.loads(argument)
    logs.configure(options.pop("log_level", "warning"), None, None)
    return serve("marsdask", lambda: LocalCluster(**options))
