"""The life of a command's process, without the process."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile

import pytest
from distributed import Security

from marsdask.scheduler.cli import find_supervisor
from marsdask.scheduler.cli.serve import serve
from tests.cluster.commands import Command, running
from tests.source import ROOT


class Brief:
    """A service that has its say and ends."""

    def __init__(self, seen):
        self.seen = seen

    async def start(self):
        self.seen.append("started")

    async def finished(self):
        self.seen.append(self.content())
        return 7

    async def stop(self, signum):
        raise AssertionError(signum)

    @property
    def path(self):
        return os.path.join(tempfile.gettempdir(), "mars-service.pid")

    def content(self):
        with open(self.path) as file:
            return file.read()


def test_the_file_with_the_number(tmp_path, monkeypatch):
    """The file exists while the service runs, and links in its place are replaced."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (tmp_path / "mars-service.pid").symlink_to(mine)
    seen: list[str] = []
    assert serve("mars-x", lambda: Brief(seen)) == 7
    assert seen == ["started", str(os.getpid())]
    assert mine.read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_supervisor_that_does_not_come(tmp_path, monkeypatch, capsys):
    """With ``--death-timeout`` the command ends, with a code that is no misuse, and one line."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    class WaitingService(Brief):
        async def start(self):
            await find_supervisor.active_supervisor(["127.0.0.1:1"], Security(), patience=0.1)

    assert serve("mars-x", lambda: WaitingService([])) == 1
    assert capsys.readouterr().err == "mars-x: error: no active supervisor at 127.0.0.1:1\n"


def test_a_file_of_another_process_stays(tmp_path, monkeypatch):
    """The last to start has it; the first to end leaves it alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    class Late(Brief):
        def content(self):
            (tmp_path / "mars-service.pid").write_text("1")

    assert serve("mars-x", lambda: Late([])) == 7
    assert (tmp_path / "mars-service.pid").read_text() == "1"


#: A service that blocks the event loop, or a thread in which distributed unpickles.
_HANGS = """
import asyncio, sys, threading
from distributed.utils import offload
from marsdask.scheduler.cli import serve

class Hangs:
    async def start(self):
        hang = threading.Event().wait
        self.hung = asyncio.ensure_future(offload(hang))
        asyncio.get_running_loop().call_soon(print, "started")
        if sys.argv[1] == "loop":
            asyncio.get_running_loop().call_soon(hang)

    async def finished(self):
        await asyncio.Event().wait()

    async def stop(self, signum):
        return 5

serve._PATIENCE = serve._STUCK = 0.2
sys.exit(serve.serve("hangs", Hangs))
"""


@pytest.mark.parametrize(("what", "code"), [("thread", 5), ("loop", 128 + signal.SIGTERM)])
def test_sigterm_ends_what_hangs(what, code):
    """With the code of the service, if it could be stopped."""
    with running() as commands:
        line = shlex.join(["python", "-u", "-c", _HANGS, what])
        commands.append(command := Command(line))
        command.wait_for("started")
        assert command.end(signal.SIGTERM) == code


#: A service that tells that it has started, and starts a process afterwards.
_TELLS = """
import asyncio, multiprocessing, sys
from marsdask.scheduler.cli import serve

class Tells:
    async def start(self):
        await asyncio.to_thread(sys.stdin.read, 1)
        serve.report("started")
        process = multiprocessing.get_context("spawn").Process(target=int)
        process.start()
        process.join()

    async def finished(self):
        serve.report("and goes on")
        return 143

if __name__ == "__main__":
    sys.exit(serve.serve("tells", Tells))
"""


@pytest.mark.parametrize("full", [False, True])
def test_nobody_reads_what_it_says(full, tmp_path):
    """The service starts, starts processes and ends; so it does on a full disk."""
    program = tmp_path / "tells.py"
    program.write_text(_TELLS)
    with open("/dev/full", "wb") as disk:
        service = subprocess.Popen(
            [sys.executable, program],
            stdin=subprocess.PIPE,
            stdout=disk if full else subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        if service.stdout is not None:
            service.stdout.close()
        assert service.stdin is not None
        assert service.stderr is not None
        service.stdin.close()
        with service.stderr:
            assert service.stderr.read() == b""
        assert service.wait() == 143
