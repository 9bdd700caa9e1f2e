"""Failover: a standby takes over, and computed results stay."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask.array as da
import dask.config
import psutil
import pytest
from distributed import Client
from distributed.comm.tcp import TCPConnector
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.security import Security

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.cluster.leader import SupervisorRole, query_role
from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.supervisor.failover import standby
from marsdask.scheduler.testing.tools import pass_gate
from marsdask.scheduler.worker import MarsWorker, reconnect
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.cluster.loop import HOST, run, side_by_side, until
from tests.subprocesses import children

#: One thread each, and supervisors that are taken for dead soon.
FAST = {"MARS_CPU_TOTAL": "1", "DASK_MARSDASK__FAILOVER__TIMEOUT": "3s"}
CHUNKS = 20
LAST = {CHUNKS - 2, CHUNKS - 1}


def test_a_supervisor_that_takes_nobody_in(monkeypatch):
    """A worker does not wait for ever for its answer: another one may be there by then."""

    async def silent(*args, **told):
        await asyncio.Event().wait()

    async def main():
        async with Supervisor(host=HOST, dashboard_address=f"{HOST}:0") as server:
            known = [server.address]
            worker = MarsWorker(server.address, host=HOST, nthreads=1, supervisors=known)
            with pytest.raises(RuntimeError) as caught:
                await worker
            assert isinstance(caught.value.__cause__, NoSupervisor)

    monkeypatch.setattr(Supervisor, "add_worker", silent)
    monkeypatch.setattr(reconnect, "_PATIENCE", 0.1)
    with dask.config.set({"marsdask.failover.keep": "0.2s"}):
        run(main)


class CountingArbiter:
    """Renews a tenure once, and counts questions."""

    lasts = 60.0

    def __init__(self):
        self.renewals, self.releases = 0, 0

    def take(self, holder, epoch, *, ended=None):
        return None

    def renew(self, holder, epoch):
        self.renewals += 1
        return self.renewals < 2

    def release(self, holder):
        self.releases += 1


def active_one():
    """Return the failover of an active supervisor, whose peer is at `b:1`, and its arbiter."""
    arbiter = CountingArbiter()

    async def step_down():
        pass

    server = SimpleNamespace(
        id="a",
        address="tcp://a:1",
        workers={},
        deposed=False,
        security=Security(),
        step_down=step_down,
    )
    with dask.config.set({"marsdask.failover.timeout": "50ms"}):
        found = standby.Failover(server, ["a:1", "b:1"], arbiter)
    found._mine, found._leads = "a:1", True
    found._tenure.confirm(found._tenure.clock())
    return found, arbiter


def test_who_brings_results_to_one_that_was_restarted():
    """It has heard of no earlier supervisor, so it cannot know which workers to wait for."""
    found, _ = active_one()
    found._task, found._recent_until = object(), math.inf
    found._settled.set()
    assert found.settling()
    found._recent_until = 0.0
    assert not found.settling()
    found._recent_until, found._leading = math.inf, "b:1"
    assert not found.settling()


@pytest.mark.parametrize("older", [True, False])
def test_a_standby_that_answers_with_an_error(older, monkeypatch):
    """An older one knows no promises; whatever the error is, the active one is renewed."""

    async def mars_role(epoch, **more):
        if more or not older:
            raise TypeError("unexpected keyword argument 'active'")
        return {"id": "b", "active": False, "epoch": 0, "workers": []}

    @asynccontextmanager
    async def rpc(address, connection_args):
        yield SimpleNamespace(mars_role=mars_role)

    async def query(address, arguments, patience):
        return SupervisorRole("b", address, active=False, ours=True)

    async def main():
        failover, arbiter = active_one()
        async with asyncio.timeout(DEADLINE):
            await failover._poll_forever()
        assert arbiter.renewals == 2
        role = failover._peers["b:1"].role
        assert (role is not None) == older
        assert role is None or not role.consents

    monkeypatch.setattr(standby, "rpc", rpc)
    monkeypatch.setattr(standby, "query_role", query)
    run(main)


def test_a_second_close_before_the_release():
    """The arbiter still learns that the active supervisor has ended."""

    async def main():
        failover, arbiter = active_one()
        await failover.stop()
        await failover.stop()
        await failover.release()
        assert arbiter.releases == 1

    run(main)


class Supervisors:
    """Two supervisors and two workers, of which tests may end supervisors as they like."""

    def __init__(self, commands, flags="", scheme="tcp"):
        self.ports = [free_port(), free_port()]
        self.commands = commands
        self.flags = flags
        self.listed = f"127.0.0.10:{self.ports[0]},127.0.0.11:{self.ports[1]}"
        self.addresses = [f"{scheme}://{one}" for one in self.listed.split(",")]
        self.supervisors = [self.start(0), self.start(1)]
        lines = [f"mars-worker -H 127.0.0.{host} -s {self.listed} {flags}" for host in (20, 21)]
        self.workers = [Command(line, **FAST) for line in lines]
        commands.extend(self.workers)
        for command in commands:
            command.wait_for("started at")

    def start(self, number):
        """Start a supervisor."""
        line = f"mars-supervisor -H 127.0.0.{10 + number} -p {self.ports[number]} -s {self.listed}"
        line += f" {self.flags}"
        self.commands.append(command := Command(line, **FAST))
        return command

    def role(self, number):
        """Return the role of a supervisor."""
        return asyncio.run(query_role(self.addresses[number], {}, DEADLINE))

    def roles(self):
        """Return the numbers of the active one and of the other."""
        return (0, 1) if self.role(0).active else (1, 0)

    def wait_for_workers(self):
        """Wait until both workers have joined the new supervisor."""
        for worker in self.workers:
            worker.wait_for("continues with the supervisor")


@pytest.fixture(scope="module")
def cluster():
    with running() as commands:
        yield Supervisors(commands)
    assert not children()


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check only at the end of the module, which shares the cluster."""


def counted(block, folder, address):
    """Leave a mark for each run; the last two chunks wait at the gate when they run first."""
    if block.size != 2:  # called to see what it returns
        return block
    number = int(block[0]) // 2
    with open(os.path.join(folder, str(number)), "a") as file:
        file.write(".")
        first = file.tell() == 1
    if first and number in LAST:
        pass_gate(address, None)
    return block * 2


class Work:
    """A job in the middle: all its tasks are done but two, which run."""

    def __init__(self, session, gate, folder):
        self.session = session
        self.gate = gate
        self.folder = folder
        session.scheduler.client.wait_for_workers(len(LAST), timeout=DEADLINE)
        self.kept = mt.arange(10, chunk_size=5).execute(session=session)
        x = mt.arange(2 * CHUNKS, chunk_size=2).map_chunk(
            counted, args=(str(folder), gate.address), dtype=int
        )
        self.future = x.execute(session=session, wait=False)
        for _ in LAST:
            gate.wait_until_reached()

    def check(self):
        """Check that it ends right, and that only the two have run more than once."""
        self.gate.open()
        found = self.future.result(DEADLINE).fetch(session=self.session)
        assert found.tolist() == [2 * value for value in range(2 * CHUNKS)]
        runs = {int(path.name): path.stat().st_size for path in self.folder.iterdir()}
        assert set(runs) == set(range(CHUNKS))
        again = {number for number, count in runs.items() if count > 1}
        assert again <= LAST, again
        assert self.kept.fetch(session=self.session).sum() == 45, "earlier results are there too"


def test_the_standby_takes_over_in_mid_job(cluster, gate, tmp_path):
    """After SIGKILL of the active one the job ends right, and only what ran runs again."""
    active, standby = cluster.roles()
    before = cluster.role(active).epoch
    with marsdask.new_session(cluster.addresses[active], default=False) as session:
        work = Work(session, gate, tmp_path)
        cluster.supervisors[active].kill()
        cluster.wait_for_workers()
        assert cluster.role(standby).epoch > before
        work.check()
        cluster.supervisors[active] = cluster.start(active)
        cluster.supervisors[active].wait_for("Mars Web started at")
        x = mt.from_dask(da.ones(10, chunks=5)) + 1
        assert x.sum().execute(session=session).fetch(session=session) == 20
    with marsdask.new_session(cluster.addresses[active], default=False) as session:
        assert cluster.roles() == (standby, active), "who comes back stands by"
        scheduler: Any = session.scheduler
        assert scheduler.client.scheduler.address == cluster.addresses[standby]


class Unpickled:
    """Waits at the gate where it is unpickled first: in the process that compiles the job."""

    def __init__(self, folder, address):
        self.told = str(folder), address, os.getpid()

    def __reduce__(self):
        return unpickled, self.told


def unpickled(folder, address, client):
    """Leave the number of this process; the first one waits at the gate, but never the client."""
    if os.getpid() == client:  # it makes a name of it
        return 2
    place = os.path.join(folder, "unpickled")
    with open(place, "a") as file:
        file.write(f"{os.getpid()}\n")
        file.flush()
        first = len(Path(place).read_text().split()) == 1
    if first:
        pass_gate(address, None)
    return 2


def times(block, number):
    """Return a multiple of a block."""
    return block * number


def test_the_standby_takes_over_while_a_job_compiles(cluster, gate, tmp_path):
    """Nothing that compiled for the killed one is left, and the job is compiled again."""
    active, _ = cluster.roles()
    with marsdask.new_session(cluster.addresses[active], default=False) as session:
        kept = mt.arange(10, chunk_size=5).execute(session=session)
        x = mt.arange(8, chunk_size=2).map_chunk(
            times, args=(Unpickled(tmp_path, gate.address),), dtype=int
        )
        future = x.execute(session=session, wait=False)
        gate.wait_until_reached()
        compiling = psutil.Process(int((tmp_path / "unpickled").read_text()))
        forkserver = psutil.Process(compiling.ppid())
        assert forkserver.ppid() == cluster.supervisors[active].process.pid
        cluster.supervisors[active].process.kill()
        psutil.wait_procs([compiling, forkserver], DEADLINE)
        assert not compiling.is_running()
        assert not forkserver.is_running()
        cluster.wait_for_workers()
        found = future.result(DEADLINE).fetch(session=session)
        assert found.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
        assert kept.fetch(session=session).sum() == 45
    cluster.supervisors[active].kill()
    cluster.supervisors[active] = cluster.start(active)
    cluster.supervisors[active].wait_for("Mars Web started at")


@pytest.mark.parametrize("last", [False, True])
def test_one_that_was_frozen_steps_down(cluster, gate, tmp_path, last):
    """A suspended supervisor loses its role; when it continues, it becomes a standby.

    ``last``: its successor is lost by then. It starts anew, and workers bring what they hold.
    """
    active, standby = cluster.roles()
    with marsdask.new_session(cluster.addresses[active], default=False) as session:
        work = Work(session, gate, tmp_path)
        frozen = cluster.supervisors[active]
        frozen.process.send_signal(signal.SIGSTOP)
        cluster.wait_for_workers()
        if last:
            cluster.supervisors[standby].kill()
        frozen.process.send_signal(signal.SIGCONT)
        frozen.wait_for("steps down")
        frozen.wait_for("Mars Supervisor started at")
        if last:
            cluster.wait_for_workers()
        work.check()
        if last:
            cluster.supervisors[standby] = cluster.start(standby)
            cluster.supervisors[standby].wait_for("Mars Web started at")
        assert cluster.roles() == ((active, standby) if last else (standby, active))


def test_one_that_ends_in_order_leaves_everything_behind(cluster, gate, tmp_path):
    """SIGTERM of the active one: its workers do not end with it."""
    active, _ = cluster.roles()
    with marsdask.new_session(cluster.addresses[active], default=False) as session:
        work = Work(session, gate, tmp_path)
        assert cluster.supervisors[active].end(signal.SIGTERM) == 0
        cluster.wait_for_workers()
        work.check()
    cluster.supervisors[active] = cluster.start(active)
    cluster.supervisors[active].wait_for("Mars Web started at")


def test_one_web_address_leads_to_whichever_is_active(cluster, gate, tmp_path, monkeypatch):
    """Behind ``mars-web`` a session and the interface go over, with no other port to reach."""
    active, standby = cluster.roles()
    port = free_port()
    web = Command(f"mars-web -H {HOST} -p {port} -s {cluster.listed}")
    cluster.commands.append(web)
    web.wait_for("started at")
    monkeypatch.setattr(TCPConnector, "connect", unreachable)
    url = f"http://{HOST}:{port}"
    with marsdask.new_session(url, default=False, session_id="web") as session:
        work = Work(session, gate, tmp_path)
        assert leading(url) == cluster.addresses[active]
        cluster.supervisors[active].kill()
        cluster.wait_for_workers()
        work.check()
        scheduler: Any = session.scheduler
        assert scheduler.client.scheduler.address == f"ws://{HOST}:{port}"
        assert leading(url) == cluster.addresses[standby]
        tasks = told(f"{url}/api/session/web/task")["tasks"]
        assert [(task["state"], task["progress"]) for task in tasks] == [("done", 1.0)]


async def unreachable(*args: Any, **options: Any) -> None:
    """Refuse as the ports do that only the cluster's own hosts reach."""
    raise OSError("not from here")


def told(url):
    """Return what the interface answers."""
    with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
        return json.load(answer)


def leading(url):
    """Return the address of the one supervisor that is active, and has both workers."""
    nodes = told(f"{url}/api/cluster/nodes")["nodes"]
    ready = {name: node for name, node in nodes.items() if node["status"] == 1}
    assert sum(node["role"] == 1 for node in ready.values()) == 2
    (found,) = (name for name, node in ready.items() if node["role"] == 0 and not node["standby"])
    return f"tcp://{found}"


def test_a_standby_takes_no_worker():
    """A standby refuses workers."""
    port, other = free_port(), free_port()

    async def main():
        listed = [f"{HOST}:{other}", f"{HOST}:{port}"]
        options: Any = {"dashboard_address": f"{HOST}:0", "supervisors": listed}
        async with Supervisor(host=HOST, port=port, **options) as standby:
            assert standby.identity()["marsdask"]["role"] == "standby"
            worker = MarsWorker(standby.address, host=HOST, nthreads=1)
            with pytest.raises(RuntimeError, match="failed to start") as caught:
                await worker
            assert "is a standby" in repr(caught.value.__cause__)

    run(main)


@pytest.mark.parametrize("first", [0, 1])
def test_a_standby_takes_no_client(first):
    """A standby refuses a stock client and names the active supervisor."""

    async def main():
        pair = side_by_side()
        active, standby = pair[first], pair[1 - first]
        options: Any = {"asynchronous": True, "set_as_default": False}
        async with active, Client(active.address, **options), standby:
            told = f"{standby.address} is a standby.*{active.address}"
            with pytest.raises(ImportError, match=told):
                await Client(standby.address, **options)
            assert not standby.clients.keys() - {"fire-and-forget"}

    with dask.config.set({"marsdask.failover.timeout": "1s"}):
        run(main)


class Admissions(SchedulerPlugin):
    """Notes whether the supervisor stood by when it let a client in."""

    def __init__(self):
        self.stood_by = []

    def add_client(self, scheduler, client):
        self.stood_by.append(scheduler.standby)


def test_a_client_at_a_standby_waits_for_who_takes_over():
    """Without an active supervisor the client waits."""

    async def main():
        _, second = side_by_side()
        async with second:
            second.add_plugin(admissions := Admissions())
            async with Client(second.address, asynchronous=True, set_as_default=False):
                assert admissions.stood_by == [False]

    with dask.config.set({"marsdask.failover.timeout": "1s"}):
        run(main)


def test_workers_refuse_lower_epochs():
    """Until the supervisor, alone now, has taken a higher one."""

    async def main():
        async with Supervisor(host=HOST, dashboard_address=f"{HOST}:0") as supervisor:
            supervisor.failover.epoch = 5
            worker = MarsWorker(
                supervisor.address, host=HOST, nthreads=1, supervisors=[supervisor.address]
            )
            worker.epoch = 2**50
            refused = await worker._find()
            assert refused is None
            assert supervisor.failover.epoch > 2**50
            async with worker:
                assert worker.epoch == supervisor.failover.epoch
                assert list(supervisor.workers) == [worker.address]

    run(main)


def test_a_worker_waits_for_the_same_supervisor_with_its_results():
    """A supervisor that is started anew finds what its clients hold."""
    port = free_port()

    async def main():
        options: Any = {"host": HOST, "port": port, "dashboard_address": f"{HOST}:0"}
        first = await Supervisor(**options)
        worker = MarsWorker(first.address, host=HOST, nthreads=1, supervisors=[first.address])
        # One that is closed in its own block would stay Dask's default.
        client = Client(first.address, asynchronous=True, set_as_default=False)
        async with worker, client:
            (future,) = await client.scatter([42])
            key = future.key
            # What was computed since the last heartbeat was told to nobody.
            worker.periodic_callbacks["heartbeat"].stop()
            assert await client.submit(sum, [1, 2]) == 3
            await until(lambda: set(worker.data) == {key}, first, worker)
            await first.close()
            async with Supervisor(**options) as second:
                await until(lambda: worker.address in second.workers, second)
                await worker.heartbeat()
                assert list(second.workers) == [worker.address], "it has not left again"
                assert {ts.key for ts in second.tasks.values()} == {key}
                await client.close()
                second.unclaimed_results._drop()
                await until(lambda: key not in worker.data, second, worker)
                assert not second.tasks, "what nobody asks for is dropped"

    run(main)
