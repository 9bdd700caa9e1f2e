"""Rows that the harness's own tests run: one that works and ones that go wrong."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import numpy as np

from benchmarks.rows import Workload
from benchmarks.systems import System


def numbers(s: System) -> tuple[Any, ...]:
    """Hold a few numbers."""
    return (s.array((s.size.tall(1000), 3), (100, 3)),)


def column_sums(s: System, x: Any) -> tuple[Any, ...]:
    """Sum the columns."""
    return (x.sum(0),)


def big(s: System, x: Any) -> tuple[Any, ...]:
    """Touch 256 MiB that are gone after the run."""
    return (np.ones(1 << 25).sum() - (1 << 25) + x.sum(),)


def differs(s: System, x: Any) -> tuple[Any, ...]:
    """Answer otherwise on Dask."""
    return (x.sum() + ("dask" in s.arrays),)


def refuses(s: System, x: Any) -> tuple[Any, ...]:
    """Raise."""
    raise NotImplementedError("no such operation")


def dies(s: System, x: Any) -> tuple[Any, ...]:
    """End the interpreter without a word to the harness."""
    sys.stderr.write("the last line\n")
    os._exit(3)


def hangs(s: System, x: Any) -> tuple[Any, ...]:
    """Wait for ever."""
    threading.Event().wait()
    return ()


ROWS = tuple(
    Workload(program.__name__, numbers, program)
    for program in (column_sums, big, differs, refuses, dies, hangs)
)
