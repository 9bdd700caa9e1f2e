"""The ledger of a host's worker processes."""

from __future__ import annotations

import os
import threading

import pytest

from marsdask.scheduler.worker import memory_ledger
from marsdask.scheduler.worker.admission import Admission, AdmissionDecision
from marsdask.scheduler.worker.memory_ledger import HARD, SOFT, LedgerView, MemoryLedger
from tests.scheduler.peer import eventually, peers

fcntl = pytest.importorskip("fcntl")

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")

DEADLINE = 60

held: dict[str, LedgerView] = {}


@pytest.fixture
def host():
    host = MemoryLedger(3, 1000)
    yield host
    host.close()


def admissions(host, **options):
    """Return the admissions of two processes, each with half of the host."""
    return [Admission(375, host=LedgerView(host.path, place), **options) for place in range(2)]


def test_neighbours_leave_what_they_do_not_use(host):
    """A process promises beyond its share, up to three quarters of the host, while that lasts."""
    one, other = admissions(host)
    assert one.decide(600, stored=0) is AdmissionDecision.START
    one.start("big", 600)
    assert other.decide(200, stored=0) is AdmissionDecision.START, (
        "its own share, below the hard limit"
    )
    other.start("small", 200)
    assert one.decide(10, stored=0) is AdmissionDecision.WAIT
    assert other.decide(150, stored=0) is AdmissionDecision.WAIT, "beyond the hard limit"
    one.end("big")
    assert other.decide(500, stored=0) is AdmissionDecision.START
    assert LedgerView(host.path).used() == 700


def test_what_is_measured_counts(host):
    """Memory without reservations counts as well."""
    one, other = admissions(host)
    assert one.host is not None
    one.host.tell(resident=700)
    assert other.decide(300, stored=0) is AdmissionDecision.START, "nothing runs anywhere"
    one.start("x", 10)
    assert other.decide(300, stored=0) is AdmissionDecision.WAIT
    assert other.decide(150, stored=0) is AdmissionDecision.START


def test_what_fits_nowhere_runs_alone_on_the_host(host):
    """It waits for tasks of other processes, which start no more until it has run."""
    one, other = admissions(host)
    one.start("x", 100)
    assert other.decide(5000, stored=0) is AdmissionDecision.WAIT
    assert one.decide(10, stored=0) is AdmissionDecision.WAIT, "the other waits for the host"
    one.end("x")
    assert other.decide(5000, stored=0) is AdmissionDecision.START
    other.start("huge", 5000)
    assert one.decide(10, stored=0) is AdmissionDecision.WAIT
    other.end("huge")
    assert one.decide(10, stored=0) is AdmissionDecision.START


def test_who_has_waited_longest_is_first(host):
    """Not whoever asks first when the memory is free."""
    one, other = admissions(host)
    third = Admission(375, host=LedgerView(host.path, 2))
    one.start("x", 300)
    assert other.decide(900, stored=0) is AdmissionDecision.WAIT
    assert third.decide(900, stored=0) is AdmissionDecision.WAIT
    one.end("x")
    assert one.decide(300, stored=0) is AdmissionDecision.WAIT, "it asks in the same moment"
    assert third.decide(900, stored=0) is AdmissionDecision.WAIT
    assert other.decide(900, stored=0) is AdmissionDecision.START
    other.start("huge", 900)
    other.end("huge")
    assert other.decide(300, stored=0) is AdmissionDecision.WAIT
    assert third.decide(900, stored=0) is AdmissionDecision.START


def test_two_that_find_nobody_running(host):
    """The second one waits, though the task of the first has not started yet."""
    one, other = admissions(host)
    assert one.decide(900, stored=0) is AdmissionDecision.START
    assert other.decide(900, stored=0) is AdmissionDecision.WAIT


def test_what_is_refused_reserves_nothing(host):
    """Otherwise the other processes would wait for a task that does not run."""
    one, other = admissions(host, stuck=True, full=True)
    assert one.decide(900, stored=300) is AdmissionDecision.REFUSE
    assert other.decide(900, stored=0) is AdmissionDecision.START


def test_a_suspended_process_that_waits(host, monkeypatch):
    """It delays the others for some seconds, and is the first one again when it goes on."""
    one, other = admissions(host)
    one.start("x", 300)
    assert other.decide(900, stored=0) is AdmissionDecision.WAIT
    one.end("x")
    with monkeypatch.context() as later:
        later.setattr(memory_ledger, "_SILENT", 0)
        assert one.decide(300, stored=0) is AdmissionDecision.START
        one.start("y", 300)
    assert other.decide(900, stored=0) is AdmissionDecision.WAIT
    one.end("y")
    assert one.decide(300, stored=0) is AdmissionDecision.WAIT


def test_results_beyond_the_own_share_leave_first(host):
    """Only promises are borrowed for; stored results make room in their own process."""
    one, other = admissions(host)
    other.start("x", 700)
    assert one.decide(100, stored=300) is AdmissionDecision.SPILL
    assert one.decide(100, stored=0) is AdmissionDecision.START


def take(path, position, nbytes):
    """Promise bytes, and keep the row."""
    held["share"] = LedgerView(path, position)
    return held["share"].promise(nbytes, HARD)


def test_a_killed_process_takes_nothing(host):
    """Its row stops counting with it; the next process takes the row over."""
    mine = LedgerView(host.path, 1)
    for _ in range(2):
        with peers(1) as [peer]:
            assert peer.call(take, host.path, 0, 800)
            assert not mine.promise(200, HARD)
            assert mine.others("promised")
            assert not mine.within(SOFT)
        eventually(lambda: not mine.others("promised"))
    assert mine.within(SOFT)
    assert mine.promise(200, HARD)
    assert mine.used() == 200
    mine.close()
    assert LedgerView(host.path).used() == 0


def test_a_process_that_stands_still_with_the_lock(host):
    """The others continue without the lock of a stopped process."""
    stopped, share = LedgerView(host.path, 0), LedgerView(host.path, 1)
    fcntl.flock(stopped._descriptor, fcntl.LOCK_EX)
    promised = []
    asking = threading.Thread(
        target=lambda: promised.append([share.promise(100, HARD), share.promise(1000, HARD)]),
        daemon=True,
    )
    asking.start()
    asking.join(DEADLINE)
    assert promised == [[True, False]]
    stopped.close()
    share.close()


def test_leaving_twice(host):
    """A worker that is closed twice clears its row once."""
    share = LedgerView(host.path, 0)
    share.tell(resident=700)
    share.close()
    with open(os.devnull) as other:  # may get the number of what was closed
        share.close()
        assert not os.fstat(other.fileno()).st_size
    assert LedgerView(host.path).used() == 0
