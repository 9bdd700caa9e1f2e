"""The time for which a supervisor may be active, by its own clock only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ...cluster.arbiter import elapsed


class Tenure:
    """The right of a supervisor to be active, and its promises not to become active.

    A confirmation is valid for ``lasts`` seconds from the moment in which it was asked for. A
    promise to another supervisor binds for ``patience`` seconds from the moment in which it was
    given, which is later; so it ends later, as long as the clocks' speeds differ by less than the
    two times.
    """

    def __init__(self, lasts: float, patience: float, clock: Callable[[], float] = elapsed) -> None:
        self.lasts = lasts
        self.clock = clock
        self._patience = patience
        self._until = -math.inf
        self._promised_until = -math.inf

    @property
    def left(self) -> float:
        """The seconds that are left, at most 0 if it has ended."""
        return self._until - self.clock()

    @property
    def limited(self) -> bool:
        """Whether it ends without confirmations."""
        return math.isfinite(self.lasts)

    def confirm(self, asked: float) -> None:
        """Continue: the arbiter has said so in answer to a question of this moment."""
        self._until = max(self._until, asked + self.lasts)

    def consent(self, asked: Iterable[float]) -> None:
        """Continue: all others have promised not to become active, when asked in these moments."""
        self.confirm(min(asked, default=-math.inf))

    def end(self) -> None:
        """End it now."""
        self._until = -math.inf

    def promise(self) -> None:
        """Promise not to become active."""
        self._promised_until = self.clock() + self._patience

    @property
    def promised(self) -> bool:
        """Whether a promise binds."""
        return self.clock() < self._promised_until
