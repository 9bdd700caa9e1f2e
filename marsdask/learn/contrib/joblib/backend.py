"""A backend of joblib: each batch of calls is a task of a session."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from joblib import register_parallel_backend
from joblib.parallel import ParallelBackendBase, parallel_config

from marsdask.core.collection import compute
from marsdask.core.grids.blockwise import blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.session import Session, ensure_session
from marsdask.learn.rows import Value

from .shared_arguments import OneObject, SharedArguments, filled

#: The names under which joblib finds the backend: ours, and Mars's.
NAMES = ("marsdask", "mars")


@dataclass(frozen=True, eq=False)
class JoblibBatch(OneObject):
    """The results of a batch of calls."""

    calls: Callable[[], Any] = field(repr=False)
    arguments: tuple[Node, ...] = ()
    """Arguments that the session holds for several calls."""

    def tile(self, *arguments: Grid) -> Grid:
        return blockwise(
            run_calls,
            [(grid, (None,)) for grid in arguments],
            chunks=self.chunks,
            meta=self.meta,
            kwargs={"calls": self.calls},
        )


@kernel(least=2**20)
def run_calls(*arguments: Any, calls: Callable[[], Any]) -> Any:
    """Return the results of calls; joblib in them starts no tasks."""
    with parallel_config(backend="threading", n_jobs=1):
        return filled(calls, arguments)()


class MarsBackend(ParallelBackendBase):
    """Runs joblib's calls as tasks of a session.

    Functions and arguments are pickled where the session's workers are other processes. Arrays and
    frames of a MiB or more that several calls share are held by the session, so that they are sent
    once; they may not change while the calls run.

    Parameters
    ----------
    session : Session, optional
        Where to compute; by default the default session.
    **kwargs
        What joblib gives every backend.

    Examples
    --------
    >>> from joblib import Parallel, delayed, parallel_config
    >>> from marsdask.learn.contrib.joblib import register_mars_backend
    >>> register_mars_backend()
    >>> with parallel_config(backend="marsdask"):
    ...     Parallel()(delayed(abs)(number) for number in (-1, 2))
    [1, 2]
    """

    supports_retrieve_callback = True
    supports_return_generator = True
    supports_timeout = True
    default_n_jobs = -1

    def __init__(self, session: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._given = session
        self._pool: ThreadPoolExecutor | None = None
        self._shared: SharedArguments | None = None

    def __reduce__(self) -> Any:
        # In a task, joblib runs on the session of its worker.
        return MarsBackend, ()

    def _session(self) -> Session:
        session: Session = ensure_session(self._given)
        return session

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return how many calls run at the same time: what is asked for, at most all workers.

        Parameters
        ----------
        n_jobs : int
            What is asked for; -1 stands for all.

        Returns
        -------
        int
            The number.

        Raises
        ------
        ValueError
            If it is zero.

        Examples
        --------
        >>> from marsdask.learn.contrib.joblib import MarsBackend
        >>> MarsBackend().effective_n_jobs(1)
        1
        """
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        there = int(self._session().get_total_n_cpu())
        if n_jobs is None or n_jobs < 0:
            return max(1, there + 1 + (-1 if n_jobs is None else n_jobs))
        return min(n_jobs, there)

    def configure(
        self, n_jobs: int = 1, parallel: Any = None, prefer: Any = None, **kwargs: Any
    ) -> int:
        """Prepare to run so many calls at the same time.

        Parameters
        ----------
        n_jobs : int
            What is asked for.
        parallel : object
            joblib's Parallel.
        prefer : str, optional
            Ignored: the session says where calls run.
        **kwargs
            Ignored, too.

        Returns
        -------
        int
            How many run.

        Examples
        --------
        >>> from marsdask.learn.contrib.joblib import MarsBackend
        >>> MarsBackend().configure(1)
        1
        """
        del prefer, kwargs
        self.parallel = parallel
        count = self.effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="marsdask-joblib")
        self._shared = SharedArguments(self._session())
        return count

    def submit(
        self, func: Callable[[], Any], callback: Callable[[Future[Any]], Any] | None = None
    ) -> Future[Any]:
        """Run a batch of calls; return its future.

        Parameters
        ----------
        func : callable
            joblib's batch.
        callback : callable, optional
            What to call with the future once it is done.

        Returns
        -------
        Future
            The future.

        Examples
        --------
        >>> from marsdask.learn.contrib.joblib import MarsBackend
        >>> backend = MarsBackend()
        >>> backend.configure(1)
        1
        >>> backend.submit(dict).result()[0]
        {}
        >>> backend.terminate()
        """
        assert self._pool is not None
        assert self._shared is not None
        node = JoblibBatch(f"joblib-{uuid.uuid4().hex}", *self._shared.take(func))
        future = self._pool.submit(compute, Value(node), session=self._session())
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return the results of a batch, or raise its error.

        Parameters
        ----------
        out : Future
            The batch's future.

        Returns
        -------
        list
            The results.

        Examples
        --------
        >>> from concurrent.futures import Future
        >>> from marsdask.learn.contrib.joblib import MarsBackend
        >>> future = Future()
        >>> future.set_result([[1, 2]])
        >>> MarsBackend().retrieve_result_callback(future)
        [1, 2]
        """
        return out.result()[0]

    def terminate(self) -> None:
        """Take no more calls.

        Examples
        --------
        >>> from marsdask.learn.contrib.joblib import MarsBackend
        >>> MarsBackend().terminate()
        """
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = self._shared = None

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Cancel the calls that do not run yet.

        Parameters
        ----------
        ensure_ready : bool
            Whether more calls will come.

        Examples
        --------
        >>> from marsdask.learn.contrib.joblib import MarsBackend
        >>> MarsBackend().abort_everything(ensure_ready=False)
        """
        self.terminate()
        if ensure_ready:
            self.configure(self.parallel.n_jobs, self.parallel)


def register_mars_backend() -> None:
    """Let joblib find the backend as ``"marsdask"``, and by Mars's name ``"mars"``.

    ``parallel_config(backend="marsdask", session=...)`` names a session; otherwise calls run in the
    default one.

    Examples
    --------
    >>> from joblib import parallel_config
    >>> from marsdask.learn.contrib.joblib import register_mars_backend
    >>> register_mars_backend()
    >>> with parallel_config(backend="mars"):
    ...     pass
    """
    for name in NAMES:
        register_parallel_backend(name, MarsBackend)
