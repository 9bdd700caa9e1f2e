"""Who of several supervisors is active: what one of them decides by what it sees of the others."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..cluster.leader import Standing


class TakeoverAction(enum.Enum):
    """What a supervisor does after a look at the others."""

    STAY = "go on as the active one"
    FOLLOW = "stand by: another is active"
    WAIT = "stand by: whoever comes first may be alive, or is about to take over"
    TAKE_OVER = "become active, if no worker objects"
    STEP_DOWN = "another is active in a higher epoch"


@dataclass
class Peer:
    """Another supervisor as the last round found it."""

    rank: int
    """Its place in the list: the first that answers takes over."""
    standing: Standing | None = None
    refused: bool = False
    """Whether nobody listens at its address, so that it is certainly not running there."""
    silent: float = 0.0
    """Seconds for which it has not answered."""
    seen: bool = False
    """Whether it has ever answered."""


def decide(mine: Standing, rank: int, peers: Sequence[Peer], patience: float) -> TakeoverAction:
    """Return what the supervisor at place ``rank`` does."""
    if mine.active:
        rivals = [
            (peer.standing.epoch, -peer.rank)
            for peer in peers
            if peer.standing is not None and peer.standing.active
        ]
        return (
            TakeoverAction.STEP_DOWN
            if any(r > (mine.epoch, -rank) for r in rivals)
            else TakeoverAction.STAY
        )
    if any(peer.standing is not None and peer.standing.active for peer in peers):
        return TakeoverAction.FOLLOW
    if any(peer.standing is not None and peer.rank < rank for peer in peers):
        return TakeoverAction.WAIT
    if all(peer.standing is not None or _given_up(peer, rank, patience) for peer in peers):
        return TakeoverAction.TAKE_OVER
    return TakeoverAction.WAIT


def _given_up(peer: Peer, rank: int, patience: float) -> bool:
    """Say whether a peer that does not answer is not waited for.

    Where nobody listens nobody is active, but one that comes first may just be slow to start.
    """
    if peer.refused and (peer.seen or peer.rank > rank):
        return True
    return peer.silent >= patience


def next_epoch(seen: Iterable[int]) -> int:
    """Return an epoch above all that were seen, and above those of earlier runs: milliseconds."""
    return max([time.time_ns() // 10**6, *seen]) + 1
