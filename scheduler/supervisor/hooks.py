"""What the supervisor uses of distributed beyond its public interface."""

from __future__ import annotations

from ..hooks import Hook

HOOKS = (
    Hook("distributed.core", "Server.listen", ("port_or_addr",)),
    Hook("distributed.core", "Server.__init__", ("blocked_handlers",)),
    Hook("distributed.scheduler", "Scheduler.start_unsafe", ("self",)),
    Hook("distributed.scheduler", "Scheduler.identity", ("n_workers",)),
    Hook("distributed.comm.ws", "WSHandler", None),
)
