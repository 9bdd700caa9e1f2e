"""A Dask scheduler that places tasks by the policy of :mod:`.placement`.

It overrides distributed's transitions into ``processing`` and ``queued``. Any task that no worker
has the memory for waits in the queue, and is tried again whenever a task ends.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar

import dask.config
import distributed
from distributed.core import Status
from distributed.scheduler import (
    DEFAULT_EXTENSIONS,
    SchedulerState,
    TaskState,
    WorkerState,
)
from distributed.stealing import WorkStealing

from ..base import Key
from ..dask import PLACE
from .affinity.memory_domains import MemoryDomains
from .affinity.worker_ranges import QueuedSources
from .fair_share import FairQueue, JobShare, WorkerShares, submission
from .hints import hinted_bytes, mean_bytes, needs, task_view
from .placement import (
    CROWD,
    STRANGERS,
    InputBytes,
    Policy,
    Reservations,
    RoundRobin,
    TaskView,
    beyond,
    ends_soon,
    resident,
    share,
)
from .replicas import MarsMemoryManager, keep_shared
from .waiting_tasks import HeadReservation, QueueGroups

#: Maximum number of sources on all workers beyond their threads, ...
_AHEAD = 2
#: ... unless the expected result is at most this share of the memory of each worker.
_SMALL = 1 / 256

#: Maximum bytes of a result that may be computed earlier than it is needed.
_TINY = 256


class PlacementScheduler(distributed.Scheduler):
    """A scheduler with a placement policy, or distributed's with ``marsdask.policy: stock``."""

    defined: Collection[Key] = ()
    """The names in the graph that is submitted now, also those that need no task."""
    _looking = False
    """Whether a pass over the queue is scheduled after the transitions."""
    _caching = False
    """Whether the locations of inputs do not change now."""

    def __init__(self, *, policy: Policy | None = None, **options: Any) -> None:
        if policy is None and dask.config.get("marsdask.policy", "memory") != "stock":
            policy = Policy()
        self.policy = policy
        self.homes = QueuedSources()
        self.domains = MemoryDomains()
        self._open: set[WorkerState] = set()
        """Workers with fewer tasks than threads."""
        self._ahead: set[WorkerState] = set()
        """Workers with more tasks than threads."""
        self._batching: set[WorkerState] = set()
        """Workers that get more tasks only because theirs are short."""
        self._least_memory = math.inf
        """The least memory limit of any worker that has been here."""
        self._waiting: QueueGroups[TaskState] | None = None
        """The queued tasks of each client, once a task waits that others may overtake."""
        ledger = Reservations() if policy is None else policy.ledger
        self._head: HeadReservation[WorkerState] = HeadReservation(ledger)
        self._turns = RoundRobin()
        self.fair_queue = FairQueue()
        self.worker_shares = WorkerShares()
        self._last_number = -math.inf
        self._submission: JobShare | None = None
        self._cached: tuple[TaskState, TaskView[WorkerState], InputBytes[WorkerState]] | None = None
        """The last task and the locations of its inputs, while these cannot change."""
        if "extensions" not in options and policy is not None:
            options["extensions"] = dict(DEFAULT_EXTENSIONS)
            if dask.config.get("distributed.scheduler.work-stealing"):
                options["extensions"]["stealing"] = MarsStealing
            else:
                del options["extensions"]["stealing"]
            options["extensions"]["amm"] = MarsMemoryManager
        super().__init__(**options)
        if policy is not None:
            policy.coming = operator.attrgetter("_network_occ")
            policy.domain = self.domains.of
            if "amm" in self.extensions:
                keep_shared(self.extensions["amm"])

    def join(self, session: Hashable, weight: float) -> JobShare:
        """Return the record of a session's next job."""
        self.fair_queue.now = max(self.fair_queue.now, self.generation)
        following = math.nextafter(self._last_number, math.inf)
        number = self._last_number = max(self.fair_queue.now, following)
        self.worker_shares.join(number, session, weight)
        return JobShare(number, self.fair_queue.share(session, weight))

    @contextlib.contextmanager
    def submitting(self, job: JobShare, defined: Collection[Key]) -> Iterator[None]:
        """Give the tasks that are created meanwhile the virtual times of their session."""
        generation, last = self.generation, self._last_time
        self._submission, self.defined = job, defined
        try:
            yield
        finally:
            self._submission, self.defined = None, ()
            self.generation, self._last_time = generation, last

    def _set_priorities(self, **options: Any) -> None:  # type: ignore[override]
        """Set priorities; those of sessions are virtual times, in place of a graph's number."""
        job = self._submission if self.policy is not None else None
        if job is None:
            self.generation = max(self.generation, math.ceil(self.fair_queue.now))
            super()._set_priorities(**options)
            return
        new = [ts for ts in options["tasks"] if not ts.priority]
        super()._set_priorities(**options)
        new = sorted((ts for ts in new if ts.priority), key=operator.attrgetter("priority"))
        costs = [self._get_prefix_duration(ts.prefix) for ts in new]
        for ts, time in zip(new, self.fair_queue.times(job.share, costs), strict=True):
            user, _, position = ts.priority
            ts.priority = user, time, position, job.number

    def _ours(self, ts: TaskState) -> Policy | None:
        """Return the policy unless a restriction determines the task's worker."""
        if ts.actor or ts.worker_restrictions or ts.host_restrictions or ts.resource_restrictions:
            return None
        return self.policy

    def _choose(self, ts: TaskState, policy: Policy) -> WorkerState | None:
        self._head.expire()
        may = partial(self._head.others, ts)
        task = task_view(ts)
        home = self._home(ts)
        policy.bandwidth = self.bandwidth
        if not self.is_rootish(ts):
            stay = CROWD if self._sources_wait(policy) else 1
            idle = may(self.idle.values())
            worker = policy.place(task, may(self.running), idle, self._near_for(ts), stay)
        else:
            slots = may(self._slots(ts))
            if home is not None and home in slots and policy.fits(task, home):
                worker = home
            else:
                worker = policy.choose(task, self._candidates(home, slots))
        return worker or policy.alone(task, may(self.running))

    def _slots(self, ts: TaskState) -> set[WorkerState]:
        """Return the workers that may get a source.

        distributed sends each worker a source beyond its threads. That source runs before the
        consumers of the previous one, which costs memory for a chunk on each worker. This scheduler
        sends at most two such sources in total, unless their results are small.
        """
        return self._regular_slots(ts) or self._fair_slots(ts)

    def _regular_slots(self, ts: TaskState) -> set[WorkerState]:
        """Return the workers whose tasks leave a slot for a source."""
        hinted = hinted_bytes(ts)
        if not ts.dependents or 0 < hinted <= _TINY:
            return self.idle_task_count
        self._open &= self.idle_task_count  # without closed and paused workers
        if self._open:
            return self._open
        if 0 < (hinted or mean_bytes(ts)) <= _SMALL * self._least_memory:
            return self.idle_task_count - self._batching
        self._ahead &= self.running
        if len(self._ahead) < _AHEAD and sum(map(beyond, self._ahead)) < _AHEAD:
            return self.idle_task_count - self._ahead - self._batching
        return set()

    def _fair_slots(self, ts: TaskState) -> set[WorkerState]:
        """Return some workers where other sessions have tasks, and this one less than its share."""
        shares = self.worker_shares
        if not shares.others_run(ts.priority):
            return set()
        sample = self._turns.take([*self.running], STRANGERS)
        return {ws for ws in sample if shares.has_place(ws, ws.nthreads, ts.priority)}

    def _candidates(
        self, home: WorkerState | None, slots: Collection[WorkerState]
    ) -> Collection[WorkerState]:
        """Return the ``slots`` for a task of this home; batches hold only tasks of one home."""
        if home is None or home in slots:
            return slots
        self._batching &= self.idle_task_count
        return {*slots} - self._batching

    def _near_for(self, ts: TaskState) -> Callable[[Hashable], Iterable[WorkerState]]:
        """Return what yields the workers of a domain for a task."""
        if self._head.alone is None:
            return self._near
        return lambda domain: self._head.others(ts, [*self._near(domain)])

    def check_idle_saturated(self, ws: WorkerState, occ: float = -1.0) -> None:
        """Record the load of a worker; one with short tasks may get more of them."""
        if ws.status is Status.closed:  # a theft that ends late names it
            return
        super().check_idle_saturated(ws, occ)
        self.domains.of(ws)  # a new worker has one before anything is placed
        self._least_memory = min(self._least_memory, share(ws))
        self._batching.discard(ws)
        full = ws not in self.idle_task_count and ws in self.running
        ahead = self.policy is not None and self.WORKER_SATURATION > 1
        if full and ahead and PLACE in ws.extra and ends_soon(ws):
            self._batching.add(ws)
            self.idle_task_count.add(ws)
        more = beyond(ws)
        for there, belongs in ((self._open, more < 0), (self._ahead, more > 0)):
            if belongs:
                there.add(ws)
            else:
                there.discard(ws)

    def _home(self, ts: TaskState) -> WorkerState | None:
        """Return the worker for sources of the task's affinity, ``None`` without one."""
        home = self.homes.home(ts, self.workers.values())
        return home and self.workers.get(home.address)  # it may have left, and returned

    def _near(self, domain: Hashable) -> Iterator[WorkerState]:
        """Yield the idle workers of a domain, then a few of the others in turn."""
        workers = [*self.domains.workers(domain)]
        idle: Any = self.idle
        for ws in workers:
            if ws.address in idle:
                yield ws
        for ws in self._turns.take(workers, STRANGERS):
            if ws.address not in idle and ws in self.running:
                yield ws

    def _sources_wait(self, policy: Policy) -> bool:
        """Return whether a source in the queue waits for a thread, not for memory."""
        if not self.queued or not self.is_rootish(first := self._first_queued()):
            return False
        source, sample = task_view(first), itertools.islice(self._open, STRANGERS)
        return not self._open or any(policy.fits(source, ws) for ws in sample)

    def decide_worker_non_rootish(self, ts: TaskState) -> WorkerState | None:
        """Return the worker for a task."""
        policy = self._ours(ts)
        worker = self._choose(ts, policy) if policy is not None and self.running else None
        return worker or super().decide_worker_non_rootish(ts)

    def _transition_waiting_processing(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        policy = self._ours(ts)
        unqueued = float("inf") == self.WORKER_SATURATION or not ts._queueable  # as P2P's are
        if policy is None or not self.running or unqueued:
            return super()._transition_waiting_processing(key, stimulus_id)
        if self.is_rootish(ts):
            slots = self._slots(ts)
            if not slots:
                # Most tasks of a large graph: few workers, if any, have been looked at.
                return {key: "queued"}, {}, {}
            home = self._home(ts)
            if home is not None and home not in slots:
                # Tasks of other homes come first; then any idle worker gets this one.
                if not self._looking:
                    self._looking = True
                    self.loop.add_callback(self._pass_queue, stimulus_id)
                return {key: "queued"}, {}, {}
        worker = self._choose(ts, policy)
        if worker is None:
            return {key: "queued"}, {}, {}
        return self._add_to_processing(ts, worker, stimulus_id=stimulus_id)

    def _pass_queue(self, stimulus_id: str) -> None:
        self._looking = False
        self.stimulus_queue_slots_maybe_opened(stimulus_id=stimulus_id)

    def _transition_waiting_queued(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        ts.state = "queued"
        self.queued.add(ts)
        if self._waiting is not None:
            self._waiting.add(ts)
        if self.policy is not None:
            self.homes.add(ts, self.workers.values())
        return {}, {}, {}

    def _transition_queued_processing(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        policy = self._ours(ts)
        if policy is None:
            return super()._transition_queued_processing(key, stimulus_id)
        head = self._head.task is ts
        if head:
            self._head.pause()
        worker = self._choose(ts, policy)
        if worker is None:
            if head:
                self._reserve(ts, policy)
            return {}, {}, {}
        if head:
            self._head.release()
        self.queued.discard(ts)
        return self._add_to_processing(ts, worker, stimulus_id=stimulus_id)

    def _transition_queued_released(self, key: Any, stimulus_id: str) -> Any:
        result = super()._transition_queued_released(key, stimulus_id)
        self._leave_queue(self.tasks[key])
        return result

    def _transition_queued_erred(self, key: Any, stimulus_id: str, **options: Any) -> Any:
        result = super()._transition_queued_erred(key, stimulus_id, **options)
        self._leave_queue(self.tasks[key])
        return result

    def _leave_queue(self, ts: TaskState) -> None:
        """Forget a task where queued ones are looked for.

        Tasks of the same key are equal: one that stayed would be taken for its successor.
        """
        self.homes.discard(ts)
        if self._waiting is not None:
            self._waiting.discard(ts)

    # distributed's table of transitions contains functions, so overridden methods need a new table.
    _TRANSITIONS_TABLE: ClassVar[Any] = {
        **SchedulerState._TRANSITIONS_TABLE,
        ("waiting", "processing"): _transition_waiting_processing,
        ("waiting", "queued"): _transition_waiting_queued,
        ("queued", "processing"): _transition_queued_processing,
        ("queued", "released"): _transition_queued_released,
        ("queued", "erred"): _transition_queued_erred,
    }

    def stimulus_queue_slots_maybe_opened(self, *, stimulus_id: str) -> None:
        """Send queued tasks in order while there are slots, and memory for the first task.

        If the first one has to wait, tasks of other clients overtake it.
        """
        policy = self.policy
        if policy is None:
            super().stimulus_queue_slots_maybe_opened(stimulus_id=stimulus_id)
            return
        if not self.queued:
            self.homes.clear()
            self._waiting = None
            self._head.release()
        while self.queued and (self.idle_task_count or self.worker_shares.contended):
            first = self._next_queued()
            if first is not None:
                self.transitions({first.key: "processing"}, stimulus_id)
                if first.state != "queued":
                    continue
                self._reserve(first, policy)
            break
        if self.queued and (self.idle_task_count or self.worker_shares.contended):
            self._pass_others(stimulus_id)

    def _reserve(self, ts: TaskState, policy: Policy) -> None:
        """Reserve memory for the first task, so that others do not delay it."""
        if needs(ts):
            self._head.make(ts, needs(ts), self.running, policy.soft)

    def _pass_others(self, stimulus_id: str) -> None:
        """Send tasks of other clients and submissions than the first task's."""
        if self._waiting is None:
            self._waiting = QueueGroups()
            for ts in self.queued:
                self._waiting.add(ts)
        self._waiting.advance(partial(self._overtakes, stimulus_id))

    def _overtakes(self, stimulus_id: str, ts: TaskState) -> bool:
        """Send a queued task if it can start; return whether it has left the queue."""
        slots = self._slots(ts) if self.is_rootish(ts) else self.idle_task_count
        if ts is self._head.task or not slots:
            return False
        self.transitions({ts.key: "processing"}, stimulus_id)
        return ts.state != "queued"

    def _first_queued(self) -> TaskState:
        # The heap may return a forgotten task that is equal to the one that is queued.
        return self.tasks[self.queued.peek().key]

    def _next_queued(self) -> TaskState | None:
        """Return the first queued task, or the first one whose home has a slot.

        Return ``None`` if the first task is a source without a slot.
        """
        first = self._first_queued()
        slots = self._slots(first)
        if not slots and self.is_rootish(first):
            return None
        home = self._home(first)
        if home is None or home in slots:
            return first
        for ws in itertools.islice(slots, STRANGERS):
            own = self.homes.first(ws)
            if own is not None:
                return own
        return first if self._candidates(home, slots) or not self.is_rootish(first) else None

    def _add_to_processing(self, ts: TaskState, ws: WorkerState, stimulus_id: str) -> Any:
        ws = self.workers.get(ws.address, ws)  # a worker that has returned is equal to its past
        if ts.state == "queued":
            self._leave_queue(ts)
        if self.policy is not None:
            self.policy.ledger.promise(ts.key, ws, needs(ts))
            self.worker_shares.add(ws, ts.priority)
        return super()._add_to_processing(ts, ws, stimulus_id)

    def _exit_processing_common(self, ts: TaskState) -> WorkerState | None:
        if self.policy is not None:
            self.policy.ledger.settle(ts.key)
            self.worker_shares.remove(ts.processing_on, ts.priority)
            if ts.priority is not None and submission(ts.priority) is not None:
                self.fair_queue.run(ts.priority[1])
        return super()._exit_processing_common(ts)

    def get_comm_cost(self, ts: TaskState, ws: WorkerState) -> float:
        """Return the cost of transferring a task's inputs to a worker, in seconds."""
        if self.policy is None:
            return super().get_comm_cost(ts, ws)
        self.policy.bandwidth = self.bandwidth
        entry = self._cached
        if entry is None or entry[0] is not ts:
            task = task_view(ts)
            entry = ts, task, resident(task.inputs, self.domains.of)
            self._cached = entry if self._caching else None
        return self.policy.transfer(entry[1], ws, entry[2])

    @contextlib.contextmanager
    def inputs_cached(self) -> Iterator[None]:
        """Look up the locations of a task's inputs once while no result moves."""
        self._caching = True
        try:
            yield
        finally:
            self._caching, self._cached = False, None

    async def remove_worker(self, address: str, **options: Any) -> Any:
        """Remove a worker, and try queued tasks again: one may have waited for it."""
        ws = self.workers.get(self.coerce_address(address))
        if ws is not None:
            self.domains.leave(ws)  # it may have returned when the removal ends
            for there in (self._open, self._ahead, self._batching):
                there.discard(ws)  # else its successor, which is equal, would not be added
        result = await super().remove_worker(address, **options)
        if ws is not None:
            self.homes.leave()
        if self.policy is not None and self.status is Status.running:
            self.stimulus_queue_slots_maybe_opened(stimulus_id=f"worker-left-{address}")
        return result

    def handle_worker_status_change(self, status: Any, worker: Any, stimulus_id: str) -> None:
        """Record a status, and try queued tasks again: one may have waited for this worker."""
        super().handle_worker_status_change(status, worker, stimulus_id)
        if self.policy is not None:
            self.stimulus_queue_slots_maybe_opened(stimulus_id=stimulus_id)

    def handle_long_running(
        self, key: Any, worker: str, run_id: int, *args: Any, **options: Any
    ) -> None:
        """Free the bytes of a task that waits for other tasks."""
        ts = self.tasks.get(key)
        on = ts and ts.processing_on
        if self.policy is not None and ts and on and (on.address, ts.run_id) == (worker, run_id):
            self.policy.ledger.settle(key)
        super().handle_long_running(key, worker, run_id, *args, **options)


class MarsStealing(WorkStealing):
    """Work stealing that moves tasks only to workers where they fit, and updates the ledger."""

    def balance(self) -> None:
        """Steal tasks.

        A worker's load relative to others is recorded only when its own tasks change. It is updated
        here, because distributed steals nothing from workers that are recorded as idle.
        """
        scheduler: Any = self.scheduler
        for ws in [ws for ws in scheduler.idle.values() if beyond(ws) > 0]:
            scheduler.check_idle_saturated(ws)
        with scheduler.inputs_cached():
            super().balance()

    def _get_thief(
        self,
        scheduler: Any,
        ts: TaskState,
        potential_thieves: set[WorkerState],
        *,
        occupancies: dict[WorkerState, float],
    ) -> WorkerState | None:
        policy: Policy = scheduler.policy
        task: TaskView[WorkerState] = TaskView(needs(ts))
        able = {ws for ws in potential_thieves if policy.fits(task, ws)}
        if not able:
            return None
        return super()._get_thief(scheduler, ts, able, occupancies=occupancies)

    def _add_to_in_flight(self, ts: TaskState, info: Any) -> None:
        """Reserve the thief's memory, too, until the victim has answered."""
        self._ledger.promise(ts, info["thief"], needs(ts))
        super()._add_to_in_flight(ts, info)

    def _remove_from_in_flight(self, ts: TaskState) -> Any:
        self._ledger.settle(ts)
        return super()._remove_from_in_flight(ts)

    @property
    def _ledger(self) -> Reservations:
        scheduler: Any = self.scheduler
        ledger: Reservations = scheduler.policy.ledger
        return ledger

    def move_task_confirm(
        self, *, key: str, state: str, stimulus_id: str, worker: str | None = None
    ) -> None:
        """Finish a theft, and move the reservation."""
        ts = self.scheduler.tasks.get(key)
        victim = ts and ts.processing_on
        scheduler: Any = self.scheduler
        before = scheduler.transition_counter
        if ts and ts in self.in_flight:
            thief = self.in_flight[ts]["thief"]  # as it is now, if it has left and returned
            now = scheduler.workers.get(thief.address)
            self.in_flight[ts]["thief"] = now if now == thief else thief
        super().move_task_confirm(key=key, state=state, stimulus_id=stimulus_id, worker=worker)
        on = ts and ts.processing_on
        # An aborted theft is a transition, which has counted the task.
        success = scheduler.transition_counter == before and victim is not on
        if ts and victim and on and success:
            scheduler.worker_shares.remove(victim, ts.priority)
            scheduler.worker_shares.add(on, ts.priority)
        if ts and on and ts not in on.long_running:
            self._ledger.promise(ts.key, on, needs(ts))
