"""The time for which a supervisor may be active."""

import math
from types import SimpleNamespace

import pytest

from marsdask.scheduler.supervisor.failover.leader_lease import Tenure


class SetTime(SimpleNamespace):
    """A clock that tests set."""

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    """Return a clock."""
    return SetTime(now=100.0)


def test_it_ends_without_confirmation(clock):
    """Each one counts from its question, and an earlier one takes nothing back."""
    tenure = Tenure(6, 9, clock)
    assert tenure.limited
    assert tenure.left < 0
    tenure.confirm(98)
    tenure.confirm(97)
    assert tenure.left == 4
    clock.now = 104
    assert tenure.left == 0
    tenure.confirm(103)
    assert tenure.left == 5
    tenure.end()
    assert tenure.left < 0


def test_all_others_have_to_consent(clock):
    """The earliest question counts, and one who has never consented prevents it."""
    tenure = Tenure(6, 9, clock)
    tenure.consent([99, 98])
    assert tenure.left == 4
    tenure.consent([100, -math.inf])
    tenure.consent([])
    assert tenure.left == 4


def test_a_promise_binds_for_longer(clock):
    """Than the one to whom it was given relies on it."""
    tenure = Tenure(6, 9, clock)
    assert not tenure.promised
    tenure.promise()
    clock.now += 8.9
    assert tenure.promised
    clock.now += 0.1
    assert not tenure.promised


def test_without_an_arbiter_it_has_no_end(clock):
    """Once it is confirmed."""
    tenure = Tenure(math.inf, 9, clock)
    assert not tenure.limited
    assert tenure.left < 0
    tenure.confirm(1)
    clock.now = 1e9
    assert tenure.left == math.inf
