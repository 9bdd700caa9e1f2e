"""The JSON interface: tables of paths with one handler; errors are JSON, too.

It never unpickles a request, and never sends a pickle.
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

#: Answers one request with JSON data, or with a text that is sent unchanged.
Action = Callable[..., Awaitable[Any]]

#: Paths, with a function for each of their methods.
Routes = Mapping[str, Mapping[str, Action]]


class ApiError(web.HTTPError):
    """An error response: a status and the reason."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, "%r", message)  # one line of the log, whatever names are in it
        self.message = message


def write_json_error(handler: web.RequestHandler, status: int, **kwargs: Any) -> None:
    """Answer a failed request with JSON, as tornado's ``write_error``."""
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
        """Store the table's entry of the path."""
        self.server = server
        self._actions = actions
        self._waiting: asyncio.Future[Any] | None = None

    def set_default_headers(self) -> None:
        """Forbid caching the response, and guessing its type."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")

    async def _answer(self, **path: str) -> None:
        method = self.request.method or ""
        action = self._actions.get("GET" if method == "HEAD" else method)
        if action is None:
            raise ApiError(405, f"{self.request.path} allows only {', '.join(self._actions)}")
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
        """Return the comma-separated integers of an argument, ``None`` if it is missing."""
        text = self.get_argument(name, "")
        try:
            return {int(part) for part in text.split(",")} if text else None
        except ValueError:
            raise ApiError(400, f"invalid {name}: {text!r}; give integers with commas") from None

    def number(self, name: str, default: int) -> int:
        """Return the single integer of an argument."""
        numbers = self.numbers(name)
        if numbers is not None and len(numbers) > 1:
            raise ApiError(400, f"invalid {name}: give one number")
        return default if numbers is None else numbers.pop()

    def seconds(self, name: str) -> float | None:
        """Return the seconds of an argument, ``None`` if it is missing."""
        text = self.get_argument(name, "")
        try:
            seconds = float(text) if text else None
        except ValueError:
            seconds = math.nan
        # An event loop's clock fails with nan, and infinity is not needed.
        if seconds is not None and not 0 <= seconds < math.inf:
            raise ApiError(400, f"invalid {name}: {text!r}; give a number of seconds")
        return seconds

    async def attend(self, waiting: Awaitable[Any]) -> None:
        """Wait for an event, but not after the client has disconnected."""
        self._waiting = asyncio.ensure_future(waiting)
        await asyncio.wait([self._waiting])
        if self._waiting.cancelled():
            raise web.Finish
        self._waiting.result()

    def on_connection_close(self) -> None:
        """Stop waiting when the client disconnects."""
        if self._waiting is not None:
            self._waiting.cancel()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Send the error as JSON."""
        if status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            also = ["HEAD"] if "GET" in self._actions else []
            self.set_header("Allow", ", ".join([*self._actions, *also]))
        write_json_error(self, status_code, **kwargs)


async def unknown(call: Api) -> None:
    """Answer unknown paths."""
    raise ApiError(404, f"no such path: {call.request.path}")


def serve(application: web.Application, server: Any, routes: Routes) -> None:
    """Serve the paths of a table; other paths below ``/api`` are unknown, except ``/api/v1``."""
    refusals = dict.fromkeys(("GET", "POST", "PUT", "PATCH", "DELETE"), unknown)
    table = {**routes, r"/api/(?!v1/).*": refusals}
    handlers: Any = [
        (path, Api, {"server": server, "actions": actions}) for path, actions in table.items()
    ]
    application.add_handlers(r".*", handlers)
