"""The check that nothing is left running really fails those who leave something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.source import ROOT

LEAKS = """
import subprocess, sys, threading
from tests import conftest

conftest.DEADLINE = 0.2
STOP = threading.Event()

def test_thread():
    threading.Thread(target=STOP.wait, name="leaked").start()

def test_clean():
    STOP.set()

def test_child():
    subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

def test_daemon():
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def test_what_a_test_leaves_behind_fails_it(tmp_path: Path) -> None:
    """A non-daemon thread and a child process are reported by the test that left them."""
    (tmp_path / "test_leaks.py").write_text(LEAKS)
    options = ["-p", "tests.conftest", "--rootdir", str(tmp_path), "-c", "/dev/null", "-q", "-rE"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "4 passed, 2 errors" in done.stdout
    assert "threads left behind: ['leaked']" in done.stdout
    assert "processes left behind and killed" in done.stdout
