"""Stock and marsdask schedulers and workers work together, in one event loop."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import dask.config
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from distributed import Client, SpecCluster, get_worker

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import HOST, beside, cluster, run
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


def stock(*workers):
    """Start a stock cluster in a thread, with workers of such options."""
    options = {"host": HOST, "dashboard_address": f"{HOST}:0"}
    chosen = {
        number: {"cls": distributed.Worker, "options": {"host": HOST, "nthreads": 1} | one}
        for number, one in enumerate(workers)
    }
    return SpecCluster(chosen, {"cls": distributed.Scheduler, "options": options})


@pytest.fixture(scope="module", params=[beside, stock])
def device(request):
    """Yield a session on a cluster with one device, and the name of its worker."""
    workers = ({"resources": {"GPU": 1}, "name": "device"}, {"name": "other"})
    with (
        request.param(*workers) as cluster,
        Client(cluster, set_as_default=False) as client,
        marsdask.new_session(client, default=False) as session,
    ):
        yield session


def place(block=None):
    """Return the name of the worker that runs this task, for each item of a block."""
    name = get_worker().name
    return name if block is None else np.full(np.shape(block), name, "U6")


def frame_of_places(frame):
    """Return a frame of the name of this task's worker."""
    return pd.DataFrame({"a": [get_worker().name] * len(frame)})


def test_annotations_of_adopted_graphs(device):
    """Their tasks run where the annotations say, whatever is built on them."""
    blocks = da.zeros(8, chunks=1)
    with dask.annotate(resources={"GPU": 1}):
        places = blocks.map_blocks(place, dtype="U6")
        part = dask.delayed(frame_of_places)(pd.DataFrame({"a": [1, 2]}))
    adopted = mt.from_dask(da.stack([places.rechunk(2), places.rechunk(2)]))
    assert set((adopted + "").execute(session=device).fetch(session=device).flat) == {"device"}
    meta = pd.DataFrame({"a": ["x"]})
    frame = md.from_delayed([part], meta)
    assert set(frame.execute(session=device).fetch(session=device)["a"]) == {"device"}
    source = dd.from_pandas(pd.DataFrame({"a": ["x"] * 8}), npartitions=4)
    mapped = source.map_partitions(frame_of_places, meta=meta)
    with dask.annotate(workers="other", allow_other_workers=False):
        frame = md.from_dask(mapped)
    assert set(frame.execute(session=device).fetch(session=device)["a"]) == {"other"}


def failing_once(block):
    """Fail the first time on a worker."""
    worker: Any = get_worker()
    if not hasattr(worker, "failed_once"):
        worker.failed_once = True
        raise OSError("once")
    del worker.failed_once
    return block + 1


def test_retries_and_priorities_of_adopted_graphs(device):
    """The scheduler has them, also when the rest of the program is planned here."""
    with dask.annotate(retries=1, workers="device", priority=7):
        ones = da.zeros(2, chunks=2).map_blocks(failing_once, dtype=float)
    x = mt.from_dask(ones)
    assert (x * 2).execute(session=device).fetch(session=device).tolist() == [2, 2]
    x.execute(session=device)

    def priorities(dask_scheduler):
        return {ts.priority[0] for ts in dask_scheduler.tasks.values() if ts.key[0] == ones.name}

    assert device.scheduler.client.run_on_scheduler(priorities) == {-7}
