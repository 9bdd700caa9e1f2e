"""The user's line of code that created a node."""

from __future__ import annotations

import linecache
import sys
from types import CodeType
from typing import NamedTuple

_LIBRARIES = (
    *("marsdask", "numpy", "pandas", "sklearn", "dask", "distributed", "functools"),
    "dataclasses",  # makes nodes of others
    *("concurrent", "threading"),  # a supervisor's threads run no user code
)


class CallSite(NamedTuple):
    """A position in user code, kept as a code object and a line: formatted only on demand."""

    code: CodeType
    lineno: int

    def __str__(self) -> str:
        line = linecache.getline(self.code.co_filename, self.lineno).strip()
        where = f"{self.code.co_filename}:{self.lineno}, in {self.code.co_name}"
        return f"{where}\n    {line}" if line else where


def caller() -> CallSite | None:
    """Return the innermost line outside marsdask and the libraries below it."""
    frame = sys._getframe(1)  # the cheapest way to walk the stack
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _LIBRARIES:
            return CallSite(frame.f_code, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return None
