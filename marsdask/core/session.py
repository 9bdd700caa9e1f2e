"""The session: owns a scheduler, runs compilations on it and knows what has been computed."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any
from weakref import WeakValueDictionary

from marsdask.scheduler import registry
from marsdask.scheduler.base import Done, Handle, Scheduler, Stage
from marsdask.scheduler.events import Event, GraphSubmitted, TaskDone

from .config import options
from .errors import SessionClosed, explain_failure
from .graph import Graph
from .node import Node
from .passes import Plan
from .progress import progress_bar
from .stored import Result, Stored, store
from .tiling import Compilation


class Monitor:
    """Counts the tasks of one execution, for progress."""

    def __init__(self) -> None:
        self.total = 0
        self.done = 0
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
        return self.done / self.total if self.total else 0.0


class Session:
    """Runs expressions on one scheduler and keeps their results while somebody refers to them."""

    def __init__(self, scheduler: Scheduler, *, owns_scheduler: bool = True) -> None:
        self.scheduler = scheduler
        self._owns_scheduler = owns_scheduler
        self._results: WeakValueDictionary[str, Stored] = WeakValueDictionary()
        self._closed = False

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Session on {self.scheduler.name}, {state}, {len(self._results)} results>"

    def as_default(self) -> Session:
        """Make this the session that ``execute()`` uses, and return it."""
        set_default_session(self)
        return self

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""
        return self._closed

    def plan(self) -> Plan:
        """Return what may be assumed of the scheduler's machine."""
        scheduler: Any = self.scheduler
        return Plan(
            workers=getattr(scheduler, "nthreads", 1),
            budget=getattr(scheduler, "memory_limit", None),
            coalesce=options.coalesce,
            shared_memory=scheduler.capabilities.shared_memory,
        )

    def lookup(self, node: Node) -> Stored | None:
        """Return the computed form of ``node`` if this session holds one."""
        if isinstance(node, Stored):
            return node if node.result.scheduler is self.scheduler else None
        return self._results.get(node.name)

    def execute(self, nodes: Sequence[Node], monitor: Monitor | None = None) -> list[Stored]:
        """Compute the nodes, keep their chunks, and return their computed forms."""
        return self._execute(nodes, monitor or Monitor(), _Current())

    def submit(self, nodes: Sequence[Node], finish: Callable[[list[Stored]], Any]) -> Execution:
        """Start computing and return at once; ``finish`` makes the result from the computed forms."""
        return Execution(self, nodes, finish)

    def fetch(self, stored: Stored) -> list[Any]:
        """Return the chunks of a computed node, last axis fastest."""
        self._check_open()
        return self.scheduler.gather(list(stored.result.layout.keys.values()))

    def close(self) -> None:
        """Free every result and, if the session started its scheduler, end it. Idempotent."""
        if self._closed:
            return
        self._closed = True
        clear_default_session(self)
        if self._owns_scheduler:
            self.scheduler.close()

    destroy = close

    def __enter__(self) -> Session:
        return self.as_default()

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed("the session is closed; start one with marsdask.new_session()")

    def _execute(self, nodes: Sequence[Node], monitor: Monitor, current: _Current) -> list[Stored]:
        self._check_open()
        found = {node.name: stored for node in nodes if (stored := self.lookup(node)) is not None}
        wanted = list({node.name: node for node in nodes if node.name not in found}.values())
        if wanted:
            with progress_bar(monitor, enabled=options.show_progress):
                found.update(self._compute(self._localised(wanted), monitor, current))
        return [found[node.name] for node in nodes]

    def _localised(self, nodes: Sequence[Node]) -> list[Node]:
        """Embed results that another session's scheduler holds."""

        def change(node: Node) -> Node:
            foreign = isinstance(node, Stored) and node.result.scheduler is not self.scheduler
            return node.embedded() if foreign else node  # type: ignore[attr-defined]

        return list(Graph(nodes).map(change).roots)

    def _compute(
        self, nodes: Sequence[Node], monitor: Monitor, current: _Current
    ) -> dict[str, Stored]:
        compilation = Compilation(
            nodes, plan=self.plan(), results=self._results, check=options.verify
        )
        held: list[tuple[Any, ...]] = []
        infos: dict[Any, Any] = {}
        try:
            while not isinstance(step := compilation.advance(infos), Done):
                self._run_stage(compilation, step, monitor, current)
                held.append(step.keys)
                infos = dict(zip(step.keys, self.scheduler.info(step.keys), strict=True))
            stored = self._store(nodes, step)
        finally:
            for keys in held:
                self.scheduler.release(keys)
        return stored

    def _run_stage(
        self, compilation: Compilation, stage: Stage, monitor: Monitor, current: _Current
    ) -> None:
        handle = self.scheduler.submit(
            stage.graph, stage.keys, hints=stage.hints, callbacks=(monitor,)
        )
        current.follow(handle)
        try:
            handle.wait()
        except BaseException as error:
            handle.cancel()
            grid, index = compilation.locate(handle.failed, error)
            raise explain_failure(error, grid, index) from error.__cause__

    def _store(self, nodes: Sequence[Node], done: Done) -> dict[str, Stored]:
        stored = {}
        for node in nodes:
            layout = done.outputs[node.name]
            # The stage's own lease is dropped by the caller; each result takes one for itself.
            self.scheduler.submit({}, tuple(layout.keys.values())).wait()
            stored[node.name] = store(node, Result(self.scheduler, layout))
            self._results[node.name] = stored[node.name]
        return stored


class _Current:
    """The handle that a cancellation has to reach, whichever stage is running."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handle: Handle | None = None
        self._cancelled = False

    def follow(self, handle: Handle) -> None:
        with self._lock:
            self._handle = handle
            cancelled = self._cancelled
        if cancelled:
            handle.cancel()

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            handle = self._handle
        if handle is not None:
            handle.cancel()


class Execution:
    """A running computation: a future that also tells its progress."""

    def __init__(
        self, session: Session, nodes: Sequence[Node], finish: Callable[[list[Stored]], Any]
    ) -> None:
        self._monitor = Monitor()
        self._current = _Current()
        self._future: Future[Any] = Future()
        self._future.set_running_or_notify_cancel()
        context = contextvars.copy_context()
        run = (session._execute, nodes, self._monitor, self._current)  # noqa: SLF001
        self._thread = threading.Thread(
            target=context.run, args=(self._run, finish, *run), name="marsdask-execute", daemon=True
        )
        self._thread.start()

    def _run(self, finish: Callable[[list[Stored]], Any], execute: Any, *args: Any) -> None:
        try:
            self._future.set_result(finish(execute(*args)))
        except BaseException as error:  # noqa: BLE001 - it is raised by result()
            self._future.set_exception(error)

    def done(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> Any:
        """Wait and return the executed object; raises what the computation raised."""
        value = self._future.result(timeout)
        self._thread.join(timeout)
        return value

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait and return what the computation raised, ``None`` if it succeeded."""
        return self._future.exception(timeout)

    def progress(self) -> float:
        """Return the share of the work done, from 0 to 1."""
        if self.done() and not self.cancelled() and self._future.exception() is None:
            return 1.0
        return min(self._monitor.fraction(), 0.99) if self._monitor.total else 0.0

    def cancel(self) -> bool:
        """Stop; :meth:`result` will raise ``CancelledError``. False if it has ended already."""
        if self.done():
            return False
        self._current.cancel()
        return True

    def cancelled(self) -> bool:
        """Whether it was cancelled before it could end."""
        return self.done() and isinstance(self._future.exception(), CancelledError)

    def running(self) -> bool:
        """Whether it is still at work."""
        return not self.done()

    def add_done_callback(self, callback: Callable[[Execution], object]) -> None:
        """Call ``callback(self)`` when it ends, at once if it has."""
        self._future.add_done_callback(lambda _: callback(self))

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self._future).__await__()


_default: Session | None = None
_default_lock = threading.Lock()


def set_default_session(session: Session | None) -> None:
    """Choose the session that ``execute()`` uses when none is given."""
    global _default  # noqa: PLW0603 - a process has one default session
    _default = session


def clear_default_session(session: Session) -> None:
    """Forget ``session`` if it is the default."""
    if _default is session:
        set_default_session(None)


def get_default_session() -> Session | None:
    """Return the default session if there is one."""
    return _default


def ensure_session(session: Session | None = None) -> Session:
    """Return ``session``, the default one, or one that starts now on the default scheduler."""
    if session is not None:
        return session
    with _default_lock:
        if _default is None or _default.closed:
            set_default_session(new_session(default=False))
        assert _default is not None
        return _default


def new_session(
    address: Any = None,
    *,
    default: bool = True,
    n_workers: int | None = None,
    memory_limit: float | str | None = None,
    spill_dirs: str | Sequence[str] | None = None,
    **scheduler_options: Any,
) -> Session:
    """Start a session and, unless ``default=False``, make it the default one.

    ``address`` is a scheduler's name (``"threads"``, ``"processes"``, ``"synchronous"``, ...), a
    ``distributed.Client``, the address of a Dask scheduler (``"tcp://host:8786"``), a scheduler
    object, or nothing for threads in this process.
    """
    given = {
        "nthreads": n_workers or options.n_workers,
        "memory_limit": memory_limit or options.memory_limit,
        "spill_dirs": spill_dirs or options.spill_dirs,
        **scheduler_options,
    }
    scheduler = registry.resolve(
        address, **{name: value for name, value in given.items() if value is not None}
    )
    session = Session(scheduler, owns_scheduler=scheduler is not address)
    return session.as_default() if default else session


def stop_server() -> None:
    """Close the default session and everything it started."""
    if _default is not None:
        _default.close()
