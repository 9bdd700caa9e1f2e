"""Run Dask task graphs: in this process, in others, or on a cluster."""

# The folder lies beside marsdask/ in the repository, so a Python started there would find it under
# a name that belongs to somebody else on PyPI, and every class in it would exist twice.
if __name__ == "scheduler":
    raise ImportError("this folder is the package marsdask.scheduler: import it by that name")

from . import errors, events
from .base import Capabilities, ChunkInfo, Handle, Hint, Scheduler, describe
from .get import get, get_processes, get_sync, get_threads
from .registry import create, names, register, resolve

__all__ = [
    "Capabilities",
    "ChunkInfo",
    "Handle",
    "Hint",
    "Scheduler",
    "create",
    "describe",
    "errors",
    "events",
    "get",
    "get_processes",
    "get_sync",
    "get_threads",
    "names",
    "register",
    "resolve",
]
