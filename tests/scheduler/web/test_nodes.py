"""``/api/cluster``: what Mars's scripts and pages read."""

import asyncio
import os
from types import SimpleNamespace
from typing import Any

import distributed
import pytest
from distributed.core import Status
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.web import nodes
from marsdask.scheduler.web.nodes import NodeStatus, worker_resource, worker_status
from tests.cluster.loop import HOST, run
from tests.scheduler.web.pages import Visitor, visited

#: What a stock worker says of itself.
NOTHING: dict[str, Any] = {}


def worker(**changes):
    """Return a worker as a supervisor knows it."""
    known = {
        "nthreads": 2,
        "memory_limit": 1000,
        "metrics": {"mars": {"cores": 0.5, "memory": 400}, "cpu": 700.0, "memory": 900},
        "resources": {},
        "used_resources": {},
        "status": Status.running,
        "last_seen": 100.0,
    }
    return SimpleNamespace(**known | changes)


def test_a_share_of_the_share():
    """What is available is what the worker was given, less what its own processes take."""
    assert worker_resource(worker(), NOTHING) == {
        "numa-0": {
            "cpu_avail": 1.5,
            "cpu_total": 2.0,
            "memory_avail": 600,
            "memory_total": 1000,
        }
    }


def test_a_stock_worker_tells_its_process_only():
    """Its figure is in percent of a core."""
    stock = worker(metrics={"cpu": 50.0, "memory": 100})
    found = worker_resource(stock, NOTHING)["numa-0"]
    assert (found["cpu_avail"], found["memory_avail"]) == (1.5, 900)


def test_devices_are_a_band_of_their_own():
    """As many as there are resources of that name."""
    found = worker_resource(worker(resources={"GPU": 2.0}, used_resources={"GPU": 1.0}), NOTHING)
    assert found["gpu-0"] == {"gpu_avail": 1.0, "gpu_total": 2.0}


@given(
    cores=st.floats(-1, 100),
    memory=st.integers(0, 10**6),
    threads=st.integers(1, 64),
    limit=st.integers(0, 10**6),
)
def test_figures_stay_within_the_share(cores, memory, threads, limit):
    """Never negative, never more than there is, whatever is measured."""
    taken = {"mars": {"cores": cores, "memory": memory}}
    one = worker(metrics=taken, nthreads=threads, memory_limit=limit)
    found = worker_resource(one, NOTHING)["numa-0"]
    assert 0 <= found["cpu_avail"] <= found["cpu_total"] == threads
    assert 0 <= found["memory_avail"] <= found["memory_total"]


@pytest.mark.parametrize(
    ("status", "silent", "expected"),
    [
        (Status.running, 1, NodeStatus.READY),
        (Status.running, 11, NodeStatus.DEGENERATED),
        (Status.paused, 1, NodeStatus.DEGENERATED),
        (Status.init, 1, NodeStatus.STARTING),
        (Status.closing_gracefully, 1, NodeStatus.STOPPING),
    ],
)
def test_states(status, silent, expected):
    """In Mars's numbers; who has not been heard of for ten seconds is not ready."""
    assert worker_status(worker(status=status), 100.0 + silent) is expected


def test_nodes():
    """Supervisors and workers, chosen by role, name and state, with as much as is asked for."""

    async def main():
        async with visited() as (server, _, visit):
            own = server.address.removeprefix("tcp://")
            workers = {ws.removeprefix("tcp://") for ws in server.workers}
            code, told = await visit.json("/api/cluster/nodes")
            assert code == 200
            assert set(told["nodes"]) == workers | {own}
            assert set(told["nodes"][own]) == {"role", "status", "update_time", "standby"}
            _, told = await visit.json("/api/cluster/nodes?role=1&env=1&resource=1&detail=1")
            assert set(told["nodes"]) == workers
            for node in told["nodes"].values():
                assert node["status"] == 1
                assert node["env"]["package_versions"]["distributed"] == distributed.__version__
                assert node["resource"]["numa-0"]["cpu_total"] == 1
                assert set(node["detail"]["storage"]["numa-0"]) == {"memory", "disk"}
            _, told = await visit.json("/api/cluster/nodes?role=0&env=1&resource=1&detail=1")
            assert set(told["nodes"]) == {own}
            one = min(workers)
            _, told = await visit.json(f"/api/cluster/nodes?nodes={one}")
            assert set(told["nodes"]) == {one}
            for wrong in ("statuses=0", "exclude_statuses=1"):
                _, told = await visit.json(f"/api/cluster/nodes?{wrong}")
                assert told == {"nodes": {}}
            assert (await visit.json("/api/cluster/nodes?nodes=1.2.3.4:5"))[0] == 404
            for wrong in ("x", "0,1"):
                assert (await visit.json(f"/api/cluster/nodes?role={wrong}"))[0] == 400

    run(main)


def test_who_watches_is_told_of_changes():
    """The answer comes at once if there is something new, else when there is."""

    async def main():
        async with visited(workers=({},)) as (server, _, visit):
            _, told = await visit.json("/api/cluster/nodes?watch=1&role=1")
            assert len(told["nodes"]) == 1
            version = told["version"]
            watching = asyncio.ensure_future(
                visit.json(f"/api/cluster/nodes?watch=1&role=1&version={version}")
            )
            assert (await visit.json("/api/cluster/versions"))[0] == 200
            assert not watching.done()
            (ws,) = server.workers
            await server.remove_worker(ws, stimulus_id="test")
            _, told = await watching
            assert told["version"] > version

    run(main)


def test_who_has_seen_nothing_yet_waits_too():
    """The first version is 0, which is a number; what is none is refused."""

    async def main():
        async with visited(workers=()) as (server, _, visit):
            path = "/api/cluster/nodes?watch=1&version="
            for wrong in ("nan", "inf", "1,2", "x"):
                assert (await visit.json(path + wrong))[0] == 400
            watching = asyncio.ensure_future(visit.json(f"{path}0"))
            assert (await visit.json("/api/cluster/versions"))[0] == 200
            assert not watching.done()
            server.nodes.remove_worker(server, "any")
            assert (await watching)[1]["version"] == 1

    run(main)


def test_a_worker_that_does_not_answer(monkeypatch):
    """Whoever asks for its stacks is told so, after a while."""
    monkeypatch.setattr(nodes, "_SILENT", 0.1)

    async def main():
        async with visited(workers=({},)) as (server, _, visit):
            (worker,) = server.test_workers
            worker.handlers["mars_stacks"] = asyncio.Event().wait
            code, told = await visit.json(f"/api/cluster/stacks?address={worker.address}")
            assert (code, told["type"]) == (504, "GatewayTimeout")
            assert worker.address in told["message"]

    run(main)


def test_the_rest_of_the_cluster():
    """Bands, versions, processes and stacks."""

    async def main():
        async with visited(workers=({},)) as (server, _, visit):
            (ws,) = server.workers
            name = ws.removeprefix("tcp://")
            assert await visit.json("/api/cluster/bands") == (200, {"bands": {name: {"numa-0": 1}}})
            _, versions = await visit.json("/api/cluster/versions")
            assert len(versions) == 1
            _, pools = await visit.json(f"/api/cluster/pools?address={name}")
            assert [(one["address"], one["pid"]) for one in pools["pools"]] == [(ws, os.getpid())]
            for address in ("", name):
                _, told = await visit.json(f"/api/cluster/stacks?address={address}")
                assert "MainThread" in " ".join(told["stacks"][0])
            code, told = await visit.json("/api/cluster/stacks?address=1.2.3.4:5")
            assert (code, told["type"]) == (404, "NotFound")

    run(main)


def test_a_stock_worker_is_shown():
    """With what it says; its stacks it cannot tell."""

    async def main():
        async with visited(distributed.Worker, workers=({},)) as (server, _, visit):
            (ws,) = server.workers
            name = ws.removeprefix("tcp://")
            _, told = await visit.json("/api/cluster/nodes?role=1&env=1&resource=1&detail=1")
            (node,) = told["nodes"].values()
            assert node["env"]["python_version"].count(".") == 2
            assert node["env"]["mars_version"] is None
            assert 0 <= node["resource"]["numa-0"]["cpu_avail"] <= 1
            assert (await visit.json(f"/api/cluster/stacks?address={name}"))[0] == 501

    run(main)


def test_other_supervisors_are_listed():
    """One that does not answer is stopped, one that does is ready, and another name adds nobody."""

    async def main():
        async with visited(workers=()) as (other, _, _):
            named = ("127.0.0.1:1", other.address.removeprefix("tcp://"))
            async with Supervisor(host=HOST, web=(HOST, 0), supervisors=named) as server:
                visit = Visitor(f"http://{server.web_address}")
                server.supervisors += (server.address.replace(HOST, "localhost"),)
                _, told = await visit.json("/api/cluster/nodes?role=0&resource=1")
                visit.close()
                own = server.address.removeprefix("tcp://")
                states = {name: node["status"] for name, node in told["nodes"].items()}
                assert states == {own: 1, named[0]: -1, named[1]: 1}

    run(main)
