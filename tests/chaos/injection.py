"""Loaded by the commands of the cluster: lets their clock jump and their disk be slow.

Files in the folder ``MARSDASK_CHAOS`` decide: ``clock`` holds seconds, ``slow`` makes writes of
results take long, and ``batch`` holds the number of tasks from which on supervisors split stages.
``spilled`` gets a byte for each result that a worker has written to its disk, and ``recovered`` one
for each lost result whose inputs had been forgotten.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from marsdask.scheduler.base import Machine
from marsdask.scheduler.supervisor import jobs
from marsdask.scheduler.supervisor.lineage import Lineage
from marsdask.scheduler.worker.directories import Directories

#: Seconds between two looks at the folder, and for which a slow disk writes one result.
_LOOK, _SLOW = 0.2, 0.5

_clock, _pause = time.time, time.sleep
_offset = 0.0


def _jumped() -> float:
    return _clock() + _offset


def _count(what: str, number: int) -> None:
    with (_FOLDER / what).open("ab") as file:
        file.write(b"." * number)


def _spill(directories: Directories, *args: Any) -> None:
    if (_FOLDER / "slow").exists():
        _pause(_SLOW)
    _write(directories, *args)
    _count("spilled", 1)


def _batched(workers: Any, batch: int | None = None) -> Machine:
    with suppress(OSError):
        batch = int((_FOLDER / "batch").read_text())
    found: Machine = _machine(workers, batch)
    return found


async def _recover(lineage: Lineage, keys: list[Any]) -> None:
    _count("recovered", len(keys))
    await _submit(lineage, keys)


def _look() -> None:
    global _offset  # noqa: PLW0603 - the clock of this process
    while True:
        try:
            _offset = float((_FOLDER / "clock").read_text() or 0)
        except (OSError, ValueError):
            _offset = 0.0
        _pause(_LOOK)


def _install() -> None:
    """Replace the clock wherever a module has it under a name of its own."""
    for module in list(sys.modules.values()):
        for name, found in list(getattr(module, "__dict__", {}).items()):
            if found is _clock and module is not sys.modules[__name__]:
                with suppress(AttributeError, TypeError):
                    setattr(module, name, _jumped)
    Directories.__setitem__ = _spill  # type: ignore[method-assign]
    _JOBS.cluster_machine, _LINEAGE._submit = _batched, _recover
    threading.Thread(target=_look, name="chaos", daemon=True).start()


_JOBS: Any = jobs
_LINEAGE: Any = Lineage
_write, _machine, _submit = Directories.__setitem__, _JOBS.cluster_machine, _LINEAGE._submit
if "MARSDASK_CHAOS" in os.environ:
    _FOLDER = Path(os.environ["MARSDASK_CHAOS"])
    _install()
