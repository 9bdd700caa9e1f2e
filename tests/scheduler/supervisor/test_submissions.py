"""How a job waits for its graphs; ``tests/cluster/jobs/test_jobs.py`` runs them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from dask.task_spec import Task, TaskRef

from marsdask.scheduler.base import Stage
from marsdask.scheduler.supervisor.submissions import (
    GraphFailed,
    KeyWatcher,
    SubmittedGraphs,
    prepare,
)
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import Gates, pass_gate, run, supervised


class SchedulerOfKeys:
    """Knows the states of tasks, and calls ``forgot`` whenever inputs are forgotten."""

    def __init__(self, *keys):
        self.tasks = {key: SimpleNamespace(key=key, state="processing") for key in keys}
        self.watch = KeyWatcher()
        self.forgot: Any = None

    def join(self, *args):
        return SimpleNamespace(number=1)

    def forget_inputs(self, part, lineage):
        self.forgot(part)

    def finish(self, key):
        self.tasks[key].state = "memory"
        self.watch.transition(key, "processing", "memory")

    def err(self, key):
        vars(self.tasks[key]).update(
            state="erred", exception_blame=None, exception=None, exception_text="on purpose"
        )
        self.watch.transition(key, "processing", "erred")


@pytest.mark.parametrize("last", ["err", "finish"])
def test_news_while_inputs_are_forgotten(last):
    """A job that forgets inputs of one batch still learns how the other one ends."""
    first: list[Any] = [("a", number) for number in range(300)]
    other = ("b", 0)
    scheduler = SchedulerOfKeys(*first, other)
    graphs = SubmittedGraphs(scheduler, scheduler.watch, "job")
    graphs.lineage, graphs._forgets = object(), True  # type: ignore[assignment]
    forgotten: list[Any] = []

    def forgot(part):
        forgotten.extend(part)
        if len(part) == len(forgotten):  # the first part: others follow
            asyncio.get_running_loop().call_soon(getattr(scheduler, last), other)

    async def main():
        graphs._follow(set(first), [*first])
        graphs._follow([other], [other])
        async with asyncio.timeout(DEADLINE):
            waiting = asyncio.ensure_future(graphs.below(1))
            await asyncio.sleep(0)
            for key in first:
                scheduler.finish(key)
            if last == "finish":
                await waiting
            else:
                with pytest.raises(GraphFailed) as raised:
                    await waiting
                assert raised.value.key == other

    scheduler.forgot = forgot
    asyncio.run(main())
    assert set(forgotten) >= set(first)


@pytest.mark.parametrize("defined", [True, False])
def test_a_dropped_result_that_nobody_needs(defined):
    """A later batch is computed already, as after a failover: nobody waits for its inputs."""

    async def main():
        async with supervised({}) as (server, client):
            gate = Gates.new("never")
            computed = await client.scatter({"b": 2})
            graphs = SubmittedGraphs(server, server.jobs._watch, "job")
            first = Task("a", pass_gate, "never")
            later = {"b": Task("b", pass_gate, "never", TaskRef("a"))} if defined else {}
            graphs.send(prepare(Stage({"a": first}, (), {}, later=1, kept=("a",)), 10))
            await gate.started.acquire()
            graphs.send(prepare(Stage(later, ("b",), {}, earlier=1, dropped=("a",)), 10))
            await graphs.below(1)
            assert await client.gather(computed) == {"b": 2}
            await graphs.close()
            gate.go.set()

    run(main)
