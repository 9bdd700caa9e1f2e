"""A pytest plugin: what Dask's tests compute runs on the scheduler that ``MARSDASK_GET`` names.

``threads`` and the like are our in-process schedulers; ``cluster`` is a cluster in this process, of
ours where the plugin our_servers is there too. Tests that ask for a scheduler by themselves get the
one they ask for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import dask
import pytest
from dask.base import named_schedulers
from dask.local import get_sync

import marsdask.scheduler as ours

#: Names that tests give without caring for the kind, as ``assert_eq`` of dask.dataframe does.
ORDINARY = ("threads", "threading", "sync", "synchronous", "single-threaded")


@pytest.fixture(scope="session", autouse=True)
def our_scheduler() -> Iterator[None]:
    """Make our scheduler the one that Dask takes when nobody asks for a special one."""
    name = os.environ["MARSDASK_GET"]
    if name != "cluster":
        yield from _as_default(getattr(ours, f"get_{name}"))
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
    ):
        yield from _as_default(_from_tests(client.get))


def _from_tests(get: Any) -> Any:
    """Keep what the scheduler itself computes, as it makes graphs of expressions, from waiting.

    Elsewhere it is a process of its own, which knows no client.
    """

    def chosen(*args: Any, **options: Any) -> Any:
        ours = threading.current_thread() is threading.main_thread()
        return get(*args, **options) if ours else get_sync(*args, **options)

    return chosen


def _as_default(get: Any) -> Iterator[None]:
    table: dict[str, Any] = named_schedulers
    stock = {name: table[name] for name in ORDINARY}
    table.update(dict.fromkeys(stock, get))
    try:
        with dask.config.set(scheduler=get):
            yield
    finally:
        table.update(stock)
