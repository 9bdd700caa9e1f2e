"""The check of distributed's private parts: what it finds changed, and that nothing is."""

import pickle

import distributed
import pytest

from marsdask.scheduler.cluster.hooks import Hook, check
from marsdask.scheduler.errors import HookChanged
from marsdask.scheduler.supervisor.hooks import HOOKS
from marsdask.scheduler.worker.hooks import NANNY_HOOKS, WORKER_HOOKS


@pytest.mark.parametrize("hook", sorted({*HOOKS, *WORKER_HOOKS, *NANNY_HOOKS}, key=str), ids=str)
def test_the_installed_distributed_has_it(hook):
    """Everything that the servers build on is there."""
    assert hook.problem() is None


def test_what_changed_is_named():
    """One error names all missing and changed functions, with advice."""
    hooks = (
        Hook("distributed.scheduler", "Scheduler.close", ("timeout",)),
        Hook("distributed.scheduler", "Scheduler.decide_everything"),
        Hook("distributed.nothing", "Nothing"),
        Hook("distributed.scheduler", "Scheduler.close", ("speed",)),
    )
    with pytest.raises(HookChanged, match="Supervisor cannot run") as caught:
        check("Supervisor", hooks)
    message = str(caught.value)
    assert distributed.__version__ in message
    assert "distributed.scheduler.Scheduler.decide_everything is missing" in message
    assert "distributed.nothing.Nothing is missing" in message
    assert "Scheduler.close takes (self, timeout, reason), not speed" in message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message
