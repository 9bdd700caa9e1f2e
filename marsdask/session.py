"""Sessions under the name by which Mars's documents import them."""

from .core.collection import execute, fetch, fetch_log
from .core.results.execution import Execution
from .core.session import (
    Session,
    clear_default_session,
    ensure_session,
    get_default_session,
    new_session,
    set_default_session,
    stop_server,
)

__all__ = [
    "Execution",
    "Session",
    "clear_default_session",
    "ensure_session",
    "execute",
    "fetch",
    "fetch_log",
    "get_default_session",
    "new_session",
    "set_default_session",
    "stop_server",
]
