"""The placement policy, without any server."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor.placement import (
    Policy,
    Reservations,
    RoundRobin,
    TaskView,
    resident,
)


@dataclass(eq=False)
class WorkerStub:
    """A worker as the policy sees it."""

    name: str
    host: str = "h"
    nthreads: int = 1
    memory_limit: int = 1000
    nbytes: int = 0
    occupancy: float = 0.0
    processing: list[str] = field(default_factory=list)
    long_running: list[str] = field(default_factory=list)


BUSY = ["something"]


def test_a_task_goes_to_its_inputs():
    """The worker with most of the bytes wins where nothing else differs."""
    a, b, c = WorkerStub("a", "1"), WorkerStub("b", "2"), WorkerStub("c", "3")
    task = TaskView(10, ((100, [a]), (300, [b])))
    assert Policy().choose(task, [a, b, c]) is b
    assert Policy().moved(task, b) == 100
    assert Policy().moved(task, c) == 400


def test_bytes_of_one_host_are_nearly_free():
    """A neighbour of the data is better than a stranger, and worse than their holder."""
    holder, neighbour, stranger = WorkerStub("a", "1"), WorkerStub("b", "1"), WorkerStub("c", "2")
    task = TaskView(0, ((1000, [holder]),))
    policy = Policy()
    assert [policy.moved(task, one) for one in (holder, neighbour, stranger)] == [0, 50, 1000]
    holder.occupancy, holder.processing = 1.0, BUSY
    assert policy.choose(task, [holder, neighbour, stranger]) is neighbour


def test_work_that_waits_outweighs_small_transfers():
    """A busy holder gives way once the way, which counts four times, is shorter than the queue."""
    holder, idle = WorkerStub("a", "1", occupancy=2.0, processing=BUSY), WorkerStub("b", "2")
    policy = Policy(bandwidth=100.0)
    assert policy.choose(TaskView(0, ((40, [holder]),)), [holder, idle]) is idle
    assert policy.choose(TaskView(0, ((60, [holder]),)), [holder, idle]) is holder


def test_short_tasks_wait_beside_their_input():
    """To ask for an input, however small, takes longer than tasks of a millisecond."""
    holder, neighbour = WorkerStub("a", processing=BUSY), WorkerStub("b")
    task = TaskView(0, ((10, [holder]),))
    chosen = []
    for holder.occupancy in (0.005, 0.05):
        chosen.append(Policy().choose(task, [holder, neighbour]))
    assert chosen == [holder, neighbour]


def test_a_free_thread_starts_a_task_at_once():
    """However long the other threads will be at work, it does not wait; among equals they count."""
    holder = WorkerStub("a", "1", nthreads=2, occupancy=2.0, processing=BUSY)
    idle = WorkerStub("b", "2", nthreads=2)
    assert Policy().choose(TaskView(0, ((100, [holder]),)), [holder, idle]) is holder
    assert Policy().choose(TaskView(0), [holder, idle]) is idle


def test_what_does_not_fit_goes_elsewhere_or_waits():
    """Promises count up to the soft limit."""
    holder, other = WorkerStub("a", processing=BUSY), WorkerStub("b", "2", processing=BUSY)
    policy = Policy()
    policy.ledger.promise("t", holder, 500)
    task = TaskView(300, ((100, [holder]),))
    assert policy.choose(task, [holder, other]) is other
    policy.ledger.promise("u", other, 500)
    assert policy.choose(task, [holder, other]) is None
    policy.ledger.settle("t")
    assert policy.choose(task, [holder, other]) is holder


def test_what_is_larger_than_any_share_runs_alone_on_the_largest():
    """It waits for that one to have nothing to do, and for no other."""
    small, large = WorkerStub("a"), WorkerStub("b", "2", memory_limit=2000, processing=BUSY)
    policy = Policy()
    task: TaskView[WorkerStub] = TaskView(1600)
    assert policy.choose(task, [small, large]) is None
    assert policy.alone(task, [small, large]) is None
    large.processing = []
    assert policy.choose(task, [small, large]) is None
    assert policy.alone(task, [small, large]) is large
    assert policy.alone(TaskView(1400), [small, large]) is None, "which fits beside others"
    assert policy.choose(TaskView(1400), [small, large]) is large
    assert policy.alone(task, []) is None


def test_what_waits_for_other_tasks_keeps_none_of_them_from_running():
    """A task that left its thread to others takes neither the thread nor the worker from them."""
    seceded = WorkerStub("a", "1", occupancy=1.0, processing=BUSY, long_running=BUSY)
    stranger, policy = WorkerStub("b", "2", occupancy=0.5), Policy()
    assert policy.choose(TaskView(0, ((10, [seceded]),)), [seceded, stranger]) is seceded
    assert policy.alone(TaskView(1600), [seceded]) is seceded


def test_a_worker_without_a_limit_has_a_share_without_end():
    """Nothing is larger than its share, so nothing is forced on those with limits meanwhile."""
    small, endless = WorkerStub("a"), WorkerStub("b", "2", memory_limit=0, processing=BUSY)
    assert Policy().alone(TaskView(10**9), [small, endless]) is None
    assert Policy().choose(TaskView(10**9), [small, endless]) is endless


def test_unknown_sizes_and_limits_hold_nothing_back():
    """A task without a hint, or a worker without a limit, is placed as if there were room."""
    worker = WorkerStub("a", processing=BUSY)
    policy = Policy()
    policy.ledger.promise("t", worker, 10**9)
    assert policy.choose(TaskView(0), [worker]) is worker
    worker.memory_limit = 0
    assert policy.choose(TaskView(10), [worker]) is worker


def test_a_worker_that_need_not_spill_is_better():
    """Spilling costs twice a transfer; it never keeps a task from running."""
    full, empty = WorkerStub("a", nbytes=990), WorkerStub("b", "2")
    policy = Policy(bandwidth=100.0)
    assert policy.choose(TaskView(100, ((100, [full]),)), [full, empty]) is empty
    assert policy.choose(TaskView(100, ((200, [full]),)), [full, empty]) is full
    assert policy.choose(TaskView(100, ((100, [full]),)), [full]) is full
    policy.ledger.promise("t", empty, 700)
    assert policy.choose(TaskView(50, ((15, [full]),)), [full, empty]) is empty
    empty.nbytes = 295
    assert policy.choose(TaskView(50, ((15, [full]),)), [full, empty]) is full


def test_inputs_that_have_to_come_take_memory_too():
    """So do those on their way already, of which a worker does not know yet."""
    one, other = WorkerStub("a", "1", nbytes=400), WorkerStub("b", "2", nbytes=300)
    policy, task = Policy(bandwidth=100.0), TaskView(100, ((600, [WorkerStub("c", "3")]),))
    assert policy.choose(task, [one, other]) is other
    policy.coming = {one: 0, other: 300}.__getitem__
    assert policy.choose(task, [one, other]) is one


def test_other_hosts_come_in_where_holders_are_full():
    """Holders and their hosts are candidates; idle workers if those spill; else a sample."""
    holder, neighbour = WorkerStub("a", "1", processing=BUSY), WorkerStub("b", "1")
    stranger, busy = WorkerStub("c", "2"), WorkerStub("d", "3", processing=BUSY)
    everyone = [holder, neighbour, stranger, busy]
    policy = Policy()

    def candidates(needs, *holders):
        task = TaskView(needs, ((10, holders or [holder]),))
        there = resident(task.inputs)
        idle = [neighbour, stranger]

        def near(host):
            return [neighbour, holder] if host == "1" else ()

        return set(policy.candidates(task, there, everyone, idle, near))

    assert candidates(10) == {holder, neighbour}
    assert candidates(10, holder, WorkerStub("gone", "4")) == {holder, neighbour}
    holder.nbytes = neighbour.nbytes = 995
    assert candidates(10) == {holder, neighbour, stranger}
    stranger.nbytes = 995
    assert candidates(10) == {holder, neighbour, stranger, busy}
    for one in (holder, neighbour, stranger):
        policy.ledger.promise(one.name, one, 745)
    everyone += [WorkerStub(str(n), "5") for n in range(20)]
    assert len(candidates(10)) == 3 + 8, "some of all"
    for one in everyone:
        policy.ledger.promise(one.name, one, 745)
    assert candidates(10) == set(everyone)


def asked(needs, *holders, waits=4, stay=1):
    """Return the candidates among workers, two on a host, and what was asked of which host.

    The first has ``waits`` tasks, the others four.
    """
    several = [
        WorkerStub(str(n), f"host-{n // 2}", nthreads=2, processing=BUSY * (4 if n else waits))
        for n in range(14)
    ]
    inputs = tuple((nbytes, [several[n] for n in where]) for nbytes, where in holders)
    told = []

    def near(host):
        told.append(host)
        return [one for one in several if one.host == host]

    task = TaskView(needs, inputs)
    found = Policy().candidates(task, resident(inputs), several, several[-1:], near, stay)
    return sorted(int(one.name) for one in found), told


def test_a_task_that_has_to_fetch_looks_at_all_on_the_hosts_that_hold_most():
    """They have as little to fetch as holders, and a busy holder of less is on another host."""
    assert asked(1, (100, [0])) == ([0], ["host-0"]), "who is idle, if anybody were"
    assert asked(1, (100, [0]), waits=8) == ([0], ["host-0"]), "twice as much is no reason"
    assert asked(1, (100, [0]), waits=9) == ([0, 1], ["host-0"]), "it is its turn much later"
    assert asked(1, (100, [0]), (50, [2])) == ([0, 1, 2], ["host-0"])
    assert asked(1, (100, [0]), (50, [2]), (50, [3])) == (
        [0, 1, 2, 3],
        ["host-0", "host-1"],
    )


def test_who_holds_nearly_all_is_asked_alone():
    """The few bytes that lie elsewhere draw no task away from the many."""
    assert asked(1, (91, [0]), (9, [2])) == ([0], ["host-0"])
    assert asked(1, (91, [0]), (9, [2]), waits=9) == ([0, 1], ["host-0"])
    assert asked(1, (89, [0]), (11, [2])) == ([0, 1, 2], ["host-0"])


def test_holders_are_not_left_while_they_have_few_tasks():
    """Neither for a worker with less to do, nor for one beside those that hold parts."""
    assert asked(1, (100, [0]), waits=9, stay=8) == ([0], [])
    assert asked(1, (100, [0]), waits=9, stay=4.5) == ([0, 1], ["host-0"])
    assert asked(1, (100, [0]), (50, [2]), stay=8) == ([0], [])
    assert asked(1, (60, [0]), (50, [2]), (10, [3]), stay=8) == ([0, 2, 3], [])
    assert asked(1, (100, [0]), (50, [2]), stay=2) == ([0, 1, 2], ["host-0"])


def test_of_many_hosts_that_hold_the_same_a_few_are_asked_in_turn():
    """So a decision about a thousand holders asks four hosts, and the next one four others."""
    policy, hosts = Policy(), [f"host-{n}" for n in range(10)]
    inputs = tuple((7, [WorkerStub(host, host)]) for host in hosts)
    told = []

    def near(host):
        told.append(host)
        return ()

    for _ in range(5):
        policy.place(TaskView(0, inputs), (), (), near)
    assert sorted(told) == sorted(hosts * 2)


def test_what_can_start_beside_its_input_asks_nobody():
    """A holder with a free thread is the only candidate."""
    holder = WorkerStub("a", nthreads=2, processing=BUSY)

    def near(host):
        pytest.fail("asked for others")

    assert Policy().place(TaskView(1, ((5, [holder]),)), [holder], (), near) is holder


@given(st.integers(0, 30), st.integers(1, 10))
def test_everybody_has_a_turn(length, count):
    """A few at a time, all of a list are met in as many turns as it takes."""
    turns, those = RoundRobin(), list(range(length))
    found = [turns.take(those, count) for _ in range(-(-length // count))]
    assert all(len(some) == min(length, count) for some in found)
    assert {one for some in found for one in some} == set(those)


def test_nobody_to_ask():
    """Without workers there is no answer."""
    assert Policy().choose(TaskView(0), []) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 100) | st.none()),
        max_size=40,
    )
)
def test_the_ledger_adds_up(steps):
    """Whatever is promised, moved and settled, each sum is that of what is left."""
    workers = [WorkerStub("a", "1"), WorkerStub("b", "1"), WorkerStub("c", "2")]
    ledger = Reservations()
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


@given(st.data())
def test_bytes_are_counted_once_for_all_workers(data):
    """``resident`` returns the same bytes as a sum over the inputs."""
    workers = [WorkerStub(str(n), host=f"host-{n % 3}") for n in range(6)]
    some = st.lists(st.sampled_from(workers), unique=True, max_size=4)
    inputs = tuple(data.draw(st.lists(st.tuples(st.integers(0, 1000), some))))
    policy, task = Policy(), TaskView(0, inputs)
    there = resident(inputs)
    for worker in workers:
        expected = 0.0
        for nbytes, holders in inputs:
            near = any(holder.host == worker.host for holder in holders)
            if worker not in holders:
                expected += nbytes * (policy.shared if near else 1)
        assert policy.moved(task, worker) == pytest.approx(expected)
        assert policy.moved(task, worker, there) == pytest.approx(expected)
