"""Scripts in several processes: they meet, and end together, also badly."""

from __future__ import annotations

import io

import pytest

import marsdask
import marsdask.remote as mr
import marsdask.tensor as mt

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


def test_ranks_meet():
    """All ranks run at the same time, know each other, and have the data as globals."""
    with marsdask.new_session("threads", n_workers=2):
        data = {"word": "hello", "tensor": mt.arange(5, chunk_size=2)}
        done = mr.run_script(io.StringIO(MEETING), data, n_workers=2, command_argv=["-v"])
        assert done.fetch() == {"status": "ok"}
        lines = sorted(str(done.fetch_log()).splitlines())
    said = "__main__ ['script', '-v'] 2 hello 10"
    assert lines == [f"[rank 0] {said}", f"[rank 1] {said}"]


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
