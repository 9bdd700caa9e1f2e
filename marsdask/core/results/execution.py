"""A running computation: its progress, its cancellation, and its future."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, NoReturn

from marsdask.scheduler.base import Handle
from marsdask.scheduler.events import Event, GraphSubmitted, TaskDone

from ..errors import shortened

if TYPE_CHECKING:
    import asyncio


class Monitor:
    """Counts the tasks of one execution, for progress."""

    def __init__(self) -> None:
        self.total: int = 0
        self.done: int = 0
        self.listeners: list[Callable[[Event], None]] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, GraphSubmitted):
            self.total += event.tasks
        elif isinstance(event, TaskDone):
            self.done += 1
        for listener in self.listeners:
            listener(event)

    def fraction(self) -> float:
        """Return the share of the known tasks that are done."""
        return min(1.0, self.done / self.total) if self.total else 0.0


class RunningHandle:
    """The handle to cancel, whichever stage is running.

    ``watched`` means that a future exists, so a cancellation may come while a stage is submitted.
    """

    def __init__(self, *, watched: bool = False) -> None:
        self.watched = watched
        self._lock = threading.Lock()
        self._handle: Handle | None = None
        self._cancelled = False
        self._finished = False

    def follow(self, handle: Handle) -> None:
        """Set the handle to cancel; cancel it now if that was requested before."""
        with self._lock:
            self._handle = handle
            cancelled = self._cancelled
        if cancelled:
            handle.cancel()

    def check(self) -> None:
        """Raise ``CancelledError`` if a cancellation came between two stages."""
        if self._cancelled:
            raise CancelledError

    def finish(self) -> None:
        """Mark the computation as finished; raise ``CancelledError`` if it was cancelled before."""
        with self._lock:
            self.check()
            self._finished = True

    def cancel(self) -> bool:
        """Stop the running stage and all later ones; return False if the computation has ended."""
        with self._lock:
            if self._finished:
                return False
            self._cancelled = True
            handle = self._handle
        if handle is not None:
            handle.cancel()
        return True


class Execution:
    """A running computation: a future with progress. It can be awaited.

    Parameters
    ----------
    work : callable
        ``work(monitor, running)`` computes in its own thread, in a copy of the caller's context.
    at_once : bool
        Whether to compute in the calling thread instead, before this returns.

    Examples
    --------
    >>> import marsdask.tensor as mt
    >>> future = mt.arange(3).execute(wait=False)
    >>> future.result().fetch()
    array([0, 1, 2])
    """

    #: The collections that it executes.
    to_execute_tileables: Sequence[Any] = ()

    def __init__(
        self, work: Callable[[Monitor, RunningHandle], Any], *, at_once: bool = False
    ) -> None:
        self._monitor = Monitor()
        self._current = RunningHandle(watched=True)
        self._future: Future[Any] = Future()
        self._future.set_running_or_notify_cancel()
        if at_once:
            self._run(work)
            return
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run, work), name="marsdask-execute", daemon=True
        )
        self._thread.start()

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled() else "done" if self.done() else "running"
        return f"<Execution {state}, {self.progress():.0%}>"

    def _run(self, work: Callable[[Monitor, RunningHandle], Any]) -> None:
        failure: BaseException | None = None
        try:
            value = work(self._monitor, self._current)
        except CancelledError:
            # This exception's frames refer to earlier results.
            failure = CancelledError()
        except BaseException as error:  # noqa: BLE001 - it is raised by result()
            failure = shortened(error)
        if failure is None:
            self._future.set_result(value)
        else:
            self._future.set_exception(failure)
            del self, failure  # otherwise the exception's frames refer to the future

    def done(self) -> bool:
        """Return whether the computation has ended, in any state.

        Returns
        -------
        bool
            True also after a failure or a cancellation.

        Examples
        --------
        >>> future = mt.ones(3).execute(wait=False)
        >>> done = future.result()
        >>> future.done()
        True
        """
        return self._future.done()

    def result(self, timeout: float | None = None) -> Any:
        """Wait and return the executed object.

        Parameters
        ----------
        timeout : float, optional
            Maximum number of seconds to wait.

        Returns
        -------
        object
            What ``execute()`` returns.

        Raises
        ------
        TimeoutError
            If the computation still runs after ``timeout``; it continues.
        CancelledError
            If the computation was cancelled.

        Examples
        --------
        >>> mt.arange(3).execute(wait=False).result().fetch()
        array([0, 1, 2])
        """
        return self._future.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait and return the exception of the computation.

        Parameters
        ----------
        timeout : float, optional
            Maximum number of seconds to wait.

        Returns
        -------
        BaseException or None
            ``None`` if the computation succeeded.

        Examples
        --------
        >>> mt.ones(3).execute(wait=False).exception() is None
        True
        """
        try:
            return self._future.exception(timeout)
        finally:
            del self  # otherwise the exception's traceback refers to the future

    def progress(self) -> float:
        """Return the share of the finished tasks.

        Returns
        -------
        float
            A number from 0 to 1.

        Examples
        --------
        >>> future = mt.ones(3).execute(wait=False)
        >>> done = future.result()
        >>> future.progress()
        1.0
        """
        if self.done() and self._future.exception() is None:
            return 1.0
        return min(self._monitor.fraction(), 0.99)

    def cancel(self) -> bool:
        """Stop the computation; :meth:`result` will raise ``CancelledError``.

        Returns
        -------
        bool
            False if it has ended already.

        Examples
        --------
        >>> future = mt.ones(3).execute(wait=False)
        >>> done = future.result()
        >>> future.cancel()
        False
        """
        return not self.done() and self._current.cancel()

    def cancelled(self) -> bool:
        """Return whether the computation was cancelled before its end.

        Returns
        -------
        bool
            False while it runs.

        Examples
        --------
        >>> future = mt.ones(3).execute(wait=False)
        >>> done = future.result()
        >>> future.cancelled()
        False
        """
        return self.done() and isinstance(self._future.exception(), CancelledError)

    def running(self) -> bool:
        """Return whether the computation still runs.

        Returns
        -------
        bool
            The opposite of :meth:`done`.

        Examples
        --------
        >>> future = mt.ones(3).execute(wait=False)
        >>> done = future.result()
        >>> future.running()
        False
        """
        return not self.done()

    def get_future(self) -> asyncio.Future[Any]:
        """Return a future of the running event loop, as Mars does.

        Returns
        -------
        asyncio.Future
            Of what :meth:`result` returns.

        Raises
        ------
        RuntimeError
            If no event loop runs in this thread.

        Examples
        --------
        >>> import asyncio
        >>> async def program():
        ...     return await mt.arange(3).execute(wait=False).get_future()
        >>> asyncio.run(program()).fetch()
        array([0, 1, 2])
        """
        import asyncio

        asyncio.get_running_loop()
        return asyncio.wrap_future(self._future)

    def profiling_result(self) -> NoReturn:
        """Raise: Dask's ``Profiler`` sees the tasks.

        Raises
        ------
        NotImplementedError
            Always.

        Examples
        --------
        >>> from dask.diagnostics import Profiler
        >>> with Profiler() as profiler:
        ...     done = mt.random.rand(3).execute()
        >>> len(profiler.results) > 0
        True
        """
        raise NotImplementedError(
            "executions have no profile of their own: use dask.diagnostics.Profiler around them"
        )

    @property
    def aio_task(self) -> NoReturn:
        """Raise: it runs in a thread. Await it, or what ``get_future()`` returns."""
        raise NotImplementedError("no asyncio task runs it: await the execution, or get_future()")

    @property
    def loop(self) -> NoReturn:
        """Raise: it runs in a thread, on no event loop."""
        raise NotImplementedError("it runs on no event loop: await it in a loop of your own")

    def add_done_callback(self, callback: Callable[[Execution], object]) -> None:
        """Call a function when the computation ends, or at once if it has ended.

        Parameters
        ----------
        callback : callable
            Called with this object.

        Examples
        --------
        >>> future = mt.ones(3).execute(wait=False)
        >>> future.add_done_callback(lambda done: None)
        """
        self._future.add_done_callback(lambda _: callback(self))

    def __await__(self) -> Generator[Any, None, Any]:
        import asyncio

        return asyncio.wrap_future(self._future).__await__()
