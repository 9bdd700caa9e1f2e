"""The servers that a test plugin uses instead of distributed's."""

from ..supervisor import Supervisor
from ..worker import MarsNanny, MarsWorker

__all__ = ["MarsNanny", "MarsWorker", "Supervisor"]
