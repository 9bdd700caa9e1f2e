"""The session: owns a scheduler, runs compilations on it and keeps the results."""

from __future__ import annotations

import inspect
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from numbers import Integral
from typing import Any, ClassVar, Self

from marsdask.scheduler import limits, registry
from marsdask.scheduler.base import Callback, Done, HasBounds, Scheduler, Stage
from marsdask.scheduler.callbacks import observing
from marsdask.scheduler.errors import FORKED, SchedulerClosed, did_you_mean

from .compilation.failures import explain_failure
from .compilation.held_value import held_by
from .compilation.rules.simplification import substitute
from .compilation.serialization import SerializedCompilation, can_be_sent, written_at
from .compilation.tiling import Compilation
from .config import get_option, options
from .dask.context import ambient
from .dask.source import FromDask
from .display.progress import progress_bar
from .errors import SessionClosed
from .graph import Graph
from .machine.plan import Plan
from .mars_session import MarsSession, check_backend
from .node import Node
from .registry import package
from .results.execution import Execution, Monitor, RunningHandle
from .results.stored import Result, Stored, store

#: Whether the calling thread is inside of ``execute``: lines run there are not user code.
executing: ContextVar[bool] = ContextVar("executing", default=False)

#: Returns the session of the code in a task: its caller's. Outside of tasks there is none.
task_session: ContextVar[Callable[[], Session | None]]
task_session = ContextVar("task_session", default=lambda: None)


#: Bytes of memory below which tasks need no size hints.
_SMALL = 2**24


@cache
def own_memory() -> int:
    """Return the bytes of memory that this process may use."""
    return limits.memory()  # reads files, which takes longer than small computations


class Session(MarsSession):
    """Runs expressions on one scheduler and keeps their results while they are referenced.

    Sessions are context managers, which close at the end of the block. Use
    :func:`marsdask.new_session` to create one.

    Parameters
    ----------
    scheduler : Scheduler
        Runs the tasks and holds the results.
    owns_scheduler : bool
        Whether :meth:`close` also closes the scheduler.
    session_id : str, optional
        Name of the session; by default a random one.

    Examples
    --------
    >>> import marsdask
    >>> import marsdask.tensor as mt
    >>> with marsdask.new_session("synchronous"):
    ...     print(mt.arange(4).sum().execute().fetch())
    6
    """

    def __init__(
        self, scheduler: Scheduler, *, owns_scheduler: bool = True, session_id: str | None = None
    ) -> None:
        self.scheduler = scheduler
        self.session_id: str = session_id or uuid.uuid4().hex
        self._owns_scheduler = owns_scheduler
        self._results: weakref.WeakValueDictionary[str, Stored] = weakref.WeakValueDictionary()
        self._mutables: dict[str, Any] = {}
        self._closed = False
        self._pid = os.getpid()
        self._before: Callable[[], Session | None] = _nobody
        """The default session that this one took the place of."""

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Session on {self.scheduler.name}, {state}, {len(self._results)} results>"

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""
        return self._closed

    def plan(self) -> Plan:
        """Return the properties of the scheduler's machine for planning.

        Returns
        -------
        Plan
            Threads, memory, and whether to coalesce chunks.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.plan().workers
        1
        """
        return Plan.of(self.scheduler, coalesce=options.coalesce)

    def compilation(self, nodes: Sequence[Node], *, lasting: bool = False) -> Compilation:
        """Return the compilation of nodes, in which results of this session replace expressions.

        Parameters
        ----------
        nodes : sequence of Node
            The nodes to compute.
        lasting : bool
            Whether the session keeps the results.

        Returns
        -------
        Compilation
            It returns the stages to run, one after the other.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     compilation = session.compilation([mt.ones(3).node])
        """
        client = None if lasting else own_memory()
        return Compilation(
            self._localised(nodes),
            plan=replace(self.plan(), lasting=lasting, client=client),
            results=self._results,
            check=options.verify,
            lasting=lasting,
        )

    def lookup(self, node: Node) -> Stored | None:
        """Return the computed node if this session holds it.

        Parameters
        ----------
        node : Node
            The node of an expression.

        Returns
        -------
        Stored or None
            ``None`` if the expression was not executed here.

        Examples
        --------
        >>> x = mt.ones(3)
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.lookup(x.node) is None
        True
        """
        if isinstance(node, Stored):
            return node if node.result.scheduler is self.scheduler else None
        return self._results.get(node.name)

    def execute(
        self,
        nodes: Sequence[Node],
        *,
        show_progress: bool | str | None = None,
        monitor: Monitor | None = None,
        running: RunningHandle | None = None,
        lasting: bool = True,
    ) -> list[Stored]:
        """Compute nodes, keep their chunks, and return their computed nodes.

        Parameters
        ----------
        nodes : sequence of Node
            The nodes to compute, together in one graph.
        show_progress : bool or "auto", optional
            Whether to draw a progress bar; by default ``options.show_progress``.
        monitor : Monitor, optional
            Counts the tasks.
        running : RunningHandle, optional
            Cancels the computation.
        lasting : bool
            Whether chunks must not be views of arrays in the user's memory.

        Returns
        -------
        list of Stored
            The computed nodes, in the order of ``nodes``.

        Raises
        ------
        SessionClosed
            If the session is closed.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     (stored,) = session.execute([mt.arange(3).node])
        ...     session.fetch(stored)
        [array([0, 1, 2])]
        """
        self._check_works()
        results = {node.name: result for node in nodes if (result := self.lookup(node)) is not None}
        pending = list({node.name: node for node in nodes if node.name not in results}.values())
        if pending:
            enabled = options.show_progress if show_progress is None else show_progress
            inside = executing.set(True)
            above = task_session.set(weakref.ref(self))
            try:
                pending = self._with_handles(pending)
                with progress_bar(monitor, enabled=enabled) as watched:
                    results.update(
                        self._compute(pending, watched, running or RunningHandle(), lasting)
                    )
            finally:
                task_session.reset(above)
                executing.reset(inside)
        return [results[node.name] for node in nodes]

    def _with_handles(self, nodes: list[Node]) -> list[Node]:
        """Compute and keep the inputs that functions receive as handles."""
        graph = Graph(nodes)
        handles = [handle for node in graph.nodes for handle in node.handles]
        if not handles:
            return nodes
        new = dict(zip(handles, self.execute(handles, show_progress=False), strict=True))
        return list(graph.map(lambda node: node.with_inputs(new) if node.handles else node).roots)

    def submit(
        self,
        nodes: Sequence[Node],
        finish: Callable[[list[Stored]], Any],
        *,
        show_progress: bool | str | None = None,
    ) -> Execution:
        """Start computing nodes and return at once.

        Parameters
        ----------
        nodes : sequence of Node
            The nodes to compute, together in one graph.
        finish : callable
            Makes the result of the list of computed nodes.
        show_progress : bool or "auto", optional
            Whether to draw a progress bar; by default ``options.show_progress``.

        Returns
        -------
        Execution
            A future of what ``finish`` returns.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.submit([mt.arange(3).node], len).result()
        1
        """
        self._check_works()

        def work(monitor: Monitor, running: RunningHandle) -> Any:
            results = self.execute(
                nodes, show_progress=show_progress, monitor=monitor, running=running
            )
            running.finish()
            return finish(results)

        # A task's own thread works for what it waits for; another thread might wait for the task.
        return Execution(work, at_once=task_session.get()() is not None)

    def fetch(self, stored: Stored) -> list[Any]:
        """Return the chunks of a computed node.

        Parameters
        ----------
        stored : Stored
            A node that :meth:`execute` returned.

        Returns
        -------
        list
            The chunks in C order: the last axis varies fastest.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     (stored,) = session.execute([mt.arange(3).node])
        ...     session.fetch(stored)
        [array([0, 1, 2])]
        """
        self.check_open()
        return self.scheduler.gather(list(stored.result.layout.keys.values()))

    def create_mutable_tensor(
        self,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        default_value: Any = 0,
        chunk_size: Any = None,
    ) -> Any:
        """Return a tensor that is written in place until it is sealed.

        Parameters
        ----------
        shape : int or tuple of int
            The shape.
        dtype : dtype
            The type of the elements.
        name : str, optional
            Name for :meth:`get_mutable_tensor`; by default a random one.
        default_value : scalar
            The value of elements that are never written.
        chunk_size : int or tuple of int, optional
            The size of the chunks.

        Returns
        -------
        MutableTensor
            The tensor; its ``seal()`` returns a Tensor.

        Raises
        ------
        ValueError
            If the session has a mutable tensor of this name.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     counts = session.create_mutable_tensor((3,), "int64")
        ...     counts[1] = 5
        ...     counts[:]
        array([0, 5, 0])
        """
        self.check_open()
        if name is not None and name in self._mutables:
            raise ValueError(f"mutable tensor {name!r} already exists: use get_mutable_tensor()")
        kind = package("tensor").MutableTensor
        tensor = kind(self, shape, dtype, name, default_value, chunk_size)
        self._mutables[tensor.name] = tensor
        return tensor

    def get_mutable_tensor(self, name: str) -> Any:
        """Return the mutable tensor of this name.

        Parameters
        ----------
        name : str
            The name that :meth:`create_mutable_tensor` was given.

        Returns
        -------
        MutableTensor
            The tensor, unless it was sealed.

        Raises
        ------
        ValueError
            If there is no such mutable tensor.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     counts = session.create_mutable_tensor((3,), "int64", name="counts")
        ...     session.get_mutable_tensor("counts") is counts
        True
        """
        self.check_open()
        if name not in self._mutables:
            raise ValueError(f"no such mutable tensor: {name!r}; use create_mutable_tensor() first")
        return self._mutables[name]

    def forget_mutable_tensor(self, name: str) -> None:
        """Remove a mutable tensor that was sealed.

        Parameters
        ----------
        name : str
            Its name.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     counts = session.create_mutable_tensor((3,), "int64", name="counts")
        ...     session.forget_mutable_tensor("counts")
        """
        self._mutables.pop(name, None)

    def close(self) -> None:
        """Free every result, and close the scheduler if the session owns it. Idempotent.

        Examples
        --------
        >>> session = marsdask.new_session("synchronous")
        >>> session.close()
        >>> session.closed
        True
        """
        if self._closed:
            return
        self._closed = True
        clear_default_session(self)
        self._mutables.clear()
        if self._owns_scheduler:
            self.scheduler.close()

    destroy: ClassVar[Callable[[Session], None]] = close
    stop_server: ClassVar[Callable[[Session], None]] = close

    @property
    def default(self) -> Session | None:
        """The default session."""
        return get_default_session()

    @classmethod
    def init(cls, address: Any = None, **options: Any) -> Session:
        """Start a session that is not the default one.

        Parameters
        ----------
        address : optional
            Where tasks run.
        **options
            Other arguments of :func:`marsdask.new_session`.

        Returns
        -------
        Session
            The new session.

        Examples
        --------
        >>> marsdask.Session.init("synchronous").close()
        """
        return new_session(address, **{**options, "default": False})

    @classmethod
    def reset_default(cls) -> None:
        """Let there be no default session.

        Examples
        --------
        >>> before = marsdask.get_default_session()
        >>> marsdask.Session.reset_default()
        >>> marsdask.session.set_default_session(before)
        """
        set_default_session(None)

    def check_open(self) -> None:
        """Raise :class:`SessionClosed` if the session was closed.

        Raises
        ------
        SessionClosed
            If the session was closed.

        Examples
        --------
        >>> session = marsdask.new_session("synchronous")
        >>> session.check_open()
        >>> session.close()
        """
        if self._closed:
            raise SessionClosed("the session is closed; start one with marsdask.new_session()")

    def _works(self) -> bool:
        """Tell whether it can run tasks here: a forked child has no threads of its parent."""
        return not self._closed and (self.scheduler.capabilities.forks or os.getpid() == self._pid)

    def _check_works(self) -> None:
        self.check_open()
        if not self._works():
            raise SessionClosed(FORKED)

    def _localised(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Embed results of another session's scheduler or of an unreachable cluster."""

        def change(node: Node) -> Node:
            if isinstance(node, Stored) and node.result.scheduler is not self.scheduler:
                return _embed(node)
            if isinstance(node, FromDask):
                return node.within_reach(self.scheduler)
            return node

        graph = Graph(nodes)
        if not any(isinstance(node, Stored | FromDask) for node in graph.nodes):
            return nodes
        return graph.map(change).roots

    def _compute(
        self, nodes: Sequence[Node], monitor: Monitor | None, running: RunningHandle, lasting: bool
    ) -> dict[str, Stored]:
        if self.scheduler.capabilities.compiles:
            graph = substitute(Graph(self._localised(nodes)), self._results)
            if can_be_sent(graph):
                return self._compute_there(nodes, graph, monitor, running, lasting)
        # Dask calls its callbacks itself for tasks on its schedulers.
        watching = observing() if self.scheduler.capabilities.observers else nullcontext(())
        with watching as observers:
            callbacks = (*observers, *(() if monitor is None else (monitor,)))
            return self._compute_here(nodes, callbacks, running, lasting)

    def _compute_here(
        self,
        nodes: Sequence[Node],
        callbacks: Sequence[Callback],
        running: RunningHandle,
        lasting: bool,
    ) -> dict[str, Stored]:
        little = nodes[0].with_value(self) if lasting and len(nodes) == 1 else None
        if little is not None:
            result = self._results[little.name] = held_by(self.scheduler, nodes[0], little)
            return {little.name: result}
        compilation = self.compilation(nodes, lasting=lasting)
        leases: list[tuple[Any, ...]] = []
        infos: dict[Any, Any] = {}
        try:
            while not isinstance(step := compilation.advance(infos), Done):
                running.check()
                self._run_stage(compilation, step, leases, callbacks, running)
                leases.append(step.keys)
                running.check()
                infos = dict(zip(step.keys, self.scheduler.info(step.keys), strict=True))
            return self._store(nodes, step, leases, lasting)
        finally:
            for keys in leases:
                self.scheduler.release(keys)

    def _compute_there(
        self,
        nodes: Sequence[Node],
        graph: Graph,
        monitor: Monitor | None,
        running: RunningHandle,
        lasting: bool,
    ) -> dict[str, Stored]:
        """Let the scheduler drive the compilation, which receives the nodes only."""
        scheduler: Any = self.scheduler
        shared_memory = scheduler.capabilities.shared_memory
        # The scheduler knows its machine better.
        plan = Plan(coalesce=options.coalesce, shared_memory=shared_memory, lasting=lasting)
        handle = scheduler.compile(
            SerializedCompilation(graph, plan, check=options.verify),
            session=self.session_id,
            name=nodes[-1].label,
            callbacks=() if monitor is None else (monitor,),
        )
        running.follow(handle)
        try:
            handle.wait()
        except BaseException as error:
            handle.cancel()
            written_at(graph, handle.node, error)
            raise
        leases = [handle.outcome.keys]
        try:
            return self._store(nodes, handle.outcome, leases, lasting)
        finally:
            for keys in leases:
                scheduler.release(keys)

    def _run_stage(
        self,
        compilation: Compilation,
        stage: Stage,
        held: list[tuple[Any, ...]],
        callbacks: Sequence[Callback],
        running: RunningHandle,
    ) -> None:
        # Small tasks may run inside of submit(), where they cannot be cancelled.
        hints = stage.hints
        if running.watched and sum(hint.peak or 0 for hint in hints.values()) < _SMALL:
            hints = {key: hint for key, hint in hints.items() if hint.annotations}
        handle = self.scheduler.submit(stage.graph, stage.keys, hints=hints, callbacks=callbacks)
        running.follow(handle)
        if stage.dropped:
            self._drop(stage.dropped, held)
        try:
            handle.wait()
        except BaseException as error:
            handle.cancel()
            if handle.failed is None:
                raise
            grid, index = compilation.locate(handle.failed, error)
            raise explain_failure(error, grid, index) from error.__cause__

    def _drop(self, dropped: Sequence[Any], held: list[tuple[Any, ...]]) -> None:
        """Release the stages' leases of some keys, once a stage that reads them is submitted."""
        dropped_keys = set(dropped)
        for position, keys in enumerate(held):
            held[position] = tuple(key for key in keys if key not in dropped_keys)
            self.scheduler.release([key for key in keys if key in dropped_keys])

    def _store(
        self, nodes: Sequence[Node], done: Done, held: list[tuple[Any, ...]], lasting: bool
    ) -> dict[str, Stored]:
        """Give every result its own lease; the stages' are in ``held``.

        Temporary results may have other chunks than users see, so no other graph uses them.
        """
        results = {}
        keys = tuple(key for node in nodes for key in done.outputs[node.name].keys.values())
        if held and held[-1] == keys:
            held.pop()  # the last stage's lease holds exactly the results
        else:
            self.scheduler.submit({}, keys).wait()
        for node in nodes:
            results[node.name] = store(node, Result(self.scheduler, done.outputs[node.name]))
            if lasting:
                self._results[node.name] = results[node.name]
        return results

    def as_default(self) -> Self:
        """Make this the default session until it closes.

        Returns
        -------
        Session
            The session itself.

        Examples
        --------
        >>> from marsdask.session import get_default_session
        >>> session = marsdask.new_session("synchronous", default=False)
        >>> session.as_default() is get_default_session()
        True
        >>> session.close()
        """
        before = task_session.get()() or _default
        if before is not None and before is not self:
            self._before = weakref.ref(before)
        set_default_session(self)
        return self

    def __enter__(self) -> Self:
        self.as_default()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def is_watched() -> bool:
    """Tell whether callbacks see the tasks that run here."""
    with observing() as observers:
        return bool(observers)


def _embed(node: Stored) -> Node:
    try:
        return node.embedded()
    except SchedulerClosed:
        raise SessionClosed(f"the session that holds {node.label} is closed") from None


#: Limits of sessions that are options, too.
_BOUNDS = ("memory_limit", "spill_dirs", "spill_limit")

#: The name of the number of workers in the constructors of schedulers.
_WORKERS = {None: "nthreads", "threads": "nthreads", "processes": "nprocesses"}

_default: Session | None = None
_ambient: dict[Any, Session] = {}
_lock = threading.RLock()

#: The session that a call names, for all that it computes in its thread.
named: ContextVar[Session | None] = ContextVar("named", default=None)


def set_default_session(session: Session | None) -> None:
    """Set the session that ``execute()`` uses when none is given.

    Parameters
    ----------
    session : Session or None
        The new default session, ``None`` for no default.

    Examples
    --------
    >>> from marsdask.session import get_default_session, set_default_session
    >>> set_default_session(get_default_session())
    """
    global _default  # noqa: PLW0603 - a process has one default session
    if task_session.get()() is None:
        _default = session
    else:  # a task changes what it sees itself
        task_session.set((lambda: None) if session is None else lambda: session)


def clear_default_session(session: Session) -> None:
    """Restore the previous default session if ``session`` is the default one.

    Parameters
    ----------
    session : Session
        The session that ends.

    Examples
    --------
    >>> from marsdask.session import clear_default_session
    >>> session = marsdask.new_session("synchronous")
    >>> clear_default_session(session)
    >>> session.close()
    """
    global _default  # noqa: PLW0603 - as above
    before = session._before()
    previous = None if before is None or before.closed else before
    if task_session.get()() is session:
        set_default_session(previous)
    if _default is session:
        _default = previous


def _nobody() -> None:
    return None


def get_default_session() -> Session | None:
    """Return the default session.

    Returns
    -------
    Session or None
        The session that ``execute()`` would use, ``None`` if it would start one.

    Examples
    --------
    >>> from marsdask.session import get_default_session
    >>> get_default_session() is None
    False
    """
    if (default := task_session.get()() or _default) is not None:
        return default
    return _ambient.get(_ambient_key(ambient()))


def current_bounds() -> dict[str, Any]:
    """Return the limits of Dask's functions here: the default session's, or the options'.

    Returns
    -------
    dict
        Arguments of the ``threads`` scheduler.
    """
    session = get_default_session()
    if session is not None and not session.closed and isinstance(session.scheduler, HasBounds):
        bounds: Mapping[str, Any] = session.scheduler.bounds
    else:
        bounds = {name: get_option(name) for name in _BOUNDS}
    return {name: value for name, value in bounds.items() if value is not None}


def ensure_session(session: Session | None = None) -> Session:
    """Return the session to use, and start one if necessary.

    Parameters
    ----------
    session : Session, optional
        Returned if given. Otherwise the default session is used, else a session on Dask's current
        client or scheduler, else one on threads.

    Returns
    -------
    Session
        An open session.

    Raises
    ------
    TypeError
        If ``session`` is not a Session.

    Examples
    --------
    >>> from marsdask.session import ensure_session, get_default_session
    >>> ensure_session() is get_default_session()
    True
    """
    if session is not None:
        if not isinstance(session, Session):
            raise TypeError(
                f"session= must be a Session from new_session(), not {type(session).__name__}"
            )
        return session
    if (of_call := named.get()) is not None:
        return of_call
    return _open_default() or session_on(ambient())


def _open_default() -> Session | None:
    sessions = (task_session.get()(), _default)
    return next(
        (candidate for candidate in sessions if candidate is not None and candidate._works()), None
    )


def session_on(wish: Any) -> Session:
    """Return the session of this process on one of Dask's schedulers, and start it once.

    Parameters
    ----------
    wish : optional
        A name, a client or a ``get``; ``None`` means threads.

    Returns
    -------
    Session
        An open session; it is not the default one.

    Examples
    --------
    >>> from marsdask.core.session import session_on
    >>> session_on("synchronous") is session_on("synchronous")
    True
    """
    key = _ambient_key(wish)
    session = _ambient.get(key)
    if session is not None and not session.closed:
        return session
    with _lock:
        session = _ambient.get(key)
        if session is None or session.closed:
            session = _ambient[key] = new_session(wish, default=False)
        return session


def _ambient_key(wish: Any) -> Any:
    # A forked child has no threads of its parent.
    return os.getpid(), wish if wish is None or isinstance(wish, str) else id(wish)


def new_session(
    address: Any = None,
    *,
    session_id: str | None = None,
    backend: str = "mars",
    default: bool = True,
    new: bool = True,
    n_workers: int | None = None,
    n_worker: int | None = None,
    n_cpu: int | None = None,
    memory_limit: float | str | None = None,
    mem_bytes: float | str | None = None,
    spill_dirs: str | Sequence[str] | None = None,
    spill_limit: int | str | None = None,
    web: bool = False,
    **scheduler_options: Any,
) -> Session:
    """Start a session and make it the default one.

    Parameters
    ----------
    address : optional
        Where tasks run: a scheduler's name (such as ``"threads"``, ``"processes"`` or
        ``"synchronous"``), a ``distributed.Client``, the address of a cluster's scheduler
        (``"tcp://host:8786"``) or web service (``"http://host:7005"``), or a scheduler object.
        By default threads of this process.
    session_id : str, optional
        Name of the session; by default a random one.
    backend : {"mars", "oscar", "dask"}
        For Mars's programs; all of them mean the same.
    default : bool
        Whether the session becomes the default session.
    new : bool
        Whether to start a session even if there is a default one.
    n_workers, n_cpu : int, optional
        Number of threads or processes.
    n_worker : int, optional
        Start a cluster of this many worker processes on this host, which share ``n_cpu`` cores and
        ``mem_bytes`` of memory.
    memory_limit, mem_bytes : float or str, optional
        Memory limit: bytes, a share such as 0.5, or a string such as ``"4GiB"``.
    spill_dirs : str or sequence of str, optional
        Directories for results that exceed memory; an empty list for none.
    spill_limit : int or str, optional
        Maximum number of bytes in ``spill_dirs``.
    web : bool
        Whether the cluster of ``n_worker`` has a web service.
    **scheduler_options
        Other arguments of the scheduler.

    Returns
    -------
    Session
        The new session.

    Raises
    ------
    TypeError
        If the scheduler has no such option.
    UnknownScheduler
        If no scheduler has this name.

    Examples
    --------
    >>> import marsdask
    >>> session = marsdask.new_session(memory_limit="2GiB", n_workers=2)
    >>> session.close()
    """
    if address is None and (n_worker is not None or web):
        address = "supervisor"
    _check_names(scheduler_options)
    check_backend(backend, web=web and address != "supervisor")
    if not new and (before := _open_default()) is not None:
        return before
    memory = mem_bytes if memory_limit is None else memory_limit
    settings: dict[str, Any] = dict(zip(_BOUNDS, (memory, spill_dirs, spill_limit), strict=True))
    workers = _count(n_workers=n_workers, n_cpu=n_cpu, n_worker=n_worker)
    if address == "supervisor":
        settings |= {"n_worker": n_worker or n_workers, "n_cpu": n_cpu, "web": web or None}
        workers = None
    if address is None:
        settings |= {name: get_option(name) for name, value in settings.items() if value is None}
        workers = workers or options.n_workers
    place = address if isinstance(address, str) else None
    settings[_WORKERS.get(place, "n_workers")] = workers
    settings.update(scheduler_options)
    scheduler = registry.resolve(
        address, **{name: value for name, value in settings.items() if value is not None}
    )
    session = Session(scheduler, owns_scheduler=scheduler is not address, session_id=session_id)
    return session.as_default() if default else session


def _count(**counts: Any) -> Any:
    """Return the first that is given, once all of them are checked."""
    for name, count in counts.items():
        wrong = isinstance(count, bool) or not isinstance(count, Integral) or count < 1
        if count is not None and wrong:
            raise ValueError(f"invalid {name}: {count!r}; give a positive int")
    return next((count for count in counts.values() if count is not None), None)


def _check_names(options: Mapping[str, Any]) -> None:
    """Refuse misspelled arguments of ``new_session``; all others are the scheduler's."""
    parameters = list(inspect.signature(new_session).parameters)
    for name in options:
        if hint := did_you_mean(name, parameters, cutoff=0.85):
            raise TypeError(f"new_session() got an unexpected keyword argument {name!r}{hint}")


def stop_server() -> None:
    """Close the default session, implicitly started sessions, and their schedulers.

    Examples
    --------
    >>> session = marsdask.new_session("synchronous")
    >>> marsdask.stop_server()
    >>> session.closed
    True
    """
    with _lock:
        sessions = [*_ambient.values(), *([] if _default is None else [_default])]
        _ambient.clear()
    for session in sessions:
        session.close()
