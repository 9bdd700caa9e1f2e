"""The simulator of placement on small graphs: what cannot be otherwise, whatever the rule."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

import marsdask.tensor as mt
from benchmarks.placement.__main__ import main
from benchmarks.placement.machine import GIB, Hardware
from benchmarks.placement.rules import RULES, DistributedRule, SupervisorRule
from benchmarks.placement.simulate import Figures, Simulation
from benchmarks.placement.traces import (
    MIB,
    TRACES,
    Trace,
    all_to_all,
    map_chains,
    matmul,
    panelled_matmul,
    tree_reduction,
)
from marsdask.core.compilation.tiling import Compilation
from marsdask.core.machine.plan import Plan
from marsdask.scheduler.base import Done
from marsdask.scheduler.dask import combined_machine

SMALL = Hardware(workers=8, per_host=2)


def simulate(
    trace: Trace, rule: type[SupervisorRule | DistributedRule], hardware: Hardware = SMALL
) -> Figures:
    """Return the figures of one run."""
    return Simulation(trace, hardware, rule(hardware.bandwidth)).run()


def longest(trace: Trace) -> float:
    """Return the seconds of the longest path: no cluster is faster."""
    ends: list[float] = []
    for task, inputs in enumerate(trace.inputs):
        ends.append(max((ends[one] for one in inputs), default=0.0) + trace.seconds[task])
    return max(ends)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("make", TRACES)
def test_every_task_runs_once(make, rule):
    """All of them, in no less time than the longest path or all threads together take."""
    trace = make(500)
    figures = simulate(trace, rule)
    assert figures.done == len(trace)
    assert figures.computing == pytest.approx(sum(trace.seconds))
    assert figures.seconds >= longest(trace) - 1e-9
    assert 0 <= figures.idle(SMALL.workers * SMALL.nthreads) < 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("make", TRACES)
def test_one_worker_moves_nothing(make, rule):
    """There is nowhere to move it, and its one thread is never idle."""
    figures = simulate(make(200), rule, Hardware(workers=1, nthreads=1))
    assert figures.between_hosts == figures.within_hosts == 0
    assert figures.idle(1) == pytest.approx(0)


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_left(rule):
    """Results go when nobody needs them: what is held at most is less than all that is made."""
    trace = map_chains(500)
    simulation = Simulation(trace, SMALL, rule(SMALL.bandwidth))
    figures = simulation.run()
    assert figures.fullest < sum(trace.nbytes) / 4
    assert {worker.nbytes for worker in simulation._workers} == {0}
    assert all(not worker.processing for worker in simulation._workers)


def test_neighbours_meet_at_home():
    """Colours bring the leaves of a tree together, so that less has to move than without."""
    trace = tree_reduction(2000)
    assert (
        simulate(trace, SupervisorRule).between_hosts * 4
        < simulate(trace, DistributedRule).between_hosts
    )


def test_a_product_of_blocks_moves_less():
    """Who is beside the most of a product's operands takes it, though no holder."""
    trace, hardware = matmul(2000), Hardware(workers=40)
    ours, stock = (simulate(trace, rule, hardware) for rule in (SupervisorRule, DistributedRule))
    assert ours.between_hosts < 0.9 * stock.between_hosts
    assert ours.seconds < 1.1 * stock.seconds


def test_runs_are_repeatable():
    """The same graph comes out the same, whoever else has been simulated before."""
    trace = all_to_all(500)
    first, second = simulate(trace, SupervisorRule), simulate(trace, SupervisorRule)
    assert (first.seconds, first.between_hosts) == (second.seconds, second.between_hosts)


def test_the_table(capsys):
    """A line for each graph and rule."""
    assert main(["--tasks", "100", "--workers", "4", "--graphs", "map,tree"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(lines) == 1 + 2 * len(RULES)
    assert main(["--tasks", "50", "--workers", "2", "--graphs", "map", "--rules", "mars"]) == 0
    assert "distributed" not in capsys.readouterr().out


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("make", [tree_reduction, matmul])
def test_what_does_not_fit_in_memory_goes_to_disk(make, rule):
    """No worker has more in memory than it has memory for, and every task runs all the same."""
    trace, small = make(500), Hardware(workers=4, per_host=2, memory=100 * MIB)
    figures = simulate(trace, rule, small)
    assert figures.done == len(trace)
    assert figures.fullest <= small.memory
    assert figures.spilled > 0
    assert simulate(trace, rule).spilled == 0


def test_no_worker_is_promised_more_than_its_share():
    """Whether a task is placed, or stolen."""
    hardware = Hardware(workers=8, per_host=2, memory=200 * MIB)
    rule, most = SupervisorRule(hardware.bandwidth), 0
    promise = rule.promise

    def noted(task, worker, nbytes):
        nonlocal most
        promise(task, worker, nbytes)
        most = max(most, rule._policy.ledger.on(worker))

    rule.promise = noted
    figures = Simulation(all_to_all(500), hardware, rule).run()
    assert figures.stolen > 0
    assert 0 < most <= rule._policy.soft * hardware.memory


def test_chains_stay_where_they_began():
    """The next task of a chain is the next to run there, though others wait already."""
    trace = map_chains(500)
    figures = simulate(trace, SupervisorRule)
    moved = figures.within_hosts + figures.between_hosts
    assert moved < sum(trace.nbytes) / 20, "the last ones may be stolen"


@pytest.mark.parametrize(("count", "threads"), [(4, 8), (5, 8), (9, 100)])
def test_the_panelled_product_is_what_the_compiler_makes(count, threads):
    """As many tasks, with as many inputs and readers, and bytes."""
    a, b = (mt.random.rand(count * 1024, count * 1024, chunk_size=1024) for _ in range(2))
    machine = combined_machine([(2, 8 * GIB)] * (threads // 2))
    stage = Compilation([(a @ b).node], plan=Plan(shared_memory=False).on(machine)).advance({})
    assert not isinstance(stage, Done)
    inputs = {key: task.dependencies for key, task in stage.graph.items()}
    readers = Counter(itertools.chain(*inputs.values()))
    made = Counter((len(inputs[key]), readers[key], stage.hints[key].nbytes) for key in stage.graph)
    trace = panelled_matmul(count**3, threads)
    read = trace.consumers()
    assert made == Counter(
        (len(inputs), len(read[task]), trace.nbytes[task])
        for task, inputs in enumerate(trace.inputs)
    )
    assert sum(trace.seconds) == pytest.approx(0.1 * count**2 + 0.06 * count**3, rel=0.2)
