"""The suite that every scheduler must pass; a scheduler of your own can, too.

    class TestMine(SchedulerContract):
        def create(self):
            return MyScheduler()

Attributes say what a scheduler cannot do by its nature; everything else is demanded of it.
"""

from __future__ import annotations

import gc
import itertools
import math
import os
import signal
import socket
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
import pytest
from dask.task_spec import Alias, DataNode, GraphNode, List, Task, TaskRef

from .base import Handle, Hint, Key, Scheduler, describe
from .errors import SchedulerClosed
from .events import Event, GraphEnded, GraphSubmitted, TaskDone, TaskFailed, TaskStarted

#: No test takes this long; a wait that does has found a deadlock.
DEADLINE = 60

_serial = itertools.count()


def key(name: str = "task") -> tuple[str, int]:
    """Return a key that no other test uses: a cluster may outlive the tests."""
    return f"{name}-{os.getpid()}-{next(_serial)}", 0


class Broken(Exception):
    """What failing tasks raise."""


def inc(value: Any) -> Any:
    return value + 1


def add(left: Any, right: Any) -> Any:
    return left + right


def total(*values: Any) -> Any:
    return sum(values)


def identity(value: Any) -> Any:
    return value


def scaled(values: list[Any], *, factor: int = 1, extra: Any = 0) -> Any:
    return sum(values) * factor + extra


def fail(value: Any = None) -> Any:
    raise Broken(f"broken by {value}")


def interrupt() -> Any:
    raise KeyboardInterrupt


class Box:
    """A result to which weak references exist."""

    def __init__(self, value: Any) -> None:
        self.value = value


def unbox(box: Box) -> Any:
    return box.value


def pass_gate(address: tuple[str, int], value: Any, *_: Any) -> Any:
    """Say on a socket that the task runs, and wait until the gate opens."""
    with socket.create_connection(address, timeout=DEADLINE) as connection:
        connection.recv(1)
    return value


class Gate:
    """Holds tasks up until it is opened; works over threads, processes and hosts' loopback."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(DEADLINE)
        self._waiting: list[socket.socket] = []
        self.address: tuple[str, int] = self._server.getsockname()

    def wait_until_reached(self) -> None:
        """Return when one more task stands at the gate."""
        self._waiting.append(self._server.accept()[0])

    def open(self) -> None:
        """Let those pass that stand at the gate."""
        while self._waiting:
            self._waiting.pop().close()

    def close(self) -> None:
        self.open()
        self._server.close()


class Recorder:
    """An event callback that remembers, and knows when the last event came."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._ended = threading.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, GraphEnded):
            self._ended.set()

    def wait(self) -> list[Event]:
        assert self._ended.wait(DEADLINE), self.events
        return self.events

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def graph_of(*nodes: GraphNode) -> dict[Key, GraphNode]:
    """Return the nodes as a graph."""
    return {node.key: node for node in nodes}


def run(scheduler: Scheduler, *nodes: GraphNode, keys: list[Hashable] | None = None) -> list[Any]:
    """Compute the nodes, gather ``keys`` (default: all of them) and release them."""
    wanted = [node.key for node in nodes] if keys is None else keys
    scheduler.submit(graph_of(*nodes), wanted).wait(DEADLINE)
    values = scheduler.gather(wanted)
    scheduler.release(wanted)
    return values


def assert_not_held(scheduler: Scheduler, *keys: Hashable) -> None:
    """Check of each key that it cannot be gathered."""
    for one in keys:
        with pytest.raises(KeyError):
            scheduler.gather([one])


class SchedulerContract:
    """Inherit as ``class TestX(SchedulerContract)`` and define :meth:`create`."""

    concurrent = True
    """``submit`` returns while tasks run; otherwise nothing can be cancelled or timed out."""
    nested = True
    """A task may submit to the scheduler that runs it."""
    counts_tasks = True
    """Events report every task and not only the wanted ones."""
    names_failed = True
    """``handle.failed`` tells which task failed."""
    passes_interrupts = True
    """A ``KeyboardInterrupt`` raised by a task arrives as one."""
    depth = 5_000
    """Length of the deepest chain tried."""

    def create(self) -> Scheduler:
        """Return a new scheduler."""
        raise NotImplementedError

    @pytest.fixture
    def scheduler(self) -> Iterator[Scheduler]:
        """Give the test a scheduler, which may be shared with others: override to widen."""
        scheduler = self.create()
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def disposable(self) -> Iterator[Scheduler]:
        """Give the test a scheduler of its own to close."""
        scheduler = self.create()
        yield scheduler
        scheduler.close()

    @pytest.fixture
    def gate(self) -> Iterator[Gate]:
        """Hold tasks up until the test opens the gate."""
        if not self.concurrent:
            pytest.skip("tasks run inside submit")
        gate = Gate()
        yield gate
        gate.close()

    # -- results ---------------------------------------------------------------------------

    def test_is_a_scheduler(self, scheduler: Scheduler) -> None:
        """It fulfils the protocol and has a name."""
        assert isinstance(scheduler, Scheduler)
        assert scheduler.name

    def test_gather_order(self, scheduler: Scheduler) -> None:
        """Results come in the order asked for, repeated if asked twice."""
        a, b, c = key("a"), key("b"), key("c")
        graph = graph_of(
            Task(a, inc, 0), Task(b, inc, TaskRef(a)), Task(c, add, TaskRef(a), TaskRef(b))
        )
        scheduler.submit(graph, [a, b, c]).wait(DEADLINE)
        assert scheduler.gather([c, a, b, a]) == [3, 1, 2, 1]
        assert scheduler.gather([]) == []
        scheduler.release([a, b, c])

    def test_handle_knows_its_keys(self, scheduler: Scheduler) -> None:
        """A handle that ended well is done, names its keys and no failure."""
        a = key()
        handle = scheduler.submit({a: Task(a, inc, 0)}, [a])
        handle.wait(DEADLINE)
        assert handle.done()
        assert (handle.keys, handle.failed) == ((a,), None)
        scheduler.release([a])

    def test_string_keys(self, scheduler: Scheduler) -> None:
        """Keys may be strings."""
        a = key()[0]
        assert run(scheduler, Task(a, inc, 1)) == [2]

    def test_unwanted_are_not_held(self, scheduler: Scheduler) -> None:
        """Only what was asked for is kept."""
        a, b = key("a"), key("b")
        scheduler.submit(graph_of(Task(a, inc, 0), Task(b, inc, TaskRef(a))), [b]).wait(DEADLINE)
        assert_not_held(scheduler, a)
        assert scheduler.gather([b]) == [2]
        scheduler.release([b])

    def test_unneeded_tasks_do_not_run(self, scheduler: Scheduler) -> None:
        """What no wanted key depends on is not computed."""
        a, b = key("a"), key("b")
        assert run(scheduler, Task(a, inc, 0), Task(b, fail), keys=[a]) == [1]

    @pytest.mark.parametrize("value", [None, 0, "", False, [], float("nan"), (), {}])
    def test_falsy_results(self, scheduler: Scheduler, value: Any) -> None:
        """A result that is false, empty, ``None`` or nan is a result, also as an input."""
        a, b = key("a"), key("b")
        results = run(scheduler, Task(a, identity, value), Task(b, identity, TaskRef(a)))
        for result in results:
            nan = isinstance(value, float) and math.isnan(value)
            assert math.isnan(result) if nan else result == value

    def test_arrays(self, scheduler: Scheduler) -> None:
        """Arrays of every size pass between tasks unharmed."""
        for size in (0, 10, 1_000_000):
            a, b = key("a"), key("b")
            (result,) = run(scheduler, Task(a, np.arange, size), Task(b, inc, TaskRef(a)), keys=[b])
            np.testing.assert_array_equal(result, np.arange(size) + 1)

    def test_node_kinds(self, scheduler: Scheduler) -> None:
        """Data, aliases, nested lists and keywords are understood."""
        data, name, task = key("data"), key("alias"), key("task")
        nodes = [
            DataNode(data, 2),
            Alias(name, data),
            Task(
                task,
                scaled,
                List(TaskRef(name), 1, TaskRef(data)),
                factor=TaskRef(data),
                extra=TaskRef(name),
            ),
        ]
        assert run(scheduler, *nodes) == [2, 2, 12]

    def test_diamond(self, scheduler: Scheduler) -> None:
        """A result used twice is used twice."""
        a, b, c, d = key("a"), key("b"), key("c"), key("d")
        nodes = [
            Task(a, identity, 3),
            Task(b, inc, TaskRef(a)),
            Task(c, add, TaskRef(a), TaskRef(a)),
            Task(d, add, TaskRef(b), TaskRef(c)),
        ]
        assert run(scheduler, *nodes, keys=[d]) == [10]

    def test_many_tasks(self, scheduler: Scheduler) -> None:
        """A tree of 2,000 tasks sums up."""
        level = [key() for _ in range(1000)]
        nodes = [Task(one, identity, i) for i, one in enumerate(level)]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [key() for _ in pairs]
            nodes += [
                Task(one, total, *map(TaskRef, pair))
                for one, pair in zip(level, pairs, strict=True)
            ]
        assert len(nodes) >= 2000
        assert run(scheduler, *nodes, keys=list(level)) == [499_500]

    def test_deep_chain(self, scheduler: Scheduler) -> None:
        """Depth is no recursion."""
        chain = [key() for _ in range(self.depth)]
        nodes = [Task(chain[0], identity, 0)]
        nodes += [Task(b, inc, TaskRef(a)) for a, b in itertools.pairwise(chain)]
        assert run(scheduler, *nodes, keys=[chain[-1]]) == [self.depth - 1]

    def test_wide_fan_in(self, scheduler: Scheduler) -> None:
        """One task may have 2,000 inputs."""
        leaves = [key() for _ in range(2000)]
        top = key("top")
        nodes = [Task(leaf, identity, 1) for leaf in leaves]
        nodes.append(Task(top, total, *map(TaskRef, leaves)))
        assert run(scheduler, *nodes, keys=[top]) == [2000]

    def test_missing_key(self, scheduler: Scheduler) -> None:
        """A key that is nowhere defined is a KeyError that names it."""
        a, nowhere = key("a"), key("nowhere")
        for graph, wanted in ((graph_of(), nowhere), (graph_of(Task(a, inc, TaskRef(nowhere))), a)):
            with pytest.raises(KeyError, match=nowhere[0]):
                scheduler.submit(graph, [wanted]).wait(DEADLINE)
            assert_not_held(scheduler, a, nowhere)

    def test_cycle(self, scheduler: Scheduler) -> None:
        """A graph that needs itself is refused rather than waited for."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [Task(a, inc, TaskRef(b)), Task(b, inc, TaskRef(a)), Task(c, inc, TaskRef(b))]
        with pytest.raises(ValueError, match="cycle"):
            scheduler.submit(graph_of(*nodes), [c]).wait(DEADLINE)
        assert_not_held(scheduler, a, b, c)

    def test_hints(self, scheduler: Scheduler) -> None:
        """Hints, complete, partial or of other keys, change no result."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [Task(a, inc, 0), Task(b, inc, TaskRef(a)), Task(c, add, TaskRef(a), TaskRef(b))]
        hints = {
            a: Hint(nbytes=28, peak=56, priority=1, affinity="x"),
            b: Hint(priority=0),
            key("other"): Hint(nbytes=1),
        }
        scheduler.submit(graph_of(*nodes), [c], hints=hints).wait(DEADLINE)
        assert scheduler.gather([c]) == [3]
        scheduler.release([c])

    # -- lifetime --------------------------------------------------------------------------

    def test_released_is_gone(self, scheduler: Scheduler) -> None:
        """After its release a key is not held, and releasing it again is no error."""
        a = key()
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        scheduler.release([a])
        assert_not_held(scheduler, a)
        scheduler.release([a, key("never held")])

    def test_references_are_counted(self, scheduler: Scheduler) -> None:
        """Each submission adds one reference to each key and each release takes one."""
        a = key()
        for _ in range(3):
            scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        for _ in range(2):
            scheduler.release([a])
            assert scheduler.gather([a]) == [1]
        scheduler.release([a])
        assert_not_held(scheduler, a)

    def test_same_key_twice_in_one_submission(self, scheduler: Scheduler) -> None:
        """A key listed twice gains one reference for each."""
        a = key()
        scheduler.submit({a: Task(a, inc, 0)}, [a, a]).wait(DEADLINE)
        scheduler.release([a])
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])
        assert_not_held(scheduler, a)

    def test_later_graph_uses_held_keys(self, scheduler: Scheduler) -> None:
        """A graph may refer to a key that is held, and outlives its release."""
        a, b = key("a"), key("b")
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        handle = scheduler.submit({b: Task(b, inc, TaskRef(a))}, [b])
        scheduler.release([a])
        handle.wait(DEADLINE)
        assert scheduler.gather([b]) == [2]
        scheduler.release([b])

    def test_held_is_not_computed_again(self, scheduler: Scheduler) -> None:
        """A graph that defines a held key takes the result that is there."""
        a, b = key("a"), key("b")
        first = Task(a, np.random.default_rng().random)
        scheduler.submit({a: first}, [a]).wait(DEADLINE)
        (value,) = scheduler.gather([a])
        assert run(scheduler, first, Task(b, identity, TaskRef(a)), keys=[b]) == [value]
        scheduler.release([a])

    def test_empty_graph_of_held_keys(self, scheduler: Scheduler) -> None:
        """Submitting nothing but the name of a held key adds a reference to it."""
        a = key()
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        scheduler.submit({}, [a]).wait(DEADLINE)
        scheduler.release([a])
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])
        scheduler.submit({}, []).wait(DEADLINE)

    def test_results_are_freed(self, scheduler: Scheduler) -> None:
        """Intermediate results die with their last use, wanted ones with their release."""
        if not scheduler.capabilities.shared_memory:
            pytest.skip("results live elsewhere")
        a, b, c = key("a"), key("b"), key("c")
        freed: list[threading.Event] = []

        def box() -> Box:
            result = Box(1)
            freed.append(threading.Event())
            weakref.finalize(result, freed[-1].set)
            return result

        graph = graph_of(Task(a, box), Task(b, unbox, TaskRef(a)), Task(c, box))
        scheduler.submit(graph, [b]).wait(DEADLINE)
        assert freed.pop().wait(DEADLINE)
        scheduler.submit(graph, [c]).wait(DEADLINE)
        assert not freed[0].is_set()
        scheduler.release([b, c])
        assert freed.pop().wait(DEADLINE)

    def test_release_from_any_thread_and_finalizer(self, scheduler: Scheduler) -> None:
        """Finalizers of objects in cycles may release while others submit."""
        wanted = [key() for _ in range(50)]
        for one in wanted:
            scheduler.submit({one: Task(one, inc, 0)}, [one]).wait(DEADLINE)

        class Owner:
            def __init__(self, owned: Key) -> None:
                self.itself = self
                weakref.finalize(self, scheduler.release, [owned])

        for one in wanted[10:]:
            Owner(one)
        other = threading.Thread(target=scheduler.release, args=(wanted[:10],))
        other.start()
        nodes = [Task(key(), inc, i) for i in range(200)]
        assert run(scheduler, *nodes) == list(range(1, 201))
        other.join(DEADLINE)
        gc.collect()
        assert_not_held(scheduler, *wanted)

    # -- failure ---------------------------------------------------------------------------

    def test_failure(self, scheduler: Scheduler) -> None:
        """The task's own exception is raised, its key named, nothing held, all usable."""
        good, bad, after = key("good"), key("bad"), key("after")
        nodes = [
            Task(good, inc, 0),
            Task(bad, fail, TaskRef(good)),
            Task(after, inc, TaskRef(bad)),
        ]
        handle = scheduler.submit(graph_of(*nodes), [good, after])
        for _ in range(2):
            with pytest.raises(Broken, match="broken by 1"):
                handle.wait(DEADLINE)
        assert handle.done()
        if self.names_failed:
            assert handle.failed == bad
        assert_not_held(scheduler, good, bad, after)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    def test_failure_keeps_what_was_held(self, scheduler: Scheduler) -> None:
        """A failing submission takes away no reference but its own."""
        a, b = key("a"), key("b")
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        with pytest.raises(Broken):
            scheduler.submit({b: Task(b, fail, TaskRef(a))}, [a, b]).wait(DEADLINE)
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])
        assert_not_held(scheduler, a, b)

    def test_interrupt_in_a_task(self, scheduler: Scheduler) -> None:
        """A Ctrl-C that hits a task arrives as KeyboardInterrupt and leaves nothing held."""
        if not self.passes_interrupts:
            pytest.skip("tasks get no interrupts here")
        a, b = key("a"), key("b")
        with pytest.raises(KeyboardInterrupt):
            scheduler.submit(graph_of(Task(a, inc, 0), Task(b, interrupt)), [a, b]).wait(DEADLINE)
        assert_not_held(scheduler, a, b)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
    def test_interrupted_wait(self, scheduler: Scheduler, gate: Gate) -> None:
        """A Ctrl-C during ``wait`` interrupts it, and ``cancel`` then frees everything."""
        a = key()
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        main = threading.main_thread().ident
        assert main is not None
        timer = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            handle.wait(DEADLINE)
        timer.join(DEADLINE)
        handle.cancel()
        gate.open()
        with pytest.raises(CancelledError):
            handle.wait(DEADLINE)
        assert_not_held(scheduler, a)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    # -- cancelling and waiting --------------------------------------------------------------

    def test_wait_timeout(self, scheduler: Scheduler, gate: Gate) -> None:
        """A wait that times out leaves the work alone."""
        a = key()
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        with pytest.raises(TimeoutError):
            handle.wait(0.01)
        assert not handle.done()
        gate.open()
        handle.wait(DEADLINE)
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    def test_cancel_while_running(self, scheduler: Scheduler, gate: Gate) -> None:
        """After a cancel ``wait`` raises CancelledError and nothing is held or run."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [
            Task(a, inc, 0),
            Task(b, pass_gate, gate.address, 1, TaskRef(a)),
            Task(c, inc, TaskRef(b)),
        ]
        handle = scheduler.submit(graph_of(*nodes), [a, c])
        gate.wait_until_reached()
        handle.cancel()
        gate.open()
        with pytest.raises(CancelledError):
            handle.wait(DEADLINE)
        handle.cancel()
        assert handle.done()
        assert_not_held(scheduler, a, b, c)
        assert run(scheduler, Task(key(), inc, 0)) == [1]

    def test_cancel_after_the_end(self, scheduler: Scheduler) -> None:
        """Cancelling what has ended changes nothing."""
        a = key()
        handle = scheduler.submit({a: Task(a, inc, 0)}, [a])
        handle.wait(DEADLINE)
        handle.cancel()
        handle.wait(DEADLINE)
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    def test_cancel_spares_the_others(self, scheduler: Scheduler, gate: Gate) -> None:
        """A task that two submissions share goes on when one of them is cancelled."""
        a, b = key("a"), key("b")
        shared = Task(a, pass_gate, gate.address, 1)
        first = scheduler.submit({a: shared}, [a])
        gate.wait_until_reached()
        second = scheduler.submit(graph_of(shared, Task(b, inc, TaskRef(a))), [b])
        first.cancel()
        gate.open()
        second.wait(DEADLINE)
        assert scheduler.gather([b]) == [2]
        scheduler.release([b])
        assert_not_held(scheduler, a, b)

    def test_done_callbacks(self, scheduler: Scheduler, gate: Gate) -> None:
        """Each callback is called once; one that raises harms no other."""
        a = key()
        handle = scheduler.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        called: list[Handle] = []
        last = threading.Event()

        def finish(_: Handle) -> None:
            last.set()

        for callback in (called.append, fail, called.append, finish):
            handle.add_done_callback(callback)
        assert not called
        gate.open()
        handle.wait(DEADLINE)
        assert last.wait(DEADLINE)
        assert called == [handle, handle]
        scheduler.release([a])

    @pytest.mark.parametrize("function", [inc, fail])
    def test_done_callback_after_the_end(
        self, scheduler: Scheduler, function: Callable[[Any], Any]
    ) -> None:
        """A callback added to an ended handle is called at once, however it ended."""
        a = key()
        handle = scheduler.submit({a: Task(a, function, 0)}, [a])
        ended = threading.Event()
        handle.add_done_callback(lambda _: ended.set())
        assert ended.wait(DEADLINE)
        called: list[Handle] = []
        handle.add_done_callback(called.append)
        assert called == [handle]
        scheduler.release([a])

    # -- events and infos --------------------------------------------------------------------

    def test_events(self, scheduler: Scheduler) -> None:
        """First GraphSubmitted, then as many TaskDone as it said, GraphEnded last."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [Task(a, inc, 0), Task(b, inc, TaskRef(a)), Task(c, inc, TaskRef(a))]
        recorder = Recorder()
        handle = scheduler.submit(graph_of(*nodes), [b, c], callbacks=[recorder])
        handle.wait(DEADLINE)
        events = recorder.wait()
        done = recorder.of(TaskDone)
        assert events[0] == GraphSubmitted(3 if self.counts_tasks else 2)
        assert events[-1] == GraphEnded("done")
        assert len(events) - 2 == len(done) + len(recorder.of(TaskStarted))
        assert {event.key for event in done} == ({a, b, c} if self.counts_tasks else {b, c})
        assert all(event.nbytes >= 0 and event.seconds >= 0 for event in done)
        if self.counts_tasks:
            started = [event.key for event in recorder.of(TaskStarted)]
            assert sorted(started) == sorted([a, b, c])
        scheduler.release([b, c])

    def test_failure_events(self, scheduler: Scheduler) -> None:
        """A failing graph reports the failure and ends as failed."""
        a = key()
        recorder = Recorder()
        with pytest.raises(Broken):
            scheduler.submit({a: Task(a, fail)}, [a], callbacks=[recorder]).wait(DEADLINE)
        events = recorder.wait()
        (failure,) = recorder.of(TaskFailed)
        assert isinstance(failure.error, Broken)
        if self.names_failed:
            assert failure.key == a
        assert events[-1] == GraphEnded("failed")

    def test_raising_event_callback(self, scheduler: Scheduler) -> None:
        """An event callback that raises harms neither the job nor the other callbacks."""
        a = key()
        recorder = Recorder()
        scheduler.submit({a: Task(a, inc, 0)}, [a], callbacks=[fail, recorder]).wait(DEADLINE)
        assert recorder.wait()[-1] == GraphEnded("done")
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    @pytest.mark.parametrize(
        "value", [3, "text", np.arange(6.0).reshape(2, 3), np.zeros(20_000), None, (1, 2)]
    )
    def test_info(self, scheduler: Scheduler, value: Any) -> None:
        """``info`` says of a held result what ``describe`` says of its value."""
        a = key()
        scheduler.submit({a: Task(a, identity, value)}, [a]).wait(DEADLINE)
        (info,) = scheduler.info([a])
        expected = describe(value)
        assert (info.shape, info.dtype) == (expected.shape, expected.dtype)
        assert info.nbytes == expected.nbytes
        np.testing.assert_array_equal(info.sample, expected.sample)
        scheduler.release([a])
        with pytest.raises(KeyError):
            scheduler.info([a])

    # -- several at once ---------------------------------------------------------------------

    def test_running_key_is_shared(self, scheduler: Scheduler, gate: Gate) -> None:
        """A key that another submission computes is not computed twice."""
        a, b = key("a"), key("b")
        shared = Task(a, pass_gate, gate.address, 1)
        first = scheduler.submit({a: shared}, [a])
        gate.wait_until_reached()
        second = scheduler.submit(graph_of(shared, Task(b, inc, TaskRef(a))), [a, b])
        gate.open()
        first.wait(DEADLINE)
        second.wait(DEADLINE)
        assert scheduler.gather([a, b]) == [1, 2]
        scheduler.release([a, b])
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])

    def test_two_threads(self, scheduler: Scheduler) -> None:
        """Two threads submit, share a key and gather at the same time."""
        shared = key("shared")
        results: dict[int, list[Any]] = {}

        def work(number: int) -> None:
            results[number] = []
            for i in range(20):
                own = key(f"own-{number}")
                nodes = [Task(shared, identity, 7), Task(own, add, TaskRef(shared), i)]
                results[number] += run(scheduler, *nodes, keys=[own, shared])

        threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        expected = [value for i in range(20) for value in (7 + i, 7)]
        assert results == {0: expected, 1: expected}
        assert_not_held(scheduler, shared)

    def test_nested_submit(self, scheduler: Scheduler) -> None:
        """Tasks that submit to their own scheduler and wait do not deadlock."""
        if not self.nested:
            pytest.skip("tasks cannot reach the scheduler")

        def inner(depth: int) -> Any:
            if not depth:
                return 1
            children = [Task(key(), inner, depth - 1) for _ in range(3)]
            return sum(run(scheduler, *children))

        nodes = [Task(key(), inner, 3) for _ in range(4)]
        assert run(scheduler, *nodes) == [27] * 4

    # -- the end -----------------------------------------------------------------------------

    def test_close(self, disposable: Scheduler) -> None:
        """A closed scheduler refuses work; closing and releasing go on being harmless."""
        a = key()
        disposable.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        disposable.close()
        disposable.close()
        disposable.release([a])
        b = key()
        with pytest.raises(SchedulerClosed):
            disposable.submit({b: Task(b, inc, 0)}, [b])
        with pytest.raises((SchedulerClosed, KeyError)):
            disposable.gather([a])

    def test_close_cancels(self, disposable: Scheduler, gate: Gate) -> None:
        """Closing ends what runs: waiting for it raises CancelledError."""
        a = key()
        handle = disposable.submit({a: Task(a, pass_gate, gate.address, 1)}, [a])
        gate.wait_until_reached()
        closer = threading.Thread(target=disposable.close)
        closer.start()
        with pytest.raises(CancelledError):
            handle.wait(DEADLINE)
        gate.open()
        closer.join(DEADLINE)
        assert not closer.is_alive()
