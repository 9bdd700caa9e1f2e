"""Clients, workers and a supervisor of different versions: refused in time, with a table."""

from __future__ import annotations

import distributed
import pytest
from distributed import Client

import marsdask
from marsdask.scheduler.cluster import versions
from marsdask.scheduler.errors import VersionMismatch
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import Command, free_port, running
from tests.cluster.loop import HOST, run
from tests.source import ROOT


@pytest.fixture
def newer(tmp_path):
    """Return a path from where marsdask seems to be version 9.9."""
    folder = tmp_path / "marsdask-9.9.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: marsdask\nVersion: 9.9.0\n")
    return f"{tmp_path}:{ROOT}"


def test_a_newer_supervisor(newer):
    """Sessions and ``mars-worker`` refuse it; stock clients do not."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    with running() as commands:
        # The folder that tests run in may hold the metadata of this version: it is not looked at.
        others = {"PYTHONPATH": newer, "PYTHONSAFEPATH": "1"}
        commands.append(supervisor := Command(f"mars-supervisor -H 127.0.0.1 -p {port}", **others))
        supervisor.wait_for("started at")
        with pytest.raises(VersionMismatch, match=r"marsdask +0\.\S+ +9\.9\.0 +<-"):
            marsdask.new_session(address)
        commands.append(worker := Command(f"mars-worker -s 127.0.0.1:{port}"))
        assert worker.wait() == 2
        worker.wait_for("9.9.0")
        with Client(address, set_as_default=False) as client:
            assert client.nthreads() == {}


@pytest.mark.parametrize("worker", [distributed.Worker, MarsWorker])
def test_another_python(monkeypatch, worker):
    """Pickled functions are of one Python: the supervisor refuses stock clients and workers too."""
    mine = versions.versions()

    async def main():
        async with Supervisor(host=HOST, dashboard_address=f"{HOST}:0") as supervisor:
            monkeypatch.setattr(versions, "versions", lambda: mine | {"python": "3.99.1"})
            with pytest.raises(ImportError, match=r"python +3\.99\.1 .*<-"):
                await Client(supervisor.address, asynchronous=True)
            options = {"supervisors": [supervisor.address]} if worker is MarsWorker else {}
            with pytest.raises(RuntimeError, match="failed to start") as caught:
                await worker(supervisor.address, host=HOST, nthreads=1, **options)
            assert "3.99.1" in repr(caught.value.__cause__)
            assert not supervisor.workers
            assert not supervisor.client_comms

    run(main)
