"""Claims of cores, and binding of processes to them."""

import os
import subprocess
import sys

import pytest

from marsdask.scheduler.storage import private_folder
from marsdask.scheduler.worker import binding


def test_shares_are_neighbours():
    """Every core is used, and shares differ by at most one core."""
    assert binding.share(range(5), 2) == [[0, 1], [2, 3, 4]]
    assert binding.share([3, 7], 2) == [[3], [7]]
    assert binding.share([1], 3) == [[1], [1], [1]]


@pytest.fixture
def four(monkeypatch):
    """Pretend that there are four cores."""
    monkeypatch.setattr(binding, "available", lambda: [0, 1, 2, 3])


def test_claims_avoid_each_other(four, tmp_path):
    """Cores that another claim holds are taken last, and freed with it."""
    folder = str(tmp_path)
    with binding.claimed(2, folder) as first:
        with binding.claimed(1, folder) as second:
            assert (first, second) == ([0, 1], [2])
            with binding.claimed(2, folder) as third:
                assert third == [0, 3], "one is free, one has to be shared"
        with binding.claimed(2, folder) as again:
            assert again == [2, 3]
    with binding.claimed(9, folder) as everything:
        assert everything == [0, 1, 2, 3]


def test_a_folder_of_another_user_is_not_used(four, tmp_path, monkeypatch, caplog):
    """A folder of another user is not used: cores are shared, with a warning."""

    def refuse(path):
        raise PermissionError(f"{path} belongs to another user")

    monkeypatch.setattr(private_folder, "check", refuse)
    with binding.claimed(1, str(tmp_path)) as cores:
        assert cores == [0]
    assert not list(tmp_path.iterdir())
    assert "another user" in caplog.text


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_a_bound_process_stays_on_its_cores():
    """So do threads that ran before, threads that start later, and children."""
    core = min(os.sched_getaffinity(0))
    code = (
        "import os, threading, subprocess, sys\n"
        "from marsdask.scheduler.worker.binding import bind\n"
        "go, seen = threading.Event(), []\n"
        "def look(): go.wait(60); seen.append(os.sched_getaffinity(0))\n"
        "early = threading.Thread(target=look); early.start()\n"
        f"bind([{core}], 1)\n"
        "late = threading.Thread(target=look); late.start()\n"
        "go.set(); early.join(60); late.join(60)\n"
        "child = [sys.executable, '-c', 'import os; print(os.sched_getaffinity(0))']\n"
        "print(seen, os.sched_getaffinity(0)); print(subprocess.check_output(child, text=True))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    one = f"{{{core}}}"
    assert done.stdout.split("\n")[:2] == [f"[{one}, {one}] {one}", one], done.stderr
