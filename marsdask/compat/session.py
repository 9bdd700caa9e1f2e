"""``mars.session``: marsdask's sessions, and the names that only Mars has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn, Self

from marsdask.core.collection import Collection
from marsdask.core.mars_session import MarsSession as AbstractSession
from marsdask.core.mars_session import cached
from marsdask.deploy.oscar.ray import new_cluster_in_ray, new_ray_session
from marsdask.session import (
    Execution,
    Session,
    clear_default_session,
    ensure_session,
    execute,
    fetch,
    fetch_log,
    get_default_session,
    new_session,
    set_default_session,
    stop_server,
)

__all__ = [
    "AbstractSession",
    "AsyncSession",
    "Execution",
    "ExecutionInfo",
    "Session",
    "SyncSession",
    "clear_default_session",
    "ensure_isolation_created",
    "ensure_session",
    "execute",
    "fetch",
    "fetch_infos",
    "fetch_log",
    "get_context",
    "get_default_async_session",
    "get_default_or_create",
    "get_default_session",
    "new_cluster_in_ray",
    "new_ray_session",
    "new_session",
    "set_default_session",
    "stop_server",
]

SyncSession = Session
ExecutionInfo = Execution


class AsyncSession:
    """A session whose methods are coroutines: they wait in threads beside the event loop.

    Parameters
    ----------
    session : Session
        What does the work.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    @classmethod
    async def init(
        cls, address: Any = None, session_id: str | None = None, new: bool = True, **options: Any
    ) -> Self:
        """Start a session, as ``new_session`` does, that is not the default one."""
        how = {**options, "session_id": session_id, "new": new, "default": False}
        return cls(await asyncio.to_thread(partial(new_session, address, **how)))

    @classmethod
    def from_isolated_session(cls, session: Session) -> Self:
        """Return the asynchronous face of a session."""
        return cls(session)

    @property
    def session_id(self) -> str:
        """The name of the session."""
        return self.session.session_id

    name = session_id

    @property
    def address(self) -> str | None:
        """The address of the cluster."""
        return self.session.address

    @property
    def default(self) -> Session | None:
        """The default session."""
        return get_default_session()

    @property
    def client(self) -> Any:
        """The scheduler that runs the work."""
        return self.session.scheduler

    def as_default(self) -> Self:
        """Make it the default session."""
        self.session.as_default()
        return self

    @classmethod
    def reset_default(cls) -> None:
        """Let there be no default session."""
        set_default_session(None)

    async def execute(self, *items: Any, **options: Any) -> Execution:
        """Start computing collections; the result can be awaited."""
        execution: Execution = execute(*items, session=self.session, wait=False, **options)
        return execution

    async def fetch(self, *items: Any) -> list[Any]:
        """Return the values of executed collections."""
        return list(await asyncio.to_thread(partial(fetch, list(items), session=self.session)))

    async def fetch_tileable_op_logs(
        self, key: str, offsets: Any = None, sizes: Any = None
    ) -> dict[str, Any]:
        """Return what a call has printed."""
        how = partial(self.session.fetch_tileable_op_logs, key, offsets, sizes)
        return await asyncio.to_thread(how)

    async def get_total_n_cpu(self) -> int:
        """Return the number of tasks that run at the same time."""
        return await asyncio.to_thread(self.session.get_total_n_cpu)

    async def get_cluster_versions(self) -> list[str]:
        """Return the versions of marsdask that run."""
        return await asyncio.to_thread(self.session.get_cluster_versions)

    async def get_web_endpoint(self) -> str | None:
        """Return the address of the cluster's pages."""
        return await asyncio.to_thread(self.session.get_web_endpoint)

    async def create_mutable_tensor(self, *args: Any, **options: Any) -> Any:
        """Return a tensor that is written in place until it is sealed."""
        return self.session.create_mutable_tensor(*args, **options)

    async def get_mutable_tensor(self, name: str) -> Any:
        """Return the mutable tensor of a name."""
        return self.session.get_mutable_tensor(name)

    async def create_remote_object(self, *args: Any, **options: Any) -> NoReturn:
        """Raise: Mars's actors are not here."""
        raise NotImplementedError(_ACTORS)

    get_remote_object = destroy_remote_object = create_remote_object

    async def destroy(self) -> None:
        """Close the session."""
        await asyncio.to_thread(self.session.close)

    stop_server = destroy

    async def __aenter__(self) -> Self:
        self.as_default()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.destroy()


_ACTORS = "remote objects are not supported; use an actor: client.submit(Class, actor=True)"


def get_default_async_session() -> AsyncSession | None:
    """Return the default session as an asynchronous one."""
    session = get_default_session()
    return None if session is None else AsyncSession(session)


def get_default_or_create(**options: Any) -> Session:
    """Return the default session, and start one if there is none."""
    return new_session(new=False, **options)


def fetch_infos(
    *items: Any, fields: Sequence[str] | None = None, session: Session | None = None
) -> list[dict[str, Any]]:
    """Return facts about the chunks of executed collections."""
    return ensure_session(session).fetch_infos(*items, fields=fields)


def ensure_isolation_created(options: dict[str, Any]) -> None:
    """Take Mars's options of its event loop out of ``options``: sessions need none here."""
    for name in ("loop", "use_uvloop"):
        options.pop(name, None)


def _is_cached(collection: Collection) -> bool:
    return cached.get(id(collection)) is collection


def _set_cached(collection: Collection, value: bool) -> None:
    if value:
        cached[id(collection)] = collection
    else:
        cached.pop(id(collection), None)


#: Whether the result is kept when something that is made of it is executed.
_CACHE = property(_is_cached, _set_cached)


def offer() -> None:
    """Let collections have Mars's ``cache``."""
    Collection.cache = _CACHE  # type: ignore[attr-defined]


def withdraw() -> None:
    """Take it from them again."""
    if vars(Collection).get("cache") is _CACHE:
        del Collection.cache  # type: ignore[attr-defined]


def get_context() -> NoReturn:
    """Raise: tasks have no context; the default session is that of their caller."""
    raise NotImplementedError("there is no context: a task's default session is its caller's")
