"""The web port behind a mapped port or an ``ssh -L`` tunnel: only another address reaches it."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import marsdask
import marsdask.tensor as mt
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import HOST, beside


def pour(source: socket.socket, drain: socket.socket) -> None:
    """Pass on what comes until it ends, and then say so."""
    with contextlib.suppress(OSError):
        while block := source.recv(1 << 16):
            drain.sendall(block)
    with contextlib.suppress(OSError):
        drain.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def forwarded(port: int) -> Iterator[int]:
    """Forward connections from another port, as a tunnel does."""
    ends: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                outer, _ = server.accept()
            except OSError:
                return
            inner = socket.create_connection((HOST, port))
            ends.extend((outer, inner))
            for pair in ((outer, inner), (inner, outer)):
                threads.append(threading.Thread(target=pour, args=pair))
                threads[-1].start()

    with socket.create_server((HOST, 0)) as server:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join(DEADLINE)
            for end in ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(DEADLINE)
            for end in ends:
                end.close()


@pytest.fixture(scope="module")
def tunnel():
    """Start a cluster with a web service on all addresses, and a tunnel to it."""
    with beside({}, web=("0.0.0.0", 0), dashboard_address="0.0.0.0:0") as cluster:
        inside = cluster.scheduler.http_server.port
        with forwarded(inside) as port:
            yield SimpleNamespace(inside=inside, url=f"http://{HOST}:{port}")


def read(tunnel, path):
    """Return where a path leads to, and what is there."""
    with urllib.request.urlopen(tunnel.url + path, timeout=DEADLINE) as answer:
        return answer.url, answer.read().decode()


#: Pages that do without bokeh, which draws the others.
PAGES = ("/", "/info/main/workers.html", "/info/main/logs.html")


def test_pages_lead_to_where_they_came_from(tunnel):
    """Pages, the first one too, link to no other host and port of the cluster."""
    links = set()
    for path in PAGES:
        _, page = read(tunnel, path)
        assert f"//{HOST}:{tunnel.inside}" not in page
        assert "0.0.0.0" not in page
        found = set(re.findall(r'(?:href|src)="([^"#]+)"', page))
        links |= {urllib.parse.urljoin(tunnel.url + path, link) for link in found}
    hosts = [urllib.parse.urlsplit(link).netloc for link in links]
    own = hosts.count(tunnel.url.removeprefix("http://"))
    assert own > 5
    assert own == sum(":" in host for host in hosts), "others are documents elsewhere"


def test_the_json_interface(tunnel):
    """It answers through the tunnel."""
    _, text = read(tunnel, "/api/cluster/nodes?nodes=")
    assert json.loads(text)
    assert json.loads(read(tunnel, "/api/worker?action=count")[1]) == 1


def test_a_session(tunnel):
    """Only the tunnel's end is known to the client: results come through it, too."""
    with marsdask.new_session(tunnel.url, default=False) as session:
        x = mt.ones((300, 300), chunk_size=100)
        x.execute(session=session)
        assert x.fetch(session=session).sum() == 90_000
        assert (x + 1).sum().execute(session=session).fetch(session=session) == 180_000
        scheduler: Any = session.scheduler
        stream = scheduler.client.scheduler_comm.comm.sock.stream
    assert stream.closed(), "not when nobody sees to it any more"
