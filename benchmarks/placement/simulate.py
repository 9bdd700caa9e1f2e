"""Simulates a cluster: tasks are placed, inputs are transferred, threads compute.

The following holds for all rules, as in distributed. Sources wait in one queue until a worker has a
slot. Other tasks are placed when their inputs are computed. A worker runs the first of its tasks
whose inputs have arrived. Idle workers steal tasks that would end sooner.

Tasks reach the scheduler as their rule says: the whole graph at once, or in the batches of a
supervisor's job, by its own functions. The time that this takes is not simulated.

A worker without free memory spills its least recently used results, and reads them back when they
are needed. Replicas are dropped when there are more than tasks that need them.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.placement.batches import TraceBatches
from benchmarks.placement.machine import Hardware, SimulatedWorker
from benchmarks.placement.rules import Rule
from benchmarks.placement.traces import Trace
from marsdask.scheduler.supervisor.affinity.worker_ranges import Ranges
from marsdask.scheduler.supervisor.placement import STRANGERS, TaskView

#: Number of workers that an idle one may steal from.
_ASKED = 8

#: One of this many decisions is timed, by repeating it: reading the clock may take longer.
_TIMED, _REPEATED = 256, 16

_ARRIVED, _FINISHED = 0, 1


@dataclass
class Figures:
    """The results of a simulation."""

    seconds: float = 0.0
    """Simulated, from the first task to the last."""
    computing: float = 0.0
    """Thread-seconds of tasks."""
    between_hosts: int = 0
    within_hosts: int = 0
    fullest: int = 0
    """The most bytes that any worker had in memory."""
    spilled: int = 0
    """All bytes that were written to disks."""
    stolen: int = 0
    done: int = 0
    deciding: float = 0.0
    """Real seconds of processor that the rule's decisions took, as estimated from some of them."""

    def idle(self, threads: int) -> float:
        """Return the share of the threads' time that nothing was computed in."""
        return 1 - self.computing / (self.seconds * threads) if self.seconds else 0.0


class Simulation:
    """One trace under one rule."""

    def __init__(self, trace: Trace, hardware: Hardware, rule: Rule, *, seed: int = 0) -> None:
        self._trace = trace
        self._hardware = hardware
        self._rule = rule
        self._workers = hardware.make()
        self._everyone = dict.fromkeys(self._workers).keys()
        self._random = random.Random(seed)
        self._now = 0.0
        self._events: list[tuple[float, int, int, int, SimulatedWorker]] = []
        self._count = 0
        self._decisions = 0
        self._consumers = trace.consumers()
        self._waits = [len(set(inputs)) for inputs in trace.inputs]
        self._users = [len(consumers) for consumers in self._consumers]
        self._holders: dict[int, dict[SimulatedWorker, None]] = {}
        # A scheduler keeps these in sets: neighbours of one host are not next to each other there.
        self._slots = dict.fromkeys(self._random.sample(self._workers, len(self._workers)))
        self._idle = dict.fromkeys(self._slots)
        self._busy: dict[SimulatedWorker, None] = {}
        self._full = math.ceil(hardware.nthreads * hardware.saturation)
        self._held_back: list[int] = []
        """A heap of those that fit nowhere; the first of them is not overtaken by the others."""
        threads = hardware.workers * hardware.nthreads
        self._batches = TraceBatches(trace, self._consumers, threads, whole=not rule.affinities)
        self._ranges = Ranges(self._workers)
        self._sources: deque[int] = deque()
        self._taken: set[int] = set()
        self._home: dict[int, SimulatedWorker] = {}
        self._own: dict[SimulatedWorker, deque[int]] = {}
        self.figures = Figures()

    def _submit(self) -> None:
        """Submit batches, as far as the job may be ahead."""
        while (batch := self._batches.take()) is not None:
            if self._rule.affinities:
                self._set_homes(batch)
            for task in batch:
                if not self._waits[task]:
                    self._begin(task)

    def _set_homes(self, batch: range) -> None:
        for task, affinity in self._batches.affinities(batch).items():
            home = self._home[task] = self._ranges.home(affinity)
            self._own.setdefault(home, deque()).append(task)

    def _begin(self, task: int) -> None:
        """Queue a source, or place another task whose inputs are computed."""
        if not self._trace.inputs[task]:
            self._sources.append(task)
        elif not self._place(task):
            heapq.heappush(self._held_back, task)

    def run(self) -> Figures:
        """Run to the end."""
        self._submit()
        self._hand_out()
        while self._events:
            self._now, _, kind, task, worker = heapq.heappop(self._events)
            if kind == _ARRIVED:
                heapq.heappush(worker.ready, task)
                self._start(worker)
            else:
                self._finish(task, worker)
        if self.figures.done != len(self._trace):
            raise RuntimeError(f"{len(self._trace) - self.figures.done} tasks never ran")
        self.figures.seconds = self._now
        self.figures.fullest = max(worker.most for worker in self._workers)
        self.figures.spilled = sum(worker.spilled for worker in self._workers)
        return self.figures

    def _at(self, when: float, kind: int, task: int, worker: SimulatedWorker) -> None:
        self._count += 1  # events of one moment keep their order
        heapq.heappush(self._events, (when, self._count, kind, task, worker))

    def _described(self, task: int) -> TaskView[SimulatedWorker]:
        nbytes, holders = self._trace.nbytes, self._holders
        inputs = tuple([(nbytes[one], holders[one]) for one in self._trace.inputs[task]])
        return TaskView(self._trace.needs(task), inputs)

    def _hand_out(self) -> None:
        """Give sources to free slots, at home if they can."""
        while self._slots and (task := self._next_source()) is not None:
            home = self._home.get(task)
            described = self._described(task)
            if home is not None and home in self._slots and self._rule.fits(described, home):
                chosen: SimulatedWorker | None = home
            else:
                chosen = self._decided(self._rule.source, described, self._slots)
            if chosen is None:
                return
            self._taken.add(task)
            self._assign(task, chosen)

    def _next_source(self) -> int | None:
        while self._sources and self._sources[0] in self._taken:
            self._taken.discard(self._sources.popleft())
        if not self._sources:
            return None
        first = self._sources[0]
        home = self._home.get(first)
        if home is None or home in self._slots:
            return first
        for worker, _ in zip(self._slots, range(STRANGERS), strict=False):
            own = self._own.get(worker)
            while own and (own[0] in self._taken or own[0] < first):
                own.popleft()
            if own:
                return own[0]
        return first

    def _decided(
        self, decide: Callable[..., SimulatedWorker | None], *shown: Any
    ) -> SimulatedWorker | None:
        self._decisions += 1
        if self._decisions % _TIMED:
            return decide(*shown)
        began = time.process_time()
        for _ in range(_REPEATED):
            chosen = decide(*shown)
        self.figures.deciding += (time.process_time() - began) / _REPEATED * _TIMED
        return chosen

    def _place(self, task: int) -> bool:
        described = self._described(task)
        chosen = self._decided(
            self._rule.place, described, self._idle, self._everyone, self._next_source() is not None
        )
        if chosen is None:
            return False
        self._assign(task, chosen)
        return True

    def _assign(self, task: int, worker: SimulatedWorker) -> None:
        self._rule.promise(task, worker, self._trace.needs(task))
        worker.want(self._trace.inputs[task])
        came = self._fetch(task, worker)
        cost = self._trace.seconds[task] + (came - self._now)
        worker.processing[task] = cost
        worker.occupancy += cost
        self._looked_at(worker)
        if came > self._now:
            self._at(came, _ARRIVED, task, worker)
        else:
            heapq.heappush(worker.ready, task)
            self._start(worker)

    def _fetch(self, task: int, worker: SimulatedWorker) -> float:
        """Bring the inputs, one after the other, and return when the last one is there."""
        last = now = self._now
        for one in self._trace.inputs[task]:
            holders, nbytes = self._holders[one], self._trace.nbytes[one]
            if worker in holders:
                last = max(last, worker.coming.get(one, 0.0), worker.use(one, nbytes, now))
                continue
            beside = next((holder for holder in holders if holder.host == worker.host), None)
            if beside is not None:
                speed = self._hardware.local_bandwidth
                self.figures.within_hosts += nbytes
            else:
                speed = self._hardware.bandwidth
                self.figures.between_hosts += nbytes
            if one in (beside or next(iter(holders))).on_disk:
                speed = min(speed, self._hardware.disk)
            worker.link_free = max(now, worker.link_free) + nbytes / speed
            worker.coming[one] = worker.link_free
            last = max(last, worker.link_free)
            holders[worker] = None
            worker.hold(one, nbytes, now)
        return last

    def _looked_at(self, worker: SimulatedWorker) -> None:
        """Keep the lists of who has how much to do."""
        count = len(worker.processing)
        for there, belongs in (
            (self._slots, count < self._full),
            (self._idle, count < worker.nthreads),
            (self._busy, count > worker.nthreads),
        ):
            if belongs:
                there.setdefault(worker)
            else:
                there.pop(worker, None)

    def _start(self, worker: SimulatedWorker) -> None:
        while worker.ready and worker.running < worker.nthreads:
            task = heapq.heappop(worker.ready)
            worker.running += 1
            self._at(self._now + self._trace.seconds[task], _FINISHED, task, worker)

    def _finish(self, task: int, worker: SimulatedWorker) -> None:
        trace, figures = self._trace, self.figures
        figures.done += 1
        figures.computing += trace.seconds[task]
        worker.running -= 1
        worker.occupancy = max(0.0, worker.occupancy - worker.processing.pop(task))
        self._rule.settle(task)
        self._holders[task] = {worker: None}
        worker.hold(task, trace.nbytes[task], self._now)
        worker.leave(trace.inputs[task])
        for one in trace.inputs[task]:
            self._used(one, worker)
        if not self._consumers[task]:
            self._release(task)
        self._looked_at(worker)
        self._start(worker)
        for one in self._consumers[task]:
            if self._is_ready(one) and self._batches.submitted(one):
                self._begin(one)
        self._batches.finish(task)
        self._submit()
        while self._held_back and self._place(self._held_back[0]):
            heapq.heappop(self._held_back)
        if not self._held_back:
            self._hand_out()
        if worker in self._idle:
            self._steal(worker)
        elif self._busy and self._idle:
            idle = next(iter(self._idle))
            self._idle[idle] = self._idle.pop(idle)  # others have a turn before it has another
            self._steal(idle)

    def _is_ready(self, task: int) -> bool:
        self._waits[task] -= 1
        return not self._waits[task]

    def _used(self, task: int, worker: SimulatedWorker) -> None:
        """Let go of a result that nobody else needs, or of a copy if more are there than readers.

        Distributed's active memory manager drops those, though every two seconds only.
        """
        self._users[task] -= 1
        holders = self._holders[task]
        if not self._users[task]:
            self._release(task)
        elif len(holders) > self._users[task] and task not in worker.wanted:
            del holders[worker]
            worker.release(task, self._trace.nbytes[task])

    def _release(self, task: int) -> None:
        for holder in self._holders.pop(task):
            holder.release(task, self._trace.nbytes[task])

    def _steal(self, thief: SimulatedWorker) -> None:
        """Take a task that waits elsewhere, if it ends sooner here: distributed's condition.

        Of the tasks of several it is the one that is brought most cheaply, as distributed begins
        with those and looks for the best thief of each.
        """
        chosen, least = None, math.inf
        for victim in self._some_busy(thief):
            if not victim.ready:
                continue
            task = victim.ready[-1]  # any leaf of the heap can go
            spare = victim.occupancy / victim.nthreads - 1.5 * self._trace.seconds[task]
            if spare < 0:
                continue  # even if nothing had to be brought
            described = self._described(task)
            transfer = self._rule.transfer(described, thief)
            if transfer < least and transfer <= spare and self._rule.fits(described, thief):
                chosen, least = victim, transfer
        if chosen is not None:
            task = chosen.ready.pop()
            chosen.leave(self._trace.inputs[task])
            chosen.occupancy = max(0.0, chosen.occupancy - chosen.processing.pop(task))
            self._looked_at(chosen)
            self.figures.stolen += 1
            self._assign(task, thief)

    def _some_busy(self, thief: SimulatedWorker) -> Iterator[SimulatedWorker]:
        """Yield who has too much to do on the thief's host, and some of the others."""
        per_host = self._hardware.per_host
        first = thief.number - thief.number % per_host
        for worker in self._workers[first : first + per_host]:
            if worker in self._busy:
                yield worker
        busy = len(self._busy)
        skip = self._random.randrange(busy - _ASKED + 1) if _ASKED < busy < 4 * _ASKED else 0
        yield from itertools.islice(self._busy, skip, skip + _ASKED)
