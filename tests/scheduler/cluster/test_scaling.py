"""A supervisor that changes the number of its workers, in one event loop."""

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest
from distributed.core import Status

from marsdask.scheduler.cluster import scaling
from marsdask.scheduler.cluster.scaling import CannotScale, Rescaling
from tests.cluster.loop import Gates, pass_gate, run
from tests.scheduler.web.pages import visited


class ScriptedScaler:
    """Ends the last hosts, as a StatefulSet does; its errors are the test's."""

    error: ClassVar[CannotScale | None] = None

    def __init__(self):
        self.calls = []
        self.asked = asyncio.Event()

    async def count(self):
        return self.calls[-1] if self.calls else 3

    async def leaving(self, count, hosts):
        self.asked.set()
        return sorted(hosts)[count:]

    async def scale(self, count):
        if self.error is not None:
            raise self.error
        self.calls.append(count)


@asynccontextmanager
async def scaled(workers=3):
    """Start a supervisor that scales, whose workers run on hosts called pod-0, pod-1, ..."""
    scaler = ScriptedScaler()
    async with visited(workers=({},) * workers, scaler=scaler) as (server, client, visit):
        for number, worker in enumerate(server.test_workers):
            server.nodes.told[worker.address]["k8s_pod_name"] = f"pod-{number}"
        yield server, client, visit, scaler


def test_results_of_leaving_workers_are_moved():
    """What only the workers that end hold is elsewhere before they are told to end."""

    async def main():
        async with scaled() as (server, client, _, scaler):
            addresses = [worker.address for worker in server.test_workers]
            sent = await client.scatter(
                {f"x{i}": i for i in range(6)}, workers=addresses[1:], hash=False
            )
            await server.rescaling.rescale(1)
            assert scaler.calls == [1]
            holders = {ws.address for key in sent for ws in server.tasks[key].who_has}
            assert addresses[0] in holders
            assert all(
                addresses[0] in {ws.address for ws in server.tasks[key].who_has} for key in sent
            )
            assert [server.workers[one].status for one in addresses] == [
                Status.running,
                Status.closing_gracefully,
                Status.closing_gracefully,
            ]
            assert server.rescaling.progress()["state"] == "done"

    run(main)


def test_running_tasks_may_finish():
    """A task of a worker that ends runs once, and its result is moved too."""

    async def main():
        async with scaled(2) as (server, client, _, scaler):
            keeps, ends = (worker.address for worker in server.test_workers)
            gate = Gates.new("leaving")
            result = client.submit(
                pass_gate, "leaving", 1, workers=[ends], allow_other_workers=True
            )
            await gate.started.acquire()
            changing = server.rescaling.start(1)
            await scaler.asked.wait()
            assert not scaler.calls
            gate.go.set()
            await changing
            assert keeps in {ws.address for ws in server.tasks[result.key].who_has}
            assert await result == 1
            assert gate.started.locked()  # it has not started again

    run(main)


def test_a_failed_change_leaves_all_workers():
    """Workers that were to end get tasks again, and the error tells why."""

    async def main():
        async with scaled(2) as (server, client, visit, scaler):
            scaler.error = CannotScale("no permission")
            with pytest.raises(CannotScale, match="no permission"):
                await server.rescaling.rescale(1)
            for worker in server.test_workers:
                assert await client.submit(len, "abc", workers=[worker.address], pure=False) == 3
            assert server.rescaling.progress()["error"] == "no permission"
            _, told = await visit.json("/api/worker?action=scale")
            assert (told["state"], told["count"], told["new_scale"]) == ("failed", 2, 1)

    run(main)


def test_results_without_room_keep_their_workers():
    """Nothing is lost: without another worker for the results, none ends."""

    async def main():
        async with scaled(2) as (server, client, _, scaler):
            sent = await client.scatter({"x": 1})
            with pytest.raises(CannotScale, match="no other worker has room"):
                await server.rescaling.rescale(0)
            assert not scaler.calls
            for worker in server.test_workers:
                assert await client.submit(len, "abc", workers=[worker.address], pure=False) == 3
            assert await client.gather(sent) == {"x": 1}
            del sent

    run(main)


def test_hosts_that_somebody_else_ends():
    """Their results are moved on request; who is no longer named gets tasks again."""

    async def main():
        async with visited(workers=({},) * 3) as (server, client, visit):
            addresses = [worker.address for worker in server.test_workers]
            for number, address in enumerate(addresses):
                server.nodes.told[address]["k8s_pod_name"] = f"pod-{number}"
            sent = await client.scatter({"x": 1, "y": 2}, workers=addresses[1:], hash=False)

            async def vacate(*names):
                path, body = "/api/worker?action=vacate", json.dumps({"hosts": names})
                code, told = await visit.json(path, "PATCH", body=body)
                assert (code, told["state"]) == (200, "moving")
                await server.rescaling._task
                return [server.workers[one].status is Status.running for one in addresses]

            assert await vacate("pod-1", "pod-2", "none") == [True, False, False]
            for key in sent:
                assert addresses[0] in {ws.address for ws in server.tasks[key].who_has}
            await vacate("pod-2")
            assert await client.submit(len, "abc", workers=[addresses[1]], pure=False) == 3
            with pytest.raises(CannotScale, match="no other worker has room"):
                await vacate("pod-0", "pod-1", "pod-2")
            for body in ("", "[]", '{"hosts": "pod-1"}', '{"hosts": [1]}'):
                code, _ = await visit.json("/api/worker?action=vacate", "PATCH", body=body)
                assert code == 400
            with pytest.raises(CannotScale, match="nothing here starts and ends workers"):
                await server.rescaling.rescale(1)

    run(main)


def test_long_tasks_run_elsewhere(monkeypatch):
    """A change does not wait forever for a task: it runs again on another worker."""
    monkeypatch.setattr(scaling, "_PATIENCE", 0.0)

    async def main():
        async with scaled(2) as (server, client, _, scaler):
            gate = Gates.new("long")
            ends = server.test_workers[1].address
            result = client.submit(pass_gate, "long", workers=[ends], allow_other_workers=True)
            await gate.started.acquire()
            await server.rescaling.rescale(1)
            assert scaler.calls == [1]
            gate.go.set()
            assert await result == 0

    run(main)


def test_the_web_port_scales():
    """Mars's request changes the number of workers, at once or with an answer at the end."""

    async def main():
        async with scaled(2) as (server, _, visit, scaler):

            async def patch(body, query=""):
                path = f"/api/worker?action=count{query}"
                return await visit.json(path, "PATCH", body=json.dumps(body))

            code, told = await patch({"new_scale": 5})
            assert (code, told["new_scale"], told["count"]) == (200, 5, 2)
            await asyncio.wait_for(server.rescaling._task, 10)
            code, told = await patch({"new_scale": 4, "min_workers": 2}, "&wait=1&timeout=10")
            assert (code, told["state"], scaler.calls) == (200, "done", [5, 4])
            code, told = await patch({"new_scale": 3}, "&wait=1&timeout=0.05")
            assert (code, told["message"]) == (504, "2 workers after 0.05 s")
            scaler.error = CannotScale("full")
            code, told = await patch({"new_scale": 9}, "&wait=1")
            assert (code, told["message"]) == (409, "full")
            wrong: list[Any] = [{}, [], {"new_scale": "2"}, {"new_scale": -1}, {"new_scale": True}]
            for body in wrong:
                assert (await patch(body))[0] == 400, body
            assert (await patch({"new_scale": 1, "min_workers": 2}))[0] == 400

    run(main)


def test_one_change_at_a_time():
    """A second change begins after the first one."""

    class Slow(ScriptedScaler):
        def __init__(self):
            super().__init__()
            self.begun, self.go = asyncio.Event(), asyncio.Event()

        async def scale(self, count):
            self.calls.append(count)
            self.begun.set()
            await self.go.wait()

    class Server:
        workers: ClassVar[dict[str, object]] = {}

    async def main():
        slow = Slow()
        rescaling = Rescaling(Server(), slow)
        first, second = rescaling.start(3), rescaling.start(4)
        await slow.begun.wait()
        assert slow.calls == [3]
        slow.go.set()
        await asyncio.gather(first, second)
        assert slow.calls == [3, 4]

    run(main)
