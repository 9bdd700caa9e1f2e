"""Make a stock dask scheduler ours, as far as that goes from outside.

    dask scheduler --preload marsdask.scheduler.preload

It takes clients and workers on the port of its dashboard then (``ws://``), so that
``new_session("http://host:8787")`` reaches it. What a stock scheduler cannot be given is the rest:
run ``mars-supervisor`` for that, and ``dask worker --worker-class
marsdask.scheduler.worker.MarsWorker`` for our workers in place of stock ones.
"""

from __future__ import annotations

import logging
from typing import Any

import distributed

from .web.websocket import serve_websockets

logger = logging.getLogger(__name__)


async def dask_setup(server: Any) -> None:
    """Open the door of a scheduler; distributed calls this when it starts."""
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
