"""``mars-supervisor --secure``, and who joins by its token, as its output has it."""

from __future__ import annotations

import re
import urllib.request
from types import SimpleNamespace

import pytest
from distributed import Client

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.cluster.join import pinned_authority, pinned_context
from marsdask.scheduler.errors import Unreachable
from tests.cluster.commands import Command, free_port, running


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start a supervisor and a worker, by the line that the supervisor prints."""
    place = str(tmp_path_factory.mktemp("home") / "secure")
    port, web = free_port(), free_port()
    line = f"mars-supervisor -H 127.0.0.1 -p {port} -w {web} --secure"
    with running() as commands:
        commands.append(Command(line, MARS_SECURE_DIR=place))
        worker = commands[0].wait_for("workers:").partition(":")[2]
        session = commands[0].wait_for("sessions:")
        commands.append(Command(f"{worker} -H 127.0.0.1 --no-bind-cpu", MARS_CPU_TOTAL="1"))
        shown = free_port()
        line = f"mars-web -H 127.0.0.1 -p {shown} -s 127.0.0.1:{port} --require-secure"
        commands.append(Command(line, MARS_JOIN=worker.rpartition(" ")[2]))
        for command in commands[1:]:
            command.wait_for("started at")
        found = re.search(r'new_session\("(.*)", token="(.*)"\)', session)
        assert found is not None
        yield SimpleNamespace(
            commands=commands,
            urls={"mars-supervisor": found[1], "mars-web": f"https://127.0.0.1:{shown}"},
            token=found[2],
            port=port,
        )


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check only at the end of the module, which shares the cluster."""


@pytest.mark.parametrize("where", ["mars-supervisor", "mars-web"])
def test_a_session_by_the_token(cluster, where):
    """It computes, over a connection that only the right authority can serve."""
    with marsdask.new_session(cluster.urls[where], token=cluster.token, default=False) as session:
        assert mt.ones(10, chunk_size=5).sum().execute(session=session).fetch(session=session) == 10


@pytest.mark.parametrize("command", ["mars-worker --no-bind-cpu", "mars-web"])
def test_another_authority_is_refused(cluster, command):
    """Who is in between, with another certificate, gets neither the token nor the session."""
    secret, digest, port = cluster.token.split(".")
    other = f"{secret}.{digest[::-1]}.{port}"
    with pytest.raises(PermissionError, match="not the one of the token"):
        marsdask.new_session(cluster.urls["mars-supervisor"], token=other, default=False)
    refused = Command(f"{command} -s 127.0.0.1:{cluster.port} --join {other}")
    refused.wait_for("not the one of the token")
    assert refused.wait() != 0
    refused.kill()


def test_without_the_token(cluster):
    """No port answers: neither the supervisor's, nor the worker's, nor its pages."""
    started = next(line for line in cluster.commands[1].said if "started at" in line)
    worker = started.rpartition(" ")[2].removeprefix("tls://")
    for address in (f"127.0.0.1:{cluster.port}", worker):
        with pytest.raises(OSError, match=r".*"):
            Client(f"tcp://{address}", timeout=1, set_as_default=False)
    with pytest.raises(Unreachable, match="give the token="):
        marsdask.new_session(cluster.urls["mars-supervisor"], default=False)
    cleartext = cluster.urls["mars-supervisor"].replace("https", "http")
    with pytest.raises(Unreachable, match="give https://"):
        marsdask.new_session(cleartext, default=False, connect_timeout=1)
    with pytest.raises(ValueError, match="give https://"):  # before the token is sent
        marsdask.new_session(cleartext, token=cluster.token, default=False)
    joins = Command(f"mars-worker --no-bind-cpu -s 127.0.0.1:{cluster.port}")
    joins.wait_for("needs --join")
    joins.kill()
    pages = next(line for line in cluster.commands[1].said if "dashboard at" in line)
    place = f"{pages.rpartition(' ')[2]}/metrics"
    with pytest.raises(OSError, match=r"closed|reset"):  # it encrypts, as all ports do
        urllib.request.urlopen(f"http://{place}")
    secret, digest, _ = cluster.token.split(".")
    known = pinned_context(pinned_authority(cluster.urls["mars-supervisor"], digest))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"https://{place}", context=known)
    shown = urllib.request.Request(
        f"https://{place}", headers={"Authorization": f"Bearer {secret}"}
    )
    with urllib.request.urlopen(shown, context=known) as answer:
        assert answer.status == 200
