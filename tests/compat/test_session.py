"""The names of Mars's sessions: about clusters, logs and coroutines."""

from __future__ import annotations

import asyncio
import importlib
import tempfile

import pytest

import marsdask
import marsdask.compat
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask.compat import session as mars_session


def test_sessions_answer_what_mars_asks() -> None:
    """In process there are no pages, and one version."""
    with marsdask.new_session("threads", n_workers=2) as session:
        assert (session.name, session.default) == (session.session_id, session)
        assert (session.address, session.get_web_endpoint()) == (None, None)
        assert session.get_total_n_cpu() == 2
        assert session.get_cluster_versions() == [marsdask.__version__]
        assert session.run(mt.arange(3).sum(), mt.ones(2)[0]) == [3, 1.0]
        call = mr.spawn(print, ("said",)).execute()
        logs = session.fetch_tileable_op_logs(call.key)
        assert logs == {call.key: {"log": "said\n", "offset": 5}}
        assert list(map(str, session.fetch_log([call]))) == ["said\n"]
        infos = mars_session.fetch_infos(mt.ones(4).execute(), fields=["memory_size"])
        assert infos == [{"memory_size": [32]}]
        session.stop_server()
        assert session.closed


def test_defaults() -> None:
    """The default session is found, reset, and started where there is none."""
    with marsdask.new_session("synchronous") as session:
        assert mars_session.get_default_or_create() is session
        assert mars_session.SyncSession.from_isolated_session(session) is session
        marsdask.Session.reset_default()
        found = mars_session.get_default_async_session()
        assert found is None or found.session is not session
    options = {"loop": None, "n_cpu": 1}
    mars_session.ensure_isolation_created(options)
    assert options == {"n_cpu": 1}


def test_asynchronous_sessions() -> None:
    """Their methods are coroutines, and executions can be awaited."""

    async def program() -> None:
        async with await mars_session.AsyncSession.init("synchronous") as session:
            total = mt.arange(4).sum()
            assert await (await session.execute(total)) is total
            assert await session.fetch(total) == [6]
            assert await session.get_total_n_cpu() == 1
            assert await session.get_web_endpoint() is None
            assert await session.fetch_tileable_op_logs("none") == {}
            assert mars_session.get_default_async_session() is not None
            with pytest.raises(NotImplementedError, match="actor=True"):
                await session.create_remote_object("name", tempfile.NamedTemporaryFile)
        assert session.session.closed

    asyncio.run(program())


def test_caches() -> None:
    """What is cached is kept when something that is made of it is executed."""
    marsdask.compat.install()
    try:
        importlib.import_module("mars")
        with marsdask.new_session("synchronous"):
            x = mt.ones(3) + 1
            x.cache = True  # type: ignore[attr-defined]
            assert x.cache  # type: ignore[attr-defined]
            (x + 1).execute()
            assert x.fetch().tolist() == [2, 2, 2]
            other = mt.ones(3) + 2
            other.cache = True  # type: ignore[attr-defined]
            other.cache = False  # type: ignore[attr-defined]
            (other + 1).execute()
            with pytest.raises(ValueError, match="has not been executed"):
                other.fetch()
    finally:
        marsdask.compat.uninstall()
    with pytest.raises(AttributeError, match="cache"):
        mt.ones(3).cache = True  # type: ignore[attr-defined]
