"""``mars.deploy.oscar.local``: a cluster of this host, started and ended by coroutines."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Self

from marsdask.session import Session, new_session

from .session import AsyncSession, ensure_isolation_created


class LocalCluster:
    """A supervisor and workers on this host, in processes of their own.

    Parameters
    ----------
    address : str
        Ignored: it listens on this host, and only for its own session.
    n_worker : int
        How many worker processes.
    n_cpu, mem_bytes : int or str
        The cores and the bytes of all of them together; "auto" for those of this host.
    web : bool or "auto"
        Whether there are pages.
    **options
        Arguments of Mars that are refused: ``cuda_devices``, ``subprocess_start_method``,
        ``config``, ``backend`` and ``n_supervisor_process``, unless they have Mars's defaults.
    """

    def __init__(
        self,
        address: str = "0.0.0.0",  # noqa: S104 - the default of Mars's
        n_worker: int = 1,
        n_cpu: int | str = "auto",
        mem_bytes: int | str = "auto",
        web: bool | str = "auto",
        **options: Any,
    ) -> None:
        del address
        _refuse(options)
        settings: dict[str, Any] = {
            "n_worker": n_worker,
            "n_cpu": n_cpu,
            "mem_bytes": mem_bytes,
            "web": web,
        }
        self._wanted = {name: value for name, value in settings.items() if value != "auto"}
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The session of the cluster, once it has started."""
        if self._session is None:
            raise RuntimeError("the cluster has not started: await start()")
        return self._session

    @property
    def backend(self) -> str:
        """What runs the work: always "mars"."""
        return "mars"

    @property
    def external_address(self) -> str | None:
        """The address of the supervisor."""
        return self.session.address

    async def start(self) -> None:
        """Start the processes; return once the workers are there."""
        how = partial(new_session, default=False, **self._wanted)
        self._session = await asyncio.to_thread(how)

    async def stop(self) -> None:
        """End the processes; a cluster that is not running stays so."""
        session, self._session = self._session, None
        if session is not None:
            await asyncio.to_thread(session.close)


class LocalClient:
    """A running cluster and its session; ``async with`` ends it.

    Parameters
    ----------
    cluster : LocalCluster
        The cluster, started.
    session : AsyncSession
        Its session.
    """

    def __init__(self, cluster: LocalCluster, session: AsyncSession) -> None:
        self.session = session
        self._cluster = cluster

    @classmethod
    async def create(
        cls,
        cluster: LocalCluster,
        timeout: float | None = None,  # noqa: ASYNC109 - an argument of Mars's
    ) -> Self:
        """Return a client of a started cluster, whose session is the default one then."""
        del timeout  # the cluster has started
        return cls(cluster, AsyncSession(cluster.session).as_default())

    @property
    def web_address(self) -> str | None:
        """The address of the pages."""
        return self._cluster.session.get_web_endpoint()

    async def stop(self) -> None:
        """End the session and the cluster."""
        await self._cluster.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


async def new_cluster(
    address: str = "0.0.0.0",  # noqa: S104 - the default of Mars's
    n_worker: int = 1,
    n_cpu: int | str = "auto",
    mem_bytes: int | str = "auto",
    web: bool = True,
    **options: Any,
) -> LocalClient:
    """Start a cluster on this host and return its client, whose session is the default one.

    Parameters
    ----------
    address, n_worker, n_cpu, mem_bytes, web
        See :class:`LocalCluster`.
    **options
        Other arguments of Mars: ``loop`` and ``use_uvloop`` are ignored, the rest is refused.

    Returns
    -------
    LocalClient
        Its ``session`` is an AsyncSession.

    Raises
    ------
    NotImplementedError
        For an argument that is refused.
    """
    ensure_isolation_created(options)
    cluster = LocalCluster(address, n_worker, n_cpu, mem_bytes, web, **options)
    await cluster.start()
    return await LocalClient.create(cluster)


#: Arguments of Mars that are refused, and the defaults, which are taken.
_REFUSED = {
    "cuda_devices": ("auto", "tasks use the devices that they find"),
    "subprocess_start_method": (None, "processes are always spawned"),
    "backend": (None, "there is one backend"),
    "config": (None, "use marsdask.options, or new_session(n_worker=...)'s arguments"),
    "n_supervisor_process": (0, "a supervisor is one process"),
}


def _refuse(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in _REFUSED:
            raise TypeError(f"new_cluster() got an unexpected keyword argument {name!r}")
        default, instead = _REFUSED[name]
        if value != default:
            raise NotImplementedError(f"new_cluster({name}={value!r}) is not supported: {instead}")
