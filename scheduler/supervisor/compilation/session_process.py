"""The process that compiles a session's jobs: the supervisor's connection, and its main loop.

It is a fork of the fork server. Its memory is limited, and it ends with the supervisor.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import pickle
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from ...errors import CompilationDied
from .compiler import Compiler, failure
from .forkserver import PACKAGES, ForkServer
from .packed_tasks import packed_answer, plain, unpacked_answer

if sys.platform != "win32":
    import resource


class CompileError(Exception):
    """An error in a compile process: its message, and the pickled outcome for the client."""

    def __init__(self, message: str, outcome: bytes) -> None:
        super().__init__(message)
        self.outcome = outcome


class SessionProcess:
    """A process with compilers, by number; one thread at a time gets an answer."""

    def __init__(self, forkserver: ForkServer, memory: int) -> None:
        self._forkserver = forkserver
        self.memory = memory
        """The bytes that it may use, 0 for any number."""
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._connection: Connection[Any, Any] | None = None
        self._ended = False
        self._dropped: list[int] = []
        self.requests = 0
        """The number of requests so far."""
        self.pid: int | None = None
        """The process id, ``None`` before the first request."""
        self.made = 0
        """The number of compilers that it has had."""
        self.open: set[int] = set()
        """The numbers of the compilers that are in use."""
        self.packages: tuple[str, ...] = ()
        """The modules of PACKAGES that it has imported."""
        self.exceeded: int | None = None
        """The bytes that all processes together exceeded when this one was ended for it."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        if self._ended or not self._forkserver.alive:
            return False
        if self._connection is None or not self._lock.acquire(blocking=False):
            return True  # before its start, or while it answers
        try:
            return not self._connection.poll()  # nothing comes unasked but the end
        except OSError:
            return False
        finally:
            self._lock.release()

    def new(self) -> int:
        """Return the number of a new compiler."""
        self.made = number = next(self._numbers)
        self.open.add(number)
        return number

    def drop(self, number: int) -> None:
        """Forget a compiler, with the next request."""
        self.open.discard(number)
        self._dropped.append(number)

    def open_compiler(self, number: int, *args: Any) -> bool:
        """Make a compiler; return whether it can compute lost results again."""
        recomputes, self.packages = self.request(number, "open", *args)
        return bool(recomputes)

    def request(self, number: int, method: str, *args: Any) -> Any:
        """Call a compiler; the first request starts the process.

        Raises :class:`CompileError` with the exception of the call, and
        :class:`~...errors.CompilationDied` if the process ends.
        """
        with self._lock:
            self.requests += 1
            ended, self._dropped = self._dropped, []
            try:
                connection = self._connected()
                connection.send_bytes(pickle.dumps((sys.path, ended, number, method, args)))
                # No answer is larger than what the process may use.
                reply = connection.recv_bytes(self.memory or None)
            except (OSError, EOFError):
                raise CompilationDied(self.kill(), self.memory, self.exceeded) from None
        good, parts = plain(reply)
        if not good:
            raise CompileError(*parts)
        return unpacked_answer(parts)

    def is_still(self, request: int) -> bool:
        """Return whether it still answers a request, of which ``requests`` was the number."""
        return self.requests == request and self._lock.locked()

    def _connected(self) -> Connection[Any, Any]:
        if self._connection is None and not self._ended:
            self.pid, self._connection = self._forkserver.fork(self.memory)
        if self._connection is None or self._ended:  # possibly meanwhile
            raise EOFError
        return self._connection

    def kill(self) -> int | None:
        """End the process, also while it answers; return its exit code."""
        self._ended = True
        return None if self.pid is None else self._forkserver.end(self.pid)


def serve(connection: Connection[Any, Any], memory: int) -> None:
    """Answer requests until the supervisor closes the connection.

    A thread does, so that the lines of code that make nodes are not looked for in this program.
    """
    if memory:
        _limit(memory)
    importlib.invalidate_caches()
    thread = threading.Thread(target=_answer_all, args=(connection, memory), daemon=True)
    thread.start()
    thread.join()


def _answer_all(connection: Connection[Any, Any], memory: int) -> None:
    compilers: dict[int, Any] = {}
    with contextlib.suppress(EOFError, OSError):
        while True:
            request = connection.recv_bytes()
            connection.send_bytes(_answer(compilers, request, memory))


def _limit(memory: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _answer(compilers: dict[int, Any], request: bytes, memory: int) -> bytes:
    path, ended, number, method, args = pickle.loads(request)
    if path != sys.path:
        sys.path[:] = path
        importlib.invalidate_caches()
    for compiler in ended:
        compilers.pop(compiler, None)
    try:
        answer: Any
        if method == "open":
            compilers[number] = Compiler(*args)
            imported = tuple(name for name in PACKAGES if name in sys.modules)
            answer = compilers[number].recomputes, imported
        else:
            answer = getattr(compilers[number], method)(*args)
        return pickle.dumps((True, packed_answer(answer)), pickle.HIGHEST_PROTOCOL)
    except MemoryError as error:
        error.add_note(f"marsdask.compile.memory on the supervisor is {memory} bytes")
        return pickle.dumps((False, tuple(failure(error))), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # noqa: BLE001 - the client raises it
        return pickle.dumps((False, tuple(failure(error))), pickle.HIGHEST_PROTOCOL)
