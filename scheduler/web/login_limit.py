"""How often an address may show a wrong token."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

#: Number of wrong tokens of one address within some seconds after which others are not compared.
_MOST, _SECONDS = 10, 60.0

#: Maximum number of addresses that are remembered, the latest.
_ADDRESSES: Final = 10_000


class LoginLimit:
    """Counts wrong tokens by address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, deque[float]] = {}

    def failed(self, address: str) -> None:
        """Record a wrong token."""
        times = self._wrong.pop(address, None)
        if times is None:
            times = deque(maxlen=_MOST)
        times.append(self._clock())
        self._wrong[address] = times
        if len(self._wrong) > _ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def wait(self, address: str) -> float:
        """Return the seconds until this address may try again, 0 if it may now."""
        times = self._wrong.get(address)
        if times is None or len(times) < _MOST:
            return 0.0
        return max(0.0, times[0] + _SECONDS - self._clock())
