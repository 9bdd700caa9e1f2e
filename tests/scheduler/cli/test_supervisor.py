"""Errors of a supervisor that cannot start."""

import socket
import subprocess
import sys


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
