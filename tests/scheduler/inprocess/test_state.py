"""The decisions of the in-process schedulers, without a thread, a file or a clock."""

import operator
from types import SimpleNamespace
from typing import Any

import pytest
from dask.task_spec import Task, TaskRef
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from marsdask.scheduler.base import Hint
from marsdask.scheduler.errors import MemoryBudgetError, SpillFull
from marsdask.scheduler.events import GraphEnded, GraphSubmitted, TaskFailed, TaskStarted
from marsdask.scheduler.inprocess.records import ABSENT, DONE, DROPPED, LocalJob, Spill, TaskRecord
from marsdask.scheduler.inprocess.state import State

UNIT = 4096
BUDGET = 10 * UNIT


def combine(*values):
    return len(values)


class Subject(State):
    """A state whose instructions a test knows without looking."""

    def next(self, *bound) -> Any:
        return super().next(*bound)


def task(key, *inputs):
    return Task(key, combine, *map(TaskRef, inputs))


def graph(**inputs):
    """``graph(a="", b="a")`` is b after a."""
    return {key: task(key, *needs) for key, needs in inputs.items()}


def units(**peaks):
    """Hints of so many units for each task, all of it the result."""
    return {key: Hint(nbytes=n * UNIT, peak=n * UNIT) for key, n in peaks.items()}


def submit(state, tasks, keys, hints=None, *, level=0):
    job = LocalJob(level=level, observed=True)
    state.submit(tasks, list(keys), hints or {}, job)
    return job


def finish(state, item, nbytes=0):
    value = SimpleNamespace(nbytes=nbytes)
    state.finish(item, value, ((id(value), nbytes),) if nbytes else (), None)


def complete(state, instruction, nbytes=0):
    """Do what the state says in the simplest way."""
    if isinstance(instruction, Spill):
        file = SimpleNamespace(nbytes=instruction.item.nbytes, entries=2)
        state.spilled(instruction, file, None)
    else:
        load(state, instruction)
        finish(state, instruction, nbytes)


def load(state, item):
    for source in item.inputs:
        if source.value is ABSENT and item.entry is None:
            value = SimpleNamespace(nbytes=source.nbytes)
            state.loaded(source, value, ((id(value), source.nbytes),))


def run_all(state, nbytes=0):
    order = []
    while (instruction := state.next()) is not None:
        if isinstance(instruction, TaskRecord):
            order.append(instruction.key)
        complete(state, instruction, nbytes)
    return order


def assert_empty(state):
    assert not state.items
    assert not state.jobs
    memory = state.memory
    assert (memory.ledger.nbytes, memory.reserved, memory.leaving) == (0, 0, 0)
    assert (state.active, state.on_disk) == (0, 0)
    assert memory.coldest(()) is None


def test_a_refused_graph_changes_nothing():
    """The state is as before after a submission that raises."""
    state = Subject(BUDGET)
    with pytest.raises(KeyError):
        submit(state, graph(a="", b="?"), "ab")
    assert_empty(state)
    assert state.next() is None


def test_priorities_order_the_tasks():
    """Smaller priorities run earlier, where the inputs allow it."""
    state = Subject(BUDGET)
    hints = {key: Hint(priority=-i) for i, key in enumerate("abc")}
    submit(state, graph(a="", b="", c=""), "abc", hints)
    assert run_all(state) == list("cba")


def test_intermediates_are_freed_at_their_last_use():
    """Only wanted results stay."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b="a", c="ab"), "c")
    run_all(state, UNIT)
    assert set(state.items) == {"c"}
    assert state.memory.ledger.nbytes == UNIT
    state.release("c")
    assert_empty(state)


def test_a_running_task_is_shared():
    """A second submission of a key waits for the first's task."""
    state = Subject(BUDGET)
    first = submit(state, graph(a=""), "a")
    running = state.next()
    second = submit(state, graph(a=""), "a")
    assert state.next() is None
    finish(state, running)
    assert (first.state, second.state) == ("done", "done")
    state.release("a")
    assert "a" in state.items
    state.release("a")
    assert_empty(state)


def test_cancelling_spares_what_others_share():
    """Of two submissions that share a task the other still gets its result."""
    state = Subject(BUDGET)
    first = submit(state, graph(a="", b="a"), "b")
    second = submit(state, graph(a="", c="a"), "c")
    state.cancel(first)
    assert run_all(state) == ["a", "c"]
    assert second.state == "done"
    assert "b" not in state.items


def test_a_failure_fails_exactly_those_who_need_it():
    """The error reaches every submission downstream and no other."""
    state = Subject(BUDGET)
    first = submit(state, graph(a="", b="a", c="b"), "c")
    second = submit(state, graph(a="", d="a"), "d")
    other = submit(state, graph(e=""), "e")
    error = RuntimeError()
    state.fail(state.next(), error)
    assert (first.error, first.failed) == (error, "a")
    assert second.state == "failed"
    assert other.state is None
    assert run_all(state) == ["e"]
    state.release("e")
    assert_empty(state)


def test_a_task_waits_until_it_fits():
    """Two peaks that exceed the budget together run one after the other."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab", units(a=6, b=6))
    first = state.next()
    assert state.next() is None
    finish(state, first, 4 * UNIT)
    assert state.next().key == "b"


def test_a_smaller_task_runs_while_the_first_does_not_fit():
    """No worker stands idle because the head of the queue is too big for now."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b="", c=""), "abc", units(a=6, b=6, c=2))
    assert state.next().key == "a"
    assert state.next().key == "c"
    assert state.next() is None


def test_the_coldest_result_leaves_first():
    """The most recently used result stays longest."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab", units(a=4, b=4))
    for _ in "ab":
        finish(state, state.next(), 4 * UNIT)
    submit(state, graph(x="a"), "x")
    finish(state, state.next())
    submit(state, graph(c=""), "c", units(c=4))
    spill = state.next()
    assert spill.item.key == "b"


def test_inputs_of_a_running_task_stay():
    """Inputs of a running task are neither spilled nor counted as free memory."""
    state = Subject(BUDGET)
    submit(state, graph(a=""), "a", units(a=6))
    finish(state, state.next(), 6 * UNIT)
    submit(state, graph(b="a", c=""), "bc", units(b=1, c=4))
    reader = state.next()
    assert reader.key == "b"
    assert state.next() is None
    finish(state, reader, UNIT)
    assert isinstance(state.next(), Spill)


def test_loading_counts_before_the_task_starts():
    """A task whose inputs are on disk needs room for them, too."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab", units(a=6, b=6))
    assert run_all(state, 6 * UNIT) == ["a", "b"]
    assert state.items["a"].value is ABSENT
    submit(state, graph(c="a"), "c", units(c=1))
    spill = state.next()
    assert spill.item.key == "b"
    complete(state, spill)
    running = state.next()
    assert state.memory.missing() <= 0
    load(state, running)
    finish(state, running, UNIT)
    assert state.memory.ledger.nbytes == 7 * UNIT


def test_an_entry_of_a_list_on_disk_is_read_alone():
    """A task that needs one of two entries waits for half of the memory."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab", units(a=6, b=6))
    run_all(state, 6 * UNIT)
    assert state.items["a"].value is ABSENT
    submit(state, {"c": Task("c", operator.getitem, TaskRef("a"), 1)}, "c", units(c=0))
    running = state.next()
    assert (running.key, running.entry, running.peak) == ("c", 1, 3 * UNIT)
    assert not state.items["a"].pins
    finish(state, running, 3 * UNIT)
    assert state.items["a"].value is ABSENT
    assert state.memory.ledger.nbytes == 9 * UNIT


def test_a_copy_on_disk_is_not_written_again():
    """Evicting what was loaded from a file drops the memory only."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab", units(a=6, b=6))
    run_all(state, 6 * UNIT)
    submit(state, graph(c="a"), "c", units(c=1))
    run_all(state, UNIT)
    assert state.items["a"].value is not ABSENT
    state.release("bc")
    submit(state, graph(d=""), "d", units(d=8))
    assert state.next().key == "d"
    assert state.items["a"].value is ABSENT


def test_a_task_that_fits_alone_runs_alone():
    """Results that cannot be spilled do not stop a task within the budget."""
    state = Subject(BUDGET)
    submit(state, graph(a=""), "a", units(a=6))
    finish(state, state.next(), 6 * UNIT)
    submit(state, graph(b="", c=""), "bc", units(b=8, c=8))
    state.not_spilled(state.next(), TypeError("no pickle"))
    assert state.next().key == "b"
    assert state.next() is None


def test_a_task_beyond_the_budget_fails():
    """The error names the key, the need and the budget, and the rest goes on."""
    state = Subject(BUDGET)
    job = submit(state, graph(a=""), "a", units(a=11))
    other = submit(state, graph(b=""), "b", units(b=1))
    run_all(state)
    assert isinstance(job.error, MemoryBudgetError)
    assert (job.error.chunk, job.error.nbytes, job.error.budget) == ("a", 11 * UNIT, BUDGET)
    assert other.state == "done"


def test_a_full_disk_fails_only_who_needs_the_room():
    """Nothing of the failed submission stays; the results of others do."""
    state = Subject(BUDGET)
    submit(state, graph(a=""), "a", units(a=6))
    finish(state, state.next(), 6 * UNIT)
    job = submit(state, graph(b="", c=""), "bc", units(b=6, c=1))
    other = submit(state, graph(d=""), "d", units(d=1))
    state.not_spilled(state.next(), SpillFull("full"))
    assert run_all(state, UNIT) == ["d"]
    assert isinstance(job.error, SpillFull)
    assert other.state == "done"
    state.release("ad")
    assert_empty(state)


def test_copies_leave_memory_before_a_full_disk_fails():
    """What has a file is dropped, although it is not the coldest result."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab", units(a=6, b=6))
    run_all(state, 6 * UNIT)
    state.release("b")
    submit(state, graph(c=""), "c", units(c=3))
    run_all(state, 3 * UNIT)
    submit(state, graph(d="a"), "d", units(d=0))
    run_all(state)
    assert state.items["a"].value is not ABSENT
    job = submit(state, graph(e=""), "e", units(e=6))
    spill = state.next()
    assert spill.item.key == "c"
    state.not_spilled(spill, SpillFull("full"))
    assert run_all(state, UNIT) == ["e"]
    assert job.state == "done"
    assert state.items["a"].value is ABSENT


def test_a_full_disk_is_a_new_error_each_time():
    """An exception that was raised once would keep the frames that it passed, and their arrays."""
    state = Subject(BUDGET)
    submit(state, graph(a=""), "a", units(a=6))
    finish(state, state.next(), 6 * UNIT)
    jobs = [submit(state, graph(**{key: ""}), key, units(**{key: 6})) for key in "bc"]
    error = SpillFull("full")
    state.not_spilled(state.next(), error)
    assert run_all(state, UNIT) == []
    assert [str(job.error) for job in jobs] == ["full", "full"]
    assert len({id(error), *(id(job.error) for job in jobs)}) == 3


def test_unhinted_tasks_are_guessed_from_those_like_them():
    """After one result of a function its next tasks are admitted by that size."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b="", c=""), "abc")
    finish(state, state.next(), 4 * UNIT)
    state.next()
    assert state.memory.reserved == 4 * UNIT
    assert isinstance(state.next(), Spill)


def test_an_unhinted_excess_is_spilled_when_nothing_is_left_to_run():
    """Results that turned out too big leave memory without being asked to."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab")
    both = [state.next(), state.next()]
    for item in both:
        finish(state, item, 8 * UNIT)
    complete(state, state.next())
    assert state.next() is None
    assert state.memory.ledger.nbytes == 8 * UNIT


def test_nested_submissions_go_first():
    """A worker inside a task takes only what is nested as deeply."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b=""), "ab")
    outer = state.next()
    inner = submit(state, graph(x=""), "x", level=1)
    assert state.next(inner.bound).key == "x"
    assert state.next(inner.bound) is None
    assert state.next().key == "b"
    assert outer.key == "a"


def test_nested_submissions_hurry_what_they_share():
    """A waiting task of an outer submission is run for the inner one that needs it."""
    state = Subject(BUDGET)
    submit(state, graph(a="", b="", c="b"), "ac")
    assert state.next().key == "a"
    inner = submit(state, {"x": task("x", "c")}, "x", level=1)
    order = []
    while (item := state.next(inner.bound)) is not None:
        order.append(item.key)
        finish(state, item)
    assert order == ["b", "c", "x"]


def test_events_tell_the_story_in_order():
    """Submitted first, ended last, nothing after the end."""
    state = Subject(BUDGET)
    job = submit(state, graph(a="", b=""), "ab")
    first, second = state.next(), state.next()
    error = ValueError()
    state.fail(first, error)
    finish(state, second)
    assert list(job.events) == [
        GraphSubmitted(2),
        TaskStarted("a"),
        TaskStarted("b"),
        TaskFailed("a", error),
        GraphEnded("failed"),
    ]


def test_release_during_the_run_frees_at_the_end():
    """A result that was given up before it existed does not stay."""
    state = Subject(BUDGET)
    job = submit(state, graph(a=""), "a")
    state.release("a")
    finish(state, state.next(), UNIT)
    assert job.state == "done"
    assert_empty(state)


KEYS = list("abcdefghij")


class StateMachine(RuleBasedStateMachine):
    """Any submissions, failures, cancellations and disks: within the budget, and to an end."""

    def __init__(self):
        super().__init__()
        self.state = Subject(BUDGET)
        self.working = []
        self.jobs = []
        self.held = []
        self.sizes = {}

    @rule(
        needs=st.lists(st.sets(st.sampled_from(KEYS), max_size=3), min_size=10, max_size=10),
        wanted=st.sets(st.sampled_from(KEYS), min_size=1, max_size=4),
        sizes=st.lists(st.integers(0, 11), min_size=10, max_size=10),
        level=st.integers(0, 2),
        picks=st.booleans(),
    )
    def submit(self, needs, wanted, sizes, level, picks):
        tasks, hints = {}, {}
        for i, key in enumerate(KEYS):
            inputs = [n for n in needs[i] if n < key]
            tasks[key] = task(key, *inputs)
            if picks and len(inputs) == 1:
                tasks[key] = Task(key, operator.getitem, TaskRef(inputs[0]), 1)
            hints[key] = Hint(nbytes=sizes[i] * UNIT, peak=sizes[i] * UNIT)
        job = submit(self.state, tasks, sorted(wanted), hints, level=level)
        self.jobs.append((job, sorted(wanted)))

    @rule()
    def start(self):
        if len(self.working) < 3:
            instruction = self.state.next()
            if instruction is not None:
                self.working.append(instruction)
                if isinstance(instruction, TaskRecord) and self.state.active > 1:
                    assert self.state.memory.missing() <= 0

    @precondition(lambda self: self.working)
    @rule(which=st.integers(0, 2), outcome=st.sampled_from(["done", "done", "done", "bad"]))
    def end(self, which, outcome):
        instruction = self.working.pop(which % len(self.working))
        if isinstance(instruction, Spill) and outcome == "bad":
            self.state.not_spilled(instruction, SpillFull("full"))
        elif isinstance(instruction, TaskRecord) and outcome == "bad":
            self.state.fail(instruction, RuntimeError())
        else:
            nbytes = instruction.peak if isinstance(instruction, TaskRecord) else 0
            complete(self.state, instruction, nbytes)

    @precondition(lambda self: self.jobs)
    @rule(which=st.integers(0, 99))
    def cancel(self, which):
        self.state.cancel(self.jobs[which % len(self.jobs)][0])

    @rule()
    def release(self):
        for job, keys in [entry for entry in self.jobs if entry[0].state is not None]:
            self.jobs.remove((job, keys))
            if job.state == "done":
                self.state.release(keys)

    @invariant()
    def accounts_are_right(self):
        items = self.state.items.values()
        assert self.state.memory.records == len(items)
        running = [i for i in self.working if isinstance(i, TaskRecord)]
        assert self.state.active == len(running)
        assert self.state.memory.reserved == sum(i.peak for i in running)
        whole = [i for i in running if i.entry is None]
        pinned = [source for i in whole for source in i.inputs if source.charges]
        for item in items:
            assert item.pins == pinned.count(item)
        on_disk = [i for i in items if i.status == DONE and i.value is ABSENT and not i.pins]
        assert self.state.on_disk == len(on_disk)
        leaving = [i.item for i in self.working if isinstance(i, Spill)]
        in_memory = {i for i in items if i.charges and i not in on_disk} | set(leaving)
        assert self.state.memory.ledger.nbytes == sum(i.nbytes for i in in_memory)
        assert self.state.memory.leaving == sum(i.nbytes for i in leaving)

    def teardown(self):
        for _ in range(1000):
            while len(self.working) < 3 and (instruction := self.state.next()) is not None:
                self.working.append(instruction)
            if not self.working:
                break
            self.end(0, "done")
        assert not self.working
        assert all(job.state is not None for job, _ in self.jobs)
        self.release()
        assert_empty(self.state)
        assert all(item.status == DROPPED for _, item in self.state.ready)


TestMachine = StateMachine.TestCase
