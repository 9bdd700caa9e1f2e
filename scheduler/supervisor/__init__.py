"""The supervisor: a dask scheduler that places by memory and locality, which compiles jobs."""

from .server import Supervisor

__all__ = ["Supervisor"]
