"""A function with its arguments, as a task runs it; it travels as bytes that only workers read."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from marsdask.core.machine.costs import Cost
from marsdask.core.session import Session, session_on, task_session
from marsdask.core.snapshots.functions import function_name
from marsdask.scheduler.inprocess.worker_process import dumps
from marsdask.scheduler.worker_client import WorkerClient, running_worker

from .arguments import InputPlace, private, rebuilt
from .task_log import capturing

logger: Final = logging.getLogger(__name__)

#: How often a function runs in all if it may be tried again.
ATTEMPTS = 3


class RemoteCall:
    """A function and its arguments, in which a :class:`.InputPlace` stands for each input.

    It is pickled once, into bytes that supervisors pass on as they are: they need not be able to
    import what the function needs.
    """

    __slots__ = ("_arguments", "_data", "_function", "attempts", "n_output", "name")

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: tuple[tuple[Any, ...], dict[str, Any]],
        *,
        attempts: int = 1,
        n_output: int | None = None,
    ) -> None:
        self.name = function_name(function)
        self.attempts = attempts
        self.n_output = n_output
        self._function: Callable[..., Any] | None = function
        self._arguments = arguments
        self._data: bytes | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self._data is None:
            self._data = dumps((self._function, self._arguments))
        return _sealed, (self.name, self.attempts, self.n_output, self._data)

    def __call__(self, receive: Callable[[], list[Any]]) -> Any:
        """Call the function with the values of the inputs, which each attempt receives anew."""
        for _ in range(self.attempts - 1):
            try:
                return self._attempt(receive())
            except Exception as error:  # noqa: BLE001 - whatever it raises, it is tried again
                logger.info("%s is tried again after %r", self.name, error)
        return self._attempt(receive())

    def _attempt(self, values: list[Any]) -> Any:
        function: Any = self._function
        if function is None:
            assert self._data is not None
            function, (args, kwargs) = pickle.loads(self._data)
        else:  # in the caller's process
            args, kwargs = private(self._arguments)
        if values:
            substitute = partial(_put, values)
            args, kwargs = rebuilt(args, substitute), rebuilt(kwargs, substitute)
        return self._checked(function(*args, **kwargs))

    def _checked(self, result: Any) -> Any:
        if self.n_output is None:
            return self._kept(result)
        if not isinstance(result, Iterable):
            raise TypeError(
                f"Specifying n_output={self.n_output}, but result is not iterable, got {result}"
            )
        several = list(result)
        if len(several) != self.n_output:
            raise ValueError(
                f"Length of return value should be {self.n_output}, got {len(several)}"
            )
        return [self._kept(item) for item in several]

    def _kept(self, result: Any) -> Any:
        """Refuse an iterator of Python's as a result: only its first receiver would get items."""
        if isinstance(result, Iterator) and type(result).__module__ in ("builtins", "itertools"):
            raise TypeError(
                f"{self.name} returned a {type(result).__name__}, whose items can be read only "
                "once; return a list"
            )
        return result


def _sealed(name: str, attempts: int, n_output: int | None, data: bytes) -> RemoteCall:
    call = RemoteCall.__new__(RemoteCall)
    call.name, call.attempts, call.n_output = name, attempts, n_output
    call._function, call._arguments, call._data = None, ((), {}), data
    return call


def _put(values: list[Any], item: Any) -> Any:
    return values[item.position] if type(item) is InputPlace else item


@dataclass(frozen=True, slots=True)
class RemoteTask:
    """The kernel: calls the function with what its receivers make of chunks."""

    call: RemoteCall
    name: str
    receivers: tuple[Callable[[Any], Any], ...]

    @property
    def __name__(self) -> str:
        return self.call.name

    @property
    def cost(self) -> Cost:
        """The cost: what users' functions do is unknown."""
        return Cost(least=2**20, shares=True)

    def __call__(self, *given: Any) -> Any:
        receive = partial(_received, self.receivers, given)
        with capturing(self.name), _inside():
            try:
                return self.call(receive)
            except (SystemExit, KeyboardInterrupt) as error:
                if running_worker() is None:
                    raise
                # A worker would end, and the scheduler try the task on the next one.
                raise RuntimeError(f"{self.call.name} raised {error!r}") from error


def _received(receivers: Iterable[Callable[[Any], Any]], given: Iterable[Any]) -> list[Any]:
    return [receive(value) for receive, value in zip(receivers, given, strict=True)]


def _inside() -> AbstractContextManager[Any]:
    """Let the code of a task on a worker compute on the worker's cluster.

    In process a task has its caller's session by its context.
    """
    return nullcontext() if running_worker() is None else _TaskOfWorker()


class _TaskOfWorker:
    """The time of a task on a worker: its default session is one over the worker's client."""

    def __init__(self) -> None:
        self._client = WorkerClient()

    def __enter__(self) -> None:
        self._token = task_session.set(self._session)

    def __exit__(self, *_: object) -> None:
        task_session.reset(self._token)

    def _session(self) -> Session:
        return session_on(self._client())


def received(value: Any) -> Any:
    """Return the value of another function's result, which is the receiver's own."""
    return private(value)
