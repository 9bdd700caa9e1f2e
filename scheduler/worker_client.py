"""The client of a running task's worker: how a task computes on the cluster that it runs on."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any


def running_worker() -> Any:
    """Return the worker that runs the calling task, ``None`` outside of a cluster."""
    worker = sys.modules.get("distributed.worker")
    if worker is None:  # nothing of distributed runs here
        return None
    try:
        return worker.get_worker()
    except ValueError:
        return None


class WorkerClient:
    """Gives one task the client of its worker; the task then leaves the worker's threads.

    So the worker can run what the task waits for.
    """

    def __init__(self) -> None:
        self._client: Any = None

    def __call__(self) -> Any:
        """Return the client, ``None`` outside of a cluster."""
        worker = running_worker()
        if worker is None or self._client is not None:
            return self._client
        from distributed import get_client, secede

        self._client = get_client()
        with suppress(KeyError):  # the task has left them already
            secede()
        return self._client


def future_of(key: Any) -> Any:
    """Return a Future of the worker's client for a result that the cluster holds."""
    from distributed import Future, get_client

    state: Any = "memory"
    return Future(key, get_client(), state=state)


def client_at(address: str, security: Any) -> Any:
    """Return a client of a cluster for a process that a task has started."""
    from distributed import Client

    return Client(address, security=security, name="marsdask-script")
