"""Which results count when workers bring them, without a cluster."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.supervisor.failover.generations import Generations, WorkerHistory
from tests.strategies import draws

LAST = WorkerHistory("last", 5)


def generations(*known, recent=True):
    """Return a supervisor's generations, and what it knows and whether it is new."""
    world = SimpleNamespace(known=set(known), recent=recent)
    return Generations("own", world.known.__contains__, lambda: world.recent), world


def test_each_change_of_a_name_ends_its_generation():
    """Whatever became of it meanwhile: only what was never touched counts."""
    for finish, counts in [
        ("processing", False),
        ("memory", False),
        ("erred", False),
        ("forgotten", False),
        ("queued", True),
        ("released", True),
    ]:
        found, _ = generations("x")
        found.leave("a", ["x"], "cut")
        found.transition("x", finish, "later")
        assert found.returns("a", WorkerHistory("own"), ["x"]) == ({"x"} if counts else set())
        assert not found.absent


def test_what_its_removal_lost_counts_while_the_name_is_unknown():
    """Data of which it had the only copy; not once anything has had their name again."""
    for later, counts in [((), True), (("memory",), False), (("forgotten",), False)]:
        found, _ = generations()
        found.leave("a", ["x"], "cut")
        found.transition("x", "forgotten", "cut")
        for finish in later:
            found.transition("x", finish, "later")
        assert found.returns("a", WorkerHistory("own"), ["x"]) == ({"x"} if counts else set())


@pytest.mark.parametrize(
    ("history", "removed", "counts"),
    [
        (LAST, (), True),
        (LAST, ("a",), False),
        (WorkerHistory("earlier", 4), (), False),
        (WorkerHistory("own", 9), (), False),
    ],
)
def test_only_workers_of_the_last_supervisor_bring_results(history, removed, counts):
    """Not who served an earlier one, or was cut off, or left this one without its hearing of it."""
    found, _ = generations()
    found.succeed(WorkerHistory("last", 5, frozenset(removed)))
    assert found.returns("a", history, ["x"]) == ({"x"} if counts else set())


def test_workers_that_never_return_cost_nothing():
    """Once nothing is left of what they held; the next supervisor is told of the last ones."""
    found, _ = generations("x")
    for number in range(1100):
        found.leave(f"w{number}", ["x"], "cut")
    found.transition("x", "processing", "later")
    assert not found._absent
    assert found.absent == [f"w{number}" for number in range(100, 1100)]
    assert found.returns("w1099", WorkerHistory("own"), ["x"]) == set()


@pytest.mark.parametrize("lost", [False, True])
def test_ended_workers_that_held_lasting_results_are_forgotten(lost):
    """A replica of a result in use, or the only copy of data that nothing computes."""
    found, _ = generations()
    for number in range(1100):
        found.leave(f"w{number}", ["lasting", number], f"cut{number}")
        if lost:
            found.transition(number, "forgotten", f"cut{number}")
    assert len(found._absent) == 1000
    assert found._holders.keys() == {"lasting", *range(100, 1100)}
    assert len(found._holders["lasting"]) == 1000
    for number in range(100, 1100):
        assert found.returns(f"w{number}", WorkerHistory("own"), ["lasting"]) == set()
    assert not found._absent
    assert not found._holders


def test_a_transition_costs_what_concerns_its_name():
    """It reads no record of a worker that did not hold the name, however many have ended."""
    found, _ = generations("x")
    for number in range(100):
        found.leave(f"w{number}", ["lasting"], "cut")
    found.leave("a", ["x"], "cut")
    found._absent = Reads(found._absent)
    found.transition("x", "memory", "later")
    found.transition("y", "memory", "later")
    assert found._absent.read == ["a"]


class Reads(dict[str, object]):
    """A dictionary that records which of its values are read."""

    def __init__(self, entries):
        super().__init__(entries)
        self.read = []

    def __getitem__(self, key):
        self.read.append(key)
        return super().__getitem__(key)

    def items(self):
        """Return all, which are read."""
        self.read.extend(self)
        return super().items()


def test_late_workers_bring_nothing():
    """Nobody remembers which names were in use since; so it is with who served two at once."""
    found, world = generations()
    world.recent = False
    assert not found.returns("a", LAST, ["x"])
    world.recent = True
    rival = WorkerHistory("rival", 7, frozenset({"b"}))
    assert found.returns("b", LAST, ["y"]) == {"y"}
    assert not found.returns("c", rival, ["z"], early=False)
    assert not found.outdated(), "what the rival has cut off has joined this one"


@given(
    order=st.permutations(["a", "b", "c"]),
    cut=st.sets(st.sampled_from(["a", "b", "c"]), max_size=2),
)
@draws(30)
def test_whatever_order_workers_join_in(order, cut):
    """In the end the results are those of workers that were not cut off."""
    found, world = generations()
    left: dict[str, set[str]] = {}
    for worker in order:
        told = frozenset() if worker in cut else frozenset(cut)
        left[worker] = found.returns(worker, WorkerHistory("last", 5, told), ["x", worker])
        world.known |= left[worker]
        for late, keys in found.outdated().items():
            left[late] -= keys
    assert left == {w: set() if w in cut else {"x", w} for w in order}


def test_what_was_computed_anew_is_dropped_alone():
    """Of two results that a worker held, the other one is kept, whether it is known or was lost."""
    for known in [("old", "kept"), ()]:
        found, _ = generations(*known)
        found.leave("w", ["old", "kept"], "left")
        if not known:
            for key in ("old", "kept"):
                found.transition(key, "forgotten", "left")
        found.transition("old", "processing", "later")
        assert found.returns("w", WorkerHistory("own"), ["old", "kept"]) == {"kept"}


@given(
    order=st.permutations(["a", "b", "c"]),
    again=st.sets(st.sampled_from(["x", "y"])),
    chose=st.booleans(),
)
@draws(30)
def test_who_left_when_another_supervisor_took_over_is_not_cut_off(order, again, chose):
    """Only what the others brought as well may be newer there: they served the last one longer."""
    found, world = generations()
    left: dict[str, set[str]] = {}
    for worker in order:
        lately = frozenset() if worker == "a" else frozenset("a")
        history = WorkerHistory("last", 5, lately=lately, left=chose and worker == "a")
        held = {"a": {"x", "y", "z"}, "b": again}.get(worker, set())
        left[worker] = found.returns(worker, history, held)
        world.known |= left[worker]
        for late, keys in found.outdated().items():
            left[late] -= keys
    assert left == {"a": {"x", "y", "z"} - again if chose else set(), "b": again, "c": set()}
