"""Questions of a supervisor to the arbiter."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from marsdask.scheduler.supervisor.failover.arbitration import Arbitration

ME = SimpleNamespace(id="me")


class GivenAnswers:
    """An arbiter that answers as a test says."""

    lasts = 60.0

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def _answered(self, *question):
        self.asked.append(question)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer() if callable(self.answer) else self.answer

    def take(self, holder, epoch, *, ended=None):
        return self._answered("take", holder, epoch, ended)

    def renew(self, holder, epoch):
        return self._answered("renew", holder, epoch)

    def release(self, holder):
        return self._answered("release", holder)


def arbitration(answer):
    return Arbitration(ME, GivenAnswers(answer), 90.0)


def test_what_is_granted_begins_a_tenure():
    """In the epoch of the answer; nothing else does."""
    found = arbitration(7)
    assert asyncio.run(found.take(5, ended="other")) == 7
    assert found.arbiter.asked == [("take", "me", 5, "other")]
    assert 0 < found.tenure.left <= 60
    refused = arbitration(None)
    assert asyncio.run(refused.take(5, ended=None)) is None
    assert refused.tenure.left < 0


def test_a_promise_prevents_it():
    """Also one that is given while the arbiter answers."""
    found = arbitration(7)
    found.tenure.promise()
    assert asyncio.run(found.take(5, ended=None)) is None
    assert not found.arbiter.asked
    late = arbitration(None)
    late.arbiter.answer = lambda: late.tenure.promise() or 7
    assert asyncio.run(late.take(5, ended=None)) is None
    assert late.tenure.left < 0


@pytest.mark.parametrize(("answer", "kept"), [(True, True), (False, False), (OSError("x"), True)])
def test_only_renewals_continue_a_tenure(answer, kept):
    """Without an answer the supervisor remains active until its end."""
    found = arbitration(answer)
    assert asyncio.run(found.keeps(5)) == kept
    assert (found.tenure.left > 0) == (answer is True)


def test_no_answer_is_logged_once(caplog):
    """Until there is an answer, or another error."""
    found = arbitration(OSError("away"))
    for _ in range(3):
        assert asyncio.run(found.take(5, ended=None)) is None
    asyncio.run(found.release())
    assert [one.getMessage() for one in caplog.records] == [
        "the arbiter does not answer (OSError('away')); remaining a standby"
    ]
    found.arbiter.answer = None
    asyncio.run(found.take(5, ended=None))
    found.arbiter.answer = OSError("away")
    asyncio.run(found.keeps(5))
    assert len(caplog.records) == 2


def test_one_question_at_a_time():
    """While the last one hangs, no other is asked; whatever its answer is, the next one is."""

    async def main():
        go = threading.Event()

        def late():
            assert go.wait(60)
            raise OSError("late")

        found = arbitration(late)
        found._timeout = 0.01
        for _ in range(3):
            assert await found.keeps(5)
        assert len(found.arbiter.asked) == 1
        go.set()
        await asyncio.wait([found._question])
        found.arbiter.answer, found._timeout = False, 60.0
        assert not await found.keeps(5)

    asyncio.run(main())


def test_an_end_waits_for_the_last_question():
    """Its caller was cancelled; the tenure is released all the same."""

    async def main():
        asked, go = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def slow():
            loop.call_soon_threadsafe(asked.set)
            return go.wait(60)

        found = arbitration(slow)
        poll = asyncio.ensure_future(found.keeps(5))
        await asked.wait()
        poll.cancel()
        loop.call_soon(go.set)
        await found.release()
        assert [one[0] for one in found.arbiter.asked] == ["renew", "release"]

    asyncio.run(main())


def test_without_an_arbiter():
    """There is nothing to ask."""
    found = Arbitration(ME, None, 9.0)
    assert asyncio.run(found.keeps(5))
    assert asyncio.run(found.take(5, ended="other")) is None
    asyncio.run(found.release())
    assert not found.tenure.limited
