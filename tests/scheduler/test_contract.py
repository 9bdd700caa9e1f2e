"""Every scheduler passes the contract."""

from marsdask.scheduler import registry
from marsdask.scheduler.testing import SchedulerContract


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
