"""Methods of Mars's sessions about their cluster and their jobs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, overload
from weakref import WeakValueDictionary

from marsdask.scheduler.base import HoldsFutures, KnowsMachine, Scheduler

from .graph import Graph
from .registry import package

if TYPE_CHECKING:
    from .session import Session


#: Arguments of Mars's ``execute`` that change nothing here.
NO_EFFECT: Final = (
    "compose",
    "extra_config",
    "fuse_enabled",
    "n_parallel",
    "n_thread",
    "progress_update_interval",
    "warn_duplicated_execution",
)


def check_hints(names: Iterable[str]) -> None:
    """Warn of arguments of ``execute`` that only Mars has; raise TypeError for all others."""
    for name in names:
        if name not in NO_EFFECT:
            raise TypeError(f"execute() got an unexpected keyword argument {name!r}")
        words = f"execute({name}=) has no effect: it is an option of Mars"
        warnings.warn(words, DeprecationWarning, stacklevel=4)


#: Collections whose results are kept when what is made of them is executed: Mars's ``cache``.
cached: Final[WeakValueDictionary[int, Any]] = WeakValueDictionary()


def kept_with(collections: Sequence[Any]) -> list[Any]:
    """Return the cached collections that others are made of, and that are not among them."""
    if not cached:
        return []
    inner = {node.name for node in Graph([item._node for item in collections]).nodes}
    inner -= {item._node.name for item in collections}
    return [item for item in cached.values() if item._node.name in inner]


def check_backend(backend: str, *, web: bool) -> None:
    """Raise NotImplementedError for arguments of ``new_session`` that only Mars has."""
    if backend not in ("mars", "oscar", "dask"):
        raise NotImplementedError(
            f"new_session(backend={backend!r}) is not supported; use a scheduler's name, a "
            "distributed.Client or an address as the first argument"
        )
    if web:
        raise NotImplementedError(
            "new_session(web=True) is not supported; use the distributed.Client of a cluster, "
            "whose dashboard shows the work"
        )


class MarsSession:
    """The methods of Mars's sessions that no computation of ours needs."""

    scheduler: Scheduler
    session_id: str

    @property
    def name(self) -> str:
        """The name of the session: its id."""
        return self.session_id

    @property
    def address(self) -> str | None:
        """The address of the cluster, ``None`` in process."""
        if not isinstance(self.scheduler, HoldsFutures):
            return None
        address: str = self.scheduler.client.scheduler.address
        return address

    def get_total_n_cpu(self) -> int:
        """Return the number of tasks that run at the same time.

        Returns
        -------
        int
            The threads of all workers, or of this process.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.get_total_n_cpu()
        1
        """
        has_machine = isinstance(self.scheduler, KnowsMachine)
        return self.scheduler.machine().threads if has_machine else 1  # type: ignore[attr-defined]

    def get_cluster_versions(self) -> list[str]:
        """Return the versions of marsdask that run.

        Returns
        -------
        list of str
            Each version once; more than one means that workers differ.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.get_cluster_versions() == [marsdask.__version__]
        True
        """
        if not isinstance(self.scheduler, HoldsFutures):
            return [package_version()]
        return sorted(set(self.scheduler.client.run(package_version).values()))

    def get_web_endpoint(self) -> str | None:
        """Return the address of the cluster's pages.

        Returns
        -------
        str or None
            An address for a browser, ``None`` in process.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.get_web_endpoint()
        """
        if not isinstance(self.scheduler, HoldsFutures):
            return None
        link: str = self.scheduler.client.dashboard_link
        return link.removesuffix("/status")

    @overload
    def run(self, first: Any, second: Any, /, *more: Any, **options: Any) -> list[Any]: ...
    @overload
    def run(self, *items: Any, **options: Any) -> Any: ...
    def run(self, *items: Any, **options: Any) -> Any:
        """Execute collections together and return their values.

        Parameters
        ----------
        *items : Collection
            The collections.
        **options
            Options of ``execute()``.

        Returns
        -------
        object or list
            The only value, or the list of them.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.run(mt.arange(3).sum())
        np.int64(3)
        """
        values = package("tensor").ExecutableTuple(items).execute(session=self, **options)
        results: list[Any] = values.fetch(session=self)
        return results[0] if len(items) == 1 else results

    def fetch_log(self, items: Sequence[Any], offsets: Any = None, sizes: Any = None) -> list[Any]:
        """Return what functions have printed (see :func:`marsdask.fetch_log`).

        Parameters
        ----------
        items : sequence of Object
            The calls.
        offsets, sizes : int, optional
            The part of each log.

        Returns
        -------
        list of FetchedLog
            A log for each.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.fetch_log([])
        []
        """
        return [item.fetch_log(session=self, offsets=offsets, sizes=sizes) for item in items]

    def fetch_tileable_op_logs(
        self, key: str, offsets: Any = None, sizes: Any = None
    ) -> dict[str, dict[str, Any]]:
        """Return what a call has printed.

        Parameters
        ----------
        key : str
            The ``key`` of its Object.
        offsets, sizes : int, optional
            The part of the log.

        Returns
        -------
        dict
            By the key of the call its ``log`` and the ``offset`` of the rest.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.fetch_tileable_op_logs("none")
        {}
        """
        log = package("remote").FetchedLog([key], self)
        log.fetch(offsets, sizes)
        parts = zip(log.chunk_op_keys, log.results, log.offsets, strict=True)
        return {name: {"log": text, "offset": end} for name, text, end in parts}

    def fetch_infos(self, *items: Any, fields: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return facts about the chunks of executed collections.

        Parameters
        ----------
        *items : Collection
            The collections.
        fields : sequence of {"memory_size", "store_size", "object_id"}, optional
            The facts; by default the first two.

        Returns
        -------
        list of dict
            For each collection a list of values by fact.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.fetch_infos(mt.ones(3).execute(), fields=["memory_size"])
        [{'memory_size': [24]}]
        """
        names = list(fields or ("memory_size", "store_size"))
        infos = []
        for item in items:
            layout = item._held().result.layout
            facts = {
                "memory_size": list(layout.nbytes.values()),
                "store_size": list(layout.nbytes.values()),
                "object_id": [str(key) for key in layout.keys.values()],
            }
            infos.append({name: facts[name] for name in names})
        return infos

    def decref(self, *keys: str) -> None:
        """Do nothing: results are freed with the last Python object that refers to them.

        Parameters
        ----------
        *keys : str
            Names of results.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     session.decref()
        """

    @classmethod
    def from_isolated_session(cls, session: Session) -> Session:
        """Return the session itself: there is one kind.

        Parameters
        ----------
        session : Session
            A session.

        Returns
        -------
        Session
            The same one.

        Examples
        --------
        >>> with marsdask.new_session("synchronous") as session:
        ...     marsdask.Session.from_isolated_session(session) is session
        True
        """
        return session


def package_version() -> str:
    """Return the version of marsdask in this process."""
    version: str = package("marsdask").__version__
    return version
