"""A network partition: one host is disconnected during a job."""

from __future__ import annotations

from contextlib import closing

import pytest
from distributed import Client

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.testing import Gate
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.cluster.failures.test_failures import slow
from tests.cluster.hosts import Hosts, problem, skip

#: Who does not answer for so long is cut off; distributed allows no less.
CUT = {"MARS_CPU_TOTAL": "1", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s"}


@pytest.fixture
def hosts():
    if problem() is not None:
        skip("it needs networks")
    made = Hosts(2)
    yield made
    made.close()


def test_a_host_is_cut_off_in_mid_job(hosts):
    """The job ends on the other host; when the network is back the worker is too, with its data."""
    port = free_port()
    with closing(Gate(hosts.address)) as gate, running() as commands:
        commands.append(Command(f"mars-supervisor -H {hosts.address} -p {port}", **CUT))
        commands[0].wait_for("started at")
        for number in range(2):
            host = hosts.ip(number)
            line = f"mars-worker -H {host} -s {hosts.address}:{port} --no-bind-cpu"
            commands.append(Command(line, within=hosts.within(number), **CUT))
        for command in commands[1:]:
            command.wait_for("started at")
        address = f"tcp://{hosts.address}:{port}"
        with (
            marsdask.new_session(address, default=False) as session,
            Client(address, set_as_default=False) as client,
        ):
            client.wait_for_workers(2, timeout=DEADLINE)
            workers = set(client.nthreads())
            x = mt.arange(8, chunk_size=4).map_chunk(slow, args=(gate.address,), dtype=int)
            future = x.execute(session=session, wait=False)
            for _ in workers:
                gate.wait_until_reached()
            hosts.plug(1, "down")
            gate.open()
            gate.wait_until_reached()  # on the host that is left
            gate.open()
            assert future.result(DEADLINE).fetch(session=session).tolist() == list(range(8))
            hosts.plug(1, "up")
            commands[2].wait_for("continues with the supervisor")
            client.wait_for_workers(2, timeout=DEADLINE)
            assert set(client.nthreads()) == workers
            assert (x + 1).sum().execute(session=session).fetch(session=session) == 36
