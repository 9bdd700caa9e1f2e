"""The door on an HTTP port: ``ws://`` connections of clients and workers at the path ``/``.

A browser that comes to the same path is sent on to the dashboard.
"""

from __future__ import annotations

from typing import Any

from distributed.comm.ws import WSHandler

#: A proxy that shows us at ``/prefix`` without a last slash says ``/`` to us, so only the browser
#: knows what a relative address would leave out.
_WAY = """<!doctype html><meta charset="utf-8"><title>marsdask</title>
<script>location.replace(location.pathname.replace(/\\/?$/, "/") + "status")</script>
<noscript><a href="status">status</a></noscript>"""


class Door(WSHandler):
    """Takes websockets as distributed does, and shows everybody else the way."""

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open a websocket if that is what is asked for."""
        if self.request.headers.get("Upgrade", "").lower() == "websocket":
            await super().get(*args, **kwargs)
            return
        if "text/html" in self.request.headers.get("Accept", ""):
            await self.finish(_WAY)
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
