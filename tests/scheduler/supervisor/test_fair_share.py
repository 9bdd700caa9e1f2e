"""Sessions share a cluster by weights: simulated, without a scheduler."""

from __future__ import annotations

import gc
import heapq
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor.fair_share import (
    FairQueue,
    WorkerShares,
    check_weight,
    submission,
)
from tests.strategies import draws

COSTS = st.sampled_from([0.25, 0.5, 1.0, 2.0])


class SharedThreads:
    """Threads that run the tasks of sessions in the order of their virtual times."""

    def __init__(self, threads):
        self.queue = FairQueue()
        self.free = threads
        self.clock = 0.0
        self.waiting = []
        self.running = []
        self.started = []
        self._count = 0

    def submit(self, session, costs, weight=1.0):
        times = self.queue.times(self.queue.share(session, weight), costs)
        assert times == sorted(times), "a session's own order"
        for time, cost in zip(times, costs, strict=True):
            self._count += 1
            heapq.heappush(self.waiting, (time, self._count, session, cost))

    def step(self):
        """Start what can start, and end the next task."""
        while self.free and self.waiting:
            time, _, session, cost = heapq.heappop(self.waiting)
            self.free -= 1
            self.started.append((session, cost))
            heapq.heappush(self.running, (self.clock + cost, time))
        self.clock, time = heapq.heappop(self.running)
        self.queue.run(time)
        self.free += 1

    def served(self, session):
        return sum(cost for one, cost in self.started if one == session)


@given(
    threads=st.integers(1, 4),
    weights=st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=2, max_size=4),
    costs=st.lists(COSTS, min_size=2, max_size=4),
    late=st.integers(0, 40),
)
@draws(30)
def test_thread_time_follows_the_weights(threads, weights, costs, late):
    """Of sessions that always have tasks, from when the last of them has come."""
    cluster = SharedThreads(threads)
    sessions = list(enumerate(weights))
    for number, weight in sessions[1:]:
        cluster.submit(number, [costs[number % len(costs)]] * 800, weight)
    for _ in range(late):
        cluster.step()
    cluster.submit(0, [costs[0]] * 800, weights[0])
    before = [cluster.served(number) for number, _ in sessions]
    for _ in range(150):
        cluster.step()
    got = [cluster.served(number) - before[number] for number, _ in sessions]
    # In service and in rounding, a session is at most a few of the largest tasks away.
    slack = (threads + 2) * max(costs)
    for number, weight in sessions:
        share = weight / sum(weights)
        assert abs(got[number] - share * sum(got)) <= slack * (1 + share * len(weights))


@given(
    threads=st.integers(1, 4),
    costs=st.lists(COSTS, min_size=1, max_size=5),
    weight=st.sampled_from([0.25, 1.0]),
)
@draws(20)
def test_no_session_starves(threads, costs, weight):
    """However many others come, one after the other, and however short their tasks are."""
    cluster = SharedThreads(threads)
    cluster.submit("large", [1.0] * 100)
    cluster.step()
    cluster.submit("small", costs, weight)
    count = 0
    while cluster.served("small") < sum(costs):
        if not any(str(session).startswith("other") for _, _, session, _ in cluster.waiting):
            count += 1
            cluster.submit(f"other {count}", [0.05])
        cluster.step()
        assert cluster.served("large") < 100
    others = sum(cost for one, cost in cluster.started if str(one).startswith("other"))
    assert others <= (sum(costs) + threads * max(costs)) / weight


@given(st.integers(1, 50), st.integers(1, 4))
@draws(20)
def test_a_small_job_does_not_wait_for_a_large_one(tasks, threads):
    """At most as many of the other session's tasks start before its last as it has itself."""
    cluster = SharedThreads(threads)
    cluster.submit("large", [1.0] * 500)
    for _ in range(100):
        cluster.step()
    before = len(cluster.started)
    cluster.submit("small", [1.0] * tasks)
    while cluster.served("small") < tasks:
        cluster.step()
    assert len(cluster.started) - before <= 2 * tasks + threads


@pytest.mark.parametrize(("weight", "cost"), [(0.01, 8.0), (0.1, 80.0)])
def test_one_early_task_does_not_hold_up_later_sessions(weight, cost):
    """However light its session, and however long the task."""
    cluster = SharedThreads(2)
    cluster.submit("early", [cost], weight)
    cluster.submit("other", [0.25])
    cluster.step()
    cluster.submit("large", [0.5] * 1700)
    while cluster.clock < cost:
        cluster.step()
    before = len(cluster.started)
    assert before >= 2 * cost
    cluster.submit("late", [0.5])
    while not cluster.served("late"):
        cluster.step()
    assert len(cluster.started) - before <= 4


def test_times_are_those_of_the_starts():
    """A task comes after those before it in its session, whatever it takes itself."""
    queue = FairQueue()
    share = queue.share("one", 2.0)
    assert queue.times(share, []) == []
    assert queue.times(share, [0.5, 8.0, 1.0]) == [0.25, 0.5, 4.5]
    assert queue.times(share, [1.0]) == [5.0]
    queue.run(4.5)
    assert queue.times(queue.share("two", 0.1), [1.0, 1.0]) == [5.0, 15.0]


def test_few_sessions_are_remembered():
    """Those that had jobs last, and those that have some: these have one share of the queue."""
    queue = FairQueue()
    held = queue.share("held", 1.0)
    queue.times(held, [1.0] * 5)
    for number in range(3000):
        queue.run(queue.times(queue.share(number, 1.0), [1.0])[0])
    gc.collect()
    assert len(queue._sessions) == len(queue.recent) + 1 <= 1100
    assert queue.share("held", 1.0) is held
    late = queue.share(2999, 1.0).time
    assert late > queue.now
    assert queue.times(queue.share(2999, 1.0), [1.0]) == [late]
    assert queue.times(queue.share(0, 1.0), [1.0]) == [queue.now + 0.5]


@pytest.mark.parametrize("weight", [0, -1, 1e-308, 0.0009, 1001, 1e300, math.inf, math.nan])
def test_weights_are_in_a_range(weight):
    """Others are refused: virtual times would overflow, or stand still."""
    with pytest.raises(ValueError, match=r"from 0\.001 to 1000, not"):
        check_weight(weight)


@pytest.mark.parametrize("weight", [0.001, 1, 1000])
def test_the_range_includes_its_ends(weight):
    """As numbers of any type."""
    assert check_weight(weight) == weight


def priority(number):
    return (0, 1.0, 0) if number is None else (0, 1.0, 0, number)


@given(
    nthreads=st.integers(1, 8),
    there=st.lists(st.sampled_from([None, 1, 2, 3]), max_size=30),
    weight=st.sampled_from([0.5, 1.0, 4.0]),
)
@draws(40)
def test_places_on_a_worker(nthreads, there, weight):
    """A session has its share of a worker that others fill, and one place at least."""
    shares = WorkerShares()
    shares.join(1, "a", weight)
    assert not shares.contended
    shares.join(2, "b", 1.0)
    shares.join(3, "b", 1.0)
    assert shares.contended
    for number in there:
        shares.add("worker", priority(number))
    for number in (None, 1, 2):
        same = {number, 5 - number if number == 2 else number}
        assert shares.others_run(priority(number)) == bool({*there} - same)
    own = there.count(1)
    others = {"b" if number else None for number in there if number != 1}
    least = max(1, math.floor(nthreads * weight / (weight + len(others)))) if others else 0
    assert shares.has_place("worker", nthreads, priority(1)) == (own < least)
    for number in there:
        shares.remove("worker", priority(number))
    shares.remove("worker", priority(1))
    assert not shares._counts
    assert not shares._totals
    for number in (1, 2, 3):
        shares.leave(number)
    assert not shares._sessions
    assert shares._weights == {None: 1.0}
    assert submission(priority(None)) is None


def test_jobs_of_one_session_do_not_contend():
    """Nor with tasks that nobody's job has; those of a job that ended become such tasks."""
    shares = WorkerShares()
    for number in (1, 2):
        shares.join(number, "a", 1.0)
        shares.add("worker", priority(number))
    assert not shares.contended
    assert not shares.others_run(priority(1))
    shares.leave(2)
    assert shares.contended
    assert shares.others_run(priority(1))
    shares.remove("worker", priority(2))
    assert not shares.contended
    assert not shares.others_run(priority(1))
    shares.join(3, "b", 1.0)
    assert shares.contended
    assert not shares.others_run(priority(1)), "a job without tasks"
    shares.leave(3)
    assert not shares.contended
