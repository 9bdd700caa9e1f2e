"""``/api/session``: descriptions of sessions and their tasks, and refused requests."""

import asyncio
import threading
from typing import Any

import marsdask
import marsdask.tensor as mt
from marsdask.scheduler.supervisor import waiting_tasks
from marsdask.scheduler.web import sessions
from marsdask.scheduler.web.rest import ApiError
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import Gates, pass_gate, run
from tests.scheduler.web.pages import visited


def fail(block):
    """Raise."""
    raise ZeroDivisionError("on purpose")


def compute(address, expression, session_id):
    """Execute in a session of that name; return the error, if there is one."""
    with marsdask.new_session(address, session_id=session_id, default=False) as session:
        try:
            expression.execute(session=session)
        except ZeroDivisionError as error:
            return error
    return None


async def executed(server, expression, session_id):
    """Execute in a thread, since the cluster's loop is this one's."""
    return await asyncio.to_thread(compute, server.address, expression, session_id)


def test_work_of_dask_clients():
    """It is counted, though it belongs to no session; sessions and ended tasks are not."""

    async def main():
        gate = Gates.new("dask-clients")
        async with visited(workers=({"nthreads": 3},)) as (server, client, visit):
            futures = [client.submit(pass_gate, "dask-clients", n, key=f"t{n}") for n in range(3)]
            for _ in futures:
                await gate.started.acquire()
            assert await visit.json("/api/dask_clients") == (200, {"clients": 1, "tasks": 3})
            gate.go.set()
            await client.gather(futures)
            await executed(server, mt.ones(3), "one")
            assert await visit.json("/api/dask_clients") == (200, {"clients": 1, "tasks": 0})

    run(main)


def test_a_session_and_its_tasks():
    """They are listed, with progress, nodes and how far each is."""

    async def main():
        async with visited() as (server, _, visit):
            assert await visit.json("/api/session") == (200, {"sessions": []})
            await executed(server, mt.ones(100, chunk_size=10).sum(), "one")
            _, told = await visit.json("/api/session")
            (session,) = told["sessions"]
            assert (session["session_id"], session["tasks"]) == ("one", 1)
            base = "/api/session/one"
            assert (await visit(f"{base}?action=check_exist")).body == b"1"
            assert (await visit("/api/session/two?action=check_exist")).body == b"0"
            idle = float((await visit(f"{base}?action=get_last_idle_time")).body)
            assert idle == session["last_idle_time"]
            assert float((await visit(f"{base}/task?action=last_idle_time")).body) == idle
            _, told = await visit.json(f"{base}/task?progress=1")
            (task,) = told["tasks"]
            assert (task["progress"], task["status"], task["error"]) == (1.0, 2, None)
            assert task["start_time"] < task["end_time"]
            assert (await visit.json(f"{base}/task?last=1"))[1] == told
            assert (await visit.json(f"{base}/task?last=0"))[1] == {"tasks": []}
            one = f"{base}/task/{task['task_id']}"
            assert await visit.json(one) == (200, task)
            assert (await visit.json(f"{one}?action=wait&timeout=5"))[1] == task
            assert (await visit(f"{one}?action=progress")).body == b"1.0"
            _, graph = await visit.json(f"{one}/tileable_graph?action=get_tileable_graph_as_json")
            names = {item["tileableName"]: item["tileableId"] for item in graph["tileables"]}
            assert graph["dependencies"][-1]["toTileableId"] == names["sum"]
            _, details = await visit.json(f"{one}/tileable_detail")
            assert set(details) == set(names.values())
            assert {detail["status"] for detail in details.values()} == {2}
            assert sum(detail["subtaskCount"] for detail in details.values()) > 0

    run(main)


def keep(address, kept, told):
    """Execute, and keep the result until told to go."""
    with marsdask.new_session(address, session_id="kept", default=False) as session:
        x = mt.ones(40, chunk_size=20)
        with marsdask.option_context({"coalesce": False}):
            x.execute(session=session)
        kept.set()
        assert told.wait(DEADLINE)


def test_subtasks_of_what_is_kept():
    """They are known while the cluster knows their results."""

    async def main():
        async with visited() as (server, _, visit):
            told, asked = threading.Event(), threading.Event()
            keeping = asyncio.ensure_future(asyncio.to_thread(keep, server.address, asked, told))
            await asyncio.to_thread(asked.wait, DEADLINE)
            try:
                _, tasks = await visit.json("/api/session/kept/task")
                one = f"/api/session/kept/task/{tasks['tasks'][0]['task_id']}"
                _, details = await visit.json(f"{one}/tileable_detail")
                (name,) = details
                _, found = await visit.json(f"{one}/{name}/subtask?with_input_output=true")
                assert len(found) == details[name]["subtaskCount"] == 2
                assert {item["status"] for item in found.values()} == {2}
                assert (await visit.json(f"{one}/other/subtask"))[0] == 404
            finally:
                told.set()
                await keeping

    run(main)


def test_a_failure_is_told():
    """With the words of the error."""

    async def main():
        async with visited() as (server, _, visit):
            error = await executed(server, mt.ones(10).map_chunk(fail, dtype=float), "bad")
            assert error is not None
            _, told = await visit.json("/api/session/bad/task")
            (task,) = told["tasks"]
            assert (task["state"], task["status"]) == ("failed", 2)
            assert task["error"].startswith("ZeroDivisionError: on purpose")
            _, details = await visit.json(
                f"/api/session/bad/task/{task['task_id']}/tileable_detail"
            )
            assert 3 in {detail["status"] for detail in details.values()}

    run(main)


def test_a_task_that_waits_says_why_and_is_cancelled(monkeypatch):
    """Without workers it has a reason; to delete its session cancels it."""
    monkeypatch.setattr(waiting_tasks, "_SOON", 0.0)

    async def main():
        async with visited(workers=()) as (server, _, visit):
            executing = asyncio.ensure_future(
                asyncio.to_thread(cancelled, server.address, mt.ones(10).sum())
            )
            told: list[Any] = []
            while not told:
                told = (await visit.json("/api/session"))[1]["sessions"]
            assert told[0]["running"] == 1
            _, tasks = await visit.json("/api/session/waits/task")
            (task,) = tasks["tasks"]
            assert "mars-worker" in task["reason"]
            one = f"/api/session/waits/task/{task['task_id']}"
            assert await visit.json(f"{one}?action=wait&timeout=0.01") == (200, {})
            for wrong in ("nan", "inf", "-1", "x"):  # the loop's clock would not bear them
                assert (await visit.json(f"{one}?action=wait&timeout={wrong}"))[0] == 400
            await leave(visit, f"{one}?action=wait")
            assert (await visit("/api/session/waits?action=get_last_idle_time")).body == b""
            assert await visit.json("/api/session/waits", "DELETE") == (200, {})
            assert await executing
            _, task = await visit.json(one)
            assert task["state"] == "cancelled"

    run(main)


async def leave(visit, path):
    """After a client disconnects, its waiting request ends."""

    def waiting():
        return [one for one in asyncio.all_tasks() if "_ended" in repr(one.get_coro())]

    _, writer = await asyncio.open_connection(*visit.base.removeprefix("http://").split(":"))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    while not (found := waiting()):
        await visit("/health")
    writer.close()
    await asyncio.wait(found)


def cancelled(address, expression):
    """Execute in a session, and say whether that was cancelled."""
    with marsdask.new_session(address, session_id="waits", default=False) as session:
        future = expression.execute(session=session, wait=False)
        try:
            future.result(DEADLINE)
        except BaseException as error:  # noqa: BLE001 - which one is asserted
            return "ancel" in type(error).__name__
    return False


def test_sessions_are_named_ahead(monkeypatch):
    """As Mars's clients did; the number of kept sessions is limited."""

    async def main():
        async with visited(workers=()) as (server, _, visit):
            answer = await visit("/api/session/new", "PUT")
            assert answer.body.decode() == server.address
            assert (await visit.json("/api/session/new/task"))[1] == {"tasks": []}
            assert (await visit.json("/api/session", "DELETE"))[0] == 200
            assert (await visit.json("/api/session"))[1] == {"sessions": []}
            monkeypatch.setattr(sessions, "_NAMED", 2)
            for name in ("a", "b", "a", "c"):
                await visit(f"/api/session/{name}", "PUT")
            _, told = await visit.json("/api/session")
            assert [one["session_id"] for one in told["sessions"]] == ["b", "c"]

    run(main)


def test_errors_are_json():
    """Each error has its own status and names an alternative."""

    async def main():
        async with visited(workers=()) as (_, _, visit):
            await visit("/api/session/new", "PUT")
            for path, method, code, words in (
                ("/api/session/gone", "GET", 404, "gone"),
                ("/api/session/gone", "DELETE", 404, "gone"),
                ("/api/session/gone/task", "GET", 404, "gone"),
                ("/api/session/new/task/gone", "GET", 404, "gone"),
                ("/api/session/new/task/gone", "DELETE", 404, "gone"),
                ("/api/session/new/task", "POST", 415, "new_session"),
                ("/api/session/new/task", "PATCH", 405, "GET, POST"),
                ("/api/session/new/graph/g/data/t", "GET", 501, "fetch"),
                ("/api/no/such", "GET", 404, "/api/no/such"),
                ("/api/worker", "PATCH", 501, "mars-worker"),
            ):
                found, told = await visit.json(path, method)
                assert (found, set(told)) == (code, {"type", "message", "traceback"}), path
                assert words in told["message"]
            assert (await visit("/api/worker", "DELETE")).headers["Allow"] == "GET, PATCH, HEAD"

    run(main)


def test_an_error_is_one_line_of_a_log():
    """Whatever names visitors ask for."""
    error = ApiError(404, "there is no session a\n404 b")
    assert "\n" not in str(error)
    assert "\n" in error.message


def test_what_older_scripts_ask():
    """The count of workers that KubeDL polls, and graphs for tasks."""

    async def main():
        async with visited() as (server, _, visit):
            assert await visit.json("/api/worker?action=count") == (200, 2)
            _, workers = await visit.json("/api/worker")
            assert {node["status"] for node in workers.values()} == {1}
            _, told = await visit.json("/api")
            assert "python_version" in told
            await executed(server, mt.ones(10).sum(), "old")
            _, graphs = await visit.json("/api/session/old/graph")
            ((graph, state),) = graphs.items()
            assert state == {"state": "succeeded"}
            _, told = await visit.json(f"/api/session/old/graph/{graph}")
            assert told["state"] == "succeeded"

    run(main)
