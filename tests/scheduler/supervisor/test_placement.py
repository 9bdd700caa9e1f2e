"""The placement policy, without any server."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor.placement import Input, Ledger, Placed, Policy, colours, resident


@dataclass(eq=False)
class Worker:
    """A worker as the policy sees it."""

    name: str
    host: str = "h"
    nthreads: int = 1
    memory_limit: int = 1000
    nbytes: int = 0
    occupancy: float = 0.0
    processing: list[str] = field(default_factory=list)


BUSY = ["something"]


def test_a_task_goes_to_its_inputs():
    """The worker with most of the bytes wins where nothing else differs."""
    a, b, c = Worker("a", "1"), Worker("b", "2"), Worker("c", "3")
    task = Placed(10, (Input(100, [a]), Input(300, [b])))
    assert Policy().choose(task, [a, b, c]) is b
    assert Policy().moved(task, b) == 100
    assert Policy().moved(task, c) == 400


def test_bytes_of_one_host_are_nearly_free():
    """A neighbour of the data is better than a stranger, and worse than their holder."""
    holder, neighbour, stranger = Worker("a", "1"), Worker("b", "1"), Worker("c", "2")
    task = Placed(0, (Input(1000, [holder]),))
    policy = Policy()
    assert [policy.moved(task, one) for one in (holder, neighbour, stranger)] == [0, 50, 1000]
    holder.occupancy, holder.processing = 1.0, BUSY
    assert policy.choose(task, [holder, neighbour, stranger]) is neighbour


def test_work_that_waits_outweighs_small_transfers():
    """A busy holder gives way once the way, which counts four times, is shorter than the queue."""
    holder, idle = Worker("a", "1", occupancy=2.0, processing=BUSY), Worker("b", "2")
    policy = Policy(bandwidth=100.0)
    assert policy.choose(Placed(0, (Input(40, [holder]),)), [holder, idle]) is idle
    assert policy.choose(Placed(0, (Input(60, [holder]),)), [holder, idle]) is holder


def test_a_free_thread_starts_a_task_at_once():
    """However long the other threads will be at work, it does not wait; among equals they count."""
    holder = Worker("a", "1", nthreads=2, occupancy=2.0, processing=BUSY)
    idle = Worker("b", "2", nthreads=2)
    assert Policy().choose(Placed(0, (Input(100, [holder]),)), [holder, idle]) is holder
    assert Policy().choose(Placed(0), [holder, idle]) is idle


def test_what_does_not_fit_goes_elsewhere_or_waits():
    """Promises count up to the soft limit."""
    holder, other = Worker("a", processing=BUSY), Worker("b", "2", processing=BUSY)
    policy = Policy()
    policy.ledger.promise("t", holder, 500)
    task = Placed(300, (Input(100, [holder]),))
    assert policy.choose(task, [holder, other]) is other
    policy.ledger.promise("u", other, 500)
    assert policy.choose(task, [holder, other]) is None
    policy.ledger.settle("t")
    assert policy.choose(task, [holder, other]) is holder


def test_what_is_larger_than_any_share_runs_alone_on_the_largest():
    """It waits for that one to have nothing to do, and for no other."""
    small, large = Worker("a"), Worker("b", "2", memory_limit=2000, processing=BUSY)
    policy = Policy()
    task: Placed[Worker] = Placed(1600)
    assert policy.choose(task, [small, large]) is None
    assert policy.alone(task, [small, large]) is None
    large.processing = []
    assert policy.choose(task, [small, large]) is None
    assert policy.alone(task, [small, large]) is large
    assert policy.alone(Placed(1400), [small, large]) is None, "which fits beside others"
    assert policy.choose(Placed(1400), [small, large]) is large
    assert policy.alone(task, []) is None


def test_unknown_sizes_and_limits_hold_nothing_back():
    """A task without a hint, or a worker without a limit, is placed as if there were room."""
    worker = Worker("a", processing=BUSY)
    policy = Policy()
    policy.ledger.promise("t", worker, 10**9)
    assert policy.choose(Placed(0), [worker]) is worker
    worker.memory_limit = 0
    assert policy.choose(Placed(10), [worker]) is worker


def test_a_worker_that_need_not_spill_is_better():
    """What is stored counts when there is a choice, and never keeps a task from running."""
    full, empty = Worker("a", nbytes=990), Worker("b", "2", occupancy=0.5)
    task = Placed(100, (Input(10, [full]),))
    assert Policy().choose(task, [full, empty]) is empty
    assert Policy().choose(task, [full]) is full


def test_other_hosts_come_in_where_holders_are_full():
    """Holders and idle neighbours are looked at; strangers if those spill; all if none has room."""
    holder, neighbour = Worker("a", "1", processing=BUSY), Worker("b", "1")
    stranger, busy = Worker("c", "2"), Worker("d", "3", processing=BUSY)
    everyone = [holder, neighbour, stranger, busy]
    beside = {(False, "1"): [neighbour], (True, "1"): [holder, neighbour]}
    policy = Policy()

    def candidates(needs, *holders):
        task = Placed(needs, (Input(10, holders or [holder]),))
        there = resident(task.inputs)
        idle = [neighbour, stranger]

        def near(host, busy):
            return beside.get((busy, host), ())

        return list(policy.candidates(task, there, everyone, idle, near))

    assert candidates(10) == [holder, neighbour]
    assert candidates(10, holder, Worker("gone", "4")) == [holder, neighbour]
    holder.nbytes = neighbour.nbytes = 995
    assert candidates(10) == [holder, neighbour, stranger]
    for one in (holder, neighbour, stranger):
        policy.ledger.promise(one.name, one, 745)
    assert candidates(10) == everyone


def asked(needs, *holders):
    """Return the candidates among busy workers, two on a host, and what was asked of which host."""
    several = [Worker(str(n), f"host-{n // 2}", nthreads=2, processing=BUSY * 2) for n in range(14)]
    inputs = tuple(Input(nbytes, [several[n] for n in where]) for nbytes, where in holders)
    told = []

    def near(host, busy):
        told.append((host, busy))
        return [one for one in several if one.host == host and busy]

    task = Placed(needs, inputs)
    found = Policy().candidates(task, resident(inputs), several, several[-1:], near)
    return [int(one.name) for one in found], told


def test_a_task_that_has_to_fetch_looks_at_all_on_the_hosts_that_hold_most():
    """They have as little to fetch as holders, and a busy holder of less is on another host."""
    assert asked(1, (100, [0])) == ([0], [("host-0", False)])
    assert asked(1, (100, [0]), (50, [2])) == ([0, 2, 1], [("host-0", True)])
    assert asked(1, (100, [0]), (50, [2]), (50, [3])) == (
        [0, 2, 3, 1],
        [("host-0", True), ("host-1", True)],
    )


def test_of_many_hosts_that_hold_the_same_a_few_are_asked_in_turn():
    """So a decision about a thousand holders asks four hosts, and the next one four others."""
    policy, hosts = Policy(), [f"host-{n}" for n in range(10)]
    inputs = tuple(Input(7, [Worker(host, host)]) for host in hosts)
    told = []

    def near(host, busy):
        told.append(host)
        return ()

    for _ in range(5):
        policy.place(Placed(0, inputs), (), (), near)
    assert sorted(told) == sorted(hosts * 2)


def test_what_can_start_beside_its_input_asks_nobody():
    """A free thread of its holder is as good as any, so no others are looked at."""
    holder = Worker("a", nthreads=2, processing=BUSY)

    def near(host, busy):
        pytest.fail("asked for others")

    assert Policy().place(Placed(1, (Input(5, [holder]),)), [holder], (), near) is holder


def test_nobody_to_ask():
    """Without workers there is no answer."""
    assert Policy().choose(Placed(0), []) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 100) | st.none()),
        max_size=40,
    )
)
def test_the_ledger_adds_up(steps):
    """Whatever is promised, moved and settled, each sum is that of what is left."""
    workers = [Worker("a", "1"), Worker("b", "1"), Worker("c", "2")]
    ledger = Ledger()
    model: dict[int, tuple[int, int]] = {}
    for task, where, nbytes in steps:
        if nbytes is None:
            ledger.settle(task)
            model.pop(task, None)
        else:
            ledger.promise(task, workers[where], nbytes)
            model[task] = where, nbytes
    for position, worker in enumerate(workers):
        assert ledger.on(worker) == sum(n for where, n in model.values() if where == position)
    assert len(ledger) == sum(1 for _, nbytes in model.values() if nbytes)


@pytest.mark.parametrize(("count", "workers"), [(0, 3), (1, 3), (3, 3), (10, 3), (100, 7)])
def test_colours_are_runs_of_neighbours(count, workers):
    """Every worker is home to as many as any other, give or take one, in one run."""
    found = colours(count, workers)
    assert found == sorted(found)
    counts = [found.count(colour) for colour in range(workers)]
    assert max(counts) - min(counts) <= 1


@given(st.data())
def test_bytes_are_counted_once_for_all_workers(data):
    """What is resident tells of each worker what a look at each input would."""
    workers = [Worker(str(n), host=f"host-{n % 3}") for n in range(6)]
    some = st.lists(st.sampled_from(workers), unique=True, max_size=4)
    inputs = tuple(
        Input(nbytes, holders)
        for nbytes, holders in data.draw(st.lists(st.tuples(st.integers(0, 1000), some)))
    )
    policy, task = Policy(), Placed(0, inputs)
    there = resident(inputs)
    for worker in workers:
        expected = 0.0
        for one in inputs:
            near = any(holder.host == worker.host for holder in one.holders)
            if worker not in one.holders:
                expected += one.nbytes * (policy.same_host if near else 1)
        assert policy.moved(task, worker) == pytest.approx(expected)
        assert policy.moved(task, worker, there) == pytest.approx(expected)
