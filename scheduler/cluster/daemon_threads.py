"""Calls in threads that nothing waits for: one that hangs does not keep its process from ending."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def call(function: Callable[..., T], *args: Any, name: str = "marsdask-call") -> T:
    """Call a function in a thread of its own; a cancelled caller leaves it behind."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = function(*args)
        except StopIteration as raised:  # a future refuses it
            error = RuntimeError(repr(raised))
        except BaseException as raised:  # noqa: BLE001 - the caller raises it
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await result
