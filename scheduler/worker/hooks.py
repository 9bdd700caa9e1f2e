"""The private parts of distributed that the worker and its nanny use."""

from __future__ import annotations

from ..cluster.hooks import Hook

WORKER_HOOKS = (
    Hook("distributed.batched", "BatchedSend.abort", ("self",)),
    Hook("distributed.worker", "Worker._register_with_scheduler", ("self",)),
    Hook("distributed.worker", "Worker._handle_remove_worker", ("worker", "stimulus_id")),
    Hook("distributed.worker", "Worker._send_worker_status_change", ("stimulus_id",)),
    Hook("distributed.worker", "Worker._update_latency", ("latency",)),
    Hook("distributed.worker", "Worker.get_startup_information", ("self",)),
    Hook("distributed.worker", "Worker.trigger_profile", ("self",)),
    Hook("distributed.worker", "Worker.get_call_stack", ("keys",)),
    Hook("distributed.worker", "Worker.handle_scheduler", ("comm",)),
    Hook("distributed.worker", "Worker.heartbeat", ("self",)),
    Hook("distributed.worker_state_machine", "FreeKeysEvent"),
    Hook("distributed.core", "Server.listen", ("port_or_addr",)),
    Hook("distributed.core", "Server.__init__", ("blocked_handlers",)),
    Hook("distributed.worker", "Worker.__init__", ("WorkerStateClass", "memory_limit")),
    Hook("distributed.worker_state_machine", "WorkerState._next_ready_task", ("self",)),
    Hook("distributed.worker_state_machine", "WorkerState._ensure_computing", ("self",)),
    Hook("distributed.worker_state_machine", "WorkerState._acquire_resources", ("ts",)),
    Hook("distributed.worker_state_machine", "WorkerState._release_resources", ("ts",)),
    Hook("distributed.worker_state_machine", "WorkerState._execute_done_common", ("ev",)),
    Hook("distributed.worker_state_machine", "WorkerState._handle_event"),
    Hook(
        "distributed.worker_state_machine",
        "WorkerState._transition_to_memory",
        ("value", "msg_type"),
    ),
    Hook("distributed.worker_state_machine", "WorkerState._purge_state", ("ts",)),
    Hook("distributed.worker", "Worker.get_data", ("comm", "keys", "who", "serializers")),
    Hook("distributed.worker", "Worker.identity"),
    Hook("distributed.worker", "Worker._to_dict", ("exclude",)),
    Hook("distributed.system_monitor", "SystemMonitor.get_process_memory", ("self",)),
    Hook("distributed.spill", "SpillBuffer._slow_uncached"),
    Hook("distributed.spill", "SpillBuffer._handle_errors", ("key",)),
    Hook("distributed.spill", "SpillBuffer._capture_metrics"),
    Hook("distributed.spill", "Slow.__init__", ("spill_directory", "max_weight")),
    Hook("distributed.worker_memory", "WorkerMemoryManager._spill", ("worker", "memory")),
    Hook("distributed.worker_memory", "WorkerMemoryManager._maybe_pause_or_unpause", ("memory",)),
)

NANNY_HOOKS = (
    Hook("distributed.nanny", "Nanny.close_gracefully", ("reason",)),
    Hook("distributed.nanny", "Nanny._on_worker_exit", ("exitcode",)),
    Hook("distributed.nanny", "Nanny.instantiate", ()),
    Hook("distributed.nanny", "Nanny.kill", ("timeout", "reason")),
    Hook("distributed.nanny", "Nanny.__init__", ("worker_class", "env", "config")),
    Hook("distributed.diskutils", "WorkSpace._purge_leftovers", ("self",)),
)
