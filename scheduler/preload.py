"""Let a stock Dask scheduler accept sessions on the port of its dashboard.

    dask scheduler --preload marsdask.scheduler.preload

It then accepts clients and workers there (``ws://``), as in ``new_session("http://host:8787")``.
All other features need ``mars-supervisor``. To start marsdask's workers instead of stock ones, run
``dask worker --worker-class marsdask.scheduler.worker.MarsWorker``.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import distributed

from .web.websocket import serve_websockets

logger: Final = logging.getLogger(__name__)


async def dask_setup(server: Any) -> None:
    """Let a scheduler accept websockets; distributed calls this when it starts."""
    if not isinstance(server, distributed.Scheduler):
        logger.warning("this preload has no effect on %s: it is for schedulers", server)
        return
    http: Any = server.http_server
    scheme, arguments = "ws", {}
    if http.ssl_options:
        scheme, arguments = "wss", server.security.get_listen_args("scheduler")
    serve_websockets(server.http_application, server)
    address = f"{scheme}://{http.address}:{http.port}"
    await server.listen(address, allow_offload=False, **arguments)
    logger.info("clients reach this scheduler at %s", address)
