"""The account of memory."""

from marsdask.scheduler.storage.buffers import Charges
from marsdask.scheduler.storage.memory import FEW_RECORDS, RECORD_BYTES, SPILL_FROM, Memory


class StoredResult:
    def __init__(self, nbytes=SPILL_FROM, *, pins=0, leaving=False, fixed=False):
        self.nbytes, self.pins, self.leaving, self.fixed = nbytes, pins, leaving, fixed
        self.charges: Charges = ((id(self), nbytes),)
        self.file: object | None = None


def test_missing_counts_results_running_tasks_and_the_spare():
    """All three take from the budget."""
    memory = Memory(100, spare=10)
    memory.admit(StoredResult(30))
    memory.reserved = 20
    assert memory.missing() == -40
    assert memory.missing(50) == 10


def test_the_coldest_is_the_one_unused_for_longest():
    """Warming and cooling again moves to the end; those needed are passed over."""
    memory = Memory(100)
    first, second = StoredResult(), StoredResult()
    memory.admit(first)
    memory.admit(second)
    assert memory.coldest(()) is first
    assert memory.coldest([first]) is second
    second.file = "a copy"
    assert memory.coldest((), on_disk=True) is second
    memory.warm(first)
    memory.cool(first)
    assert memory.coldest(()) is second


def test_what_cannot_leave_is_never_cold():
    """Small, pinned, unpicklable results and those already leaving stay."""
    memory = Memory(100)
    for made in [
        StoredResult(10),
        StoredResult(pins=1),
        StoredResult(fixed=True),
        StoredResult(leaving=True),
    ]:
        memory.admit(made)
    assert memory.coldest(()) is None


def test_dropping_gives_everything_back():
    """A dropped result costs nothing and is not cold."""
    memory = Memory(100)
    made = StoredResult()
    memory.admit(made)
    memory.drop(made)
    assert memory.ledger.nbytes == 0
    assert memory.coldest(()) is None


def test_records_of_many_tasks_count():
    """Their bytes take from the budget, at most a quarter of it; those of few tasks do not."""
    budget = 100 * RECORD_BYTES
    memory = Memory(budget)
    for records, counted in [(FEW_RECORDS, 0), (FEW_RECORDS + 10, 10), (10 * FEW_RECORDS, 25)]:
        memory.records = records
        assert memory.missing() == counted * RECORD_BYTES - budget
