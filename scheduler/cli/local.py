"""A whole cluster on this host for one session, as started by ``new_session(n_worker=2)``.

The supervisor and the nannies share one process, which is a child of the session's process. It
writes its address and the session's certificate to its standard output, a pipe. It ends with the
session, which writes a byte to its standard input, or with the session's process, which closes it.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import threading
from collections.abc import Sequence
from typing import Any

import dask.config

from .. import limits
from ..cluster.authority import Authority
from ..supervisor import Supervisor
from ..supervisor.compilation.processes import by_default
from ..web.authentication import Token
from ..worker import MarsNanny, binding
from ..worker.memory_ledger import MemoryLedger
from . import logs
from .resources import IO_THREADS
from .serve import CLEAN, serve

_HOST = "127.0.0.1"


class LocalServers:
    """A supervisor and ``n_worker`` worker processes, which share ``n_cpu`` cores and the memory.

    ``web`` is the port of the web service: 0 for a free port, ``None`` for no web service. The
    processes and the session have certificates of an authority of their own, so other users of the
    host can use no port. The web port has a token instead, for browsers.
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
        self.security = Authority.new().security()
        self._secret = secrets.token_urlsafe(32)
        self.token = Token(self._secret)
        self.supervisor = Supervisor(
            host=f"tls://{_HOST}",
            security=self.security,
            token=self.token,
            web=None if web is None else (_HOST, web),
            dashboard_address=f"{_HOST}:{web or 0}",
            compile_processes=by_default(),
        )
        self.supervisor.jobs.prepare()  # while the workers start
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
                security=self.security,
                token=self.token,
            )
            for position, nthreads in enumerate(self.threads)
        ]
        await asyncio.gather(*self.nannies)
        message = {"address": self.supervisor.address, "security": client_part(self.security)}
        if self.supervisor.web is not None:
            message["web"] = f"http://{self.supervisor.web_address}/?token={self._secret}"
        os.write(self._parent, json.dumps(message).encode() + b"\n")
        os.close(self._parent)

    async def finished(self) -> int:
        """Wait for a byte or the end of the standard input."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def wait() -> None:
            sys.stdin.buffer.read(1)
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


def client_part(security: Any) -> dict[str, Any]:
    """Return the certificates of the session, as options of distributed's ``Security``."""
    names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
    return {"require_encryption": True} | {name: getattr(security, name) for name in names}


def main(argument: str) -> int:
    """Run the cluster that ``argument``, a JSON object, describes."""
    options = json.loads(argument)
    logs.configure(options.pop("log_level", "warning"), None, None)
    return serve("marsdask", lambda: LocalServers(**options))
