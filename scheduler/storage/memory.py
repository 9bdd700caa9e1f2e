"""Accounting of memory: used and reserved bytes, and the next result to spill; no IO."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import Any, Protocol

from .buffers import BufferUsage, Charges

#: Smaller results stay in memory: a file would cost more than it frees.
SPILL_FROM = 4096
#: The record of a task, its keys and its node take about this many bytes.
RECORD_BYTES = 1600
#: The records of so many tasks are not counted: the interpreter takes more.
FEW_RECORDS = 1000


class MemoryEntry(Protocol):
    """The memory record of a result."""

    charges: Charges
    nbytes: int
    pins: int
    leaving: bool
    fixed: bool
    file: Any


class Memory:
    """The budget, its used part, and the evictable results, least recently used first."""

    def __init__(self, budget: float, spare: float = 0) -> None:
        self.budget = budget
        self._usable = budget - spare
        self.ledger = BufferUsage()
        self.reserved = 0
        """Peaks of the running tasks."""
        self.leaving = 0
        """Bytes of results that are being written to disk."""
        self.records = 0
        """Tasks and results that are known."""
        self._cold: OrderedDict[Any, None] = OrderedDict()

    def missing(self, extra: int = 0) -> float:
        """Return by how much ``extra`` more bytes would exceed the budget; negative if they fit.

        The spare part of the budget is for freed memory that the allocator has not returned.
        """
        nbytes = self.ledger.nbytes + self.reserved + self._record_bytes()
        return nbytes + extra - self._usable

    def _record_bytes(self) -> float:
        """Return the bytes of records; results keep most of the budget, however many there are."""
        return min(max(0, self.records - FEW_RECORDS) * RECORD_BYTES, self.budget / 4)

    def admit(self, result: MemoryEntry) -> None:
        """Count a result that is in memory now."""
        charges = result.charges
        if charges:
            self.ledger.add(charges)
            if not result.pins:
                self.cool(result)

    def drop(self, result: MemoryEntry) -> None:
        """Uncount a result that leaves memory."""
        if result.charges:
            self._cold.pop(result, None)
            self.ledger.remove(result.charges)

    def cool(self, result: MemoryEntry) -> None:
        """Make a result evictable, as the most recently used one."""
        if result.nbytes >= SPILL_FROM and not (result.fixed or result.leaving):
            self._cold[result] = None

    def warm(self, result: MemoryEntry) -> None:
        """Make a result not evictable."""
        self._cold.pop(result, None)

    def coldest(self, needed: Collection[Any], *, on_disk: bool = False) -> Any:
        """Return the least recently used result that is not among ``needed``, or None.

        With ``on_disk`` only results that have a file count: they leave without being written.
        """
        unneeded = (result for result in self._cold if result not in needed)
        return next((item for item in unneeded if not on_disk or item.file is not None), None)
