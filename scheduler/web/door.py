"""The door on an HTTP port: ``ws://`` connections of clients and workers at the path ``/``.

A browser that comes to the same path is sent on to the dashboard.
"""

from __future__ import annotations

from typing import Any

from distributed.comm.ws import WSHandler


class Door(WSHandler):
    """Takes websockets as distributed does, and shows everybody else the way."""

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open a websocket if that is what is asked for."""
        if self.request.headers.get("Upgrade", "").lower() == "websocket":
            await super().get(*args, **kwargs)
            return
        # Relative, because a proxy may show us below a prefix that we do not see.
        self.set_status(302)
        self.set_header("Location", "status")
        await self.finish()


def open_door(application: Any, server: Any) -> None:
    """Make ``server`` take connections at the root of its own HTTP server.

    Before its ``ws://`` listener starts, which does the same for websockets only.
    """

    def listener() -> Any:
        return next(one for one in server.listeners if one.prefix in ("ws://", "wss://"))

    settings = {"handler": server.handle_comm, "deserialize": False, "listener": listener}
    application.add_handlers(r".*", [(r"/", Door, settings)])
