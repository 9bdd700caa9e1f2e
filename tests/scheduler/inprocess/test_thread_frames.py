"""Frames of threads: right ones, and no deadlock of the interpreter."""

import gc
import subprocess
import sys
import threading

import pytest

from marsdask.scheduler.inprocess.thread_frames import collector_paused, current_frames

DEADLINE = 60

#: Collects garbage all the time, whose finalizers let threads run that start threads.
PROGRAM = """
import faulthandler, gc, os, threading, time
from marsdask.scheduler.inprocess.thread_frames import current_frames

class Garbage:
    def __init__(self):
        self.itself = self
    def __del__(self):
        time.sleep(0.001)

def start_threads():
    while True:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

faulthandler.dump_traceback_later(45, exit=True)
for _ in range(2):
    threading.Thread(target=start_threads, daemon=True).start()
# Most of what is allocated are the frames of these.
gate = threading.Event()
for _ in range(50):
    threading.Thread(target=gate.wait, daemon=True).start()
gc.set_threshold(20)
end = time.monotonic() + 2
while time.monotonic() < end:
    Garbage()
    current_frames()
os._exit(0)
"""


def test_frames_of_all_threads():
    """Each thread has its own, by identifier."""
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait, args=(DEADLINE,))
    thread.start()
    try:
        frames = current_frames()
    finally:
        gate.set()
        thread.join(DEADLINE)
    assert frames[threading.get_ident()].f_code.co_name == "current_frames"
    assert thread.ident in frames


def test_asking_never_stops_the_process():
    """Threads start and garbage is collected meanwhile."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled):
    """Whoever has switched it off finds it off."""
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with collector_paused():
            assert gc.isenabled() == (enabled and sys.version_info >= (3, 12))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
