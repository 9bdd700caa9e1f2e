"""Our servers under the names that a test plugin puts in place of distributed's own."""

from ..supervisor import Supervisor
from ..worker import MarsNanny, MarsWorker

__all__ = ["MarsNanny", "MarsWorker", "Supervisor"]
