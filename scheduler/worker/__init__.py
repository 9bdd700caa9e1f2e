"""The workers: dask workers that admit tasks by memory, and the nannies that watch over them."""

from .nanny import MarsNanny
from .server import MarsWorker

__all__ = ["MarsNanny", "MarsWorker"]
