"""The client's end of a job that the supervisor drives."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..base import Callback, Done
from ..events import GraphSubmitted, TaskDone
from ..handle import Submission

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from .client import SupervisorScheduler


class RemoteJob(Submission):
    """A handle of a compilation elsewhere; follows it in the client's own event loop."""

    def __init__(self, scheduler: SupervisorScheduler, callbacks: Iterable[Callback]) -> None:
        super().__init__((), callbacks)
        self._scheduler = scheduler
        self._client: Any = scheduler.client
        self.id: str | None = None
        """The number by which the supervisor knows it."""
        self.outcome: Done | None = None
        self.node: str | None = None
        """The name of the node that failed, if one did."""

    def start(self, data: bytes, session: str, name: str) -> None:
        """Send it, and follow what becomes of it."""
        following = self._follow(data, session, name)
        self._client.loop.add_callback(asyncio.ensure_future, following)

    async def _follow(self, data: bytes, session: str, name: str) -> None:
        try:
            self.id = await self._client.scheduler.mars_compile(
                client=self._client.id, session=session, name=name, compilation=data
            )
            if self.state != "running":
                await self._client.scheduler.mars_cancel(job=self.id)
                return
            await self._listen()
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            if self._scheduler._end(self, hold=False):
                self.finish("failed", error)

    async def _listen(self) -> None:
        total = done = 0
        told = None
        while self.state == "running":
            news = await self._client.scheduler.mars_job(job=self.id, seen=done)
            if news["tasks"] > total:
                self.emit(GraphSubmitted(news["tasks"] - total))
                total = news["tasks"]
            for _ in range(news["tasks_done"] - done):
                self.emit(TaskDone(None, 0, 0.0))
            done = news["tasks_done"]
            if news["reason"] != told and (told := news["reason"]) is not None:
                logger.warning("the job waits, since there are %s", told)
            if "outcome" in news:
                self._ended_there(news)
                return

    def _ended_there(self, news: dict[str, Any]) -> None:
        if news["state"] == "cancelled":
            if self._scheduler._end(self, hold=False):
                self.finish("cancelled")
            return
        outcome, error, key, self.node = pickle.loads(news["outcome"])
        if error is not None:
            if self._scheduler._end(self, hold=False):
                self.finish("failed", error, key)
            return
        self.outcome = outcome
        self.keys = outcome.keys
        self._scheduler.hold(outcome.keys)
        if self._scheduler._end(self, hold=True):
            self.finish("done")
        else:
            self._scheduler.release(outcome.keys)

    def cancel(self) -> None:
        """Stop it there; nothing of it is kept."""
        if self._scheduler._end(self, hold=False):
            self.finish("cancelled")
            if self.id is not None:
                client = self._client
                client.loop.add_callback(lambda: client.scheduler.mars_cancel(job=self.id))
