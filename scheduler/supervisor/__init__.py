"""The supervisor: a dask scheduler that places by memory and locality, and its client's side."""

from .server import Supervisor

__all__ = ["Supervisor"]
