"""Scripts of PyTorch find in their environment what ``torch.distributed`` reads."""

from __future__ import annotations

import io

import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.learn.contrib.pytorch import run_pytorch_script

SCRIPT = """
import os
names = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
assert all(os.environ[name] for name in names)
if os.environ["RANK"] == "1":  # once, as imports take most of the test's time
    from marsdask.learn.contrib.pytorch import DistributedSampler
    print(list(DistributedSampler(range(4), shuffle=False)))
else:
    print(x.sum().execute().fetch())
"""


@pytest.fixture(autouse=True)
def _coalesce():
    """Run once: scripts have no chunks to merge."""


def test_processes_know_each_other():
    """And the data, lazily."""
    with marsdask.new_session("threads", n_workers=2):
        done = run_pytorch_script(io.StringIO(SCRIPT), 2, data={"x": mt.ones(3)})
        assert done.fetch() == {"status": "ok"}
        lines = str(done.fetch_log()).splitlines()
    assert sorted(lines) == ["[rank 0] 3.0", "[rank 1] [1, 3]"]


def test_what_is_refused():
    """What the script has to choose, and what is chosen for it."""
    with pytest.raises(NotImplementedError, match="let the script choose"):
        run_pytorch_script("script.py", 1, gpu=True)
    with pytest.raises(NotImplementedError, match="free one"):
        run_pytorch_script("script.py", 1, port=1234)
