"""A supervisor and its workers, in one event loop."""

from __future__ import annotations

import pickle
import socket

import pytest
from distributed import Client, Security

from marsdask.scheduler.supervisor import Supervisor, server, suspicious_tasks
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import free_port
from tests.cluster.loop import HOST, Gates, cluster, pass_gate, run, until


def test_the_state_of_a_worker_is_small():
    """A worker's report is removed from its state, which is sent with each error."""

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (supervisor, _):
            (state,) = supervisor.workers.values()
            assert len(pickle.dumps(state.clean())) < 1000
            assert supervisor.nodes.told[state.address]["cpu_total"] > 0
            await supervisor.test_workers[0].close()
            await until(lambda: not supervisor.workers, supervisor)
            assert not supervisor.nodes.told

    run(main)


def test_who_was_only_silent_comes_back():
    """A worker that follows supervisors is not told to end, and brings its results again."""
    port = free_port()
    following = {"supervisors": [f"tcp://{HOST}:{port}"]}

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=(following,), port=port) as (
            supervisor,
            client,
        ):
            (address,) = supervisor.workers
            sent = await client.scatter({"x": 1})
            await supervisor.remove_worker(address, stimulus_id="silent")
            assert not supervisor.workers
            assert supervisor.absence.since is not None
            await until(lambda: "x" in supervisor.tasks, supervisor)
            assert supervisor.absence.since is None
            assert [ws.address for ws in supervisor.tasks["x"].who_has] == [address]
            await supervisor.remove_worker(address, stimulus_id="retired", expected=True)
            await supervisor.test_workers[0].finished()
            del sent

    run(main)


def test_who_came_back_meanwhile_is_not_removed(monkeypatch):
    """While a nanny is asked what a dead worker ran, another one may have its address."""

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (supervisor, _):
            (address,) = supervisor.workers
            before = supervisor.workers[address]
            after = before.clean()

            async def slowly(scheduler, address):
                scheduler.workers[address] = after

            with monkeypatch.context() as patched:
                patched.setattr(server, "clear_suspicion", slowly)
                removed = await supervisor.remove_worker(address, stimulus_id="test")
            assert removed == "already-removed"
            assert supervisor.workers[address] is after
            supervisor.workers[address] = before

    run(main)


@pytest.mark.parametrize("error", [ConnectionRefusedError(), ValueError("not allowed")])
def test_a_nanny_that_tells_nothing(monkeypatch, error):
    """Whatever it answers, its worker is removed, and all that was sent there is suspected."""

    class FailingNanny:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *exception):
            pass

        async def mars_ran(self, *, pid):
            raise error

    async def main():
        monkeypatch.setattr(suspicious_tasks, "rpc", lambda *args, **options: FailingNanny())
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (supervisor, client):
            (worker,) = supervisor.workers.values()
            gate = Gates.new("told")
            future = client.submit(pass_gate, "told", key="x", pure=False)
            await gate.started.acquire()
            worker.nanny = "tcp://127.0.0.1:1"
            await supervisor.remove_worker(worker.address, stimulus_id="test")
            assert supervisor.tasks["x"].suspicious == 1
            assert not supervisor.workers
            gate.go.set()
            future.release()

    run(main)


def test_one_port_for_pages_and_for_websockets_with_tls():
    """As of a Dask scheduler whose dashboard has the port of its own address."""
    port, security = free_port(), Security.temporary()
    options = {"protocol": "wss://", "host": HOST, "security": security}

    async def main():
        async with (
            Supervisor(port=port, dashboard_address=f"{HOST}:{port}", **options) as supervisor,
            MarsWorker(supervisor.address, nthreads=1, **options),
            Client(supervisor.address, asynchronous=True, security=security) as client,
        ):
            assert supervisor.http_server is supervisor.listener.server
            assert await client.submit(abs, -1) == 1

    run(main)


def test_addresses_of_ipv6():
    """The web port has one, too; what others use has brackets."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this host has no IPv6")

    async def main():
        host = "[::1]"
        async with Supervisor(host=host, web=(host, 0), advertise=host) as supervisor:
            assert supervisor.address.startswith("tcp://[::1]:")
            assert supervisor.web_address == f"[::1]:{supervisor.http_server.port}"
            for address in (supervisor.address, f"ws://{supervisor.web_address}"):
                async with Client(address, asynchronous=True, set_as_default=False) as client:
                    assert client.scheduler.address == address

    run(main)
