"""The private parts of distributed that the supervisor uses."""

from __future__ import annotations

from ..cluster.hooks import Hook


def _method(name: str, *parameters: str) -> Hook:
    return Hook("distributed.scheduler", f"SchedulerState.{name}", parameters)


HOOKS = (
    Hook("distributed.core", "Server.listen", ("port_or_addr",)),
    Hook("distributed.core", "Server.handle_stream", ("comm", "extra")),
    Hook("distributed.core", "Server.__init__", ("blocked_handlers",)),
    Hook("distributed.scheduler", "Scheduler.start_unsafe", ("self",)),
    Hook("distributed.scheduler", "Scheduler.identity", ("n_workers",)),
    Hook(
        "distributed.scheduler",
        "Scheduler._create_taskstate_from_graph",
        ("start", "dsk", "keys", "ordered", "client", "annotations_by_type", "span_metadata"),
    ),
    Hook("distributed.client", "Client._start"),
    Hook("distributed.client", "Client._reconnect", ("self",)),
    Hook("distributed.client", "Client._ensure_connected", ("timeout",)),
    Hook("distributed.client", "Client._gather_remote", ("direct", "local_worker")),
    Hook("distributed.client", "Client._send_to_scheduler", ("msg",)),
    Hook("distributed.client", "Client._send_to_scheduler_safe", ("msg",)),
    Hook("distributed.scheduler", "Scheduler.client_desires_keys", ("keys", "client")),
    Hook("distributed.scheduler", "Scheduler.client_releases_keys", ("keys", "client")),
    Hook("distributed.scheduler", "Scheduler.add_client", ("comm", "client", "versions")),
    Hook("distributed.scheduler", "Scheduler.add_worker", ("comm",)),
    Hook("distributed.scheduler", "Scheduler.remove_worker", ("address", "expected")),
    Hook("distributed.scheduler", "Scheduler.check_worker_ttl", ("self",)),
    Hook("distributed.scheduler", "heartbeat_interval", ("n",)),
    Hook("distributed.scheduler", "Scheduler.add_keys", ("worker", "keys")),
    Hook("distributed.scheduler", "Scheduler.release_worker_data", ("key", "worker")),
    Hook("distributed.scheduler", "Scheduler.update_graph", ("client", "keys")),
    Hook("distributed.scheduler", "Scheduler._find_lost_dependencies", ("dsk", "keys")),
    Hook("distributed.scheduler", "Scheduler.update_data", ("who_has", "nbytes", "client")),
    Hook("distributed.spans", "SpansSchedulerExtension.heartbeat", ("ws", "data")),
    Hook("distributed.spans", "SpansSchedulerExtension.observe_tasks", ("self",)),
    Hook("distributed.scheduler", "Scheduler._to_dict", ("exclude",)),
    Hook("distributed.scheduler", "DEFAULT_EXTENSIONS"),
    Hook("distributed.scheduler", "SchedulerState._TRANSITIONS_TABLE"),
    Hook("distributed.scheduler", "SchedulerState.is_rootish", ("ts",)),
    Hook("distributed.scheduler", "SchedulerState.decide_worker_non_rootish", ("ts",)),
    Hook("distributed.scheduler", "SchedulerState.get_comm_cost", ("ts", "ws")),
    _method("_get_prefix_duration", "prefix"),
    Hook("distributed.scheduler", "Scheduler._set_priorities", ("internal_priority", "tasks")),
    Hook("distributed.client", "Client._gather", ("futures", "direct", "local_worker")),
    _method("_transition_waiting_processing", "key", "stimulus_id"),
    _method("_transition_waiting_queued", "key", "stimulus_id"),
    _method("_transition_no_worker_processing", "key", "stimulus_id"),
    _method("_transition_queued_processing", "key", "stimulus_id"),
    _method("_transition_queued_released", "key", "stimulus_id"),
    _method("_transition_queued_erred", "key", "stimulus_id"),
    _method("_add_to_processing", "ts", "ws", "stimulus_id"),
    _method("_exit_processing_common", "ts"),
    Hook("distributed.scheduler", "WorkerState._network_occ"),
    Hook("distributed.scheduler", "TaskState._queueable"),
    Hook("distributed.scheduler", "Scheduler.stimulus_queue_slots_maybe_opened", ("stimulus_id",)),
    Hook("distributed.scheduler", "Scheduler.handle_long_running", ("key", "worker", "run_id")),
    Hook("distributed.active_memory_manager", "ActiveMemoryManagerExtension._run_policies"),
    Hook("distributed.stealing", "WorkStealing.balance"),
    Hook("distributed.stealing", "WorkStealing._add_to_in_flight", ("ts", "info")),
    Hook("distributed.stealing", "WorkStealing._remove_from_in_flight", ("ts",)),
    Hook("distributed.stealing", "WorkStealing._get_thief", ("ts", "potential_thieves")),
    Hook("distributed.stealing", "WorkStealing.move_task_confirm", ("key", "state", "worker")),
    Hook("distributed.shuffle._core", "ShuffleRunSpec.__init__", ("spec", "worker_for", "span_id")),
    Hook("distributed.comm.ws", "WSHandler", None),
    Hook("distributed.comm.ws", "WSHandlerComm.read", ("deserializers",)),
)
