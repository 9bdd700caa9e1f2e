"""The process of a command: start, run until a signal or the end, stop, exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from distributed.config import get_loop_factory
from distributed.utils import offload

from ..storage.server_folder import safe_children
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: Exit codes for KubeDL: it restarts a worker after 143, and gives up after 2.
CLEAN, FAILED, MISUSED = 0, 1, 2

#: Seconds that a thread may take when the process ends, and the event loop to notice a signal.
_PATIENCE, _STUCK = 3.0, 10.0


class Service(Protocol):
    """The service that runs in the process of a command."""

    async def start(self) -> None:
        """Start the service; a ConfigError ends the process with status 2."""
        ...

    async def finished(self) -> int:
        """Wait until the service ends without a signal, and return the exit code."""
        ...

    async def stop(self, signum: int) -> int:
        """Stop the service after a signal and return the exit code."""
        ...


def serve(prog: str, make: Callable[[], Service]) -> int:
    """Run a service to its end and return the exit code of the process."""
    with safe_children(), _pid_file(), asyncio.Runner(loop_factory=get_loop_factory()) as runner:
        try:
            return runner.run(_run(make))
        except ConfigError as error:
            print(f"{prog}: error: {error}", file=sys.stderr)  # noqa: T201 - as argparse does
            return MISUSED
        except OSError as error:
            print(f"{prog}: error: {error}", file=sys.stderr)  # noqa: T201
            return FAILED


def report(*lines: str) -> None:
    """Print lines to the standard output; no process ends because nobody reads them."""
    try:
        print(*lines, sep="\n", flush=True)  # noqa: T201
    except OSError:
        # The lines would remain in the buffer: further processes could not start, since Python
        # empties it before, and the exit code would be 120.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


async def _run(make: Callable[[], Service]) -> int:
    signals: asyncio.Queue[int] = asyncio.Queue()
    with _signals(signals):
        service = make()
        stopping = asyncio.ensure_future(signals.get())
        starting = asyncio.ensure_future(service.start())
        await asyncio.wait({stopping, starting}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            await _cancel(starting)
            return await _stop(service, stopping.result())
        starting.result()
        ending = asyncio.ensure_future(service.finished())
        await asyncio.wait({stopping, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            await _cancel(ending)  # the service may be restarting processes
            return await _stop(service, stopping.result())
        stopping.cancel()
        return ending.result()


async def _stop(service: Service, signum: int) -> int:
    """Stop a service, and end the process at once if a thread hangs that its end would wait for.

    distributed unpickles what clients send in such a thread.
    """
    code = await service.stop(signum)
    try:
        async with asyncio.timeout(_PATIENCE):
            await offload(int)
    except TimeoutError:
        logger.error("a thread hangs: ending without it")  # noqa: TRY400 - one line is enough
        logging.shutdown()
        os._exit(code)
    return code


async def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, OSError):
        await task


@contextlib.contextmanager
def _signals(caught: asyncio.Queue[int]) -> Iterator[None]:
    """Put each first SIGTERM and SIGINT into the queue; a second one ends the process at once.

    The first one does so, too, if the event loop does not take it: something blocks it.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def catch(signum: int, frame: object) -> None:
        signal.signal(signum, before[signal.Signals(signum)])
        timer = threading.Timer(_STUCK, os._exit, [128 + signum])
        timer.daemon = True
        timer.start()
        loop.call_soon_threadsafe(take, signum, timer)

    def take(signum: int, timer: threading.Timer) -> None:
        timer.cancel()
        caught.put_nowait(signum)

    for number in before:
        signal.signal(number, catch)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _pid_file() -> Iterator[None]:
    """Write the process id to the file that Mars's containers read, if permitted."""
    path = Path(tempfile.gettempdir()) / "mars-service.pid"
    mine = str(os.getpid())
    exists = False
    with contextlib.suppress(OSError):
        # Anyone may write to that folder, so a file or link in this place is replaced: never
        # followed, never waited for.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(mine)
        try:
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
            exists = True
        except OSError:
            os.unlink(file.name)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if exists and path.read_text() == mine:
                path.unlink()
