"""Functions on the scheduler: each call is a task, and may start others. Mars's ``mars.remote``."""

from marsdask.core.collection import ExecutableTuple, fetch_log

from .fetched_log import FetchedLog
from .object import Object
from .run_script import ScriptFailed, ScriptTimeout, run_script
from .spawn import spawn

__all__ = [
    "ExecutableTuple",
    "FetchedLog",
    "Object",
    "ScriptFailed",
    "ScriptTimeout",
    "fetch_log",
    "run_script",
    "spawn",
]
