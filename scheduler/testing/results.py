"""The contract's first half: the values of results, and how long they are held."""

from __future__ import annotations

import gc
import itertools
import math
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from dask.task_spec import Alias, DataNode, List, Task, TaskRef

from ..base import Hint, Key, Scheduler
from .fixtures import ContractFixtures
from .tools import (
    DEADLINE,
    Box,
    add,
    assert_not_held,
    fail,
    graph_of,
    identity,
    inc,
    key,
    run,
    scaled,
    total,
    unbox,
)


class ResultsContract(ContractFixtures):
    """Results, graphs and references."""

    def test_is_a_scheduler(self, scheduler: Scheduler) -> None:
        """It implements the protocol and has a name."""
        assert isinstance(scheduler, Scheduler)
        assert scheduler.name

    def test_gather_order(self, scheduler: Scheduler) -> None:
        """Results are in the order of the keys, also for repeated keys."""
        a, b, c = key("a"), key("b"), key("c")
        graph = graph_of(
            Task(a, inc, 0), Task(b, inc, TaskRef(a)), Task(c, add, TaskRef(a), TaskRef(b))
        )
        scheduler.submit(graph, [a, b, c]).wait(DEADLINE)
        assert scheduler.gather([c, a, b, a]) == [3, 1, 2, 1]
        assert scheduler.gather([]) == []
        scheduler.release([a, b, c])

    def test_handle_knows_its_keys(self, scheduler: Scheduler) -> None:
        """The handle of a successful submission is done, and has its keys and no failed key."""
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
        """Only requested results are kept."""
        a, b = key("a"), key("b")
        scheduler.submit(graph_of(Task(a, inc, 0), Task(b, inc, TaskRef(a))), [b]).wait(DEADLINE)
        assert_not_held(scheduler, a)
        assert scheduler.gather([b]) == [2]
        scheduler.release([b])

    def test_unneeded_tasks_do_not_run(self, scheduler: Scheduler) -> None:
        """Tasks that no requested key depends on do not run."""
        a, b = key("a"), key("b")
        assert run(scheduler, Task(a, inc, 0), Task(b, fail), keys=[a]) == [1]

    @pytest.mark.parametrize("value", [None, 0, "", False, [], float("nan"), (), {}])
    def test_falsy_results(self, scheduler: Scheduler, value: Any) -> None:
        """False, empty, ``None`` and nan are valid results, also as inputs."""
        a, b = key("a"), key("b")
        results = run(scheduler, Task(a, identity, value), Task(b, identity, TaskRef(a)))
        for result in results:
            nan = isinstance(value, float) and math.isnan(value)
            assert math.isnan(result) if nan else result == value

    def test_arrays(self, scheduler: Scheduler) -> None:
        """Tasks pass arrays of every size unchanged."""
        for size in (0, 10, 1_000_000):
            a, b = key("a"), key("b")
            (result,) = run(scheduler, Task(a, np.arange, size), Task(b, inc, TaskRef(a)), keys=[b])
            np.testing.assert_array_equal(result, np.arange(size) + 1)

    def test_node_kinds(self, scheduler: Scheduler) -> None:
        """Graphs may contain data, aliases, nested lists and keyword arguments."""
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
        """A task may use an input twice."""
        a, b, c, d = key("a"), key("b"), key("c"), key("d")
        nodes = [
            Task(a, identity, 3),
            Task(b, inc, TaskRef(a)),
            Task(c, add, TaskRef(a), TaskRef(a)),
            Task(d, add, TaskRef(b), TaskRef(c)),
        ]
        assert run(scheduler, *nodes, keys=[d]) == [10]

    def test_many_tasks(self, scheduler: Scheduler) -> None:
        """A tree of 2,000 tasks computes its sum."""
        level = [key() for _ in range(1000)]
        nodes = [Task(name, identity, i) for i, name in enumerate(level)]
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [key() for _ in pairs]
            nodes += [
                Task(name, total, *map(TaskRef, pair))
                for name, pair in zip(level, pairs, strict=True)
            ]
        assert len(nodes) >= 2000
        assert run(scheduler, *nodes, keys=list(level)) == [499_500]

    def test_deep_chain(self, scheduler: Scheduler) -> None:
        """A deep graph does not exceed the recursion limit."""
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
        """An undefined key raises a KeyError with its name."""
        a, nowhere = key("a"), key("nowhere")
        for graph, output in ((graph_of(), nowhere), (graph_of(Task(a, inc, TaskRef(nowhere))), a)):
            with pytest.raises(KeyError, match=nowhere[0]):
                scheduler.submit(graph, [output]).wait(DEADLINE)
            assert_not_held(scheduler, a, nowhere)

    def test_cycle(self, scheduler: Scheduler) -> None:
        """A cyclic graph raises ValueError."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [Task(a, inc, TaskRef(b)), Task(b, inc, TaskRef(a)), Task(c, inc, TaskRef(b))]
        with pytest.raises(ValueError, match="cycle"):
            scheduler.submit(graph_of(*nodes), [c]).wait(DEADLINE)
        assert_not_held(scheduler, a, b, c)

    def test_hints(self, scheduler: Scheduler) -> None:
        """Hints do not change results, even if they are incomplete or of other keys."""
        a, b, c = key("a"), key("b"), key("c")
        nodes = [Task(a, inc, 0), Task(b, inc, TaskRef(a)), Task(c, add, TaskRef(a), TaskRef(b))]
        hints: dict[Key, Hint] = {
            a: Hint(nbytes=28, peak=56, priority=1, affinity=0.5),
            b: Hint(priority=0),
            key("other"): Hint(nbytes=1),
        }
        scheduler.submit(graph_of(*nodes), [c], hints=hints).wait(DEADLINE)
        assert scheduler.gather([c]) == [3]
        scheduler.release([c])

    def test_released_is_gone(self, scheduler: Scheduler) -> None:
        """A released key is not held, and may be released again."""
        a = key()
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        scheduler.release([a])
        assert_not_held(scheduler, a)
        scheduler.release([a, key("never held")])

    def test_references_are_counted(self, scheduler: Scheduler) -> None:
        """Each submission adds one reference of each key, and each release drops one."""
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
        """A graph may refer to a held key that is released meanwhile."""
        a, b = key("a"), key("b")
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        handle = scheduler.submit({b: Task(b, inc, TaskRef(a))}, [b])
        scheduler.release([a])
        handle.wait(DEADLINE)
        assert scheduler.gather([b]) == [2]
        scheduler.release([b])

    def test_held_is_not_computed_again(self, scheduler: Scheduler) -> None:
        """A graph that defines a held key uses the held result."""
        a, b = key("a"), key("b")
        first = Task(a, np.random.default_rng().random)
        scheduler.submit({a: first}, [a]).wait(DEADLINE)
        (value,) = scheduler.gather([a])
        assert run(scheduler, first, Task(b, identity, TaskRef(a)), keys=[b]) == [value]
        scheduler.release([a])

    def test_empty_graph_of_held_keys(self, scheduler: Scheduler) -> None:
        """Submitting a held key without a graph adds a reference."""
        a = key()
        scheduler.submit({a: Task(a, inc, 0)}, [a]).wait(DEADLINE)
        scheduler.submit({}, [a]).wait(DEADLINE)
        scheduler.release([a])
        assert scheduler.gather([a]) == [1]
        scheduler.release([a])
        scheduler.submit({}, []).wait(DEADLINE)

    def test_results_are_freed(self, scheduler: Scheduler) -> None:
        """Intermediate results are freed after their last use, requested ones on release."""
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
        """Finalizers may release keys while other threads submit."""
        keys = [key() for _ in range(50)]
        for name in keys:
            scheduler.submit({name: Task(name, inc, 0)}, [name]).wait(DEADLINE)

        class Owner:
            def __init__(self, owned: Key) -> None:
                self.itself = self
                weakref.finalize(self, scheduler.release, [owned])

        for name in keys[10:]:
            Owner(name)
        thread = threading.Thread(target=scheduler.release, args=(keys[:10],))
        thread.start()
        nodes = [Task(key(), inc, i) for i in range(200)]
        assert run(scheduler, *nodes) == list(range(1, 201))
        thread.join(DEADLINE)
        gc.collect()
        assert_not_held(scheduler, *keys)
