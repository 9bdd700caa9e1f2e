"""Bookkeeping of jobs; ``tests/cluster/jobs/test_jobs.py`` runs them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

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
