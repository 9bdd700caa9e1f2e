"""Scripts in several processes: they meet, and end together, also badly."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import marsdask
import marsdask.remote as mr
import marsdask.tensor as mt
from marsdask.remote import ranks

#: Rank 0 listens where all ranks look for it.
MEETING = """
import os, socket, sys, time
address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    with socket.create_server(address) as server:
        server.accept()[0].close()
else:
    for _ in range(600):
        try:
            socket.create_connection(address).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
print(__name__, sys.argv, os.environ["WORLD_SIZE"], word, tensor.sum().execute().fetch())
"""

#: One rank fails, and the other would never end.
FAILING = """
import os, time
print("rank", os.environ["RANK"], "begins", flush=True)
if os.environ["RANK"] == "1":
    raise ValueError("broken")
time.sleep(600)
"""

#: After its last line the thread that waits for the caller's end still has a pipe to read.
ENDING = """
import atexit, os, sys
def look():
    (frame,) = [f for f in sys._current_frames().values() if f.f_code.co_name == "_end_with"]
    print("a pipe:", os.fstat(frame.f_locals["pipe"]).st_mode & 0o170000 == 0o010000)
atexit.register(look)
"""


def test_ranks_meet():
    """All ranks run at the same time, know each other, and have the data as globals."""
    with marsdask.new_session("threads", n_workers=2):
        data = {"word": "hello", "tensor": mt.arange(5, chunk_size=2)}
        done = mr.run_script(io.StringIO(MEETING), data, n_workers=2, command_argv=["-v"])
        assert done.fetch() == {"status": "ok"}
        lines = sorted(str(done.fetch_log()).splitlines())
    said = "__main__ ['script', '-v'] 2 hello 10"
    assert lines == [f"[rank 0] {said}", f"[rank 1] {said}"]


def test_a_rank_that_ends_reads_no_closed_pipe():
    """It would write an error among the script's output if it ends before the thread reads."""
    with marsdask.new_session("threads"):
        assert str(mr.run_script(io.StringIO(ENDING)).fetch_log()) == "[rank 0] a pipe: True\n"


def test_a_rank_that_fails_stops_the_others():
    """The error names the rank, and has its last lines and the user's frames only."""
    with (
        marsdask.new_session("threads", n_workers=2),
        pytest.raises(mr.ScriptFailed, match=r"rank 1 \(this host\) of 2 failed") as caught,
    ):
        mr.run_script(io.BytesIO(FAILING.encode()), n_workers=2)
    told = str(caught.value)
    assert "[rank 1] rank 1 begins" in told
    assert told.endswith("[rank 1] ValueError: broken")
    assert "script_process" not in told


def test_a_rank_that_hangs_is_stopped(tmp_path):
    """After the timeout the error names the ranks that still ran."""
    script = tmp_path / "hang.py"
    script.write_text("import time\ntime.sleep(600)\n")
    with (
        marsdask.new_session("threads", n_workers=1),
        pytest.raises(TimeoutError, match=r"rank 0 \(this host\) of 1 did not end within 0.5 s"),
    ):
        mr.run_script(script, timeout=0.5)


#: It holds a connection to the test as long as it runs.
HANGING = """
import signal, socket, time
if stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
connection = socket.create_connection(address)
time.sleep(600)
"""


class Listener:
    """Knows that a script has begun, and that its process has ended."""

    def __init__(self, server: socket.socket) -> None:
        server.settimeout(60)
        self._server = server
        self.data = {"address": server.getsockname(), "stubborn": False}

    def wait_for_begin(self) -> None:
        self._connection, _ = self._server.accept()
        self._connection.settimeout(60)

    def wait_for_end(self) -> None:
        with self._connection:
            assert self._connection.recv(1) == b""


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Listener(server)


def test_ranks_end_when_the_script_is_cancelled(listener):
    """Nobody waits for them any more, and the session goes on."""
    with marsdask.new_session("threads", n_workers=1):
        script = io.StringIO(HANGING)
        execution = mr.run_script(script, listener.data, run_kwargs={"wait": False})
        listener.wait_for_begin()
        execution.cancel()
        listener.wait_for_end()
        assert mr.spawn(abs, (-3,)).execute().fetch() == 3


def test_ranks_end_when_the_session_is_closed(listener):
    """To close waits for the task, which ends with them."""
    session = marsdask.new_session("threads", n_workers=1)
    mr.run_script(io.StringIO(HANGING), listener.data, run_kwargs={"wait": False})
    listener.wait_for_begin()
    session.close()
    listener.wait_for_end()


def test_ranks_end_at_an_interrupt(listener):
    """Ctrl-C ends the script where it runs, not only the wait for it."""
    main = threading.get_ident()

    def interrupt() -> None:
        listener.wait_for_begin()
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with marsdask.new_session("threads", n_workers=1), pytest.raises(KeyboardInterrupt):
        mr.run_script(io.StringIO(HANGING), listener.data)
    thread.join()
    listener.wait_for_end()


#: Runs a script whose text is an argument, as are its data.
CALLER = """
import ast, io, sys
import marsdask
import marsdask.remote as mr
with marsdask.new_session("threads", n_workers=2):
    mr.run_script(io.StringIO(sys.argv[1]), ast.literal_eval(sys.argv[2]), int(sys.argv[3]))
"""


def calling(script: str, data: object, n_workers: int) -> subprocess.Popen[bytes]:
    """Run a script from a process of its own."""
    command = [sys.executable, "-c", CALLER, script, repr(data), str(n_workers)]
    root = str(Path(marsdask.__file__).parents[1])
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": root}, stderr=subprocess.DEVNULL
    )


def test_ranks_end_with_a_caller_that_is_killed(listener):
    """Whatever ends the caller closes a pipe to each rank."""
    with calling(HANGING, listener.data, 1) as caller:
        listener.wait_for_begin()
        caller.kill()
        listener.wait_for_end()


#: Rank 0 fails when rank 1 has begun.
BEGUN = f"""
import os, socket
server = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    with socket.create_server(server) as both:
        both.accept()[0].close()
    raise ValueError("broken")
{HANGING}
"""

MEET = """
for _ in range(600):
    try:
        socket.create_connection(server).close()
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
"""


def test_stubborn_ranks_end_with_a_script_that_fails(listener):
    """One that ignores the request to end is killed, although its caller ends at once."""
    script = BEGUN.replace("time.sleep(600)", MEET + "time.sleep(600)")
    with calling(script, {**listener.data, "stubborn": True}, 2) as caller:
        listener.wait_for_begin()
        assert caller.wait(60) == 1
        listener.wait_for_end()


def test_all_output_arrives(capsys, monkeypatch):
    """A rank that prints more than is kept waits until it was looked at."""
    monkeypatch.setattr(ranks, "KEPT", 1000)
    with marsdask.new_session("threads", n_workers=1):
        mr.run_script(io.StringIO("for i in range(5000):\n    print(i)"))
    printed = capsys.readouterr().out.splitlines()
    assert printed == [f"[rank 0] {i}" for i in range(5000)]


#: Arguments that are refused before anything starts.
REFUSED = [
    ({"data": [1]}, TypeError, "`data` must be a dict"),
    ({"n_workers": 0}, ValueError, "invalid n_workers: 0"),
    ({"n_workers": 3}, ValueError, r"needs as many workers, but 'threads' has 2"),
]


@pytest.mark.parametrize(("how", "kind", "words"), REFUSED)
def test_refusals(how, kind, words):
    """Wrong arguments, and more ranks than workers, start no process."""
    with marsdask.new_session("threads", n_workers=2), pytest.raises(kind, match=words):
        mr.run_script(io.StringIO("raise AssertionError"), **how)
