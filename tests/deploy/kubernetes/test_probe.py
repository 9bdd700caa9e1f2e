"""The command that containers are probed with."""

import asyncio
import os
import socket
import urllib.request

import pytest

from marsdask.deploy.kubernetes import probe
from marsdask.scheduler.cli.readiness import ReadinessServer
from tests.cluster.commands import free_port


class ProbedService:
    """A service in some state."""

    def __init__(self, *, ready):
        self.ready = ready
        self.retired = 0

    async def retire(self):
        self.retired += 1


def probed(service, *arguments, host="127.0.0.1", **variables):
    """Return the exit code of a probe of a service, which runs meanwhile."""
    port = free_port()

    async def main():
        environ = {"MARS_K8S_READINESS_PORT": str(port), **variables}
        server = ReadinessServer.start(service, host, environ)
        code = await asyncio.to_thread(probe.main, arguments, environ)
        server.close()
        return code

    return asyncio.run(main())


@pytest.mark.parametrize(("ready", "code"), [(True, 0), (False, 1)])
def test_readiness_is_the_exit_code(ready, code):
    """As Kubernetes reads it."""
    assert probed(ProbedService(ready=ready)) == code


def test_retiring_is_asked_once():
    """The hook of a pod's end waits for it."""
    service = ProbedService(ready=True)
    assert probed(service, "retire") == 0
    assert service.retired == 1


def test_nobody_answers(capsys):
    """The error is for the events of the pod."""
    assert probe.main([], {"MARS_K8S_READINESS_PORT": str(free_port())}) == 1
    assert "/health: " in capsys.readouterr().err
    assert probe.main(["restart"], {}) == 2


def test_without_a_port_the_process_counts(tmp_path, monkeypatch):
    """That of the file that all commands write."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    assert probe.main([], {}) == 1
    (tmp_path / "mars-service.pid").write_text(str(os.getpid()))
    assert probe.main([], {}) == 0


@pytest.mark.parametrize(
    ("host", "asked"),
    [
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("[::]", "[::1]"),
        ("fd00::5", "[fd00::5]"),
        ("127.0.0.3", "127.0.0.3"),
        ("", "127.0.0.1"),
    ],
)
def test_where_services_listen(host, asked, monkeypatch, capsys):
    """All addresses are those of this host too; those of IPv6 have brackets in URLs."""
    monkeypatch.setattr(urllib.request.OpenerDirector, "open", nobody)
    environ = {"MARS_K8S_READINESS_PORT": "15031", "MARS_BIND_HOST": host}
    assert probe.main(["retire"], environ) == 1
    assert f"http://{asked}:15031/retire: " in capsys.readouterr().err


def nobody(self, url, data, timeout):
    raise ConnectionRefusedError(url)


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6")
def test_retiring_by_ipv6():
    """Of a service that listens on all its addresses."""
    service = ProbedService(ready=True)
    assert probed(service, "retire", host="::", MARS_BIND_HOST="::") == 0
    assert service.retired == 1
