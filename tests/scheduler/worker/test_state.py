"""The state machine with admission, without a worker."""

from typing import Any

import numpy as np
from distributed.spill import SpillBuffer
from distributed.worker_state_machine import (
    ComputeTaskEvent,
    Execute,
    ExecuteSuccessEvent,
    FreeKeysEvent,
    GatherDep,
    UpdateDataEvent,
)
from zict import LRU

from marsdask.scheduler.worker.admission import Admission
from marsdask.scheduler.worker.state import MarsWorkerState, MemoryFreedEvent

MIB = 1 << 20
HERE, THERE = "tcp://127.0.0.1:1", "tcp://127.0.0.1:2"


def test_an_input_that_moves_to_disk_meanwhile(tmp_path, monkeypatch):
    """Another thread may do that at any moment; the task waits for memory all the same."""
    data = SpillBuffer(str(tmp_path), 100 * MIB)
    state = MarsWorkerState(address=HERE, data=data)
    state.admission = Admission(4 * MIB)
    asked: list[int] = []
    state.make_room = asked.append
    inputs: dict[Any, Any] = {"x": np.ones(MIB // 8), "other": np.ones(2 * MIB // 8)}
    state.handle_stimulus(UpdateDataEvent(data=inputs, stimulus_id="data"))
    read = LRU.__getitem__

    def gone(self, key):
        if key == "x" and key in self:
            self.evict(key)
        return read(self, key)

    with monkeypatch.context() as patched:
        patched.setattr(LRU, "__getitem__", gone)
        task = ComputeTaskEvent.dummy(
            "y", who_has={"x": [HERE]}, annotations={"mars_mem": 3 * MIB}, stimulus_id="compute"
        )
        assert not state.handle_stimulus(task)
    assert asked
    del data["other"]
    freed = state.handle_stimulus(MemoryFreedEvent(stimulus_id="freed"))
    assert freed == [Execute(key="y", stimulus_id="freed")]


def test_a_result_counts_as_soon_as_its_task_has_ended(tmp_path):
    """Its reservation has ended, and the next task is chosen before the result is stored."""
    data = SpillBuffer(str(tmp_path), 100 * MIB)
    state = MarsWorkerState(address=HERE, data=data)
    state.admission = Admission(5 * MIB)
    asked: list[int] = []
    state.make_room = asked.append
    hint = {"mars_mem": 3 * MIB}
    for number, key in enumerate("xy"):
        task = ComputeTaskEvent.dummy(
            key, annotations=hint, priority=(number,), stimulus_id="compute"
        )
        state.handle_stimulus(task)
    value = np.ones(3 * MIB // 8)
    ended = ExecuteSuccessEvent.dummy("x", value, nbytes=value.nbytes, stimulus_id="ended")
    assert not any(isinstance(order, Execute) for order in state.handle_stimulus(ended))
    assert asked == [MIB]
    data.evict()
    freed = state.handle_stimulus(MemoryFreedEvent(stimulus_id="freed"))
    assert freed == [Execute(key="y", stimulus_id="freed")]


def test_inputs_on_disk_count_when_nothing_is_in_memory(tmp_path):
    """They come back for the task."""
    data = SpillBuffer(str(tmp_path), 100 * MIB)
    state = MarsWorkerState(address=HERE, data=data, nthreads=2)
    state.admission = Admission(5 * MIB)
    state.handle_stimulus(UpdateDataEvent(data={"x": np.ones(2 * MIB // 8)}, stimulus_id="data"))
    data.evict()
    hint = {"mars_mem": 2 * MIB}
    busy = ComputeTaskEvent.dummy("busy", annotations=hint, stimulus_id="busy")
    assert state.handle_stimulus(busy)
    task = ComputeTaskEvent.dummy("y", who_has={"x": [HERE]}, annotations=hint, stimulus_id="y")
    assert not state.handle_stimulus(task)


def test_released_tasks_are_forgotten(monkeypatch):
    """Not only when the last result that was made of them is: a worker would keep a whole job."""
    monkeypatch.setattr("marsdask.scheduler.worker.state._FINISHED", 5)
    state = MarsWorkerState(address=HERE, validate=True)
    for number in range(20):
        task = ComputeTaskEvent.dummy(
            f"x-{number}",
            who_has={f"x-{number - 1}": [HERE]} if number else {},
            stimulus_id="compute",
        )
        state.handle_stimulus(task)
        ended = ExecuteSuccessEvent.dummy(f"x-{number}", 1, stimulus_id="ended")
        state.handle_stimulus(ended)
        state.handle_stimulus(FreeKeysEvent(keys=[f"x-{number - 1}"], stimulus_id="free"))
    assert [*state.tasks] == [f"x-{number}" for number in range(14, 20)]
    state.validate_state()
    again = ComputeTaskEvent.dummy("x-19", who_has={"x-18": [THERE]}, stimulus_id="again")
    state.handle_stimulus(FreeKeysEvent(keys=["x-19"], stimulus_id="free"))
    assert not state.tasks
    (fetch,) = state.handle_stimulus(again)
    assert isinstance(fetch, GatherDep)
    assert {*fetch.to_gather} == {"x-18"}
    state.validate_state()
