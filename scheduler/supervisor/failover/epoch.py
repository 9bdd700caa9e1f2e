"""The choice of the active supervisor: the decision of one of them from its view of the others."""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...cluster.leader import SupervisorRole

#: No epoch is as high: it is about the time in milliseconds.
_MOST: Final = 2**53


class TakeoverAction(enum.Enum):
    """The action of a supervisor after a poll of the others."""

    STAY = "stay active"
    FOLLOW = "be a standby: another is active"
    WAIT = "be a standby: one with precedence may be alive or about to take over"
    TAKE_OVER = "become active, if no worker objects"
    STEP_DOWN = "another is active in a higher epoch"


@dataclass
class OtherSupervisor:
    """Another supervisor in the last poll."""

    rank: int
    """Its position in the list: the first one that answers takes over."""
    role: SupervisorRole | None = None
    refused: bool = False
    """Whether nothing listens at its address, so that it is certainly not running there."""
    silent: float = 0.0
    """Seconds without an answer."""
    seen: bool = False
    """Whether it has ever answered."""
    consented: float = -math.inf
    """When it was asked for its last promise not to become active."""


def decide(
    mine: SupervisorRole, rank: int, peers: Sequence[OtherSupervisor], patience: float
) -> TakeoverAction:
    """Return the action of the supervisor at position ``rank``.

    Of two active ones, that with workers stays: the other was isolated when it became active.
    """
    if mine.active:
        own = bool(mine.workers), mine.epoch, -rank
        rivals = [
            (bool(peer.role.workers), peer.role.epoch, -peer.rank)
            for peer in peers
            if peer.role is not None and peer.role.active
        ]
        lower = any(rival > own for rival in rivals)
        return TakeoverAction.STEP_DOWN if lower else TakeoverAction.STAY
    if any(peer.role is not None and peer.role.active for peer in peers):
        return TakeoverAction.FOLLOW
    if any(peer.role is not None and peer.rank < rank for peer in peers):
        return TakeoverAction.WAIT
    if all(peer.role is not None or _given_up(peer, rank, patience) for peer in peers):
        return TakeoverAction.TAKE_OVER
    return TakeoverAction.WAIT


def _given_up(peer: OtherSupervisor, rank: int, patience: float) -> bool:
    """Return whether to stop waiting for a peer that does not answer.

    Nothing listens at the address of a dead one, but the first in the list may just be slow to
    start.
    """
    if peer.refused and (peer.seen or peer.rank > rank):
        return True
    return peer.silent >= patience


class Vote(enum.Enum):
    """The answer of a worker to the question whether the active supervisor still serves it."""

    SILENT = "it has not heard from it"
    SERVED = "it hears from it"
    UNKNOWN = "no answer"
    ENDED = "nothing listens at the worker's address"


def is_lost(votes: Collection[Vote], *, ended: bool) -> bool:
    """Return whether the active supervisor is lost, by the votes of its last known workers.

    ``ended``: another process, or none, is at its address. Otherwise it may be this supervisor that
    is cut off, so a majority of the workers that may be alive must say that it is silent.
    """
    if ended:
        return Vote.SERVED not in votes
    alive = [vote for vote in votes if vote is not Vote.ENDED]
    return 2 * alive.count(Vote.SILENT) > len(alive) or not alive


def next_epoch(seen: Iterable[int]) -> int:
    """Return an epoch (milliseconds) above all known epochs, and above those of earlier runs."""
    return max([time.time_ns() // 10**6, *seen]) + 1


def checked(epoch: int) -> int:
    """Return an epoch that somebody else sent; raise ``ValueError`` for an impossible one.

    Supervisors go on from the highest one that they know, so it could not be sent any more.
    """
    if not 0 <= epoch < _MOST:
        raise ValueError(f"invalid epoch: {epoch}")
    return epoch
