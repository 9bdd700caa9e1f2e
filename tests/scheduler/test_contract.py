"""Every scheduler passes the contract."""

import dask.threaded
import pytest
from distributed import Client, LocalCluster

from marsdask.scheduler import registry
from marsdask.scheduler.dask import DaskScheduler
from marsdask.scheduler.inprocess.processes import ProcessesScheduler
from marsdask.scheduler.testing import SchedulerContract
from tests.subprocesses import children


class TestInline(SchedulerContract):
    concurrent = False

    def create(self):
        return registry.create("inline")


class TestSynchronous(SchedulerContract):
    concurrent = False

    def create(self):
        return registry.create("synchronous")


class TestThreads(SchedulerContract):
    def create(self):
        return registry.create("threads", nthreads=2)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


class TestDask(SchedulerContract):
    nested = False
    counts_tasks = False
    passes_interrupts = False
    depth = 1_000

    @pytest.fixture(autouse=True)
    def _connect(self, client):
        self.client = client

    def create(self):
        return DaskScheduler(self.client)


class TestProcesses(SchedulerContract):
    nested = False

    @pytest.fixture(scope="class")
    @classmethod
    def scheduler(cls):
        """Share one pair of interpreters, which take time to start, within the class."""
        with ProcessesScheduler(nprocesses=2) as scheduler:
            yield scheduler
        assert not children()

    @pytest.fixture(autouse=True)
    def nothing_left_running(self):
        """Check only at the end of the class, which shares the processes."""

    def create(self):
        return registry.create("processes", nprocesses=1)


class TestCallable(SchedulerContract):
    concurrent = False
    nested = False
    counts_tasks = False
    names_failed = False
    depth = 1_000

    def create(self):
        return registry.resolve(dask.threaded.get)
