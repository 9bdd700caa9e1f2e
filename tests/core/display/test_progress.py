"""The progress bar: when it is drawn, and what it ends at."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager, redirect_stderr

import pytest

from marsdask.core.config import option_context
from marsdask.core.display import progress
from marsdask.core.display.progress import progress_bar
from marsdask.core.results.execution import Monitor
from marsdask.scheduler.events import GraphSubmitted, TaskDone


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def terminal():
    with redirect_stderr(Terminal()) as stream:
        yield stream


def run(monitor):
    monitor(GraphSubmitted(2))
    monitor(TaskDone("a", 0, 0.0))
    monitor(TaskDone("b", 0, 0.0))


def test_true_draws_it_to_the_end():
    """To 100 when the work succeeded."""
    with terminal() as stream, progress_bar(None, enabled=True) as monitor:
        assert monitor is not None
        run(monitor)
    assert "100.00/100.00" in stream.getvalue()


def fail_halfway():
    with progress_bar(None, enabled=True) as monitor:
        assert monitor is not None
        monitor(GraphSubmitted(4))
        monitor(TaskDone("a", 0, 0.0))
        raise ZeroDivisionError


def test_a_failure_ends_it_where_it_was():
    """It does not claim what was not done."""
    with terminal() as stream, pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert stream.getvalue()
    assert "100.00/100.00" not in stream.getvalue()


def test_short_work_shows_none():
    """``"auto"`` stays quiet for less than a second."""
    with terminal() as stream, progress_bar(None, enabled="auto") as monitor:
        assert monitor is not None
        run(monitor)
    assert stream.getvalue() == ""


def test_long_work_shows_one(monkeypatch):
    """``"auto"`` draws once the quiet time is over, and updates no more often than asked for."""
    clock = [0.0]
    monkeypatch.setattr("marsdask.core.display.progress.time.monotonic", lambda: clock[0])
    drawn = []
    monkeypatch.setattr(progress._Bar, "_draw", lambda self: drawn.append(clock[0]))
    with (
        terminal(),
        option_context({"progress_update_interval": 0.05}),
        progress_bar(None, enabled="auto") as monitor,
    ):
        assert monitor is not None
        for now in (0.5, 1.5, 1.52, 1.6):
            clock[0] = now
            monitor(TaskDone("a", 0, 0.0))
    assert drawn == [1.5, 1.6]


@pytest.mark.parametrize("enabled", [False, "auto"])
def test_nobody_watching_costs_nothing(enabled):
    """Without a bar or a future there is no monitor, so the scheduler need not tell events."""
    with redirect_stderr(io.StringIO()), progress_bar(None, enabled=enabled) as monitor:
        assert monitor is None
    mine = Monitor()
    with redirect_stderr(io.StringIO()), progress_bar(mine, enabled=enabled) as monitor:
        assert monitor is mine
        assert not mine.listeners


def test_notebooks_count_as_watched(monkeypatch):
    """Their stderr is no terminal, but somebody looks at it."""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with redirect_stderr(io.StringIO()), progress_bar(None, enabled="auto") as monitor:
        assert monitor is not None
