"""Which tasks are to be blamed for the death of a worker: those that ran, as its nanny tells.

distributed blames all that had been sent there, so one user's task that kills workers takes down
others' that waited behind it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from distributed.core import rpc

logger = logging.getLogger(__name__)

#: Seconds that a nanny has to answer.
_PATIENCE = 2.0


async def exonerate(scheduler: Any, address: str) -> None:
    """Before a worker is removed that died, spare what it had not begun.

    Where nobody can tell, all are blamed: one of them may have killed the whole host.
    """
    worker = scheduler.workers.get(address)
    if worker is None or not worker.nanny or not worker.processing:
        return
    ran = await _ran(worker.nanny, scheduler.connection_args)
    if ran is None or scheduler.workers.get(address) is not worker:
        return
    for ts in worker.processing:
        if ts.key not in ran:
            # The removal adds one.
            ts.suspicious -= 1
            ts.prefix.suspicious -= 1


async def _ran(nanny: str, connection_args: dict[str, Any]) -> set[Any] | None:
    try:
        async with (
            asyncio.timeout(_PATIENCE),
            rpc(nanny, connection_args=connection_args) as peer,
        ):
            found = await peer.mars_ran()
    except Exception as error:  # noqa: BLE001 - gone too, mostly; whatever it says, its worker goes
        logger.info("%s did not report what its worker ran: %r", nanny, error)
        return None
    return None if found is None else set(found)
