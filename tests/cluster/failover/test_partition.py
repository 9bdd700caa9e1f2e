"""A network partition: one host is disconnected during a job."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing

import pytest
from distributed import Client

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.testing import Gate
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.cluster.failures.test_failures import slow

#: Who does not answer for so long is cut off; distributed allows no less.
CUT = {"MARS_CPU_TOTAL": "1", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s"}


def ip(line):
    """Run the command ``ip``."""
    subprocess.run(["ip", *line.split()], check=True, capture_output=True)


class Hosts:
    """Namespaces of the network, each with one cable to a switch that is here."""

    def __init__(self, count):
        # Names of interfaces have fifteen letters; addresses are of a network for tests only.
        self.switch = f"mars{os.getpid()}"
        self.network = f"198.18.{os.getpid() % 250}"
        self.address = f"{self.network}.1"
        self.names = [f"{self.switch}-{number}" for number in range(count)]
        ip(f"link add {self.switch} type bridge")
        ip(f"addr add {self.address}/24 dev {self.switch}")
        ip(f"link set {self.switch} up")
        for number, name in enumerate(self.names):
            ip(f"netns add {name}")
            ip(f"link add {name} type veth peer name eth0 netns {name}")
            ip(f"link set {name} master {self.switch} up")
            ip(f"-n {name} addr add {self.network}.{number + 2}/24 dev eth0")
            ip(f"-n {name} link set eth0 up")
            ip(f"-n {name} link set lo up")

    def within(self, number):
        """Return how to run a command on a host."""
        return "ip", "netns", "exec", self.names[number]

    def plug(self, number, state):
        """Put a host's cable ``up`` or take it ``down``."""
        ip(f"link set {self.names[number]} {state}")

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "link", "del", name], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.switch], check=False, capture_output=True)


@pytest.fixture
def hosts():
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("networks of one's own are made by root, with the command ip")
    try:
        made = Hosts(2)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network of one's own here: {error.stderr.decode().strip()}")
    yield made
    made.close()


def test_a_host_is_cut_off_in_mid_job(hosts):
    """The job ends on the other host; when the network is back the worker is too, with its data."""
    port = free_port()
    with closing(Gate(hosts.address)) as gate, running() as commands:
        commands.append(Command(f"mars-supervisor -H {hosts.address} -p {port}", **CUT))
        commands[0].wait_for("started at")
        for number in range(2):
            host = f"{hosts.network}.{number + 2}"
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
