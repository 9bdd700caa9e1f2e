"""The resources of this process: the limits of its cgroup (version 1 or 2) or of the machine."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from dask.utils import parse_bytes

_MEMORY_FILES = ("memory.max", "memory.limit_in_bytes")


def parse(name: str, value: float | str, total: int | None = None) -> int:
    """Return the bytes of a setting: a number, a string, or a share of ``total``."""
    if total is not None and isinstance(value, float) and 0 < value <= 1:
        return int(value * total)
    share = "" if total is None else ", a share such as 0.5"
    try:
        # A unit without a number is one of it for Dask.
        has_number = not isinstance(value, str) or any(map(str.isdigit, value))
        nbytes = int(parse_bytes(value)) if has_number else 0
    except (TypeError, ValueError, OverflowError):
        nbytes = 0
    if nbytes <= 0 or isinstance(value, bool):
        remedy = f"a positive number of bytes{share} or a string such as '4GiB'"
        raise ValueError(f"invalid {name}: {value!r}; give {remedy}")
    return nbytes


def memory(root: str = "/sys/fs/cgroup", membership: str = "/proc/self/cgroup") -> int:
    """Return the bytes of memory that this process may use; the arguments are for tests."""
    limits = [_physical_memory()]
    for group in _groups("memory", Path(root), Path(membership)):
        for name in _MEMORY_FILES:
            text = _read(group / name)
            if text.isdigit():  # "max" means unlimited
                limits.append(int(text))
    return min(limits)


def cpus(root: str = "/sys/fs/cgroup", membership: str = "/proc/self/cgroup") -> int:
    """Return the number of CPUs that this process may use, rounded up."""
    limits = [_affinity()]
    for group in _groups("cpu", Path(root), Path(membership)):
        quota, period, *_ = *_read(group / "cpu.max").split(), "", ""
        if not quota:
            quota, period = _read(group / "cpu.cfs_quota_us"), _read(group / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period):  # "max" and -1 mean unlimited
            limits.append(max(1, math.ceil(int(quota) / int(period))))
    return min(limits)


def _groups(controller: str, root: Path, membership: Path) -> Iterator[Path]:
    """Yield the directories of this process's cgroup and its ancestors, which limit it too.

    In a container the path may be the host's while the mount shows only the container's part. The
    top of the mount is therefore always included.
    """
    for line in _read(membership).splitlines():
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        top = root if not names else _mount(root, names, controller)
        group = top / path.lstrip("/")
        while group != top and top in group.parents:
            yield group
            group = group.parent
        yield top


def _mount(root: Path, names: str, controller: str) -> Path:
    return root / names if (root / names).is_dir() else root / controller


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        import psutil  # slow to import, and needed only without sysconf

        return int(psutil.virtual_memory().total)
