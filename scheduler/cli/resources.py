"""The resources of a worker's options on this host: cores, memory, directories, devices."""

from __future__ import annotations

import argparse
import logging
import os
from dataclasses import dataclass
from typing import Any, Final

import psutil
from distributed.deploy.utils import nprocesses_nthreads
from distributed.protocol.compression import compressions

from .. import limits
from ..storage import private_folder
from ..storage.shared_segment import problem
from .sizes import ConfigError, parse_dirs, parse_number, parse_size, parse_switch

logger: Final = logging.getLogger(__name__)

#: Shares of the memory limit: no task starts beyond SOFT, and a process restarts beyond HARD.
SOFT, HARD = 0.75, 0.90

_MIN_MEM = "128m"

#: Minimum memory of a worker process: an idle one uses 45 MiB, and pauses at the soft share.
_PROCESS = 64 * 2**20

#: Threads of each process that write results, unless ``--n-io-process`` is given.
IO_THREADS = 4


@dataclass
class Resources:
    """The validated resources of the workers on this host."""

    n_cpu: int
    processes: int
    memory: int
    cache: int
    spill_dirs: list[str]
    io_threads: int
    io_parallel: int
    devices: list[str] | None
    config: dict[str, Any]

    @property
    def threads(self) -> list[int]:
        """Threads of each process."""
        quotient, remainder = divmod(self.n_cpu, self.processes)
        return [quotient + (position < remainder) for position in range(self.processes)]


def resolve(given: argparse.Namespace, environ: Any = os.environ) -> Resources:
    """Return the requested resources; raise ConfigError if this host lacks them."""
    n_cpu = _cpus(given.n_cpu)
    processes = _count("--processes", given.processes) or nprocesses_nthreads(n_cpu)[0]
    if processes > n_cpu:
        raise ConfigError(
            f"{processes} worker processes need {processes} cores; --n-cpu is {n_cpu}"
        )
    total = limits.memory()
    memory = _size("--mem-bytes", given.mem_bytes, total) or total
    cache = _cache(given, memory, environ)
    _enough(given, total, memory, processes)
    _enough_cache(given, total, cache)
    return Resources(
        n_cpu=n_cpu,
        processes=processes,
        memory=memory,
        cache=cache,
        spill_dirs=_dirs(given.spill_dir),
        io_threads=_count("--n-io-process", given.n_io_process) or IO_THREADS,
        io_parallel=_parallel(given.io_parallel_num, environ),
        devices=_devices(given),
        config=_config(given, total),
    )


def _count(name: str, text: str | None) -> int | None:
    if text is None or text == "auto":
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ConfigError(f"invalid {name}: {text!r}; give a positive integer")
    return number


def _size(name: str, text: str | None, total: int) -> int | None:
    if text is None or text == "auto":
        return None
    try:
        return parse_size(text, total)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None


def _cpus(text: str | None) -> int:
    there = limits.cpus()
    count = _count("--n-cpu", text)
    if count is not None and count > there:
        logger.warning(
            "--n-cpu %d exceeds the %d cores of this host, which are shared", count, there
        )
    return count or there


def _cache(given: argparse.Namespace, memory: int, environ: Any) -> int:
    cache = _size("--cache-mem", given.cache_mem, memory)
    if cache is None:
        cache = min(memory, psutil.virtual_memory().available) // 2
    if scale := environ.get("MARS_CACHE_MEM_SCALE"):
        cache = int(cache * parse_number("MARS_CACHE_MEM_SCALE", scale))
    return min(memory, cache)


def _enough(given: argparse.Namespace, total: int, memory: int, processes: int) -> None:
    name = given.min_mem or _MIN_MEM
    least = _size("--min-mem", name, total) or 0
    if given.ignore_avail_mem:
        return
    if memory < min(least, total):
        raise ConfigError(f"--mem-bytes {given.mem_bytes} is less than --min-mem {name}")
    most = min(total, memory)  # the container's limit also applies
    free = min(most, psutil.virtual_memory().available)  # the host's available memory
    if free < least:
        raise ConfigError(f"{free >> 20} MiB of memory are free, less than --min-mem {name}")
    if (share := most // processes) < _PROCESS:
        raise ConfigError(
            f"a worker process needs {_PROCESS >> 20} MiB of memory, and each of {processes} "
            f"gets {share >> 20}: raise --mem-bytes, or lower --n-cpu or --processes"
        )


def _enough_cache(given: argparse.Namespace, total: int, cache: int) -> None:
    least = _size("--min-cache-mem", given.min_cache_mem, total) or 0
    if cache < least:
        raise ConfigError(
            f"the cache gets {cache >> 20} MiB, less than --min-cache-mem {given.min_cache_mem}"
        )


def _dirs(given: str | list[str] | None, purpose: str = "spill to") -> list[str]:
    dirs = given if isinstance(given, list) else parse_dirs(given or "")
    for path in dirs:
        try:
            private_folder.create(path)
        except OSError as error:
            raise ConfigError(f"cannot {purpose} {path}: {error.strerror or error}") from None
        if not os.access(path, os.W_OK | os.X_OK):
            raise ConfigError(f"cannot {purpose} {path}: it is not writable")
    return [os.path.abspath(path) for path in dirs]


def _parallel(text: str | None, environ: Any) -> int:
    number = _count("--io-parallel-num", text)
    if number is None and _lock_free(environ):
        return 65536
    return number or 1


def _lock_free(environ: Any) -> bool:
    name = "MARS_LOCK_FREE_FILEIO"
    return parse_switch(name, environ.get(name, ""))


def _devices(given: argparse.Namespace) -> list[str] | None:
    """Return the devices, ``None`` for all of them, which is the default of the newer option."""
    text = given.cuda_devices if given.cuda_devices is not None else given.cuda_device
    if text is None or text == "auto":
        return None
    return [part.strip() for part in text.split(",") if part.strip()]


def _config(given: argparse.Namespace, total: int) -> dict[str, Any]:
    """Return the options' values in Dask's configuration."""
    config: dict[str, Any] = {}
    name = "distributed.worker.memory.spill-compression"
    # Compressed files cannot be memory-mapped.
    config[name] = _compression("--disk-compression", given.disk_compression or "none")
    if given.transfer_compression is not None:
        config["distributed.comm.compression"] = _compression(
            "--transfer-compression", given.transfer_compression
        )
    if given.write_shuffle_to_disk is not None:
        config["distributed.p2p.storage.disk"] = given.write_shuffle_to_disk
    if dirs := _dirs(given.plasma_dir, "share memory in"):
        config["marsdask.shared.directory"] = dirs[0]
        if unused := ", ".join(dirs[1:]):
            logger.warning("--plasma-dir: one directory is used; ignoring %s", unused)
        if (why := problem(dirs[0])) is not None:
            logger.warning("--plasma-dir: cannot share memory between processes: %s", why)
    if given.plasma_limit:
        config["marsdask.shared.limit"] = _size("--plasma-limit", given.plasma_limit, total)
    return config


def _compression(option: str, name: str) -> str | bool:
    if name.lower() in ("none", "no", "0"):
        return False
    names = sorted(key for key in compressions if isinstance(key, str))
    if name not in names:
        raise ConfigError(f"invalid {option}: {name!r}; choose from none, {', '.join(names)}")
    return name
