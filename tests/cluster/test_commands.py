"""The harness of these tests: nothing outlives it."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tests.cluster.commands import BOUND, DEADLINE
from tests.source import ROOT

#: Starts a process as commands are, says its number, and waits to be killed.
_RUN = """
import subprocess, sys
from tests.cluster.commands import BOUND

waits = "import signal; print('up', flush=True); signal.pause()"
child = subprocess.Popen([*BOUND, sys.executable, "-c", waits], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.skipif(not BOUND, reason="needs setpriv, of util-linux")
def test_commands_end_with_a_run_that_is_killed():
    """The kernel sees to that; the run itself cannot."""
    command = [sys.executable, "-c", _RUN]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        child = psutil.Process(int(run.stdout.readline()))
        run.kill()
    _, left = psutil.wait_procs([child], DEADLINE)
    for process in left:
        process.kill()
    assert not left
