"""Errors of a supervisor that cannot start."""

import socket
import subprocess
import sys
import urllib.request
from argparse import Namespace

import pytest
from distributed import Security

from marsdask.scheduler.cli.settings import Settings
from marsdask.scheduler.cli.sizes import ConfigError
from marsdask.scheduler.cli.supervisor import SupervisorService
from tests.cluster.commands import Command, free_port, running


def test_a_taken_port_is_one_line():
    """Not a traceback: the address, why, and what to change."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = [sys.executable, "-m", "marsdask.scheduler.cli.supervisor"]
        run = subprocess.run(
            [*command, "-H", "127.0.0.1", "-p", str(port)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert run.returncode == 2
    assert f"mars-supervisor: error: cannot listen at 127.0.0.1:{port} (" in run.stderr
    assert "-p" in run.stderr
    assert "Traceback" not in run.stderr


def test_one_web_port():
    """A list is refused; its rest would be ignored."""
    given = Namespace(web_port="7005,7006")
    settings = Settings("127.0.0.1", [0], None, [], Security(), given)
    with pytest.raises(ConfigError, match="'7005,7006'; a supervisor has one web port"):
        SupervisorService(settings)


def test_the_port_of_probes():
    """It is that of the variable, of supervisors and web services, too."""
    ports = [free_port() for _ in range(3)]
    with running() as commands:
        variable = {"MARS_K8S_READINESS_PORT": str(ports[1])}
        commands.append(Command(f"mars-supervisor -H 127.0.0.1 -p {ports[0]}", **variable))
        commands[0].wait_for("Mars Web started")
        variable = {"MARS_K8S_READINESS_PORT": str(ports[2])}
        commands.append(Command(f"mars-web -H 127.0.0.1 -s 127.0.0.1:{ports[0]}", **variable))
        commands[1].wait_for("Mars Web started")
        for port in ports[1:]:
            for path in ("live", "health"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as answer:
                    assert answer.read() == b"ok"
