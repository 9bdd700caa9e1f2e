"""What Dask says about where to compute."""

from __future__ import annotations

import dask
import pytest
from dask.distributed import Client, LocalCluster

from marsdask.core.dask.context import active_client, ambient


def test_nothing_said_is_no_wish():
    """Neither a client nor a configured scheduler."""
    assert ambient() is None


@pytest.mark.parametrize("name", ["threads", "sync"])
def test_a_configured_scheduler_is_the_wish(name):
    """By its name."""
    with dask.config.set(scheduler=name):
        assert ambient() == name


def test_an_active_client_is_the_wish_until_it_closes():
    """A configured scheduler comes before it, as in Dask."""
    with LocalCluster(
        n_workers=0, processes=False, dashboard_address=":0", protocol="inproc"
    ) as cluster:
        with Client(cluster) as client:
            assert active_client() is client
            assert ambient() is client
            with dask.config.set(scheduler="sync"):
                assert ambient() == "sync"
        assert ambient() is None
