"""The web port from outside, as commands open it: encrypted, with a token, alone or relayed."""

import json
import ssl
import urllib.error
import urllib.request
from types import SimpleNamespace

import dask.config
import pytest

import marsdask
import marsdask.tensor as mt
from tests.cluster.certificates import make, needs_openssl
from tests.cluster.commands import DEADLINE, Command, free_port, running

pytestmark = needs_openssl

SHOWN = "hush-hush-hush-hush"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Start a supervisor, a worker and ``mars-web``, with TLS between all and a token."""
    folder = tmp_path_factory.mktemp("certificates")
    certificates = make(folder)
    (folder / "token").write_text(SHOWN)
    shown = f"--require-secure {certificates.flags}"
    p1, p2, p3 = (free_port() for _ in range(3))
    with running() as commands:
        file = f"--web-token-file {folder / 'token'}"
        lines = (
            f"mars-supervisor -H 127.0.0.10 -p {p1} -w {p2} {shown} {file}",
            f"mars-web -p {p3} -s 127.0.0.10:{p1} {shown}",
            f"mars-worker -H 127.0.0.10 -s 127.0.0.10:{p1} {shown}",
        )
        for line in lines:
            commands.append(Command(line, MARS_CPU_TOTAL="1", MARS_WEB_TOKEN=SHOWN))
        for command in commands:
            command.wait_for("started at")
        yield SimpleNamespace(
            commands=commands,
            certificates=certificates,
            urls={"supervisor": f"https://127.0.0.10:{p2}", "mars-web": f"https://127.0.0.1:{p3}"},
        )


def fetch(cluster, url, **headers):
    """Return status and content of a page, the service being known by the authority alone."""
    context = ssl.create_default_context(cafile=cluster.certificates.authority)
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE, context=context) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.parametrize("where", ["supervisor", "mars-web"])
def test_nobody_comes_in_without_the_token(cluster, where):
    """Pages, interface and websocket are refused, and the client gets an error at once."""
    url = cluster.urls[where]
    for path in ("/", "/status", "/api/cluster/nodes", "/json/identity.json"):
        assert fetch(cluster, url + path)[0] == 401
    assert fetch(cluster, f"{url}/health") == (200, b"ok")
    with (
        dask.config.set(cluster.certificates.config),
        pytest.raises(PermissionError, match="MARS_WEB_TOKEN"),
    ):
        marsdask.new_session(url, token="wrong")  # noqa: S106


@pytest.mark.parametrize("where", ["supervisor", "mars-web"])
def test_with_the_token_all_is_there(cluster, where, monkeypatch):
    """Pages, the interface, and a session that computes."""
    url = cluster.urls[where]
    header = {"Authorization": f"Bearer {SHOWN}"}
    assert fetch(cluster, f"{url}/json/counts.json", **header)[0] == 200
    status, told = fetch(cluster, f"{url}/api/worker?action=count", **header)
    assert (status, told) == (200, b"1")
    status, told = fetch(cluster, f"{url}/api/cluster/nodes?env=1", **header)
    assert len(json.loads(told)["nodes"]) == 2
    assert SHOWN not in told.decode()
    monkeypatch.setenv("MARS_WEB_TOKEN", SHOWN)
    with (
        dask.config.set(cluster.certificates.config),
        marsdask.new_session(url, default=False, session_id=where) as session,
    ):
        x = mt.ones((100, 100), chunk_size=50)
        assert x.sum().execute(session=session).fetch(session=session) == 10_000
    status, told = fetch(cluster, f"{url}/api/session/{where}/task", **header)
    assert [task["progress"] for task in json.loads(told)["tasks"]] == [1.0]


def test_secrets_are_nowhere(cluster):
    """Neither in what the commands print nor in what the processes that they start are given."""
    started = []
    for command in cluster.commands:
        assert SHOWN not in "\n".join(command.said)
        started += command.descendants()
    assert started
    for process in started:
        assert SHOWN not in f"{process.cmdline()} {process.environ()}"
