"""The rule of admission, without any worker."""

from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.worker.admission import Admission, AdmissionDecision


def test_what_fits_starts():
    """Promises, results and the task's own needs share the limit."""
    admission = Admission(100)
    admission.start("a", 40)
    assert admission.decide(30, stored=30) is AdmissionDecision.START
    assert admission.decide(31, stored=30) is AdmissionDecision.SPILL
    assert admission.excess(31, stored=30) == 1
    admission.end("a")
    assert admission.decide(31, stored=30) is AdmissionDecision.START


def test_what_nobody_sized_starts():
    """Without a hint nothing is held back."""
    admission = Admission(0)
    admission.start("a", 10)
    assert admission.decide(0, stored=1000) is AdmissionDecision.START
    assert admission.held_back == 0


def test_waiting_needs_somebody_to_wait_for():
    """A task that never fits starts once it is alone and nothing can leave memory."""
    admission = Admission(100)
    assert admission.decide(500, stored=0) is AdmissionDecision.START
    admission.start("a", 60)
    assert admission.decide(500, stored=0) is AdmissionDecision.WAIT
    admission.end("a")
    assert admission.decide(500, stored=10) is AdmissionDecision.SPILL
    assert admission.decide(500, stored=10, pinned=10) is AdmissionDecision.START, "its inputs stay"
    admission.stuck = True
    assert admission.decide(500, stored=10) is AdmissionDecision.START, (
        "what is stored has no pickle"
    )
    assert admission.held_back == 2


def test_full_disks_end_at_the_hard_limit():
    """A task that would have the process ended, with what it holds, is refused once it is alone."""
    admission = Admission(100, margin=20, stuck=True, full=True)
    assert admission.decide(50, stored=60) is AdmissionDecision.START
    assert admission.decide(61, stored=60) is AdmissionDecision.REFUSE
    assert admission.decide(61, stored=60, pinned=60) is AdmissionDecision.START, (
        "its inputs stay anyway"
    )
    admission.start("a", 10)
    assert admission.decide(61, stored=60) is AdmissionDecision.WAIT


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=30), st.integers(0, 150))
def test_promises_stay_below_the_limit(tasks, stored):
    """Only a task that runs alone exceeds the limit, and one task always runs."""
    admission = Admission(100)
    running: dict[int, int] = {}
    for number, (needs, ends) in enumerate(tasks):
        if ends and running:
            done, _ = running.popitem()
            admission.end(done)
        decision = admission.decide(needs, stored)
        if decision is AdmissionDecision.SPILL:
            stored = max(0, stored - admission.excess(needs, stored))
            decision = admission.decide(needs, stored)
        if decision is AdmissionDecision.START:
            admission.start(number, needs)
            running[number] = needs
        sized = [needs for needs in running.values() if needs]
        assert admission.promised == sum(sized)
        assert sum(sized) <= 100 or len(sized) == 1
        assert decision is not AdmissionDecision.WAIT or sized
