"""Bookkeeping of jobs; ``tests/cluster/jobs/test_jobs.py`` runs them."""

from __future__ import annotations

import asyncio
import pickle
from contextlib import suppress

import dask.config
import pytest

from marsdask.scheduler.errors import CompilationTimeout
from marsdask.scheduler.supervisor import jobs as supervised_jobs
from marsdask.scheduler.supervisor.compilation.packing import packed
from marsdask.scheduler.testing import Gate
from marsdask.scheduler.testing.tools import pass_gate
from tests.cluster.loop import run, supervised


def test_a_job_that_is_stopped_before_it_begins():
    """A job of a disconnected client has ended, and its state says so."""

    async def main():
        async with supervised() as (supervisor, client):
            jobs = supervisor.jobs
            number = await jobs.compile(client=client.id, session="", name="", compilation=b"x")
            task = jobs.jobs[number].task
            jobs.remove_client(supervisor, client.id)
            with suppress(asyncio.CancelledError):
                await task
            assert (await jobs.job(job=number))["state"] == "cancelled"
            assert jobs.jobs[number].ended
            assert not jobs.jobs[number].packed

    run(main)


def test_a_client_of_its_own_that_was_cut_off():
    """There is another one for the next job."""

    async def main():
        async with supervised() as (supervisor, _):
            first = await supervisor.jobs._connected()
            assert await supervisor.jobs._connected() is first
            await first.close()
            assert (await supervisor.jobs._connected()).status == "running"

    run(main)


class Hanging:
    """Something whose unpickling waits at a gate."""

    def __init__(self, gate):
        self.address = gate.address

    def __reduce__(self):
        return pass_gate, (self.address, None)


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.close()


async def started(jobs, client, session, value):
    """Start a job, and return what tells how it ends."""
    data = packed(value)
    number = await jobs.compile(client=client.id, session=session, name="", compilation=data)
    return jobs.jobs[number]


async def ended(job):
    """Wait until a job has ended, and return its error."""
    async with job.changed:
        await job.changed.wait_for(lambda: job.ended)
    return job.error


def test_sessions_do_not_wait_for_each_other(gate):
    """A job that takes long to unpickle holds up its own session only, which is in order."""

    async def main():
        async with supervised() as (supervisor, client):
            jobs = supervisor.jobs
            slow = await started(jobs, client, "one", Hanging(gate))
            await asyncio.to_thread(gate.wait_until_reached)
            next_one = await started(jobs, client, "one", 7)
            other = await started(jobs, client, "two", 7)
            assert "'int'" in await ended(other), "it was unpacked, and is no compilation"
            assert not slow.ended
            assert not next_one.ended
            gate.open()
            assert "'NoneType'" in await ended(slow)
            assert "'int'" in await ended(next_one)

    run(main)


def test_a_job_that_hangs(gate):
    """It fails after its time, and the next one of its session goes on."""

    async def main():
        async with supervised() as (supervisor, client):
            jobs = supervisor.jobs
            with dask.config.set({"marsdask.compile.timeout": "50ms"}):
                hanging = await started(jobs, client, "one", Hanging(gate))
                assert "marsdask.compile.timeout" in await ended(hanging)
                _, error, _, _ = pickle.loads(hanging.outcome)
                assert isinstance(error, CompilationTimeout)
                assert error.seconds == 0.05
            assert "'int'" in await ended(await started(jobs, client, "one", 7))

    run(main)


def test_a_timeout_of_the_job_itself():
    """It is the user's error, not ours."""

    async def main():
        async with supervised() as (supervisor, client):
            job = await started(supervisor.jobs, client, "one", Raising())
            assert await ended(job) == "TimeoutError: on purpose"

    run(main)


def test_an_outcome_whose_answer_is_lost(monkeypatch):
    """It is repeated until the client claims the job, however long that takes."""

    async def main():
        async with supervised() as (supervisor, client):
            jobs, timers = supervisor.jobs, []
            job = await started(jobs, client, "one", 7)
            await ended(job)
            loop = asyncio.get_running_loop()
            with monkeypatch.context() as patched:
                patched.setattr(loop, "call_later", lambda *timer: timers.append(timer))
                first = await jobs.job(job=job.id)
            for _, callback, *args in timers:  # as if their time had passed
                if getattr(callback, "__self__", None) is job:
                    callback(*args)
            assert first["outcome"]
            assert await jobs.job(job=job.id) == first
            jobs.claim(client=client.id, job=job.id)
            assert not job.outcome
            jobs.claim(client=client.id, job="unknown")

    run(main)


def test_jobs_whose_clients_know_their_ends(monkeypatch):
    """Only these are forgotten when there are many, and those whose sessions have ended."""
    monkeypatch.setattr(supervised_jobs, "_REMEMBERED", 1)

    async def main():
        async with supervised() as (supervisor, client):
            jobs = supervisor.jobs
            made = []
            for session in ("one", "two", "three"):
                made.append(await started(jobs, client, session, 7))
                await ended(made[-1])
            assert [(await jobs.job(job=one.id))["state"] for one in made] == ["failed"] * 3
            jobs.claim(client=client.id, job=made[1].id)
            made.append(await started(jobs, client, "four", 7))
            assert list(jobs.jobs.values()) == [made[0], *made[2:]]
            await jobs.leave(client=client.id, sessions=["three"])
            made.append(await started(jobs, client, "five", 7))
            assert list(jobs.jobs.values()) == [made[0], *made[3:]]

    run(main)


def test_a_session_that_ends_before_a_job_is_cancelled():
    """The two requests have connections of their own; the client still learns what to release."""

    async def main():
        async with supervised() as (supervisor, client):
            jobs = supervisor.jobs
            job = await started(jobs, client, "one", 7)
            await ended(job)
            job.state = "done"
            await jobs.leave(client=client.id, sessions=["one"])
            assert await jobs.cancel(job=job.id) == job.outcome != b""
            supervisor.remove_client(client.id)
            assert await jobs.cancel(job=job.id) == b""

    run(main)


def raising():
    raise TimeoutError("on purpose")


class Raising:
    """Something that cannot be unpickled."""

    def __reduce__(self):
        return raising, ()
