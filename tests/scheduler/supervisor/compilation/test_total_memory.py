"""What compile processes use together is limited."""

from __future__ import annotations

import os
from typing import Any

import dask.config
import pytest

from marsdask.scheduler import limits
from marsdask.scheduler.supervisor.compilation import total_memory
from marsdask.scheduler.supervisor.compilation.total_memory import TotalMemory, total_limit

MIB = 1 << 20


class CountedProcess:
    """A process that uses as much as its number says."""

    def __init__(self, pid: int | None, memory: int = 0) -> None:
        self.pid, self.memory = pid, memory
        self.exceeded: int | None = None
        self.killed = 0

    def kill(self) -> None:
        self.killed += 1


@pytest.mark.parametrize(
    ("budget", "ended"), [(0, []), (9, []), (8, [5]), (4, [5]), ("1B", [5, 3])]
)
def test_the_largest_are_ended(budget, ended, monkeypatch):
    """As many as it takes, each once; those that have not started use nothing."""
    monkeypatch.setattr(total_memory, "used", lambda pid: pid)
    monkeypatch.setattr(total_memory, "resident", lambda pid: pid)
    some: Any = [CountedProcess(3), CountedProcess(None), CountedProcess(5), CountedProcess(1)]
    with dask.config.set({"marsdask.compile.total-memory": budget}):
        for _ in range(2):
            TotalMemory(lambda: some).check()
    assert sorted(one.pid for one in some if one.killed) == sorted(ended)
    assert all(one.killed == (one.exceeded is not None) for one in some)


def test_shares_are_read_only_when_it_may_be_too_much(monkeypatch):
    """Reading them takes long, and what forks share counts once for each before."""
    asked: list[int] = []

    def used(pid):
        asked.append(pid)
        return 1

    monkeypatch.setattr(total_memory, "used", used)
    monkeypatch.setattr(total_memory, "resident", lambda pid: pid)
    some: Any = [CountedProcess(3), CountedProcess(5)]
    for budget, read in ((8, []), (7, [3, 5])):
        with dask.config.set({"marsdask.compile.total-memory": budget}):
            TotalMemory(lambda: some).check()
        assert asked == read
    assert not any(one.killed for one in some)


def test_readings_and_the_default():
    """Of this process, and of one that has ended."""
    assert MIB < total_memory.used(os.getpid()) <= 1.5 * total_memory.resident(os.getpid())
    assert total_memory.used(1 << 30) == total_memory.resident(1 << 30) == 0
    half = limits.memory() // 2
    assert (total_limit(0), total_limit(half + 1)) == (half, half + 1)
