"""The process that compiles a session's jobs: the supervisor's connection, and its main loop.

It is a new interpreter. Its memory is limited, and it ends with the supervisor.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
from multiprocessing.connection import Connection, Pipe
from typing import Any

from ...errors import CompilationDied
from ...inprocess.worker_process import POOLS
from .compiler import Compiler, failure
from .packed_tasks import packed_answer, plain, unpacked_answer

_START = (
    "import sys; handle, memory, *sys.path[:] = sys.argv[1:]; del sys.argv[1:];"
    "from {module} import main; main(int(handle), int(memory))"
)


if sys.platform != "win32":
    import resource

#: Timeout for the start of a process, in seconds.
_START_SECONDS = 120.0


class CompileError(Exception):
    """An error in a compile process: its message, and the pickled outcome for the client."""

    def __init__(self, message: str, outcome: bytes) -> None:
        super().__init__(message)
        self.outcome = outcome


class SessionProcess:
    """A process with compilers, by number; one thread at a time gets an answer."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._connection: Connection[Any, Any] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._dropped: list[int] = []
        self.open: set[int] = set()
        """The numbers of the compilers that are in use."""

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return not self._ended and (self._process is None or self._process.poll() is None)

    @property
    def pid(self) -> int | None:
        """The process id, ``None`` before the first request."""
        return None if self._process is None else self._process.pid

    def new(self) -> int:
        """Return the number of a new compiler."""
        number = next(self._numbers)
        self.open.add(number)
        return number

    def drop(self, number: int) -> None:
        """Forget a compiler, with the next request."""
        self.open.discard(number)
        self._dropped.append(number)

    def request(self, number: int, method: str, *args: Any) -> Any:
        """Call a compiler; ``open`` makes it.

        Raises :class:`CompileError` with the exception of the call, and
        :class:`~...errors.CompilationDied` if the process ends.
        """
        with self._lock:
            dropped, self._dropped = self._dropped, []
            try:
                connection = self._connected()
                connection.send_bytes(pickle.dumps((sys.path, dropped, number, method, args)))
                reply = connection.recv_bytes()
            except (OSError, EOFError):
                raise CompilationDied(self.kill(), self._memory) from None
        good, parts = plain(reply)
        if not good:
            raise CompileError(*parts)
        return unpacked_answer(parts)

    def start(self) -> None:
        """Start the process, and wait until it has imported everything. Idempotent."""
        with self._lock:
            if self._connection is None and not self._ended:
                self._start()
                with contextlib.suppress(OSError, EOFError):
                    if self._connected().poll(_START_SECONDS):
                        self._connected().recv_bytes()
                        return
                raise CompilationDied(self.kill(), self._memory)

    def _connected(self) -> Connection[Any, Any]:
        if self._ended or self._connection is None:
            raise EOFError
        return self._connection

    def _start(self) -> None:
        ours, theirs = Pipe()
        handle = theirs.fileno()
        command = [sys.executable, "-P", "-c", _START.format(module=__name__)]
        # The supervisor handles signals of the terminal.
        self._process = subprocess.Popen(
            [*command, str(handle), str(self._memory), *sys.path],
            stdin=subprocess.PIPE,
            env=dict.fromkeys(POOLS, "1") | dict(os.environ),
            pass_fds=(handle,),
            process_group=0,
        )
        theirs.close()
        self._connection = ours
        if self._ended:  # killed meanwhile
            self.kill()

    def kill(self) -> int | None:
        """End the process, also while it answers; return its exit code."""
        self._ended = True
        process = self._process
        if process is None:
            return None
        process.kill()
        code = process.wait()
        if process.stdin is not None:
            process.stdin.close()
        return code

    def close(self) -> None:
        """End the process, and close the connection once no thread uses it."""
        self.kill()
        with self._lock:
            if self._connection is not None:
                self._connection.close()


def main(handle: int, memory: int) -> None:
    """Answer requests until the supervisor ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if memory:
        _limit(memory)
    connection: Connection[Any, Any] = Connection(handle)
    compilers: dict[int, Any] = {}
    with contextlib.suppress(EOFError, OSError):
        connection.send_bytes(b"")
        while True:
            request = connection.recv_bytes()
            connection.send_bytes(_answer(compilers, request, memory))


def _end_with_parent() -> None:
    """Wait for the end of the supervisor, which has the other end of the standard input."""
    sys.stdin.buffer.read()
    os._exit(1)


def _limit(memory: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _answer(compilers: dict[int, Any], request: bytes, memory: int) -> bytes:
    path, dropped, number, method, args = pickle.loads(request)
    sys.path[:] = path
    for one in dropped:
        compilers.pop(one, None)
    try:
        if method == "open":
            compilers[number] = Compiler(*args)
            answer = compilers[number].recomputes
        else:
            answer = getattr(compilers[number], method)(*args)
        return pickle.dumps((True, packed_answer(answer)), pickle.HIGHEST_PROTOCOL)
    except MemoryError as error:
        error.add_note(f"marsdask.compile.memory on the supervisor is {memory} bytes")
        return pickle.dumps((False, tuple(failure(error))), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # noqa: BLE001 - the client raises it
        return pickle.dumps((False, tuple(failure(error))), pickle.HIGHEST_PROTOCOL)
