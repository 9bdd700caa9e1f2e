"""The state machine with admission, without a worker."""

from typing import Any

import numpy as np
from distributed.spill import SpillBuffer
from distributed.worker_state_machine import ComputeTaskEvent, Execute, UpdateDataEvent
from zict import LRU

from marsdask.scheduler.worker.admission import Admission
from marsdask.scheduler.worker.state import MarsWorkerState, MemoryFreedEvent

MIB = 1 << 20
HERE = "tcp://127.0.0.1:1"


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
