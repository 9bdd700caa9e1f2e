"""Distributed's decisions about where tasks run, given over to the policy of :mod:`.placement`.

The transitions of distributed's scheduler stay as they are, but for the three into ``processing``
and the one into ``queued``: a task for which no worker has the memory waits in the queue, whatever
its kind, and is tried again whenever a task ends.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Iterator
from typing import Any, ClassVar

import dask.config
import distributed
from distributed.collections import HeapSet
from distributed.core import Status
from distributed.scheduler import (
    DEFAULT_EXTENSIONS,
    SchedulerState,
    TaskState,
    WorkerState,
)
from distributed.stealing import WorkStealing

from ..dask import PLACE
from .placement import (
    CROWD,
    STRANGERS,
    InputBytes,
    Policy,
    Reservations,
    RoundRobin,
    TaskView,
    resident,
)
from .replicas import MarsMemoryManager, keep_shared

#: How many tasks may be on workers beyond their threads for another source to be sent so.
_AHEAD = 2

#: Short tasks travel several in a message: a worker has this many for each thread at most, ...
_BATCH = 32
#: ... and as few as take it this many seconds, as far as is known.
_SOON = 0.01

#: Bytes of a result that may be there a batch sooner than it is needed.
_LIGHT = 256


def needs(ts: TaskState) -> int:
    """Return the bytes that a task was said to take while it runs, 0 if nobody said."""
    annotations: Any = ts.annotations
    return int((annotations and annotations.get("mars_mem")) or 0)


def task_view(ts: TaskState) -> TaskView[WorkerState]:
    """Return a task as the policy sees it."""
    return TaskView(
        needs(ts), tuple([(dts.get_nbytes(), dts.who_has or ()) for dts in ts.dependencies])
    )


def is_tiny(ts: TaskState) -> bool:
    """Whether a task's result was said to take next to nothing."""
    annotations: Any = ts.annotations
    return 0 < int((annotations and annotations.get("mars_out")) or 0) <= _LIGHT


def ends_soon(ws: WorkerState) -> bool:
    """Whether a worker of ours will have done what it was sent before the next message comes.

    Its nanny knows what had begun, so the others of a batch are not blamed when it dies.
    """
    room = len(ws.processing) < _BATCH * ws.nthreads and PLACE in ws.extra
    return room and ws.occupancy < _SOON * ws.nthreads


def _beyond(ws: WorkerState) -> int:
    """Return how many tasks a worker has beyond its threads."""
    return len(ws.processing) - len(ws.long_running) - ws.nthreads


class PlacementScheduler(distributed.Scheduler):
    """A scheduler that places by a policy; with ``marsdask.policy: stock`` as distributed does."""

    def __init__(self, *, policy: Policy | None = None, **options: Any) -> None:
        stock = dask.config.get("marsdask.policy", "memory") == "stock"
        if policy is None and not stock:
            policy = Policy()
        self.policy = policy
        self._by_affinity: dict[int, HeapSet[TaskState]] = {}
        self._open: set[WorkerState] = set()
        """Workers with fewer tasks than threads."""
        self._ahead: set[WorkerState] = set()
        """Workers with more tasks than threads."""
        self._batching: set[WorkerState] = set()
        """Workers that may be sent more only since what they have is short."""
        self._looking = False
        """Whether the queue will be looked at once the transitions are through."""
        self._turns = RoundRobin()
        self._still = False
        self._asked: tuple[TaskState, TaskView[WorkerState], InputBytes[WorkerState]] | None = None
        """The task that was asked about last, and where its inputs lie, while nothing moves."""
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
            if "amm" in self.extensions:
                keep_shared(self.extensions["amm"])

    def _ours(self, ts: TaskState) -> Policy | None:
        """Return the policy if it is to place the task, and not somebody's restriction."""
        if ts.actor or ts.worker_restrictions or ts.host_restrictions or ts.resource_restrictions:
            return None
        return self.policy

    def _choose(self, ts: TaskState, policy: Policy) -> WorkerState | None:
        task = task_view(ts)
        home = self._home(ts)
        policy.bandwidth = self.bandwidth
        chosen: WorkerState | None
        if not self.is_rootish(ts):
            stay = CROWD if self._sources_wait(policy) else 1
            chosen = policy.place(task, self.running, self.idle.values(), self._near, stay)
        else:
            slots = self._slots(ts)
            if home is not None and home in slots and policy.fits(task, home):
                chosen = home
            else:
                chosen = policy.choose(task, self._takers(home, slots))
        return chosen or policy.alone(task, self.running)

    def _slots(self, ts: TaskState) -> set[WorkerState]:
        """Return the workers that a source may be sent to.

        Distributed sends each worker more than it has threads, to be at hand when one is free. It
        runs before what is made of the last source, and makes a chunk too many for each worker; so
        in all there are no more than two such tasks here.
        """
        if not ts.dependents or is_tiny(ts):
            return self.idle_task_count
        self._open &= self.idle_task_count  # without those that left or were paused
        if self._open:
            return self._open
        self._ahead &= self.running
        if len(self._ahead) < _AHEAD and sum(map(_beyond, self._ahead)) < _AHEAD:
            return self.idle_task_count - self._ahead - self._batching
        return set()

    def _takers(self, home: WorkerState | None, slots: set[WorkerState]) -> set[WorkerState]:
        """Return those of ``slots`` that may take a task of that home: no batch is of strangers."""
        if home is None or home in slots:
            return slots
        self._batching &= self.idle_task_count
        return slots - self._batching

    def check_idle_saturated(self, ws: WorkerState, occ: float = -1.0) -> None:
        """Take note of how busy a worker is; one whose tasks are short may have more of them."""
        super().check_idle_saturated(ws, occ)
        self._batching.discard(ws)
        full = ws not in self.idle_task_count and ws in self.running
        ahead = self.policy is not None and self.WORKER_SATURATION > 1
        if full and ahead and ends_soon(ws):
            self._batching.add(ws)
            self.idle_task_count.add(ws)
        beyond = _beyond(ws)
        for there, belongs in ((self._open, beyond < 0), (self._ahead, beyond > 0)):
            if belongs:
                there.add(ws)
            else:
                there.discard(ws)

    def _home(self, ts: TaskState) -> WorkerState | None:
        """Return where sources of the task's colour belong, ``None`` if it has none."""
        colour = (ts.annotations or {}).get("mars_band")
        if colour is None or not self.workers:
            return None
        # Workers are sorted by their addresses, so homes change when workers come and go only.
        workers: Any = self.workers
        found: WorkerState = workers.peekitem(hash(colour) % len(workers))[1]
        return found

    def _near(self, host: str) -> Iterator[WorkerState]:
        """Return who has little to do on a host, and then a few others, each time other ones."""
        addresses = self.host_info[host]["addresses"]
        idle: Any = self.idle
        for address in addresses:
            if address in idle:
                yield idle[address]
        for address in self._turns.some([*addresses], STRANGERS):
            ws = self.workers.get(address)
            if ws is not None and address not in idle and ws in self.running:
                yield ws

    def _sources_wait(self, policy: Policy) -> bool:
        """Say whether a source waits in the queue for a thread, and not for memory."""
        first: TaskState | None = self.queued.peek() if self.queued else None
        if first is None or not self.is_rootish(first):
            return False
        source, some = task_view(first), itertools.islice(self._open, STRANGERS)
        return not self._open or any(policy.fits(source, ws) for ws in some)

    def decide_worker_non_rootish(self, ts: TaskState) -> WorkerState | None:
        """Place a task whose turn it is, wherever that is decided from."""
        policy = self._ours(ts)
        if policy is None or not self.running:
            return super().decide_worker_non_rootish(ts)
        return self._choose(ts, policy) or super().decide_worker_non_rootish(ts)

    def _transition_waiting_processing(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        policy = self._ours(ts)
        unqueued = float("inf") == self.WORKER_SATURATION or not ts._queueable  # as P2P's are
        if policy is None or not self.running or unqueued:
            return super()._transition_waiting_processing(key, stimulus_id)
        if self.is_rootish(ts):
            slots = self._slots(ts)
            if not slots:
                return {key: "queued"}, {}, {}  # as most of a large graph, so nothing is compared
            home = self._home(ts)
            if home is not None and home not in slots:
                # Tasks that are at home elsewhere come first; then whoever is idle takes this one.
                if not self._looking:
                    self._looking = True
                    self.loop.add_callback(self._look, stimulus_id)
                return {key: "queued"}, {}, {}
        chosen = self._choose(ts, policy)
        if chosen is None:
            return {key: "queued"}, {}, {}
        return self._add_to_processing(ts, chosen, stimulus_id=stimulus_id)

    def _look(self, stimulus_id: str) -> None:
        self._looking = False
        self.stimulus_queue_slots_maybe_opened(stimulus_id=stimulus_id)

    def _transition_waiting_queued(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        ts.state = "queued"
        self.queued.add(ts)
        colour = (ts.annotations or {}).get("mars_band")
        if colour is not None:
            by_priority = HeapSet[TaskState](key=operator.attrgetter("priority"))
            self._by_affinity.setdefault(hash(colour), by_priority).add(ts)
        return {}, {}, {}

    def _transition_queued_processing(self, key: Any, stimulus_id: str) -> Any:
        ts = self.tasks[key]
        policy = self._ours(ts)
        if policy is None:
            return super()._transition_queued_processing(key, stimulus_id)
        chosen = self._choose(ts, policy)
        if chosen is None:
            return {}, {}, {}
        self.queued.discard(ts)
        self._forget_affinity(ts)
        return self._add_to_processing(ts, chosen, stimulus_id=stimulus_id)

    def _forget_affinity(self, ts: TaskState) -> None:
        """Forget the colour of a task that leaves the queue, which may never be empty."""
        own = self._by_affinity.get(hash((ts.annotations or {}).get("mars_band")))
        if own:
            own.discard(ts)
            if own:
                own.peek()  # which drops the first places of those that were discarded

    # distributed looks its transitions up in this table, which holds functions, not names.
    _TRANSITIONS_TABLE: ClassVar[Any] = {
        **SchedulerState._TRANSITIONS_TABLE,
        ("waiting", "processing"): _transition_waiting_processing,
        ("waiting", "queued"): _transition_waiting_queued,
        ("queued", "processing"): _transition_queued_processing,
    }

    def stimulus_queue_slots_maybe_opened(self, *, stimulus_id: str) -> None:
        """Send queued tasks in order while there are slots, and memory for the first of them."""
        if self.policy is None:
            super().stimulus_queue_slots_maybe_opened(stimulus_id=stimulus_id)
            return
        if not self.queued:
            self._by_affinity.clear()
        while self.queued and self.idle_task_count:
            first = self._next_queued()
            if first is None:
                return
            self.transitions({first.key: "processing"}, stimulus_id)
            if first.state == "queued":
                return

    def _next_queued(self) -> TaskState | None:
        """Return the first of the queue, or the first that is at home where a slot is.

        There is none while a source is the first and there is no slot for it.
        """
        first: TaskState = self.queued.peek()
        slots = self._slots(first)
        if not slots and self.is_rootish(first):
            return None
        home = self._home(first)
        if home is None or home in slots:
            return first
        workers: Any = self.workers
        for ws in itertools.islice(slots, STRANGERS):
            own = self._by_affinity.get(workers.index(ws.address))
            while own and own.peek().state != "queued":
                own.pop()
            if own:
                return own.peek()
        return first if self._takers(home, slots) or not self.is_rootish(first) else None

    def _add_to_processing(self, ts: TaskState, ws: WorkerState, stimulus_id: str) -> Any:
        if self.policy is not None:
            self.policy.ledger.promise(ts.key, ws, needs(ts))
        return super()._add_to_processing(ts, ws, stimulus_id)

    def _exit_processing_common(self, ts: TaskState) -> WorkerState | None:
        if self.policy is not None:
            self.policy.ledger.settle(ts.key)
        return super()._exit_processing_common(ts)

    def get_comm_cost(self, ts: TaskState, ws: WorkerState) -> float:
        """Return the seconds to bring a task's inputs to a worker, for stealing too."""
        if self.policy is None:
            return super().get_comm_cost(ts, ws)
        self.policy.bandwidth = self.bandwidth
        found = self._asked
        if found is None or found[0] is not ts:
            task = task_view(ts)
            found = ts, task, resident(task.inputs)
            self._asked = found if self._still else None
        return self.policy.transfer(found[1], ws, found[2])

    @contextlib.contextmanager
    def inputs_cached(self) -> Iterator[None]:
        """Where a task's inputs lie is looked up once for all workers: no result comes or goes."""
        self._still = True
        try:
            yield
        finally:
            self._still, self._asked = False, None

    async def remove_worker(self, address: str, **told: Any) -> Any:
        """Remove a worker; what waits for the largest may have been waiting for this one."""
        result = await super().remove_worker(address, **told)
        if self.policy is not None and self.status is Status.running:
            self.stimulus_queue_slots_maybe_opened(stimulus_id=f"worker-left-{address}")
        return result

    def handle_worker_status_change(self, status: Any, worker: Any, stimulus_id: str) -> None:
        """Take note that a worker was paused, which may have been the one that is waited for."""
        super().handle_worker_status_change(status, worker, stimulus_id)
        if self.policy is not None:
            self.stimulus_queue_slots_maybe_opened(stimulus_id=stimulus_id)

    def handle_long_running(
        self, key: Any, worker: str, run_id: int, *args: Any, **told: Any
    ) -> None:
        """Take note that a task waits for others, which may have the memory promised to it."""
        ts = self.tasks.get(key)
        on = ts and ts.processing_on
        if self.policy is not None and ts and on and (on.address, ts.run_id) == (worker, run_id):
            self.policy.ledger.settle(key)
        super().handle_long_running(key, worker, run_id, *args, **told)


class MarsStealing(WorkStealing):
    """Work stealing that takes no task to where it does not fit, and keeps the ledger."""

    def balance(self) -> None:
        """Look for thefts.

        Who had little to do beside the others when its tasks last changed may have the most by now;
        while it is taken for idle nobody takes from it.
        """
        scheduler: Any = self.scheduler
        for ws in [ws for ws in scheduler.idle.values() if _beyond(ws) > 0]:
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
        """Promise the thief's memory too, until the victim has answered."""
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
        """Finish a theft, and move the promise along."""
        super().move_task_confirm(key=key, state=state, stimulus_id=stimulus_id, worker=worker)
        ts = self.scheduler.tasks.get(key)
        on = ts and ts.processing_on
        if ts and on and ts not in on.long_running:
            self._ledger.promise(ts.key, on, needs(ts))
