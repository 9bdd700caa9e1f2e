"""The state of a scheduler in one process: tasks, results and memory, without IO or a clock.

The driver (``engine.py``) calls it under one lock, follows its instructions outside the lock, and
reports back. Submitting, finishing, failing, cancelling and releasing are events.
:meth:`State.next` returns the next instruction: run a :class:`TaskRecord`, :class:`Spill` one, or
(None) wait.

A record waits for its inputs, is ready, runs, and is done. It is dropped when no task that still
has to run (``users``) and no outside holder (``held``) needs it.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dask.task_spec import GraphNode, Task
from dask.utils import funcname

from ..base import ChunkInfo, Hint, Key
from ..errors import MemoryBudgetError, SpillFull
from ..events import (
    GraphEnded,
    GraphSubmitted,
    TaskDone,
    TaskFailed,
    TaskStarted,
)
from ..order import by_priority, plan
from ..storage.buffers import Charges
from ..storage.memory import Memory
from .records import (
    ABSENT,
    ALL,
    DONE,
    DROPPED,
    LEVEL_BITS,
    READY,
    RUNNING,
    WAITING,
    LocalJob,
    Spill,
    TaskRecord,
)

_NO_HINT = Hint()
#: Maximum number of ready tasks that are tried while the first one does not fit.
_LOOK_AHEAD = 16
#: Number of functions whose result sizes are remembered.
_MOST_FUNCTIONS = 1024


class State:
    """All tasks and results of a scheduler; the module describes how it is driven."""

    def __init__(self, budget: float, spare: float = 0) -> None:
        self.items: dict[Key, TaskRecord] = {}
        self.jobs: set[LocalJob] = set()
        self.memory = Memory(budget, spare)
        self.ready: list[tuple[int, TaskRecord]] = []
        self.active = 0
        """Tasks that run and do not wait for a nested submission."""
        self.on_disk = 0
        """Results whose value is on disk only."""
        self.disk_full = ""
        """Why nothing can be spilled at present: the text, as an exception keeps frames alive."""
        self.ended: list[LocalJob] = []
        """Jobs that ended since the driver last handled them."""
        self.trash: list[Any] = []
        """Values to drop and files to remove; the driver does this slow work without the lock."""
        self.dropped: list[TaskRecord] = []
        """Running tasks that nobody needs any more; the driver stops those that can be."""
        self.freed = 0
        """Bytes that left memory since the driver last handled them, including the trash."""
        self._seen: dict[int, int] = {}
        """Bytes of the last result of each function whose tasks have no hint."""
        self._orders = 0

    # Submitting

    def submit(
        self,
        graph: Mapping[Key, GraphNode],
        keys: Collection[Key],
        hints: Mapping[Key, Hint],
        job: LocalJob,
    ) -> None:
        """Add the tasks that ``keys`` need; on an error, the state is unchanged."""
        items = self.items
        order = plan(graph, keys, items)
        if hints:
            order = by_priority(order, hints)
        for position, key in enumerate(order, self._reserve_orders(len(order), job.level)):
            hint = hints.get(key, _NO_HINT)
            peak = hint.nbytes if hint.peak is None else hint.peak
            items[key] = TaskRecord(key, graph[key], position, job, peak)
        self.memory.records = len(items)
        job.tell(GraphSubmitted(len(order)))
        for key in order:
            self._connect(items[key])
        job.wanted = [items[key] for key in keys]
        for item in job.wanted:
            item.held += 1
            if item.status != DONE:
                item.jobs.append(job)
                job.unfinished += 1
                if item.job is not job:
                    self._hurry(item, job)
        self.disk_full = ""
        self.jobs.add(job)
        if not job.unfinished:
            self._end(job, "done")

    def _reserve_orders(self, count: int, level: int) -> int:
        self._orders += count
        return self._orders - count - (level << LEVEL_BITS)

    def _connect(self, item: TaskRecord) -> None:
        items = self.items
        assert item.node is not None
        for key in item.node.dependencies:
            source = items[key]
            source.users += 1
            item.inputs.append(source)
            if source.status != DONE:
                source.dependents.append(item)
                item.missing += 1
                if source.job is not item.job:
                    self._hurry(source, item.job)
        if not item.missing:
            self._enqueue(item)

    def _enqueue(self, item: TaskRecord) -> None:
        item.status = READY
        heapq.heappush(self.ready, (item.order, item))

    def _hurry(self, item: TaskRecord, job: LocalJob) -> None:
        """Raise the tasks that ``job`` shares with outer submissions to its own level."""
        stack = [item]
        while stack:
            item = stack.pop()
            if item.order >= job.bound and item.status in (WAITING, READY):
                item.order = self._reserve_orders(1, job.level)
                if item.status == READY:
                    self._enqueue(item)
                stack.extend(item.inputs)

    def promote(self, job: LocalJob) -> None:
        """Prefer the tasks of a submission to those of others at its level."""
        job.level += 1
        for item in job.wanted:
            self._hurry(item, job)

    # Choosing the next instruction

    def next(self, bound: int = ALL) -> TaskRecord | Spill | None:
        """Return the next instruction; only tasks of an order below ``bound`` are started."""
        ready, memory = self.ready, self.memory
        while ready:
            order, item = ready[0]
            if item.status != READY or item.order != order:
                heapq.heappop(ready)  # dropped, started out of order, or hurried
                continue
            if order >= bound:
                break
            if not self.on_disk and memory.missing(self._peak(item)) <= 0:
                heapq.heappop(ready)
                return self._start(item)
            instruction = self._start_in_tight_memory(item, bound)
            if instruction is not None or item.status == READY:
                return instruction
        return self._make_room(0, ())

    def _start(self, item: TaskRecord) -> TaskRecord:
        item.status = RUNNING
        self.active += 1
        item.job.running += 1
        if self.on_disk and (entry := _entry(item)) is not None:
            item.entry = entry
            item.peak = max(item.peak, _to_load(item))
        self.memory.reserved += item.peak
        if item.job.observed:
            item.job.tell(TaskStarted(item.key))
        if item.entry is None:
            for source in item.inputs:
                if source.charges:
                    self._pin(source)
        return item

    def _peak(self, item: TaskRecord) -> int:
        if item.guessed and self._seen:
            item.peak = self._seen.get(_function(item), 0)
        return item.peak

    def _start_in_tight_memory(self, item: TaskRecord, bound: int) -> TaskRecord | Spill | None:
        """Run ``item``, make room for it, run another meanwhile, or fail it."""
        memory = self.memory
        extra = self._peak(item) + _to_load(item)
        spill = self._make_room(extra, set(item.inputs))
        if spill is not None:
            return spill
        if memory.missing(extra) <= 0:
            return self._start(item)
        if self.active or memory.leaving:
            return self._start_another(bound)
        if self.disk_full and memory.coldest(item.inputs) is not None:
            self._fail(item, SpillFull(self.disk_full))
            return None
        peak = 0 if item.guessed else item.peak
        inputs = item.inputs if _entry(item) is None else ()
        nbytes = peak + sum(dict(c for i in inputs for c in i.charges).values())
        if nbytes <= memory.budget:
            return self._start(item)
        self._fail(
            item,
            MemoryBudgetError(
                _name(item), item.key, nbytes, int(memory.budget), "use smaller chunks"
            ),
        )
        return None

    def _start_another(self, bound: int) -> TaskRecord | None:
        """Run one of the next few tasks that fits without spilling."""
        ready = self.ready
        skipped_items: list[tuple[int, TaskRecord]] = []
        choice = None
        while ready and choice is None and len(skipped_items) < _LOOK_AHEAD and ready[0][0] < bound:
            order, item = heapq.heappop(ready)
            if item.status != READY or item.order != order:
                continue
            if self.memory.missing(self._peak(item) + _to_load(item)) <= 0:
                choice = item
            else:
                skipped_items.append((order, item))
        for entry in skipped_items:
            heapq.heappush(ready, entry)
        return self._start(choice) if choice is not None else None

    def _make_room(self, extra: int, needed: Collection[TaskRecord]) -> Spill | None:
        """Evict or spill results until ``extra`` bytes fit or no more results can leave."""
        memory = self.memory
        while memory.missing(extra) > memory.leaving:
            victim = memory.coldest(needed, on_disk=bool(self.disk_full))
            if victim is None:
                return None
            if victim.file is not None:
                self._evict(victim)
                continue
            memory.warm(victim)
            victim.leaving = True
            memory.leaving += victim.nbytes
            return Spill(victim)
        return None

    # Pinning and evicting

    def _pin(self, source: TaskRecord) -> None:
        source.pins += 1
        if source.pins == 1:
            if source.value is ABSENT:  # the thread of the task loads it and reports `loaded`
                self.on_disk -= 1
                self.memory.ledger.add(source.charges)
            else:
                self.memory.warm(source)

    def _unpin(self, source: TaskRecord) -> None:
        source.pins -= 1
        if source.pins == 0:
            if source.value is ABSENT:  # loading failed
                self.on_disk += 1
                self.memory.ledger.remove(source.charges)
            else:
                self.memory.cool(source)

    def _evict(self, item: TaskRecord) -> None:
        self.memory.drop(item)
        self.trash.append(item.value)
        self.freed += item.nbytes
        item.value = ABSENT
        item.nbytes = item.file.nbytes
        item.charges = ((id(item), item.nbytes),)
        self.on_disk += 1

    # Reports of the driver

    def loaded(self, item: TaskRecord, value: Any, charges: Charges) -> None:
        """Record that a pinned result was read from disk; from now on its buffers count."""
        if charges:
            self.memory.ledger.remove(item.charges)
            self.memory.ledger.add(charges)
            item.charges = charges
            item.nbytes = sum(nbytes for _, nbytes in charges)
        item.value = value

    def spilled(self, spill: Spill, file: Any, info: ChunkInfo | None) -> None:
        """Record that a result was written to ``file``."""
        item = spill.item
        if self._left(item):
            item.file, item.info = file, info
            if not item.pins:
                self._evict(item)
        else:
            self.trash.append(file)

    def not_spilled(self, spill: Spill, error: Exception) -> None:
        """Record that a result could not be written: now (``OSError``) or ever (other errors)."""
        item = spill.item
        if self._left(item):
            if isinstance(error, OSError):
                self.disk_full = str(error)
            else:
                item.fixed = True
            if not item.pins:
                self.memory.cool(item)

    def _left(self, item: TaskRecord) -> bool:
        """End the writing of a result; return False if it is no longer needed."""
        item.leaving = False
        self.memory.leaving -= item.nbytes
        if item.status == DROPPED:
            self._discard(item)
        return item.status != DROPPED

    def finish(
        self, item: TaskRecord, value: Any, charges: Charges, event: TaskDone | None
    ) -> None:
        """Record the result of a task, and its event if there is one."""
        if event is not None:
            item.job.tell(event)
        if item.status == RUNNING:
            item.status = DONE
            item.value = value
            if charges:
                item.charges = charges
                item.nbytes = sum(nbytes for _, nbytes in charges)
                self.memory.admit(item)
                if item.guessed:
                    self._learn(item)
        else:
            self.trash.append(value)
        self._leave(item)
        if item.status == DONE:
            for dependent in item.dependents:
                dependent.missing -= 1
                if not dependent.missing and dependent.status == WAITING:
                    self._enqueue(dependent)
            item.dependents = []
            jobs, item.jobs = item.jobs, []
            for job in jobs:
                job.unfinished -= 1
                if not job.unfinished:
                    self._end(job, "done")
            self._forget(item)

    def fail(self, item: TaskRecord, error: BaseException) -> None:
        """Record that a task raised: every submission that needs it fails."""
        if item.status == RUNNING:
            self._fail(item, error)
        self._leave(item)

    def _learn(self, item: TaskRecord) -> None:
        if len(self._seen) >= _MOST_FUNCTIONS:  # programs may create a function for each task
            self._seen.clear()
        self._seen[_function(item)] = item.nbytes

    def _leave(self, item: TaskRecord) -> None:
        self.active -= 1
        item.job.running -= 1
        self.memory.reserved -= item.peak
        self.freed += max(0, item.peak - item.nbytes)
        item.node = None
        inputs, item.inputs = item.inputs, []
        for source in inputs:
            if source.charges and item.entry is None:
                self._unpin(source)
            source.users -= 1
            if not source.users:
                self._forget(source)

    def _fail(self, item: TaskRecord, error: BaseException) -> None:
        records, stack = {item}, [item]
        while stack:
            for dependent in stack.pop().dependents:
                if dependent.status != DROPPED and dependent not in records:
                    records.add(dependent)
                    stack.append(dependent)
        for job in {job for needing in records for job in needing.jobs}:
            job.error, job.failed = error, item.key
            job.tell(TaskFailed(item.key, error))
            self._end(job, "failed")

    # Ending and forgetting

    def cancel(self, job: LocalJob) -> None:
        """End a submission unless it has ended."""
        if job.state is None:
            self._end(job, "cancelled")

    def release(self, keys: Iterable[Key]) -> None:
        """Drop one outside reference of each key."""
        for key in keys:
            item = self.items.get(key)
            if item is not None and item.held:
                item.held -= 1
                self._forget(item)

    def clear(self) -> None:
        """Cancel and forget everything."""
        for job in list(self.jobs):
            self._end(job, "cancelled")
        for item in list(self.items.values()):
            item.held = 0
            self._forget(item)
        self.ready.clear()

    def _end(self, job: LocalJob, state: str) -> None:
        job.tell(GraphEnded(state))
        job.state = state
        self.jobs.discard(job)
        self.ended.append(job)
        outputs, job.wanted = job.wanted, []
        if state != "done":
            for item in outputs:
                if job in item.jobs:
                    item.jobs.remove(job)
                item.held = max(0, item.held - 1)  # it may have been released meanwhile
                self._forget(item)

    def _forget(self, item: TaskRecord) -> None:
        """Drop ``item`` if nothing needs it, then its unneeded inputs."""
        stack = [item]
        while stack:
            item = stack.pop()
            if item.held or item.users or item.jobs or item.status == DROPPED:
                continue
            status, item.status = item.status, DROPPED
            del self.items[item.key]
            self.memory.records -= 1
            if status == DONE:
                self._discard(item)
            elif status == RUNNING:  # it releases its inputs when it ends
                self.dropped.append(item)
            else:
                item.node = None
                inputs, item.inputs = item.inputs, []
                for source in inputs:
                    source.users -= 1
                stack.extend(inputs)

    def _discard(self, item: TaskRecord) -> None:
        if item.file is not None:
            self.trash.append(item.file)
            item.file = None
            self.disk_full = ""
        if item.value is ABSENT:
            self.on_disk -= 1
        elif not item.leaving:
            self.memory.drop(item)
            self.trash.append(item.value)
            self.freed += item.nbytes
            item.value = None


def _function(item: TaskRecord) -> int:
    # The identity, because callables need not be hashable; a reused one only affects an estimate.
    return id(item.node.func) if isinstance(item.node, Task) else 0


def _name(item: TaskRecord) -> str:
    return funcname(item.node.func) if isinstance(item.node, Task) else "a task"


def _to_load(item: TaskRecord) -> int:
    """Return the bytes of inputs that a task loads into memory."""
    if _entry(item) is not None:
        file = item.inputs[0].file
        return int(file.nbytes // file.entries)
    return sum(s.nbytes for s in item.inputs if s.value is ABSENT and not s.pins)


def _entry(item: TaskRecord) -> int | None:
    """Return the entry of a list on disk if the task needs only that, else None."""
    node = item.node
    if type(node) is not Task or node.func is not operator.getitem or len(item.inputs) != 1:
        return None
    (source,) = item.inputs
    index = node.args[1] if len(node.args) == 2 else None
    whole = source.value is not ABSENT or source.pins
    return index if not whole and type(index) is int and 0 <= index < source.file.entries else None
