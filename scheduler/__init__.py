"""Run Dask task graphs: in this process, in other processes, or on a cluster."""

# The folder is next to marsdask/ in the repository. A Python started there would import it under
# the name of another PyPI package, and each class would exist twice.
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
