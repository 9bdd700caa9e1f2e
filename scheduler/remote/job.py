"""The client's end of a job that the supervisor drives."""

from __future__ import annotations

import asyncio
import logging
import pickle
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from ..base import Callback, Done
from ..cluster.leader import retention
from ..errors import NoSupervisor
from ..events import GraphSubmitted, TaskDone
from ..inprocess.single_handle import Submission

logger: Final = logging.getLogger(__name__)

#: Seconds until a request is repeated: initial and maximum value.
_PAUSE, _LONGEST = 0.2, 5.0

if TYPE_CHECKING:
    from .client import SupervisorScheduler


class _Unknown(Exception):
    """The supervisor does not know the job, because it is another one or was restarted."""


class RemoteJob(Submission):
    """A handle of a remote compilation; it polls in the client's event loop."""

    def __init__(self, scheduler: SupervisorScheduler, callbacks: Iterable[Callback]) -> None:
        super().__init__((), callbacks)
        self._scheduler = scheduler
        self._client: Any = scheduler.client
        self.id: str | None = None
        """The supervisor's number of the job."""
        # Counted over all supervisors: the next one does not know the finished tasks.
        self._total = self._done = 0
        self.outcome: Done | None = None
        self.node: str | None = None
        """The name of the node that failed, if any."""

    def start(self, data: bytes, session: str, name: str) -> None:
        """Send the job, and follow its progress."""
        following = self._follow(data, session, name)
        self._client.loop.add_callback(asyncio.ensure_future, following)

    async def _follow(self, data: bytes, session: str, name: str) -> None:
        try:
            while not await self._run(data, session, name):
                logger.warning("resubmitting the job %r", name)
        except BaseException as error:  # noqa: BLE001 - `wait` raises it
            if self._scheduler.forget(self, hold=False):
                self.finish("failed", error)

    async def _run(self, data: bytes, session: str, name: str) -> bool:
        """Run the job on one supervisor; return ``False`` if it must be resubmitted."""
        generation = getattr(self._client, "generation", None)
        self.id = uuid.uuid4().hex
        try:
            arguments: dict[str, Any] = {
                "client": self._client.id,
                "session": session,
                "name": name,
            }
            if self._scheduler.weight != 1:
                arguments["weight"] = self._scheduler.weight
            await self._ask("mars_compile", **arguments, compilation=data)
            if self.state != "running":
                await self._stop()
                return True
            await self._listen()
        except (OSError, _Unknown) as error:
            if generation is None:
                raise
            if not await self._client.resumed(generation):
                raise NoSupervisor(self._client.abandoned) from error
            return False
        return True

    async def _ask(self, question: str, **options: Any) -> Any:
        """Ask about the job; repeat the request if another connection than the client's breaks."""
        generation = getattr(self._client, "generation", None)
        deadline, pause = time.monotonic() + retention(), _PAUSE
        while True:
            try:
                return await getattr(self._client.scheduler, question)(job=self.id, **options)
            except OSError:
                await asyncio.sleep(pause)  # the client may notice its broken connection later
                reconnected = getattr(self._client, "generation", None) != generation
                if reconnected or self._client.status != "running" or time.monotonic() > deadline:
                    raise
                pause = min(2 * pause, _LONGEST)

    async def _news(self, seen: int) -> dict[str, Any]:
        try:
            news: dict[str, Any] = await self._ask("mars_job", seen=seen)
        except KeyError:
            raise _Unknown(self.id) from None
        if news.get("left"):  # the client has reconnected since
            raise _Unknown(self.id)
        return news

    async def _listen(self) -> None:
        count = 0
        reason = None
        while self.state == "running":
            news = await self._news(count)
            if news["tasks"] > self._total:
                self.emit(GraphSubmitted(news["tasks"] - self._total))
                self._total = news["tasks"]
            count = news["tasks_done"]
            for _ in range(count - self._done):
                self.emit(TaskDone(None, 0, 0.0))
            self._done = max(self._done, count)
            if news["reason"] != reason and (reason := news["reason"]) is not None:
                logger.warning("the job waits: %s", reason)
            if "outcome" in news:
                self._ended_there(news)
                return

    def _ended_there(self, news: dict[str, Any]) -> None:
        if news["state"] != "done":
            self._scheduler.claim(self.id, ())  # the supervisor may forget it
        if news["state"] == "cancelled":
            if self._scheduler.forget(self, hold=False):
                self.finish("cancelled")
            return
        if not news["outcome"]:
            raise RuntimeError("the supervisor has forgotten how the job ended: execute it again")
        outcome, error, key, self.node = pickle.loads(news["outcome"])
        if error is not None:
            if self._scheduler.forget(self, hold=False):
                self.finish("failed", error, key)
            return
        self.outcome = outcome
        self._scheduler.claim(self.id, outcome.keys)
        if self._scheduler.forget(self, hold=True):
            # Not earlier: a concurrent cancellation would release them, too.
            self.keys = outcome.keys
            self.finish("done")
        else:
            self._scheduler.release(outcome.keys)

    def cancel(self) -> None:
        """Stop the remote job and keep none of its results."""
        if self._scheduler.forget(self, hold=False):
            self.finish("cancelled")
            if self.id is not None:
                self._client.loop.add_callback(self._stop)

    async def _stop(self) -> None:
        with suppress(OSError):  # a job ends with its client anyway
            outcome = await self._ask("mars_cancel")
            keys = pickle.loads(outcome)[0].keys if outcome else ()  # the job had ended
            self._scheduler.claim(self.id, keys)
            self._scheduler.release(keys)
