"""The names of calls: calls are not pure, so each has one of its own, whatever is called."""

from __future__ import annotations

import itertools
import os
import sys
import uuid


class CallNames:
    """Gives names that no other process gives."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin again, as a forked child has to."""
        self.owner = f"spawn-{uuid.uuid4().hex[:16]}"
        self._serial = itertools.count()

    def new(self) -> str:
        """Return the name of one more call."""
        return f"{self.owner}-{next(self._serial)}"


def owner_of(name: str) -> str:
    """Return what names the process that made a call."""
    return name.rpartition("-")[0]


NAMES = CallNames()
if sys.platform != "win32":
    os.register_at_fork(after_in_child=NAMES.renew)
