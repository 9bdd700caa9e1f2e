"""One progress bar, fed by the events that every scheduler sends."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from marsdask.scheduler.events import Event

from ..config import options
from ..results.execution import Monitor

#: Work shorter than this shows no bar when ``show_progress`` is ``"auto"``.
_QUIET_SECONDS = 1.0


class _Bar:
    """Draws at most a few times per second, and only after a delay."""

    def __init__(self, monitor: Monitor, quiet: float) -> None:
        self._monitor = monitor
        self._next = time.monotonic() + quiet
        self._bar: Any = None

    def __call__(self, event: Event) -> None:
        del event
        now = time.monotonic()
        if now >= self._next:
            self._next = now + min(0.1, options.progress_update_interval)
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            from tqdm.auto import tqdm  # drawn rarely; importing it costs as much as small work

            self._bar = tqdm(total=100.0, bar_format="{l_bar}{bar}| {n:6.2f}/100.00 [{elapsed}]")
        self._bar.n = round(100 * self._monitor.fraction(), 2)
        self._bar.refresh()

    def close(self, *, complete: bool) -> None:
        """End the bar, at 100 when the work succeeded."""
        if self._bar is not None:
            if complete:
                self._bar.n = 100.0
                self._bar.refresh()
            self._bar.close()


def _is_watched() -> bool:
    """Tell whether stderr is a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def progress_bar(monitor: Monitor | None, *, enabled: bool | str) -> Iterator[Monitor | None]:
    """Show the progress of an execution on stderr: always, never, or only for long executions.

    Returns the monitor to notify of events, or ``None``.
    """
    if enabled is False or (enabled == "auto" and not _is_watched()):
        yield monitor
        return
    monitor = monitor or Monitor()
    bar = _Bar(monitor, _QUIET_SECONDS if enabled == "auto" else 0.0)
    monitor.listeners.append(bar)
    complete = False
    try:
        yield monitor
        complete = True
    finally:
        bar.close(complete=complete)
