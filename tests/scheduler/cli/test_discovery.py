"""Finding supervisors without being told."""

import json
import os
import subprocess
import sys

import pytest
from distributed import Security

from marsdask.scheduler.cli import discovery, find_supervisor
from marsdask.scheduler.cli.discovery import announced, from_environment, on_this_host
from marsdask.scheduler.cli.sizes import ConfigError
from tests.cluster.loop import run
from tests.scheduler.web.pages import visited

KUBEDL = {
    "cluster": {"scheduler": ["job-scheduler-0.default.svc:11111"], "webservice": ["w:11111"]},
    "task": {"type": "worker", "index": 0, "resources": {"cpu_procs": 2, "phy_mem": 2147483648}},
}


def test_operators():
    """Either variable, and either word for the role; a job without one is none."""
    assert from_environment({"MARS_CLUSTER_DETAIL": json.dumps(KUBEDL)}) == [
        "job-scheduler-0.default.svc:11111"
    ]
    newer = {"cluster": {"supervisor": ["a:1", "b:2"]}}
    assert from_environment({"MARS_TASK_DETAIL": json.dumps(newer)}) == ["a:1", "b:2"]
    assert from_environment({"MARS_TASK_DETAIL": '{"cluster": {}}'}) == []
    assert from_environment({"DASK_SCHEDULER_ADDRESS": "tcp://c:3"}) == ["tcp://c:3"]
    assert from_environment({}) == []


@pytest.mark.parametrize("text", ["x", "{}", '{"cluster": 1}', "[]"])
def test_bad_variables(text):
    """They are named."""
    with pytest.raises(ConfigError, match="MARS_CLUSTER_DETAIL"):
        from_environment({"MARS_CLUSTER_DETAIL": text})


def test_on_this_host(tmp_path):
    """A running supervisor is found; ended ones and other files are not."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    (tmp_path / f"mars_service_process.{done.pid}").write_text("gone:1")
    (tmp_path / "mars_service_process.x").write_text("no:1")
    folder = str(tmp_path)
    assert on_this_host(folder) == []
    with announced("tcp://here:1", folder):
        assert on_this_host(folder) == ["tcp://here:1"]
        assert (tmp_path / f"mars_service_process.{os.getpid()}").stat().st_mode & 0o77 == 0
    assert on_this_host(folder) == []
    left = [path.name for path in tmp_path.iterdir()]
    assert left == ["mars_service_process.x"], "the next one removes what a killed one left"


def test_nobody_is_made_to_write_elsewhere(tmp_path):
    """A link in the place of the file is replaced, not followed."""
    target = tmp_path / "target"
    (tmp_path / f"mars_service_process.{os.getpid()}").symlink_to(target)
    with announced("tcp://here:1", str(tmp_path)):
        assert on_this_host(str(tmp_path)) == ["tcp://here:1"]
    assert not target.exists()


def test_what_a_killed_one_left_is_not_joined(tmp_path):
    """Not even where another process has its number by now, nor what a link leads to."""
    (tmp_path / f"mars_service_process.{os.getpid()}").write_text("gone:1")
    assert on_this_host(str(tmp_path)) == []
    with announced("tcp://here:1", str(tmp_path)):
        (tmp_path / "mars_service_process.1").symlink_to(
            tmp_path / f"mars_service_process.{os.getpid()}"
        )
        assert on_this_host(str(tmp_path)) == ["tcp://here:1"]


def test_a_folder_that_takes_no_file(tmp_path):
    """A supervisor runs there all the same, and is not found."""
    with announced("tcp://here:1", str(tmp_path / "gone")):
        assert on_this_host(str(tmp_path / "gone")) == []


def test_none_of_several_clusters_is_joined_by_chance(monkeypatch):
    """A single supervisor is found; of several, the error asks for -s."""

    async def main():
        async with visited(workers=()) as (one, _, _), visited(workers=()) as (other, _, _):
            here = [one.address]
            monkeypatch.setattr(discovery, "on_this_host", lambda: here)
            assert await find_supervisor.endpoints([], Security()) == here
            here.append("tcp://127.0.0.1:1")
            assert await find_supervisor.endpoints([], Security()) == here
            assert await find_supervisor.active_supervisor(here, Security()) == one.address
            here.append(other.address)
            with pytest.raises(ConfigError, match=f"{one.address}, {other.address}.*-s"):
                await find_supervisor.endpoints([], Security())
            assert await find_supervisor.endpoints(["named:1"], Security()) == ["named:1"]
            here.clear()
            with pytest.raises(ConfigError, match="-s"):
                await find_supervisor.endpoints([], Security())

    run(main)
