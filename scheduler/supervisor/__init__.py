"""The supervisor: a Dask scheduler that places tasks by memory and locality, and compiles jobs."""

from .server import Supervisor

__all__ = ["Supervisor"]
