"""Suspects only running tasks of a worker's death, as reported by its nanny.

distributed suspects all tasks that were sent to the worker. A task that kills workers would then
fail waiting tasks of other users, too.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from distributed.core import rpc

logger: Final = logging.getLogger(__name__)

#: Timeout for a nanny's answer, in seconds.
_PATIENCE = 2.0


async def clear_suspicion(scheduler: Any, address: str) -> None:
    """Before a dead worker is removed, exempt the tasks that had not started.

    Without an answer all tasks are suspected: one of them may have killed the whole host.
    """
    worker = scheduler.workers.get(address)
    if worker is None or not worker.nanny or not worker.processing:
        return
    ran_keys = await _ran(worker.nanny, worker.pid, scheduler.connection_args)
    if ran_keys is None or scheduler.workers.get(address) is not worker:
        return
    for ts in worker.processing:
        if ts.key not in ran_keys:
            # The removal adds one.
            ts.suspicious -= 1
            ts.prefix.suspicious -= 1


async def _ran(nanny: str, pid: int, connection_args: dict[str, Any]) -> set[Any] | None:
    try:
        async with (
            asyncio.timeout(_PATIENCE),
            rpc(nanny, connection_args=connection_args) as peer,
        ):
            answer = await peer.mars_ran(pid=pid)
    except Exception as error:  # noqa: BLE001 - the nanny has usually ended, too
        logger.info("%s did not report what its worker ran: %r", nanny, error)
        return None
    return None if answer is None else set(answer)
