"""A worker process of :mod:`.processes`: its main loop, and the parent's connection to it.

A child is a new interpreter (``subprocess``, neither fork nor multiprocessing's spawn). It never
imports the parent's ``__main__``: definitions of that module are pickled by value, so scripts need
no guard. Values up to 64 KiB go through the pipe; larger ones are files that the receiver maps.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection, Pipe
from types import TracebackType
from typing import Any

import cloudpickle
from dask.task_spec import GraphNode

from ..base import SAMPLE_LIMIT, ChunkInfo, Key, describe
from ..errors import SchedulerClosed, WorkerDied
from ..storage import files
from ..storage.sizes import size_of
from .evaluate import evaluate

_START = (
    "import sys; handle, folder, *sys.path[:] = sys.argv[1:]; del sys.argv[1:];"
    "from {module} import main; main(int(handle), folder)"
)

_FOLDER = os.path.dirname(__file__)

#: The variables that native thread pools read when they are loaded; Arrow reads the first one.
POOLS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def dumps(value: Any) -> bytes:
    """Pickle ``value`` for a process with another ``__main__``."""
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except files.UNPICKLABLE:
        data = b"__main__"
    if b"__main__" in data:
        data = cloudpickle.dumps(value)
    return data


class Blob:
    """A pickled result: in memory if it is small, else in a file that it owns."""

    __slots__ = ("_info", "_pid", "data", "path")

    def __init__(self, data: bytes | None, path: str | None, info: ChunkInfo | None) -> None:
        self.data = data
        self.path = path
        self._info = info
        self._pid = os.getpid()

    @classmethod
    def of(cls, value: Any, path: str) -> Blob:
        """Encode ``value``, a large one into the new file ``path``."""
        if size_of(value) <= SAMPLE_LIMIT:
            return cls(dumps(value), None, None)
        files.write(path, value, by_value=True)
        return cls(None, path, describe(value))

    def load(self) -> Any:
        """Return a new copy of the value; large arrays are mapped."""
        return pickle.loads(self.data) if self.data is not None else files.read(self.path or "")

    def info(self) -> ChunkInfo:
        """Describe the value without reading a large one."""
        return self._info if self._info is not None else describe(self.load())

    @property
    def nbytes(self) -> int:
        """Bytes of the value; of a small value, those of its pickle."""
        return self._info.nbytes if self._info is not None else len(self.data or b"")

    def __del__(self, unlink: Any = os.unlink, getpid: Any = os.getpid) -> None:
        if self.path is not None and getpid() == self._pid:  # not in a forked child
            with contextlib.suppress(OSError):
                unlink(self.path)


class WorkerProcess:
    """The parent's connection; one thread at a time calls :meth:`run`, any thread :meth:`kill`."""

    def __init__(self, folder: str, native_threads: int) -> None:
        self._folder = folder
        self._native_threads = native_threads
        # Reentrant: a finalizer may kill this child while its own thread starts it.
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._serial = itertools.count()
        self._ended = False

    def new_path(self) -> str:
        """Return the name of a file that does not exist yet."""
        return os.path.join(self._folder, f"{id(self):x}-{next(self._serial)}")

    def _connect(self) -> Connection[Any, Any]:
        with self._lock:
            if self._connection is None and not self._ended:
                self._start()
            if self._ended or self._connection is None:
                self.kill()
                raise SchedulerClosed("the scheduler is closed")
            return self._connection

    def _start(self) -> None:
        ours, theirs = Pipe()
        handle = theirs.fileno()
        inherit: dict[str, Any] = {"pass_fds": (handle,)}
        if sys.platform == "win32":
            os.set_handle_inheritable(handle, True)
            startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
            inherit = {"startupinfo": startup}
        threads = dict.fromkeys(POOLS, str(self._native_threads))
        command = [sys.executable, "-P", "-u", "-c", _START.format(module=__name__)]
        self._process = subprocess.Popen(
            [*command, str(handle), self._folder, *sys.path],
            stdin=subprocess.DEVNULL,
            env=threads | dict(os.environ),
            **inherit,
        )
        theirs.close()
        self._connection = ours

    def run(
        self,
        key: Key,
        node: GraphNode,
        values: Mapping[Key, Blob],
        wanted: Callable[[], bool] = lambda: True,
    ) -> Blob:
        """Evaluate ``node`` in the child, if it is still ``wanted`` once it is pickled.

        Raises the task's exception, with the child's traceback as a note, or WorkerDied. After that
        the next call starts a new process.
        """
        inputs = {
            dependency: blob.data if blob.data is not None else blob.path
            for dependency, blob in values.items()
        }
        path = self.new_path()
        request = pickle.dumps((dumps(node), inputs, path))
        connection = self._connect()
        if not wanted():  # after connecting: whoever changes that later kills this process
            raise WorkerDied(key, None)
        try:
            connection.send_bytes(request)
            reply = connection.recv_bytes()
        except (OSError, EOFError):
            exitcode = self.kill()
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise WorkerDied(key, exitcode) from None
        data, info, error = pickle.loads(reply)
        if error is not None:
            raise pickle.loads(error)
        return Blob(data, None if info is None else path, info)

    def kill(self, *, for_good: bool = False) -> int | None:
        """Kill the process and return its exit code, or None without a process."""
        with self._lock:
            self._ended = self._ended or for_good
            process, self._process, self._connection = self._process, None, None
            if process is None:
                return None
            process.kill()
            return process.wait()


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    """Remove the leading frames of this package, unless all frames belong to it."""
    frame = trace
    while frame is not None and os.path.dirname(frame.tb_frame.f_code.co_filename) == _FOLDER:
        frame = frame.tb_next
    return trace if frame is None else frame


def _remember(error: BaseException) -> bytes:
    """Pickle an exception with its traceback as a note."""
    error = error.with_traceback(_without_ours(error.__traceback__))
    note = "In a worker process:\n" + "".join(traceback.format_exception(error))
    with contextlib.suppress(Exception):  # it may refuse attributes, as a frozen dataclass does
        error.add_note(note)
    error = error.with_traceback(None)
    # Its own constructor often cannot be called as pickle does, and its attributes be no data.
    for form in (error, _Parts(error)):
        try:
            data = dumps(form)
            pickle.loads(data)
        except Exception:  # noqa: BLE001, S112  (pickling may raise any exception)
            continue
        return data
    substitute = RuntimeError(f"{type(error).__name__}: {_text(error)}")
    substitute.add_note(note)
    return dumps(substitute)


class _Parts:
    """Unpickles as an exception that is made of its parts, without its constructor."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __reduce__(self) -> tuple[Any, ...]:
        error = self._error
        state = {name: value for name, value in vars(error).items() if _can_be_sent(value)}
        return _of_parts, (type(error), error.args, state)


def _of_parts(kind: Any, args: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    error: BaseException = kind.__new__(kind, *args)
    vars(error).update(state)
    return error


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.loads(dumps(value))
    except Exception:  # noqa: BLE001  (pickling may raise any exception)
        return False
    return True


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (its own method may raise any exception)
        return "<exception str() failed>"  # as in Python's tracebacks


def main(handle: int, folder: str) -> None:
    """Serve requests until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    connection = _connect(handle)
    try:
        while True:
            request, inputs, path = pickle.loads(connection.recv_bytes())
            connection.send_bytes(_serve(request, inputs, path))
    except (EOFError, OSError):
        # The parent kills its children when it closes, so here the parent itself died.
        shutil.rmtree(folder, ignore_errors=True)


def _connect(handle: int) -> Connection[Any, Any]:
    if sys.platform == "win32":
        from multiprocessing.connection import (
            PipeConnection,
        )  # this module exists only in the child

        return PipeConnection(handle)
    return Connection(handle)


def _serve(request: bytes, inputs: Mapping[Key, bytes | str], path: str) -> bytes:
    """Evaluate one node and pickle its ``(data, info, error)``."""
    try:
        node = pickle.loads(request)
        values = {
            key: files.read(source) if isinstance(source, str) else pickle.loads(source)
            for key, source in inputs.items()
        }
        blob = Blob.of(evaluate(node, values), path)
        blob.path = None  # the parent owns the file now
        return pickle.dumps((blob.data, blob.info() if blob.data is None else None, None))
    except BaseException as error:  # noqa: BLE001  (the parent raises it)
        return pickle.dumps((None, None, _remember(error)))
