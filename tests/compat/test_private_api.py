"""Private names of dask and distributed that we use: all of them, and that they exist."""

import ast
import importlib
from pathlib import Path

import pytest

from marsdask.scheduler.supervisor.hooks import HOOKS
from marsdask.scheduler.worker.hooks import NANNY_HOOKS, WORKER_HOOKS

ROOT = Path(__file__).parents[2]

#: (where, name): why nothing public will do.
PRIVATE = {
    ("dask._task_spec", "convert_legacy_graph"): "the one parser of graphs of tuples",
    # Called through `client.scheduler`, so no import shows it.
    ("distributed.recreate_tasks", "ReplayTaskScheduler.get_error_cause"): "which task failed",
    # Overridden or read on the cluster's servers, which refuse to start without them.
    ("distributed.batched", "BatchedSend.abort"): "leaving a supervisor that does not answer",
    ("distributed.client", "Client._close"): "websockets end before the event loop does",
    ("distributed.client", "Client._start"): "the active one of several supervisors",
    ("distributed.client", "Client._reconnect"): "futures that outlive a supervisor",
    ("distributed.client", "Client._ensure_connected"): "and are claimed from the next one",
    ("distributed.client", "Client._gather_remote"): "which is asked once it has them",
    ("distributed.client", "Client._send_to_scheduler"): "graphs that may be sent again",
    ("distributed.client", "Client._send_to_scheduler_safe"): "and when they are",
    ("distributed.comm.tcp", "TLSConnector.connect"): "peers that go away before the handshake",
    ("distributed.comm.tcp", "set_tcp_timeout"): "websockets whose other end is gone",
    ("distributed.comm.ws", "WSSConnector.connect"): "peers that go away before the handshake",
    ("distributed.comm.ws", "WSHandler"): "the door on the web's port",
    ("distributed.core", "Server.__init__"): "whose configuration goes by the name of the class",
    ("distributed.core", "Server.listen"): "addresses that are advertised and not bound",
    ("distributed.diskutils", "WorkSpace.new_work_dir"): "directories swept after a kill",
    ("distributed.nanny", "Nanny.__init__"): "our worker in place of the stock one",
    ("distributed.nanny", "Nanny._on_worker_exit"): "with what a worker process ended",
    ("distributed.nanny", "Nanny.close_gracefully"): "why a worker ends",
    ("distributed.nanny", "Nanny.instantiate"): "a start that is cancelled is ended",
    ("distributed.nanny", "Nanny.kill"): "and one whose nanny closes",
    ("distributed.scheduler", "DEFAULT_EXTENSIONS"): "our stealing in place of the stock one",
    (
        "distributed.scheduler",
        "Scheduler._create_taskstate_from_graph",
    ): "graphs of this process are not pickled, and have an order of their own",
    ("distributed.scheduler", "Scheduler.add_client"): "clients wait for a new one's workers",
    ("distributed.scheduler", "Scheduler.add_keys"): "replicas that workers bring along",
    ("distributed.scheduler", "Scheduler.add_worker"): "a standby takes none",
    ("distributed.scheduler", "Scheduler.update_data"): "results that workers bring along",
    ("distributed.scheduler", "Scheduler.client_desires_keys"): "results go to who asked for them",
    ("distributed.scheduler", "Scheduler.client_releases_keys"): "and are let go",
    ("distributed.scheduler", "Scheduler.identity"): "what a supervisor says of itself",
    ("distributed.scheduler", "Scheduler.remove_worker"): "only what ran is blamed for a death",
    ("distributed.scheduler", "Scheduler.start_unsafe"): "the web's port as another address",
    ("distributed.scheduler", "Scheduler.stimulus_queue_slots_maybe_opened"): "waiting for memory",
    ("distributed.scheduler", "SchedulerState._TRANSITIONS_TABLE"): "where transitions are found",
    ("distributed.scheduler", "SchedulerState._add_to_processing"): "the ledger's promises",
    ("distributed.scheduler", "SchedulerState._exit_processing_common"): "and their ends",
    ("distributed.scheduler", "SchedulerState._transition_queued_processing"): "placement",
    ("distributed.scheduler", "SchedulerState._transition_waiting_processing"): "placement",
    ("distributed.scheduler", "SchedulerState._transition_waiting_queued"): "waiting for memory",
    ("distributed.scheduler", "SchedulerState.decide_worker_non_rootish"): "placement",
    ("distributed.scheduler", "SchedulerState.get_comm_cost"): "bytes of one host are cheap",
    ("distributed.scheduler", "SchedulerState.is_rootish"): "which tasks are sources",
    ("distributed.scheduler", "TaskState._queueable"): "shuffles have their own way of queueing",
    ("distributed.scheduler", "WorkerState._network_occ"): "inputs on their way take memory too",
    ("distributed.spans", "SpansSchedulerExtension.heartbeat"): "spans of an earlier supervisor",
    ("distributed.spans", "SpansSchedulerExtension.observe_tasks"): "spans of what has gone",
    ("distributed.spill", "Slow.__init__"): "several directories, written to by several threads",
    ("distributed.spill", "SpillBuffer._capture_metrics"): "spilling in threads",
    ("distributed.spill", "SpillBuffer._handle_errors"): "spilling in threads",
    ("distributed.spill", "SpillBuffer._slow_uncached"): "several spill directories",
    (
        "distributed.active_memory_manager",
        "ActiveMemoryManagerExtension._run_policies",
    ): "promises count where replicas are placed",
    ("distributed.scheduler", "Scheduler.handle_long_running"): "what waits needs no promise",
    ("distributed.stealing", "WorkStealing.balance"): "inputs are looked up once a task",
    ("distributed.stealing", "WorkStealing._add_to_in_flight"): "promises of thefts under way",
    ("distributed.stealing", "WorkStealing._remove_from_in_flight"): "and their ends",
    ("distributed.stealing", "WorkStealing._get_thief"): "no theft to where it does not fit",
    ("distributed.stealing", "WorkStealing.move_task_confirm"): "promises move with their tasks",
    ("distributed.system_monitor", "SystemMonitor.get_process_memory"): "shared pages count once",
    ("distributed.worker", "Worker._register_with_scheduler"): "workers that bring results along",
    ("distributed.worker", "Worker._update_latency"): "when a supervisor was last heard of",
    ("distributed.worker", "Worker.get_startup_information"): "what a supervisor is told",
    ("distributed.worker", "Worker.handle_scheduler"): "workers that outlive their supervisor",
    ("distributed.worker", "Worker.heartbeat"): "which supervisor was asked",
    ("distributed.worker_state_machine", "FreeKeysEvent"): "tasks of a supervisor that is gone",
    ("distributed.worker", "Worker.__init__"): "our state machine in place of the stock one",
    ("distributed.worker", "Worker.get_data"): "results in shared memory",
    ("distributed.worker", "Worker.identity"): "who can open what is shared",
    ("distributed.worker_memory", "WorkerMemoryManager._maybe_pause_or_unpause"): "with the host",
    ("distributed.worker_memory", "WorkerMemoryManager._spill"): "spilling in threads",
    ("distributed.worker_state_machine", "WorkerState._acquire_resources"): "admission's promises",
    ("distributed.worker_state_machine", "WorkerState._ensure_computing"): "trying again",
    ("distributed.worker_state_machine", "WorkerState._execute_done_common"): "memory is counted",
    ("distributed.worker_state_machine", "WorkerState._handle_event"): "an event of our own",
    ("distributed.worker_state_machine", "WorkerState._next_ready_task"): "admission",
    ("distributed.worker_state_machine", "WorkerState._purge_state"): "memory that is let go of",
    ("distributed.worker_state_machine", "WorkerState._transition_to_memory"): "memory of others",
    ("distributed.worker_state_machine", "WorkerState._release_resources"): "and their ends",
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
