"""The arbiter as one supervisor sees it: questions to it, and the tenure that it grants."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from functools import partial
from typing import Any, Final

from ...cluster import daemon_threads
from ...cluster.arbiter import Arbiter
from .leader_lease import Tenure

logger: Final = logging.getLogger(__name__)


class Arbitration:
    """Asks ``arbiter``, if there is one, for the tenure of ``supervisor``."""

    def __init__(self, supervisor: Any, arbiter: Arbiter | None, patience: float) -> None:
        self.arbiter = arbiter
        self.tenure = Tenure(math.inf if arbiter is None else arbiter.lasts, patience)
        self._supervisor = supervisor
        self._timeout = min(patience, self.tenure.lasts / 3)
        self._told: str | None = None
        """The last error instead of an answer."""
        self._question: asyncio.Task[Any] | None = None
        """The last one. While it is without an answer, no other is asked."""

    async def take(self, epoch: int, *, ended: str | None) -> int | None:
        """Take the tenure; return its epoch, ``None`` if it is not free, or nobody answers."""
        if self.arbiter is None or self.tenure.promised:
            return None
        moment = self.tenure.clock()
        try:
            granted: int | None = await self._ask("take", epoch, ended=ended)
        except OSError as error:
            if self._is_new(error):
                logger.warning("the arbiter does not answer (%r); remaining a standby", error)
            return None
        # A promise that was given meanwhile binds. Who has it learns that the tenure has gone.
        if granted is None or self.tenure.promised:
            return None
        self.tenure.confirm(moment)
        return granted

    async def keeps(self, epoch: int) -> bool:
        """Renew the tenure; return whether nobody else has it, also if nobody answers."""
        if self.arbiter is None:
            return True
        moment = self.tenure.clock()
        try:
            renewed: bool = await self._ask("renew", epoch)
        except OSError as error:
            if self._is_new(error):
                logger.warning("the arbiter does not answer (%r); remaining active", error)
            return True
        if renewed:
            self.tenure.confirm(moment)
        return renewed

    async def release(self) -> None:
        """End the tenure, so that the next supervisor need not wait."""
        if self.arbiter is not None:
            with contextlib.suppress(OSError):
                await self._ask("release")

    async def _ask(self, method: str, *args: Any, **options: Any) -> Any:
        question = partial(getattr(self.arbiter, method), self._supervisor.id, *args, **options)
        async with asyncio.timeout(self._timeout):
            while self._question is not None and not self._question.done():
                await asyncio.wait([self._question])
            task = asyncio.ensure_future(daemon_threads.call(question, name="marsdask-arbiter"))
            self._question = task
            task.add_done_callback(_retrieve)
            answer = await asyncio.shield(task)
        self._told = None
        return answer

    def _is_new(self, error: OSError) -> bool:
        """Return whether an error has not been logged, for it repeats with each poll."""
        before, self._told = self._told, repr(error)
        return before != self._told


def _retrieve(asked: asyncio.Task[Any]) -> None:
    """Mark the exception of a late answer as retrieved."""
    if not asked.cancelled():
        asked.exception()
