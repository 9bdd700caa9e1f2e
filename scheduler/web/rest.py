"""The JSON interface: tables of paths, served by one handler; errors are JSON as well.

What it takes is never unpickled, and nothing that it gives is a pickle.
"""

from __future__ import annotations

import asyncio
import json
import math
import traceback
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from tornado import web

#: Answers one request: with what JSON can tell, or with a text that is sent as it is.
Action = Callable[..., Awaitable[Any]]

#: Paths, and for each of their methods who answers.
Routes = Mapping[str, Mapping[str, Action]]


class Refused(web.HTTPError):
    """Nothing to answer, or not to this one: a status and the reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, "%r", message)  # one line of the log, whatever names are in it
        self.message = message


def tell_error(handler: web.RequestHandler, status: int, **kwargs: Any) -> None:
    """Answer a request that failed, as tornado's ``write_error`` does: with JSON."""
    error = kwargs.get("exc_info", (None, None, None))[1]
    kind, lines = HTTPStatus(status).phrase.replace(" ", ""), None
    if isinstance(error, web.HTTPError):
        message = getattr(error, "message", None) or error.reason or kind
    else:
        kind, message = type(error).__name__, str(error)
        lines = traceback.format_exception(error) if error is not None else None
    handler.finish({"type": kind, "message": message, "traceback": lines})


class Api(web.RequestHandler):
    """Answers the requests to one path; ``server`` is the supervisor."""

    def initialize(self, server: Any, actions: Mapping[str, Action]) -> None:
        """Take what the table says of the path."""
        self.server = server
        self._actions = actions
        self._waiting: asyncio.Future[Any] | None = None

    def set_default_headers(self) -> None:
        """Forbid to keep answers, or to take them for anything but what they are."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")

    async def _answer(self, **path: str) -> None:
        method = self.request.method or ""
        action = self._actions.get("GET" if method == "HEAD" else method)
        if action is None:
            raise Refused(405, f"{self.request.path} allows only {', '.join(self._actions)}")
        answer = await action(self, **path)
        if isinstance(answer, str):
            self.set_header("Content-Type", "text/plain; charset=UTF-8")
            await self.finish(answer)
        else:
            self.set_header("Content-Type", "application/json; charset=UTF-8")
            await self.finish(json.dumps(answer, default=str))

    get = head = post = put = patch = delete = _answer

    def flag(self, name: str) -> bool:
        """Return whether an argument is set: 1 or true."""
        return self.get_argument(name, "").lower() in ("1", "true")

    def numbers(self, name: str) -> set[int] | None:
        """Return the numbers of an argument, between commas, ``None`` if there are none."""
        text = self.get_argument(name, "")
        try:
            return {int(part) for part in text.split(",")} if text else None
        except ValueError:
            raise Refused(400, f"invalid {name}: {text!r}; give integers with commas") from None

    def number(self, name: str, default: int) -> int:
        """Return the one number of an argument."""
        found = self.numbers(name)
        if found is not None and len(found) > 1:
            raise Refused(400, f"invalid {name}: give one number")
        return default if found is None else found.pop()

    def seconds(self, name: str) -> float | None:
        """Return the time of an argument, ``None`` if there is none."""
        text = self.get_argument(name, "")
        try:
            found = float(text) if text else None
        except ValueError:
            found = math.nan
        # An event loop's clock can do without infinity, and is broken by what is no number.
        if found is not None and not 0 <= found < math.inf:
            raise Refused(400, f"invalid {name}: {text!r}; give a number of seconds")
        return found

    async def attend(self, waiting: Awaitable[Any]) -> None:
        """Wait for something, but no longer than somebody waits for the answer."""
        self._waiting = asyncio.ensure_future(waiting)
        await asyncio.wait([self._waiting])
        if self._waiting.cancelled():
            raise web.Finish
        self._waiting.result()

    def on_connection_close(self) -> None:
        """Take note that nobody waits any more."""
        if self._waiting is not None:
            self._waiting.cancel()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Tell what went wrong."""
        if status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            also = ["HEAD"] if "GET" in self._actions else []
            self.set_header("Allow", ", ".join([*self._actions, *also]))
        tell_error(self, status_code, **kwargs)


async def unknown(call: Api) -> None:
    """Answer for paths that are nobody's."""
    raise Refused(404, f"no such path: {call.request.path}")


def serve(application: web.Application, server: Any, routes: Routes) -> None:
    """Serve the paths of a table; the rest of ``/api`` but Dask's own ``/api/v1`` is unknown."""
    nobody = dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), unknown)
    table = {**routes, r"/api/(?!v1/).*": nobody}
    handlers: Any = [
        (path, Api, {"server": server, "actions": actions}) for path, actions in table.items()
    ]
    application.add_handlers(r".*", handlers)
