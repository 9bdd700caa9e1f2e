"""The choice of the active supervisor: the decision of one of them from its view of the others."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..cluster.leader import SupervisorRole


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


def decide(
    mine: SupervisorRole, rank: int, peers: Sequence[OtherSupervisor], patience: float
) -> TakeoverAction:
    """Return the action of the supervisor at position ``rank``."""
    if mine.active:
        rivals = [
            (peer.role.epoch, -peer.rank)
            for peer in peers
            if peer.role is not None and peer.role.active
        ]
        return (
            TakeoverAction.STEP_DOWN
            if any(r > (mine.epoch, -rank) for r in rivals)
            else TakeoverAction.STAY
        )
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


def next_epoch(seen: Iterable[int]) -> int:
    """Return an epoch (milliseconds) above all known epochs, and above those of earlier runs."""
    return max([time.time_ns() // 10**6, *seen]) + 1
