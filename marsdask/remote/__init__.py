"""Functions on the scheduler: each call is a task, and may start others. Mars's ``mars.remote``."""

from marsdask.core.collection import ExecutableTuple, fetch_log

from .object import Object
from .spawn import spawn

__all__ = ["ExecutableTuple", "Object", "fetch_log", "spawn"]
