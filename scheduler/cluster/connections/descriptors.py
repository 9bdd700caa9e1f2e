"""The open files of a process: their limit, and accepting connections when it is reached.

Importing this patches tornado, which without a free descriptor would try, and log, without end.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import sys
from collections.abc import Callable
from typing import Any, Final

from tornado import tcpserver
from tornado.ioloop import IOLoop

logger: Final = logging.getLogger(__name__)

#: Requested maximum number of open files.
MOST: Final = 1 << 16

#: Errors that end when files or connections are closed.
SCARCE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)

#: Seconds until a port accepts connections again after such an error.
PAUSE: Final = 0.5

#: Maximum number of connections that are accepted before other callbacks run.
_BATCH = 128

#: Accepted: its callback gets the socket and the address.
_Accepted = Callable[[socket.socket, Any], None]


def raise_limit() -> None:
    """Raise the limit of open files as far as the system permits, at most to ``MOST``."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # Unix only

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            most = hard if hard != resource.RLIM_INFINITY else max(soft, MOST)
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, MOST), most), hard))


def limit() -> int:
    """Return how many files this process may open."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            return soft
    return MOST if sys.platform != "win32" else 512


class _Acceptor:
    """Accepts the connections of one listening socket; pauses while no file can be opened."""

    def __init__(self, listening: socket.socket, accepted: _Accepted) -> None:
        self._listening, self._accepted = listening, accepted
        self._loop = IOLoop.current()
        self._pause: object | None = None
        self._stopped = self._scarce = False
        self._listen()

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_handler(self._listening, self._accept, IOLoop.READ)

    def _accept(self, _: object, __: int) -> None:
        for _ in range(_BATCH):
            if self._stopped:  # by what an accepted connection has called
                return
            try:
                connection, address = self._listening.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                if error.errno not in SCARCE:
                    raise
                self._wait(error)
                return
            self._scarce = False
            self._accepted(connection, address)

    def _wait(self, error: OSError) -> None:
        if not self._scarce:
            host, port = self._listening.getsockname()[:2]
            logger.warning(
                "%s:%s accepts no connections until others are closed: %s", host, port, error
            )
        self._scarce = True
        self._loop.remove_handler(self._listening)
        self._pause = self._loop.call_later(PAUSE, self._listen)

    def stop(self) -> None:
        """Accept no more connections."""
        self._stopped = True
        if self._pause is not None:
            self._loop.remove_timeout(self._pause)
        else:
            self._loop.remove_handler(self._listening)


def add_accept_handler(listening: socket.socket, accepted: _Accepted) -> Callable[[], None]:
    """Call ``accepted`` with each connection and its address; return what ends that."""
    return _Acceptor(listening, accepted).stop


tcpserver.add_accept_handler = add_accept_handler  # type: ignore[attr-defined, assignment]
