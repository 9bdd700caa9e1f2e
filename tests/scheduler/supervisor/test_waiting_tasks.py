"""Queued tasks by who submitted them, and the reservation of the first, without a scheduler."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor.placement import Policy, TaskView
from marsdask.scheduler.supervisor.waiting_tasks import HeadReservation, QueueGroups, submitter
from tests.strategies import draws


class Waiting:
    """A queued task."""

    def __init__(self, priority, client=None):
        self.priority = priority
        self.key = priority
        self.state = "queued"
        self.who_wants = client and [SimpleNamespace(client_key=client)]


class Room:
    """A worker with a limit of memory."""

    host = "host"
    nthreads = 1
    nbytes = 0
    occupancy = 0.0
    processing = long_running = ()

    def __init__(self, limit):
        self.memory_limit = limit


def test_tasks_belong_to_who_waits_for_them():
    """A client, or a submission, whose tasks in the middle nobody asks for."""
    assert submitter(Waiting((0, 5, 1), "me")) == submitter(Waiting((0, 6, 2), "me")) == "me"
    assert submitter(Waiting((0, 5, 1))) == submitter(Waiting((0, 5, 2)))
    assert submitter(Waiting((0, 5, 1))) != submitter(Waiting((0, 6, 1)))


@given(
    tasks=st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), min_size=1, max_size=12
    )
)
@draws(30)
def test_each_submitter_advances_to_its_first_that_waits(tasks):
    """In its order, whatever the others' do; what has left the queue by itself is skipped."""
    groups: QueueGroups[Waiting] = QueueGroups()
    groups.add(Waiting((0, 0, 0), "first"))
    waiting = [Waiting((0, 1, number), client) for number, (client, _, _) in enumerate(tasks)]
    can = {ts: able for ts, (_, able, _) in zip(waiting, tasks, strict=True)}
    for ts in waiting:
        groups.add(ts)
    for ts, (_, _, gone) in zip(waiting, tasks, strict=True):
        if gone:
            ts.state = "processing"
    sent: list[Waiting] = []

    def send(ts):
        assert ts.state == "queued"
        if submitter(ts) == "first":
            return False
        if can[ts]:
            ts.state = "processing"
            sent.append(ts)
        return can[ts]

    groups.advance(send)
    for name in "abc":
        own = [
            ts
            for ts, (client, _, gone) in zip(waiting, tasks, strict=True)
            if client == name and not gone
        ]
        stuck = next((place for place, ts in enumerate(own) if not can[ts]), len(own))
        assert [ts for ts in sent if submitter(ts) == name] == own[:stuck]
    left = [ts for ts in waiting if ts.state == "queued"]
    can.update(dict.fromkeys(left, True))
    groups.advance(send)
    assert not any(ts.state == "queued" for ts in waiting), "a later pass sends the others"


@given(
    limits=st.lists(st.integers(20, 200), min_size=1, max_size=4),
    running=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 100)), max_size=8),
    needs=st.integers(1, 200),
    others=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 100)), max_size=12),
)
@draws(60)
def test_the_first_fits_when_what_ran_before_has_ended(limits, running, needs, others):
    """However many others were tried meanwhile: those that fit have not delayed it."""
    policy, workers = Policy(), [Room(limit) for limit in limits]
    ledger, ts = policy.ledger, Waiting((0, 1, 1))
    view: TaskView[Room] = TaskView(needs)
    for number, (place, nbytes) in enumerate(running):
        worker = workers[place % len(workers)]
        if policy.fits(TaskView(nbytes), worker):
            ledger.promise(("running", number), worker, nbytes)
    head: HeadReservation[Room] = HeadReservation(ledger)
    head.make(ts, needs, workers, policy.soft)
    started = []
    for number, (place, nbytes) in enumerate(others):
        worker = workers[place % len(workers)]
        if worker in head.others(Waiting((0, 2, 1)), workers) and policy.fits(
            TaskView(nbytes), worker
        ):
            ledger.promise(("other", number), worker, nbytes)
            started.append(worker)
        head.make(ts, needs, workers, policy.soft)
    for number in range(len(running)):
        ledger.settle(("running", number))
    head.pause()
    if head.alone is None:
        assert head.worker is not None
        assert policy.fits(view, head.worker)
    else:
        assert head.alone is max(workers, key=lambda one: one.memory_limit)
        assert head.alone not in started
        assert head.alone in head.others(ts, workers)
    ts.state = "released"
    head.expire()
    assert head.task is head.worker is head.alone is None
