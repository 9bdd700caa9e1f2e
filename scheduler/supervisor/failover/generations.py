"""Which results of a returning worker are still those that their names stand for; no IO.

A name can be computed anew while a worker is cut off: its client released it, or another worker
computed it again. The worker cannot know this, so the supervisor decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...base import Key

#: Number of removed workers that the next supervisor is told of.
_REMEMBERED = 1000

#: States of which each one starts a new generation of a result.
_ANEW = frozenset({"processing", "memory", "erred", "forgotten"})


@dataclass(frozen=True)
class WorkerHistory:
    """The supervisor that a worker served last, and the workers that this one had cut off.

    ``lately``: those that it removed when this worker was about to leave it. They were not cut off
    if they had ``left`` it themselves, because another one had taken over.
    """

    supervisor: str = ""
    epoch: int = 0
    removed: frozenset[str] = frozenset()
    lately: frozenset[str] = frozenset()
    left: bool = False

    @classmethod
    def parse(cls, told: Mapping[str, Any]) -> WorkerHistory:
        """Return the history in a registration."""
        return cls(
            told.get("supervisor", ""),
            told.get("epoch", 0),
            frozenset(told.get("removed", ())),
            frozenset(told.get("lately", ())),
            told.get("left", False),
        )


@dataclass
class _Absent:
    """Results of a removed worker whose names stand for the same results since."""

    stimulus: str
    held: set[Key]
    lost: set[Key] = field(default_factory=set)
    """Results that its removal lost: unknown since."""


class Generations:
    """Decides which results a worker may bring to the supervisor ``own``.

    ``known`` returns whether the supervisor knows a key. ``recent`` returns whether it has just
    become active: only then may a worker of another supervisor bring anything.
    """

    def __init__(self, own: str, known: Callable[[Key], bool], recent: Callable[[], bool]) -> None:
        self._own = own
        self._known = known
        self._recent = recent
        self._away: dict[str, None] = {}
        """Removed workers that have not returned, the earliest first. Most have ended."""
        self._absent: dict[str, _Absent] = {}
        """What is left of what they held."""
        self._holders: dict[Key, set[str]] = {}
        """The workers in ``_absent`` by what is left of what they held."""
        self._brought: dict[str, tuple[WorkerHistory, set[Key]]] = {}
        """What workers of earlier supervisors have brought."""
        self._superseded: dict[str, set[Key]] = {}
        """What others of these have brought who may have computed it since."""
        self._adopted: set[Key] = set()
        """Names of brought results that have not been computed since."""
        self._gone: set[Key] = set()
        """Names that were forgotten since the supervisor is active."""
        self._previous = WorkerHistory()
        """The last earlier supervisor, and the workers that it had cut off."""

    @property
    def absent(self) -> list[str]:
        """The removed workers that have not returned."""
        return list(self._away)

    def succeed(self, history: WorkerHistory) -> None:
        """Learn of an earlier supervisor, and of the workers that it had cut off."""
        last = self._previous
        if history.supervisor == last.supervisor:
            removals, lately = last.removed | history.removed, last.lately | history.lately
            self._previous = replace(last, removed=removals, lately=lately)
        elif history.epoch > last.epoch:
            self._previous = history

    def leave(self, worker: str, held: Iterable[Key], stimulus: str) -> None:
        """Record what a worker holds, before its removal."""
        self._forget(worker)
        if keys := set(held):
            self._absent[worker] = _Absent(stimulus, keys)
        for key in keys:
            self._holders.setdefault(key, set()).add(worker)
        self._away[worker] = None
        if len(self._away) > _REMEMBERED:
            earliest = next(iter(self._away))
            del self._away[earliest]
            self._forget(earliest)
        self._brought.pop(worker, None)

    def _forget(self, worker: str) -> _Absent | None:
        """Remove and return the record of what a worker held."""
        absent = self._absent.pop(worker, None)
        if absent is not None:
            for key in absent.held | absent.lost:
                self._holders[key].discard(worker)
                if not self._holders[key]:
                    del self._holders[key]
        return absent

    def transition(self, key: Key, finish: str, stimulus: str) -> None:
        """Record that a name may stand for another result from now on."""
        if finish not in _ANEW:
            return
        for worker in self._holders.pop(key, ()):
            absent = self._absent[worker]
            if finish == "forgotten" and stimulus == absent.stimulus and key in absent.held:
                absent.lost.add(key)
                self._holders.setdefault(key, set()).add(worker)
            else:
                absent.lost.discard(key)
            absent.held.discard(key)
            if not absent.held and not absent.lost:
                del self._absent[worker]
        if self._recent():
            self._adopted.discard(key)
            if finish == "forgotten":
                self._gone.add(key)
        elif self._gone or self._brought:
            self._gone, self._adopted, self._brought = set(), set(), {}

    def returns(
        self, worker: str, history: WorkerHistory, held: Collection[Key], *, early: bool = True
    ) -> set[Key]:
        """Return those of a joining worker's results that count; the others must be dropped.

        ``early``: before it could have served an earlier supervisor beside this one.
        """
        absent = self._forget(worker)
        if worker in self._away:
            del self._away[worker]
            if absent is None:
                return set()
            return {
                key for key in held if key in (absent.held if self._known(key) else absent.lost)
            }
        if history.supervisor == self._own or not self._recent():
            return set()
        if early:
            self.succeed(history)
        if self._outdated(worker, history):
            return set()
        valid = {
            key
            for key in held
            if key not in self._gone and (key in self._adopted or not self._known(key))
        }
        for peer, (record, brought) in self._brought.items():
            if worker in record.lately:
                valid -= brought
            if peer in history.lately and (again := brought & valid):
                self._superseded[peer] = self._superseded.get(peer, set()) | again
        self._brought[worker] = history, valid
        self._adopted |= valid
        return valid

    def outdated(self) -> dict[str, set[Key]]:
        """Return and forget what workers brought that were cut off, as is known only now.

        And what others may have computed after they had left.
        """
        workers = [
            worker
            for worker, (history, _) in self._brought.items()
            if self._outdated(worker, history)
        ]
        late, self._superseded = self._superseded, {}
        for worker in workers:
            late[worker] = self._brought.pop(worker)[1] & self._adopted
        return late

    def _outdated(self, worker: str, history: WorkerHistory) -> bool:
        last = self._previous
        is_removed = worker in last.removed or (worker in last.lately and not history.left)
        return is_removed or history.supervisor != last.supervisor
