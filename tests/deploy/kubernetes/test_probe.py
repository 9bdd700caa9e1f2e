"""The command that containers are probed with."""

import asyncio
import os

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


def probed(service, *arguments):
    """Return the exit code of a probe of a service, which runs meanwhile."""
    port = free_port()

    async def main():
        environ = {"MARS_K8S_READINESS_PORT": str(port)}
        server = ReadinessServer.start(service, "127.0.0.1", environ)
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
