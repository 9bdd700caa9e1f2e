"""The process of which the processes of sessions are forks: it has imported what they all need.

A fork starts in milliseconds, and shares the memory of the imports. The fork server runs no code of
users, and no threads of Python, so that forks are safe. It ends with the supervisor, and its forks
with it, whatever they do.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Collection
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from typing import Any

from ...inprocess.worker_process import POOLS
from ...storage.server_folder import forget_safe_path, own_path

_START = (
    "import sys; handle, *sys.path[:] = sys.argv[1:]; del sys.argv[1:];"
    "from {module} import main; main(int(handle))"
)

#: What sessions import. The first one is imported at the start, the others once a session has.
PACKAGES = ("marsdask.tensor", "marsdask.dataframe", "marsdask.learn", "marsdask.remote")

#: A request or an answer: an operation, and a number.
_RECORD = struct.Struct("!cq")

_READY, _FORK, _END, _IMPORT = b"ready", b"f", b"e", b"i"

#: Timeouts for an answer, which may have to wait for imports, and for the end, in seconds.
_ANSWER_SECONDS, _END_SECONDS = 120.0, 2.0

#: The request to be killed when the parent ends, of Linux's ``prctl``.
_PR_SET_PDEATHSIG = 1


class ForkServer:
    """The supervisor's side. Threads call :meth:`start`, :meth:`fork` and :meth:`end`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control, self._theirs = socket.socketpair()
        self._control.settimeout(_ANSWER_SECONDS)
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = self._ended = False
        self._imported = {PACKAGES[0]}

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return not self._ended and (self._process is None or self._process.poll() is None)

    @property
    def pid(self) -> int | None:
        """The process id, ``None`` before the start."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the process, and wait until it has imported everything. Idempotent.

        Raises OSError if it ends meanwhile.
        """
        with self._lock:
            if self._ready:
                return
            if self._ended:
                raise BrokenPipeError("the fork server has ended")
            handle = self._theirs.fileno()
            # The supervisor handles signals of the terminal.
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-c", _START.format(module=__name__)),
                    *(str(handle), *own_path()),
                ],
                stdin=subprocess.DEVNULL,
                env=dict.fromkeys(POOLS, "1") | dict(os.environ),
                pass_fds=(handle,),
                process_group=0,
            )
            self._theirs.close()
            if self._ended:  # closed meanwhile
                self._process.kill()
            try:
                self._received(len(_READY))
            except OSError:
                self._ended = True
                raise
            self._ready = True

    def fork(self, memory: int) -> tuple[int, Connection[Any, Any]]:
        """Return the process id of a new fork, and the connection to it.

        Raises OSError if the fork server has ended.
        """
        self.start()
        ours, theirs = Pipe()
        with self._lock, theirs:
            pid = self._ask(_FORK, memory, [theirs.fileno()])
        return pid, ours

    def end(self, pid: int) -> int | None:
        """End a fork; return its exit code, ``None`` if it is not known."""
        try:
            with self._lock:
                return self._ask(_END, pid)
        except OSError:
            return None

    def use(self, packages: Collection[str]) -> None:
        """Have it import more of :data:`PACKAGES`, for later forks; does not wait."""
        for package in packages:
            if package in PACKAGES and package not in self._imported:
                self._imported.add(package)
                with contextlib.suppress(OSError):
                    record = _RECORD.pack(_IMPORT, PACKAGES.index(package))
                    self._control.sendall(record)

    def _ask(self, operation: bytes, number: int, handles: Collection[int] = ()) -> int:
        """Return the answer to a request."""
        if self._ended:
            raise BrokenPipeError("the fork server has ended")
        try:
            socket.send_fds(self._control, [_RECORD.pack(operation, number)], list(handles))
            answer: int = _RECORD.unpack(self._received(_RECORD.size))[1]
        except OSError:
            self._ended = True  # a late answer would be taken for that of the next request
            raise
        return answer

    def _received(self, size: int) -> bytes:
        data = self._control.recv(size)
        if len(data) < size:
            raise BrokenPipeError("the fork server has ended")
        return data

    def close(self) -> None:
        """End the process and all forks."""
        self._ended = True
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # threads that wait get an error
        process = self._process
        if process is not None and not self._ready:
            process.kill()
        with self._lock, self._theirs, self._control:
            if self._process is not None:
                self._wait(self._process)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main(handle: int) -> None:
    """Fork until the supervisor ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    forget_safe_path()
    serve = import_module(".session_process", __package__).serve
    import_module(PACKAGES[0])
    with socket.socket(fileno=handle) as control, contextlib.suppress(OSError):
        control.sendall(_READY)
        _Forks(control, serve).run()


class _Forks:
    """The forks of this process, which is the fork server."""

    def __init__(self, control: socket.socket, serve: Callable[[Any, int], None]) -> None:
        self._control, self._serve = control, serve
        self._living: set[int] = set()
        library = ctypes.CDLL(None)  # before any fork
        self._prctl = library.prctl if sys.platform == "linux" else None

    def run(self) -> None:
        """Handle requests until the other end is closed; then end the forks."""
        gc.collect()
        gc.freeze()  # the collector would write to memory that forks share
        while True:
            data, handles, _, _ = socket.recv_fds(self._control, _RECORD.size, 1)
            if len(data) < _RECORD.size:
                break
            operation, number = _RECORD.unpack(data)
            self._handle(operation, number, handles)
        for pid in list(self._living):
            self._end(pid)

    def _handle(self, operation: bytes, number: int, handles: list[int]) -> None:
        if operation == _IMPORT:
            with contextlib.suppress(Exception):  # a session that needs it says why
                import_module(PACKAGES[number])
            gc.freeze()
            return
        answer = self._fork(number, handles[0]) if operation == _FORK else self._end(number)
        self._control.sendall(_RECORD.pack(operation, answer))

    def _fork(self, memory: int, handle: int) -> int:
        parent = os.getpid()
        with warnings.catch_warnings():
            # Arrow's allocator has a thread, and prepares itself for forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid:
            os.close(handle)
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)  # both set it, as nobody knows who is first
            self._living.add(pid)
            return pid
        code = 1
        try:
            self._control.close()
            os.set_inheritable(handle, False)
            self._prepare(parent)
            self._serve(Connection(handle), memory)
            code = 0
        finally:
            os._exit(code)

    def _prepare(self, parent: int) -> None:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        if self._prctl is not None:
            self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            # If memory runs out, the system is to end this process, not the supervisor.
            with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")

    def _end(self, pid: int) -> int:
        """End a fork, with the processes that it started; return its exit code."""
        if pid not in self._living:
            return -signal.SIGKILL
        self._living.discard(pid)
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)  # it may have joined another group
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
