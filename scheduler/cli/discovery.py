"""Find supervisors without an option: from environment variables, or from files on this host."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from .sizes import ConfigError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "mars_service_process."

#: Where KubeDL and Mars's own deployment write the addresses of a job, and under which keys.
_DETAILS = ("MARS_CLUSTER_DETAIL", "MARS_TASK_DETAIL")
_ROLES = ("supervisor", "scheduler")

#: The variable with the address that Dask's workers and clients connect to.
DASK_ADDRESS = "DASK_SCHEDULER_ADDRESS"


def from_environment(environ: Mapping[str, str]) -> list[str]:
    """Return the endpoints from the operator's variables, or from Dask's."""
    for name in _DETAILS:
        if not environ.get(name):
            continue
        try:
            cluster: Any = json.loads(environ[name])["cluster"]
            # Missing entries are no error: newer operators list no workers, for instance.
            endpoints: list[Any] = next((cluster[role] for role in _ROLES if cluster.get(role)), [])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"cannot read the cluster's addresses in {name}: {error!r}") from None
        if endpoints:
            return [str(endpoint) for endpoint in endpoints]
    address = environ.get(DASK_ADDRESS)
    return [address] if address else []


def on_this_host(folder: str | None = None) -> list[str]:
    """Return the endpoints of the supervisors that this user runs on this host."""
    endpoints = []
    for path, alive in _mine(folder):
        with contextlib.suppress(OSError):
            if alive:
                endpoints.append(path.read_text().strip())
    return [endpoint for endpoint in endpoints if endpoint]


def _mine(folder: str | None) -> Iterator[tuple[Path, bool]]:
    """Yield the files of this user's supervisors, and whether those supervisors still run."""
    for path in sorted(Path(folder or tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        with contextlib.suppress(OSError, ValueError):
            pid = int(path.name.removeprefix(_PREFIX))
            if _is_mine(path):
                yield path, _is_alive(path, pid)


@contextmanager
def announced(endpoint: str, folder: str | None = None) -> Iterator[None]:
    """Announce the supervisor at ``endpoint`` to the commands of this user on this host.

    The kernel releases the lock of the file when this process ends. A leftover file is therefore
    unlocked, even if another process has the same process id.
    """
    for path, alive in _mine(folder):
        if not alive:  # that process was killed and could not remove its file
            _remove(path)
    path = Path(folder or tempfile.gettempdir()) / f"{_PREFIX}{os.getpid()}"
    # The file gets its name after it is locked. A link in its place is replaced, not followed.
    new = path.with_name(f".{path.name}")
    with contextlib.ExitStack() as stack:
        _remove(new)
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            file = stack.enter_context(os.fdopen(descriptor, "w"))
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            file.write(endpoint)
            file.flush()
            os.replace(new, path)
            stack.callback(_remove, path)
        except OSError:
            _remove(new)
        yield


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _is_mine(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and (
        not hasattr(os, "getuid") or status.st_uid == os.getuid()
    )


def _is_alive(path: Path, pid: int) -> bool:
    if fcntl is None:
        return psutil.pid_exists(pid)
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
