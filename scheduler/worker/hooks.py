"""What the worker and its nanny use of distributed beyond its public interface."""

from __future__ import annotations

from ..hooks import Hook

WORKER_HOOKS = (
    Hook("distributed.core", "Server.listen", ("port_or_addr",)),
    Hook("distributed.core", "Server.__init__", ("blocked_handlers",)),
)

NANNY_HOOKS = (
    Hook("distributed.nanny", "Nanny.close_gracefully", ("reason",)),
    Hook("distributed.nanny", "Nanny.__init__", ("worker_class", "env", "config")),
)
