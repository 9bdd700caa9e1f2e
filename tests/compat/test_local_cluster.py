"""``mars.deploy.oscar.local`` starts a cluster of this host."""

from __future__ import annotations

import asyncio

import pytest

import marsdask.tensor as mt
from marsdask.compat.local_cluster import LocalCluster, new_cluster
from marsdask.compat.session import get_default_async_session
from marsdask.deploy import oscar


def test_a_cluster_runs_while_its_client_is_open() -> None:
    """It has an address and pages; its session is the default one, and ends with it."""

    async def program() -> None:
        client = await new_cluster(n_worker=1, n_cpu=2, web=True, use_uvloop=False)
        async with client:
            default = get_default_async_session()
            assert default is not None
            assert default.session is client.session.session
            assert str(client.web_address).startswith("http")
            total = mt.ones((4, 4), chunk_size=2).sum()
            await (await client.session.execute(total))
            assert await client.session.fetch(total) == [16]
        assert client.session.session.closed

    asyncio.run(program())


def test_wrong_arguments_are_refused() -> None:
    """Those that mean nothing here say what to use; a cluster that has not started says so."""
    with pytest.raises(NotImplementedError, match=r"new_cluster\(cuda_devices=\[0\]\) is not supp"):
        LocalCluster(cuda_devices=[0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_workr'"):
        asyncio.run(new_cluster(n_workr=2))
    idle = LocalCluster(cuda_devices="auto", config=None)
    assert idle.backend == "mars"
    with pytest.raises(RuntimeError, match=r"await start\(\)"):
        _ = idle.external_address
    asyncio.run(idle.stop())


@pytest.mark.parametrize("name", ["new_cluster_in_ray", "new_ray_session", "RayClusterBackend"])
def test_ray_is_refused(name: str) -> None:
    """Each name of Ray says what to use."""
    with pytest.raises(NotImplementedError, match=r"Ray is not supported; use new_session\(n_w"):
        getattr(oscar, name)("address", None)
