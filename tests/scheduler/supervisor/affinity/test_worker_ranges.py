"""Homes of sources, without any server."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor.affinity.worker_ranges import QueuedSources, Ranges


@dataclass(eq=False)
class HomeStub:
    """A worker as ranges see it."""

    host: str
    nthreads: int = 1


@dataclass(eq=False)
class QueuedStub:
    """A queued task."""

    priority: int
    annotations: dict[str, Any] = field(default_factory=dict)
    state: str = "queued"


def some_tasks(count: int) -> list[Any]:
    """Return tasks whose affinities are evenly distributed."""
    return [QueuedStub(i, {"mars_band": i / count}) for i in range(count)]


WORKERS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 8)), min_size=1, max_size=8)


@given(WORKERS)
@example(  # where a rounded share of all threads is less than the end of a range
    [("c", 7), ("b", 1), ("c", 6), ("b", 4), ("a", 4), ("b", 7), ("c", 8), ("b", 7)]
)
def test_workers_have_sources_by_their_threads(described):
    """Each has as many sources for each thread, and a host's sources are neighbours."""
    workers = [HomeStub(host, nthreads) for host, nthreads in described]
    ranges, count = Ranges(workers), 8 * sum(worker.nthreads for worker in workers)
    homes = [ranges.home(position / count) for position in range(count)]
    assert Counter(homes) == {worker: 8 * worker.nthreads for worker in workers}
    hosts = [home.host for home in homes]
    assert hosts == sorted(hosts)
    assert len(ranges) == len(workers)
    assert ranges.home(1.0) is homes[-1], "a fraction may be rounded up"


def test_workers_get_their_own_tasks_first():
    """The first task of a worker is the first queued one in its range."""
    workers: list[Any] = [HomeStub("a"), HomeStub("b", 3)]
    queue: Any = QueuedSources()
    tasks = some_tasks(8)
    first, second = workers
    queue.add(gone := QueuedStub(-2, {"mars_band": 0.0}), [])
    gone.state = "released"
    assert queue.first(first) is None
    for task in reversed(tasks):
        queue.add(task, workers if task.priority < 5 else [])
    plain: Any = QueuedStub(-1)
    queue.add(plain, workers)
    queue.discard(plain)
    assert queue.home(plain, workers) is None
    assert queue.home(tasks[0], []) is None
    assert queue.first(first) is tasks[0]
    assert queue.first(second) is tasks[2]
    tasks[0].state = "processing"
    assert queue.first(first) is tasks[1]
    queue.discard(tasks[1])
    assert queue.first(first) is None
    queue.clear()
    assert queue.first(second) is None


def test_homes_change_with_the_workers():
    """Queued tasks get other homes once more than a sixteenth of the workers has changed."""
    workers: list[Any] = [HomeStub(f"{number:02}") for number in range(32)]
    queue: Any = QueuedSources()
    tasks = some_tasks(34)
    for task in tasks:
        queue.add(task, workers)
    late: list[Any] = [HomeStub("98"), HomeStub("99"), HomeStub("00")]
    workers += late[:2]
    assert queue.home(tasks[33], workers) is workers[31]
    assert queue.first(late[1]) is None
    queue.leave()
    workers[0] = late[2]
    assert queue.home(tasks[33], workers) is late[1]
    assert queue.first(late[1]) is tasks[33]
    assert [queue.first(worker) for worker in workers] == tasks
