"""A pytest plugin: what Dask's tests compute runs on the scheduler that ``MARSDASK_GET`` names.

``threads`` and the like are our in-process schedulers; ``cluster`` is a cluster in this process, of
ours where the plugin our_servers is there too. Tests that ask for a scheduler by themselves get the
one they ask for.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import pytest
from dask.base import named_schedulers
from dask.local import get_sync

import marsdask.scheduler as ours

#: Names that tests give without caring for the kind, as ``assert_eq`` of dask.dataframe does.
ORDINARY = ("threads", "threading", "sync", "synchronous", "single-threaded")


@pytest.fixture(scope="session", autouse=True)
def our_scheduler() -> Iterator[Any]:
    """Make our scheduler the one that Dask takes when nobody asks for a special one.

    The value is the client of the cluster, or ``None`` for a scheduler of this process.
    """
    name = os.environ["MARSDASK_GET"]
    if name != "cluster":
        with _as_default(getattr(ours, f"get_{name}")):
            yield None
        return
    # The plugin our_servers, if it is there, has put our classes in place by now.
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        _as_default(_from_tests(client.get)),
    ):
        yield client


@pytest.fixture(autouse=True)
def released_futures(our_scheduler: Any) -> Iterator[None]:
    """Let the client release the futures of a test before the next one begins.

    It does so on its event loop, soon. Until then a result of the same name is taken for an
    array of the next test, and Dask's tests call many arrays ``my-name``.
    """
    yield
    if our_scheduler is not None:
        our_scheduler.sync(asyncio.sleep, 0)


def _from_tests(get: Any) -> Any:
    """Keep what the scheduler itself computes, as it makes graphs of expressions, from waiting.

    Elsewhere it is a process of its own, which knows no client.
    """

    def chosen(*args: Any, **options: Any) -> Any:
        ours = threading.current_thread() is threading.main_thread()
        return get(*args, **options) if ours else get_sync(*args, **options)

    return chosen


@contextmanager
def _as_default(get: Any) -> Iterator[None]:
    table: dict[str, Any] = named_schedulers
    stock = {name: table[name] for name in ORDINARY}
    table.update(dict.fromkeys(stock, get))
    try:
        with dask.config.set(scheduler=get):
            yield
    finally:
        table.update(stock)
