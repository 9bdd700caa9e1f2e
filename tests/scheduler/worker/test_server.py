"""The worker itself, in this process."""

import dask.config
import pytest

from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.loop import cluster, run

resource = pytest.importorskip("resource", reason="only Unix limits descriptors")


def test_many_files_may_be_open():
    """Spilled results are mapped, so the limit of files is raised in any case."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 < before[1] <= 1024:
        pytest.skip("no more files may be open here")

    async def main():
        async with cluster(Supervisor, MarsWorker, workers=({},)) as (server, _):
            (worker,) = server.test_workers
            assert worker.shared_results is None
            assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 1024

    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    try:
        with dask.config.set({"marsdask.shared.limit": 0}):
            run(main)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
