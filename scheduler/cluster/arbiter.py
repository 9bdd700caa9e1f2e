"""A third party that decides which one of several supervisors is active.

Supervisors that cannot reach each other cannot tell a dead one from a broken network. An arbiter
that all of them reach can: a file on shared storage, or whatever has the two methods.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import dask.config

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: What the file contains.
_FIELDS: Final = {"holder", "epoch", "renewals"}

#: A clock that also counts while the host is suspended, where there is one.
_BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


def elapsed() -> float:
    """Return seconds since some moment in the past; clocks of other hosts play no role."""
    return time.monotonic() if _BOOT_CLOCK is None else time.clock_gettime(_BOOT_CLOCK)


class Arbiter(Protocol):
    """Grants tenures, one at a time. Its methods may block; ``OSError``: it does not answer."""

    lasts: float
    """The seconds for which a holder may be active after it asked for what was granted.

    Infinite: until it learns that another one has the tenure.
    """

    def take(self, holder: str, epoch: int, *, ended: str | None = None) -> int | None:
        """Give the tenure to a supervisor; return its epoch, which is at least ``epoch``.

        Return ``None`` while another one renews its tenure. ``ended`` is known to have ended: if
        it holds the tenure, nobody waits for it.
        """
        ...

    def renew(self, holder: str, epoch: int) -> bool:
        """Renew the tenure of a supervisor; return whether it has one."""
        ...

    def release(self, holder: str) -> None:
        """End the tenure of a supervisor that is no longer active, if it has one."""
        ...


class FileArbiter:
    """A file on storage that all supervisors share, and that supports locks, such as NFS.

    A tenure ends when its holder has not written for ``patience`` seconds. No clocks are compared:
    each supervisor measures how long the content has stayed the same.
    """

    lasts = math.inf

    def __init__(
        self, path: str, patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if fcntl is None:
            raise OSError("a file decides between supervisors only where files can be locked")
        self.path = path
        self._patience = patience
        self._clock = clock
        self._seen: tuple[dict[str, Any], float] = {}, 0.0
        """The content, and since when it has been this."""
        self._thread = threading.Lock()
        """The lock of the file excludes other processes only."""

    def take(self, holder: str, epoch: int, *, ended: str | None = None) -> int | None:
        """Give the tenure to a supervisor, see :meth:`Arbiter.take`."""
        with self._locked():
            record = self._read()
            if record != self._seen[0]:
                self._seen = record, self._clock()
            silent = self._clock() - self._seen[1] >= self._patience
            if record and record["holder"] not in ("", holder, ended) and not silent:
                return None
            granted: int = max(epoch, record.get("epoch", 0) + 1)
            self._write(holder, granted, record.get("renewals", 0))
        return granted

    def renew(self, holder: str, epoch: int) -> bool:
        """Renew a tenure, see :meth:`Arbiter.renew`."""
        with self._locked():
            record = self._read()
            if record.get("holder") != holder:
                return False
            self._write(holder, max(epoch, record["epoch"]), record["renewals"])
        return True

    def release(self, holder: str) -> None:
        """End a tenure, see :meth:`Arbiter.release`."""
        with self._locked():
            record = self._read()
            if record.get("holder") == holder:
                self._write("", record["epoch"], record["renewals"])

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with self._thread:
            descriptor = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)

    def _read(self) -> dict[str, Any]:
        try:
            with open(self.path, encoding="utf-8") as file:
                record: dict[str, Any] = json.load(file)
            if not isinstance(record, dict) or (record and not record.keys() >= _FIELDS):
                raise ValueError("not a tenure")
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise OSError(f"invalid content of {self.path}: {error}") from error
        return record

    def _write(self, holder: str, epoch: int, renewals: int) -> None:
        """Replace the file, so that nobody ever reads half of it."""
        new = f"{self.path}.{socket.gethostname()}-{os.getpid()}.new"
        with open(new, "w", encoding="utf-8") as file:
            json.dump({"holder": holder, "epoch": epoch, "renewals": renewals + 1}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.path)


def configured(patience: float) -> Arbiter | None:
    """Return the arbiter of the configuration: ``marsdask.failover.arbiter`` is a path."""
    path = dask.config.get("marsdask.failover.arbiter", None)
    return None if path is None else FileArbiter(os.path.expanduser(path), patience)
