"""The documents' clusters, started by their own command lines on addresses of the loopback."""

from __future__ import annotations

import asyncio
import urllib.request
from types import SimpleNamespace

import pytest
from distributed import Client

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.scheduler.cluster.leader import query_role
from marsdask.session import new_session
from tests.cluster.commands import DEADLINE, Command, free_port, running
from tests.mars_documents import PROGRAMS, run_program

#: One worker process each, or a host of many cores would start many.
ONE = {"MARS_CPU_TOTAL": "1"}


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """Start two schedulers, two workers and a web server, as in the documents of Mars 0.3."""
    p1, p2, p3, p4, p5 = (free_port() for _ in range(5))
    schedulers = f"127.0.0.10:{p1},127.0.0.11:{p2}"
    disks = tmp_path_factory.mktemp("disks")
    spill = f"--spill-dirs {disks}/disk2/spill:{disks}/disk3/spill"
    with running() as commands:
        lines = (
            f"mars-scheduler -a 127.0.0.10 -p {p1} -s {schedulers}",
            f"mars-scheduler -a 127.0.0.11 -p {p2} -s {schedulers}",
            f"mars-worker -a 127.0.0.20 -p {p3} -s {schedulers} \\\n    {spill}",
            f"mars-worker -a 127.0.0.21 -p {p4} -s {schedulers} \\\n    {spill}",
            f"mars-web -p {p5} -s {schedulers}",
        )
        commands.extend(Command(line, **ONE) for line in lines)
        for command in commands:
            command.wait_for("started at")
        yield SimpleNamespace(commands=commands, ports=(p1, p2, p3, p4, p5), disks=disks)


@pytest.fixture(scope="module")
def newer():
    """Start two supervisors and two workers, as in the documents of Mars 0.7 and later."""
    p1, p2, p3, p4, p5 = (free_port() for _ in range(5))
    supervisors = f"127.0.0.10:{p1},127.0.0.11:{p2}"
    with running() as commands:
        lines = (
            f"mars-supervisor -H 127.0.0.10 -p {p1} -w {p5} -s {supervisors}",
            f"mars-supervisor -H 127.0.0.11 -p {p2} -s {supervisors}",
            f"mars-worker -H 127.0.0.20 -p {p3} -s {supervisors}",
            f"mars-worker -H 127.0.0.21 -p {p4} -s {supervisors}",
        )
        commands.extend(Command(line, **ONE) for line in lines)
        web = commands[0].wait_for("Mars Web started at")
        for command in commands[1:]:
            command.wait_for("started at")
        yield SimpleNamespace(commands=commands, ports=(p1, p2, p3, p4, p5), web=web)


def workers_of(address):
    """Return the addresses of the workers that a scheduler knows."""
    with Client(address, set_as_default=False, timeout=DEADLINE) as client:
        client.wait_for_workers(1, timeout=DEADLINE)
        return set(client.nthreads())


def test_the_older_snippet(older):
    """The program of Mars's older documents runs through ``mars-web``."""
    session = new_session(f"http://127.0.0.1:{older.ports[4]}").as_default()
    try:
        a = mt.ones((2000, 2000), chunk_size=200)
        b = mt.inner(a, a)
        b.execute()  # submit tensor to cluster
        df = md.DataFrame(a).sum()
        df.execute()  # submit DataFrame to cluster
        assert (df.fetch() == 2000).all()
        assert b[:3, :3].to_numpy().tolist() == [[2000.0] * 3] * 3
    finally:
        session.close()


def test_both_older_workers_belong_to_the_first_scheduler(older):
    """Workers have the addresses of ``-a``; the second supervisor is a standby."""
    p1, p2, p3, p4, _ = older.ports
    expected = {f"tcp://127.0.0.20:{p3}", f"tcp://127.0.0.21:{p4}"}
    assert workers_of(f"tcp://127.0.0.10:{p1}") == expected
    second = asyncio.run(query_role(f"tcp://127.0.0.11:{p2}", {}, DEADLINE))
    assert not second.active
    assert second.leader == f"tcp://127.0.0.10:{p1}"
    assert not second.workers


def test_the_web_server_shows_the_scheduler(older):
    """Pages come through ``mars-web``, and its root shows the cluster."""
    url = f"http://127.0.0.1:{older.ports[4]}"
    with urllib.request.urlopen(f"{url}/health", timeout=DEADLINE) as answer:
        assert answer.read() == b"ok"
    with urllib.request.urlopen(f"{url}/json/counts.json", timeout=DEADLINE) as answer:
        assert b'"workers": 2' in answer.read()
    with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
        assert b"<h2>Nodes</h2>" in answer.read()


def test_the_newer_snippet(newer):
    """The program of Mars's newer documents runs through the supervisor's web service."""
    session = marsdask.new_session(f"http://127.0.0.10:{newer.ports[4]}")
    try:
        a = mt.random.rand(2000, 2000, chunk_size=200)
        b = mt.inner(a, a)
        b.execute()  # submit tensor to cluster
        df = md.DataFrame(a).sum()
        df.execute()  # submit DataFrame to cluster
        assert df.fetch().between(900, 1100).all()
    finally:
        session.close()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_documents(newer, monkeypatch, name):
    """With ``import mars``, unchanged but for the address, on two supervisors and two workers."""
    address = f"http://127.0.0.10:{newer.ports[4]}"
    names = run_program(name, address, monkeypatch)
    assert names["mt"].ones is mt.ones


def test_what_the_supervisor_says(newer):
    """The line that the documents show; with a loopback address the web service has the same."""
    assert newer.web == f"Mars Web started at 127.0.0.10:{newer.ports[4]}"


def test_workers_bind_what_they_are_told(newer):
    """``-H`` and ``-p`` set the bound and the advertised address of a worker."""
    p1, _, p3, p4, _ = newer.ports
    expected = {f"tcp://127.0.0.20:{p3}", f"tcp://127.0.0.21:{p4}"}
    assert workers_of(f"tcp://127.0.0.10:{p1}") == expected
