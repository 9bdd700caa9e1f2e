"""The private names of dask and distributed that marsdask uses; the tests check that they exist."""

import ast
import importlib
import inspect
import textwrap
from pathlib import Path

import pytest

from marsdask.scheduler.supervisor.hooks import HOOKS
from marsdask.scheduler.worker.hooks import NANNY_HOOKS, WORKER_HOOKS

ROOT = Path(__file__).parents[2]

#: (module, name): the feature that has no public interface.
PRIVATE = {
    ("dask._task_spec", "convert_legacy_graph"): "parsing graphs of tuples",
    # Called through `client.scheduler`, so no import shows it.
    (
        "distributed.recreate_tasks",
        "ReplayTaskScheduler.get_error_cause",
    ): "the key of the failed task",
    # Overridden or read on the cluster's servers, which refuse to start without them.
    (
        "distributed.batched",
        "BatchedSend.abort",
    ): "disconnecting from a supervisor that does not answer",
    ("distributed.client", "Client._close"): "websockets are closed before the event loop",
    ("distributed.client", "Client._start"): "choosing the active supervisor",
    ("distributed.client", "Client._release_key"): "inputs that are released before they run",
    ("distributed.client", "Client._reconnect"): "keeping futures after a failover",
    ("distributed.client", "Client._ensure_connected"): "reconnecting after a failover",
    ("distributed.client", "Client._gather"): "results come from the workers",
    ("distributed.client", "Client._gather_remote"): "fetching results after a failover",
    ("distributed.client", "Client._send_to_scheduler"): "graphs that may be resubmitted",
    ("distributed.client", "Client._send_to_scheduler_safe"): "resubmitting them",
    ("distributed.comm.tcp", "TLSConnector.connect"): "connections closed before the handshake",
    ("distributed.comm.tcp", "set_tcp_timeout"): "keepalive of websockets",
    ("distributed.comm.ws", "WSConnector.connect"): "connections that open when nobody waits",
    ("distributed.comm.ws", "WSSConnector.connect"): "connections closed before the handshake",
    ("distributed.comm.ws", "WS.read"): "connections closed within a message",
    ("distributed.comm.ws", "WSHandler"): "the websocket server on the web port",
    ("distributed.comm.ws", "WSHandlerComm.read"): "connections closed within a message",
    ("distributed.core", "Server.handle_stream"): "the end of a client's connection",
    ("distributed.core", "Server.__init__"): "configuration by class name",
    ("distributed.core", "Server.listen"): "advertised addresses",
    (
        "distributed.diskutils",
        "WorkSpace._purge_leftovers",
    ): "directories of a killed worker that has no successor",
    ("distributed.nanny", "Nanny.__init__"): "MarsWorker instead of Worker",
    ("distributed.nanny", "Nanny._on_worker_exit"): "the exit code of a worker process",
    ("distributed.nanny", "Nanny.close_gracefully"): "the reason why a worker closes",
    ("distributed.nanny", "Nanny.instantiate"): "cancelling the start of a worker process",
    ("distributed.nanny", "Nanny.kill"): "closing during the start",
    ("distributed.scheduler", "DEFAULT_EXTENSIONS"): "MarsStealing instead of WorkStealing",
    (
        "distributed.scheduler",
        "Scheduler._create_taskstate_from_graph",
    ): "graphs of this process: not pickled, with their own order",
    (
        "distributed.scheduler",
        "Scheduler._find_lost_dependencies",
    ): "results in memory need no inputs after a failover",
    ("distributed.scheduler", "Scheduler.update_graph"): "the client whose graph it is",
    ("distributed.scheduler", "Scheduler.add_client"): "clients wait for workers after a failover",
    ("distributed.scheduler", "Scheduler.add_keys"): "replicas of reconnecting workers",
    ("distributed.scheduler", "Scheduler.check_worker_ttl"): "time for which nobody listened",
    ("distributed.scheduler", "heartbeat_interval"): "the least time to live of a worker",
    ("distributed.scheduler", "Scheduler._to_dict"): "dumps as distributed's tools know them",
    ("distributed.scheduler", "Scheduler.add_worker"): "a standby refuses workers",
    ("distributed.scheduler", "Scheduler.release_worker_data"): "dropping outdated results",
    ("distributed.scheduler", "Scheduler.update_data"): "results of reconnecting workers",
    ("distributed.scheduler", "Scheduler.client_desires_keys"): "holding results for a client",
    ("distributed.scheduler", "Scheduler.client_releases_keys"): "releasing them",
    ("distributed.scheduler", "Scheduler.identity"): "the identity of a supervisor",
    (
        "distributed.scheduler",
        "Scheduler.remove_worker",
    ): "only running tasks are suspected of a death",
    ("distributed.scheduler", "Scheduler.start_unsafe"): "the web port as a second address",
    ("distributed.scheduler", "Scheduler.stimulus_queue_slots_maybe_opened"): "waiting for memory",
    ("distributed.scheduler", "SchedulerState._TRANSITIONS_TABLE"): "overriding transitions",
    ("distributed.scheduler", "SchedulerState._add_to_processing"): "reserving memory",
    ("distributed.scheduler", "SchedulerState._exit_processing_common"): "freeing reservations",
    ("distributed.scheduler", "SchedulerState._get_prefix_duration"): "costs of tasks in shares",
    ("distributed.scheduler", "Scheduler._set_priorities"): "shares of sessions",
    (
        "distributed.scheduler",
        "SchedulerState._transition_no_worker_processing",
    ): "lost results whose tasks have to be made again",
    ("distributed.scheduler", "SchedulerState._transition_queued_processing"): "placement",
    ("distributed.scheduler", "SchedulerState._transition_queued_released"): "placement",
    ("distributed.scheduler", "SchedulerState._transition_queued_erred"): "placement",
    ("distributed.scheduler", "SchedulerState._transition_waiting_processing"): "placement",
    ("distributed.scheduler", "SchedulerState._transition_waiting_queued"): "waiting for memory",
    ("distributed.scheduler", "SchedulerState.decide_worker_non_rootish"): "placement",
    ("distributed.scheduler", "SchedulerState.get_comm_cost"): "transfers within a host are cheap",
    ("distributed.scheduler", "SchedulerState.is_rootish"): "detecting sources",
    ("distributed.scheduler", "TaskState._queueable"): "tasks of P2P shuffles are not queued",
    ("distributed.scheduler", "WorkerState._network_occ"): "inputs in transfer need memory",
    ("distributed.shuffle._core", "ShuffleRunSpec"): "numbers of shuffles' runs",
    ("distributed.shuffle._core", "ShuffleRunSpec.__init__"): "numbers of shuffles' runs",
    ("distributed.spans", "SpansSchedulerExtension.heartbeat"): "spans of an earlier supervisor",
    ("distributed.spans", "SpansSchedulerExtension.observe_tasks"): "removing finished spans",
    ("distributed.spill", "Slow.__init__"): "several directories and threads",
    ("distributed.spill", "SpillBuffer._capture_metrics"): "spilling in threads",
    ("distributed.spill", "SpillBuffer._handle_errors"): "spilling in threads",
    ("distributed.spill", "SpillBuffer._slow_uncached"): "several spill directories",
    (
        "distributed.active_memory_manager",
        "ActiveMemoryManagerExtension._run_policies",
    ): "reservations count when replicas are placed",
    ("distributed.scheduler", "Scheduler.handle_long_running"): "waiting tasks need no reservation",
    ("distributed.stealing", "WorkStealing.balance"): "looking up inputs once a task",
    ("distributed.stealing", "WorkStealing._add_to_in_flight"): "reservations of running thefts",
    ("distributed.stealing", "WorkStealing._remove_from_in_flight"): "freeing reservations",
    ("distributed.stealing", "WorkStealing._get_thief"): "only workers where the task fits",
    ("distributed.stealing", "WorkStealing.move_task_confirm"): "moving reservations",
    ("distributed.system_monitor", "SystemMonitor.get_process_memory"): "shared pages count once",
    ("distributed.utils", "LoopRunner._lock"): "clients that are collected while another starts",
    ("distributed.worker", "Worker._handle_remove_worker"): "knowing which workers were cut off",
    ("distributed.worker", "Worker._register_with_scheduler"): "registering with results",
    (
        "distributed.worker",
        "Worker._send_worker_status_change",
    ): "a pause that begins or ends during a registration",
    ("distributed.worker", "Worker._update_latency"): "the time of the last heartbeat",
    ("distributed.worker", "Worker.get_startup_information"): "the data of a registration",
    ("distributed.worker", "Worker.get_call_stack"): "no garbage is collected meanwhile",
    ("distributed.worker", "Worker.trigger_profile"): "no garbage is collected meanwhile",
    ("distributed.worker", "Worker.handle_scheduler"): "reconnecting after a failover",
    ("distributed.worker", "Worker.heartbeat"): "the supervisor of the last heartbeat",
    ("distributed.worker_state_machine", "FreeKeysEvent"): "dropping tasks of a lost supervisor",
    ("distributed.worker", "Worker.__init__"): "MarsWorkerState instead of WorkerState",
    ("distributed.worker", "Worker.get_data"): "results in shared memory",
    ("distributed.worker", "Worker.identity"): "the place of shared memory",
    ("distributed.worker", "Worker._to_dict"): "dumps without it",
    (
        "distributed.worker_memory",
        "WorkerMemoryManager._maybe_pause_or_unpause",
    ): "pausing by the host's memory",
    ("distributed.worker_memory", "WorkerMemoryManager._spill"): "spilling in threads",
    ("distributed.worker_state_machine", "WorkerState._acquire_resources"): "reserving memory",
    (
        "distributed.worker_state_machine",
        "WorkerState._ensure_computing",
    ): "trying ready tasks again",
    ("distributed.worker_state_machine", "WorkerState._execute_done_common"): "counting memory",
    ("distributed.worker_state_machine", "WorkerState._handle_event"): "MemoryFreedEvent",
    ("distributed.worker_state_machine", "WorkerState._next_ready_task"): "admission",
    ("distributed.worker_state_machine", "WorkerState._purge_state"): "freeing shared memory",
    ("distributed.worker_state_machine", "WorkerState._transition_to_memory"): "shared memory",
    ("distributed.worker_state_machine", "WorkerState._release_resources"): "freeing reservations",
}

#: The same for attributes of instances, which the class itself does not have.
PRIVATE_ATTRIBUTES = {
    ("distributed.client", "Client", "_gather_future"): "the requests that a gather joins",
    ("distributed.client", "Client", "_gather_keys"): "the keys of the next gather",
    ("distributed.client", "Client", "_gather_semaphore"): "the number of gathers at a time",
}


def private_uses(source: str) -> set[tuple[str, str]]:
    """Return the private names that a module takes from dask or distributed."""
    uses = set()
    packages = set()
    origins: dict[str, tuple[str, str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            ours = [name for name in names if name.split(".")[0] in ("dask", "distributed")]
            packages |= {name.split(".")[0] for name in ours}
            uses |= {(name, "") for name in ours if "._" in name}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            if module.split(".")[0] not in ("dask", "distributed"):
                continue
            packages |= {alias.asname or alias.name for alias in node.names}
            origins |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}
            uses |= {
                (module, alias.name)
                for alias in node.names
                if "._" in module or alias.name.startswith("_")
            }
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in packages and node.attr[:2] != "__":
                module, name = origins.get(owner.id, ("", ""))
                path = ast.unparse(node.value)
                if module:
                    uses.add((module, f"{path.replace(owner.id, name, 1)}.{node.attr}"))
                else:
                    uses.add((path, node.attr))
    return uses


def test_every_private_use_is_listed():
    """A private name of dask or distributed under scheduler/ stands in the list above."""
    used = {
        (str(path.relative_to(ROOT)), use)
        for path in (ROOT / "scheduler").rglob("*.py")
        for use in private_uses(path.read_text())
    }
    assert {use for _, use in used} <= set(PRIVATE), used
    assert used, "the walk finds nothing at all"


def test_every_hook_is_listed():
    """So does whatever the servers check when they start."""
    assert {(hook.module, hook.name) for hook in (*HOOKS, *WORKER_HOOKS, *NANNY_HOOKS)} < set(
        PRIVATE
    )


def test_the_walk_sees_private_names():
    """Imports and attributes of private names are found, others are not."""
    source = """
import dask._expr
import distributed
from dask import delayed
from dask._task_spec import Task
from distributed.client import _wait
from distributed.scheduler import Scheduler as Stock
Stock._table
distributed.client._get_global_client()
distributed.Client.__doc__
delayed.public
self._private
"""
    assert private_uses(source) == {
        ("dask._expr", ""),
        ("dask._task_spec", "Task"),
        ("distributed.client", "_wait"),
        ("distributed.client", "_get_global_client"),
        ("distributed.scheduler", "Scheduler._table"),
    }


@pytest.mark.parametrize(("module", "name"), PRIVATE)
def test_it_exists(module, name):
    """Each listed name is there in the dask that is installed."""
    found = importlib.import_module(module)
    for part in filter(None, name.split(".")):
        assert hasattr(found, part), f"{part} of {name}"
        found = getattr(found, part)


def attributes_of(module: str, name: str) -> set[str]:
    """Return the attributes that a class assigns to its instances."""
    source = inspect.getsource(getattr(importlib.import_module(module), name))
    return {
        node.attr
        for node in ast.walk(ast.parse(textwrap.dedent(source)))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) == "self"
    }


def test_attributes_of_instances_exist():
    """Each listed attribute is assigned by the class that is installed."""
    for module, name, attribute in PRIVATE_ATTRIBUTES:
        assert attribute in attributes_of(module, name), f"{attribute} of {name}"
    assert "_gather" not in attributes_of("distributed.client", "Client"), "a method"
