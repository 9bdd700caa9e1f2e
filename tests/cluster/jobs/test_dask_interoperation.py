"""Stock and marsdask schedulers and workers work together, in one event loop."""

from __future__ import annotations

import dask.array as da
import dask.config
import distributed
import pytest
from distributed import Client

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, cluster, run
from tests.scheduler.web.pages import Visitor


def name_of(dask_worker):
    """Say what a worker calls itself."""
    return repr(dask_worker)


@pytest.mark.parametrize("scheduler", [distributed.Scheduler, Supervisor])
@pytest.mark.parametrize("worker", [distributed.Worker, MarsWorker])
def test_every_pair_computes(scheduler, worker):
    """A dask.array computed by any pair has the right value."""

    async def main():
        async with cluster(scheduler, worker) as (server, client):
            x = da.arange(1000, chunks=100)
            assert await client.compute((x * x).sum()) == 332833500
            assert server.identity()["type"] == "Scheduler"
            assert server.id.startswith("Scheduler-")
            assert repr(server).startswith("<Scheduler 'tcp://")
            told = await client.run(name_of)
            assert all(text.startswith("<Worker 'tcp://") for text in told.values())

    run(main)


def test_the_door_of_the_web_port():
    """A client comes in where browsers do, and the supervisor knows no other port."""

    def door(server):
        return f"ws://{server.web_address}"

    async def main():
        async with cluster(Supervisor, distributed.Worker, door, web=(HOST, 0)) as (_, client):
            assert await client.submit(sum, [1, 2]) == 3
            role = (await client.scheduler.identity())["marsdask"]["role"]
            assert role == "active"

    run(main)


def test_the_preload_opens_the_door_of_a_stock_scheduler():
    """``--preload marsdask.scheduler.preload`` makes its dashboard's port take clients."""

    def door(server):
        return f"ws://{HOST}:{server.http_server.port}"

    async def main():
        async with cluster(
            distributed.Scheduler,
            distributed.Worker,
            door,
            preload="marsdask.scheduler.preload",
        ) as (server, client):
            assert await client.submit(sum, [1, 2]) == 3
            # Our first page has nothing to show there: a browser finds the way below any prefix.
            visit = Visitor(f"http://{HOST}:{server.http_server.port}")
            page, answer = await visit("/", Accept="text/html,*/*"), await visit("/")
            visit.close()
            assert b'location.pathname.replace(/\\/?$/, "/") + "status"' in page.body
            assert (answer.code, answer.headers["Location"]) == (302, "status")

    run(main)


def test_advertised_addresses():
    """Others get the advertised host with the bound port.

    That goes for the nanny too, which the worker itself goes on calling where it is.
    """

    async def main():
        async with (
            Supervisor(
                host="0.0.0.0", advertise="127.0.0.5", dashboard_address=f"{HOST}:0"
            ) as server,
            MarsWorker(
                server.address,
                host="0.0.0.0",
                advertise="127.0.0.6",
                nanny=f"tcp://{HOST}:9",
                supervisors=[server.address],
                nthreads=1,
            ) as one,
            Client(server.address, asynchronous=True) as client,
        ):
            assert server.address.startswith("tcp://127.0.0.5:")
            (worker,) = server.workers
            assert worker.startswith("tcp://127.0.0.6:")
            assert server.workers[worker].nanny == "tcp://127.0.0.6:9"
            assert one.nanny == f"tcp://{HOST}:9"
            one.nanny = None  # where nobody is to be told of the end
            (future,) = await client.scatter([1])
            assert await future == 1

    run(main)


@pytest.mark.parametrize("section", ["scheduler", "worker"])
def test_blocked_handlers_stay_blocked(section):
    """The security setting holds though our classes have other names than its section."""

    async def main():
        async with cluster(Supervisor, MarsWorker) as (_, client):
            call = client.run_on_scheduler if section == "scheduler" else client.run
            with pytest.raises(Exception, match="explicitly disallowed"):
                await call(sum, [1])

    handler = "run_function" if section == "scheduler" else "run"
    with dask.config.set({f"distributed.{section}.blocked-handlers": [handler]}):
        run(main)


def test_security_in_words():
    """A supervisor takes its security as distributed's scheduler does: an object, or a mapping."""

    async def main():
        security = {"require_encryption": False, "tls_ca_file": "ca.pem"}
        async with cluster(Supervisor, MarsWorker, security=security) as (server, client):
            assert server.security.tls_ca_file == "ca.pem"
            assert await client.submit(abs, -1) == 1

    run(main)
