"""The choice of the active supervisor from every view of the others."""

from __future__ import annotations

import time

import pytest

from marsdask.scheduler.cluster.leader import SupervisorRole, SupervisorTimeout
from marsdask.scheduler.supervisor.failover.epoch import (
    OtherSupervisor,
    TakeoverAction,
    Vote,
    decide,
    is_lost,
    next_epoch,
)

PATIENCE = 10.0


def one(*, active=False, epoch=0, workers=()):
    """Return a role."""
    return SupervisorRole("id", "tcp://somewhere", active, epoch, ours=True, workers=workers)


def peer(rank, role=None, **state):
    """Return what was seen of a peer; one that stands has been seen."""
    return OtherSupervisor(rank, role, seen=state.pop("seen", role is not None), **state)


ACTIVE, STANDBY = one(active=True, epoch=7), one()
SERVING = one(active=True, epoch=7, workers="a")


@pytest.mark.parametrize(
    ("mine", "rank", "others", "verdict"),
    [
        # Active: nothing but a higher epoch ends it, and of equal ones the first stays.
        (ACTIVE, 0, [peer(1, STANDBY)], TakeoverAction.STAY),
        (ACTIVE, 0, [peer(1, refused=True)], TakeoverAction.STAY),
        (ACTIVE, 0, [peer(1, one(active=True, epoch=6))], TakeoverAction.STAY),
        (ACTIVE, 0, [peer(1, one(active=True, epoch=8))], TakeoverAction.STEP_DOWN),
        (ACTIVE, 0, [peer(1, one(epoch=8))], TakeoverAction.STAY),
        (ACTIVE, 0, [peer(1, ACTIVE)], TakeoverAction.STAY),
        (ACTIVE, 1, [peer(0, ACTIVE)], TakeoverAction.STEP_DOWN),
        # Of two, that with workers stays: the other was isolated when it became active.
        (SERVING, 1, [peer(0, one(active=True, epoch=8))], TakeoverAction.STAY),
        (one(active=True, epoch=8), 0, [peer(1, SERVING)], TakeoverAction.STEP_DOWN),
        (SERVING, 0, [peer(1, one(active=True, epoch=8, workers="b"))], TakeoverAction.STEP_DOWN),
        # Another supervisor is active, at any position in the list.
        (STANDBY, 0, [peer(1, ACTIVE)], TakeoverAction.FOLLOW),
        (STANDBY, 1, [peer(0, ACTIVE)], TakeoverAction.FOLLOW),
        # All start: the first that answers goes ahead.
        (STANDBY, 0, [peer(1, STANDBY), peer(2, refused=True)], TakeoverAction.TAKE_OVER),
        (STANDBY, 1, [peer(0, STANDBY), peer(2, STANDBY)], TakeoverAction.WAIT),
        (STANDBY, 1, [peer(0, refused=True, silent=1), peer(2, STANDBY)], TakeoverAction.WAIT),
        (STANDBY, 1, [peer(0, refused=True, silent=10)], TakeoverAction.TAKE_OVER),
        (STANDBY, 0, [peer(1, silent=1)], TakeoverAction.WAIT),
        (STANDBY, 0, [peer(1, silent=10)], TakeoverAction.TAKE_OVER),
        # The active one is gone: at once where nobody listens, else after a while.
        (STANDBY, 1, [peer(0, refused=True, seen=True)], TakeoverAction.TAKE_OVER),
        (STANDBY, 1, [peer(0, silent=9, seen=True)], TakeoverAction.WAIT),
        (STANDBY, 1, [peer(0, silent=10, seen=True)], TakeoverAction.TAKE_OVER),
        (STANDBY, 2, [peer(0, refused=True, seen=True), peer(1, STANDBY)], TakeoverAction.WAIT),
    ],
)
def test_every_case(mine, rank, others, verdict):
    """The action for each combination of answers and timeouts."""
    assert decide(mine, rank, others, PATIENCE) is verdict


SILENT, SERVED, UNKNOWN, ENDED = Vote


@pytest.mark.parametrize(
    ("votes", "ended", "lost"),
    [
        # Nobody answers: this supervisor is cut off, for all that it knows.
        ([UNKNOWN], False, False),
        ([UNKNOWN, UNKNOWN, ENDED], False, False),
        ([SILENT, UNKNOWN], False, False),
        ([SILENT, SILENT, UNKNOWN], False, True),
        ([SILENT, SERVED, SERVED], False, False),
        ([SILENT, SILENT, SERVED], False, True),
        ([SILENT], False, True),
        ([SILENT, ENDED, ENDED], False, True),
        ([ENDED, ENDED], False, True),
        ([], False, True),
        # Nobody listens at its address.
        ([UNKNOWN, UNKNOWN], True, True),
        ([SILENT, UNKNOWN], True, True),
        ([UNKNOWN, SERVED], True, False),
    ],
)
def test_witnesses(votes, ended, lost):
    """A majority of the workers that may be alive has to say that it is silent."""
    assert is_lost(votes, ended=ended) is lost


def test_epochs_grow():
    """Above all that were seen, and above those of an earlier run of everything."""
    now = time.time_ns() // 10**6
    assert next_epoch([]) > now
    assert next_epoch([now + 10**9, 3]) == now + 10**9 + 1


def test_a_process_that_was_stopped_takes_nobody_for_dead():
    """An hour between two rounds counts as two rounds."""
    silence = SupervisorTimeout(interval=1)
    silence.missed(1)
    silence.missed(3600)
    assert silence.seconds == 3
    silence.answered()
    assert silence.seconds == 0
