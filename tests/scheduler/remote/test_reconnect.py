"""A client that goes on with another supervisor."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import dask.config
import pytest
from distributed import CancelledError, Client, Future, Variable, fire_and_forget

from marsdask.scheduler.cluster.leader import find_leader, query_role
from marsdask.scheduler.errors import ResultLost
from marsdask.scheduler.remote import reconnect as resuming
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.worker import MarsWorker
from tests.cluster.commands import DEADLINE, free_port
from tests.cluster.loop import (
    HOST,
    Gates,
    pass_gate,
    reconnecting,
    run,
    side_by_side,
    supervised,
    until,
)


def test_a_supervisor_that_stops_while_it_lets_a_client_in(monkeypatch):
    """It is not waited for for ever, and the connection that was begun is not used."""
    monkeypatch.setattr(resuming, "_WELCOME", 0.5)

    async def main():
        async with (
            supervised() as (supervisor, _),
            reconnecting(supervisor) as client,
        ):
            comms = [client.scheduler_comm]
            resume = client._resume

            async def silent_at_first():
                comms.append(client.scheduler_comm)
                if len(comms) == 2:
                    monkeypatch.setattr(resuming, "_WELCOME", DEADLINE)
                    await asyncio.Event().wait()
                await resume()

            monkeypatch.setattr(client, "_resume", silent_at_first)
            client.scheduler_comm.abort()
            assert await client.resumed(0)
            assert len(set(map(id, comms))) == 3
            assert comms[1].comm.closed()
            assert client.status == "running"

    run(main)


def test_a_supervisor_that_has_come_to_stand_by_is_left(monkeypatch):
    """It was active when it was found; the client looks again for the one that is now."""

    async def main():
        active, standby = side_by_side()
        async with active, standby:
            addresses = iter([standby.address])

            async def late(candidates, connection_args):
                found = await find_leader(candidates, connection_args)
                assert found is not None
                return dataclasses.replace(found, address=next(addresses, found.address))

            async with reconnecting(active) as client:
                monkeypatch.setattr(resuming, "find_leader", late)
                client.scheduler_comm.abort()
                assert await client.resumed(0)
                assert client.scheduler.address == active.address
                assert next(addresses, None) is None, "it has asked the other one"

    with dask.config.set({"marsdask.failover.timeout": "1s"}):
        run(main)


def test_results_that_arrive_after_the_client(monkeypatch):
    """A supervisor that is started anew is asked for none before its workers have brought them."""
    port = free_port()
    fetch = Client._gather_remote

    async def fetched(self, direct, local_worker):
        assert not self._away
        return await fetch(self, direct, local_worker)

    monkeypatch.setattr(Client, "_gather_remote", fetched)

    async def main():
        options: Any = {"host": HOST, "port": port, "dashboard_address": f"{HOST}:0"}
        first = await Supervisor(**options)
        worker = MarsWorker(first.address, host=HOST, nthreads=1, supervisors=[first.address])
        client = reconnecting(first)
        gone, asked = asyncio.Event(), asyncio.Event()
        async with worker, client:
            one, other = await client.scatter([1, 2])
            find, reconnect = worker._find, client._reconnect

            async def last():
                await asked.wait()
                return await find()

            async def noticed():
                gone.set()
                await reconnect()

            monkeypatch.setattr(worker, "_find", last)
            monkeypatch.setattr(client, "_reconnect", noticed)
            await first.close()
            await gone.wait()
            # Where a host ended without a word, the next one is asked before that is known.
            other._state.reset()
            client._send_to_scheduler({"op": "report-key", "key": other.key})
            gathered = asyncio.gather(client.gather([one]), client.gather([other]))
            async with Supervisor(**options) as second:
                who_has = second.handlers["who_has"]

                def heard(keys):
                    asked.set()
                    return who_has(keys)

                second.handlers["who_has"] = heard
                assert list(await gathered) == [[1], [2]]
                second.unclaimed_results._drop()
                assert await client.gather([one, other]) == [1, 2], "they are the client's again"
                assert client.generation == 1

    run(main)


def test_a_fetch_that_is_cancelled_while_there_is_no_supervisor(monkeypatch):
    """Later ones do not join it: they would never get their values."""

    async def main():
        async with (
            supervised({}) as (supervisor, _),
            reconnecting(supervisor) as client,
        ):
            one = await client.scatter(1)
            asked = asyncio.Event()

            async def resumed(generation):
                asked.set()
                await asyncio.Event().wait()

            monkeypatch.setattr(client, "resumed", resumed)
            client._away = True
            fetch = asyncio.ensure_future(client.gather([one]))
            await asked.wait()
            fetch.cancel()
            await asyncio.wait([fetch])
            assert fetch.cancelled()
            client._away = False
            assert await client.gather([one]) == [1]

    run(main)


async def first_waits(number):
    """Return a number; the first one waits at a gate."""
    if number == 0:
        await Gates.named["resent"]()
    return number


def test_released_results_of_an_unfinished_graph(monkeypatch):
    """The graph is sent again, as others may need them; they are not held."""

    async def main():
        gate = Gates.new("resent")
        async with (
            supervised({"nthreads": 2}) as (supervisor, _),
            reconnecting(supervisor) as client,
        ):
            waits, *others = client.map(first_waits, range(6))
            assert await client.gather(others) == [1, 2, 3, 4, 5]
            resume, identity = client._resume, supervisor.handlers["identity"]

            def released(**options):
                supervisor.handlers["identity"] = identity
                others.pop()
                return identity(**options)

            async def resumed():
                supervisor.handlers["identity"] = released  # while the client looks
                await resume()

            monkeypatch.setattr(client, "_resume", resumed)
            gone = {one.key for one in others[2:4]}
            del others[2:4]
            await until(lambda: not gone & supervisor.tasks.keys(), supervisor)
            client.scheduler_comm.abort()
            assert await client.resumed(0)
            gate.go.set()
            assert await client.gather([waits, *others]) == [0, 1, 2]
            wanted = {ts.key for ts in supervisor.clients[client.id].wants_what}
            assert wanted == {waits.key, *(one.key for one in others)}

    run(main)


def test_a_pending_result_of_another_clients_graph():
    """It is requested again; one that nobody computes any more is cancelled."""

    async def main():
        gate = Gates.new("others")
        async with (
            supervised({}) as (supervisor, other),
            reconnecting(supervisor) as client,
        ):
            result = other.submit(pass_gate, "others", pure=False)
            await gate.started.acquire()
            await Variable("result", client=other).set(result)
            shared = await Variable("result", client=client).get()
            unknown: Any = Future("unknown", client)
            client.scheduler_comm.abort()
            assert await client.resumed(0)
            await unknown._state.wait(DEADLINE)
            assert unknown.cancelled()
            gate.go.set()
            assert await shared == 0

    with pytest.warns(UserWarning, match="'unknown' but key is unknown"):
        run(main)


def noting(send, sent):
    """Return a ``send`` that notes operations and keys, too."""

    def noted(*messages):
        sent.extend((one["op"], *one.get("keys", ())) for one in messages)
        send(*messages)

    return noted


def test_what_is_submitted_while_the_client_resumes(monkeypatch):
    """It follows the graphs that it needs, once and in its order, though the first try fails."""

    async def main():
        gate = Gates.new("resent")
        async with (
            supervised({}) as (supervisor, _),
            reconnecting(supervisor) as client,
        ):
            first = client.submit(first_waits, 0, key="first")
            await gate.started.acquire()
            arrived, resume = client._arrived, client._resume
            sent: list[Any] = []
            made: list[Any] = []

            async def away():
                if not made:
                    made.append(client.submit(int, first, key="away"))
                await arrived()

            async def broken_at_first():
                if len(made) == 1:
                    made.append(client.submit(int, made[0], key="later"))
                    client.submit(int, 7, key="again").release()
                    await client.scheduler.identity()
                    made.append(client.submit(int, 7, key="again"))
                    await client.scheduler.identity()
                    raise OSError("the connection breaks once more")

                client.scheduler_comm.send = noting(client.scheduler_comm.send, sent)
                await resume()

            monkeypatch.setattr(client, "_arrived", away)
            monkeypatch.setattr(client, "_resume", broken_at_first)
            client.scheduler_comm.abort()
            assert await client.resumed(0)
            gate.go.set()
            assert await client.gather([first, *made]) == [0, 0, 0, 7]
            graph, release = "update-graph", "client-releases-keys"
            steps = [(graph, "first"), (graph, "away"), (graph, "later"), (graph, "again")]
            assert sent[:6] == [*steps, (release, "again"), steps[-1]]
            assert graph not in {op for op, *_ in sent[6:]}
            assert not client._deferred

    run(main)


@pytest.mark.parametrize("broken", [False, True])
def test_a_client_that_closes_while_it_resumes(monkeypatch, broken):
    """Its last messages precede its leave, unless the connection is broken; it keeps none."""

    async def main():
        gate = Gates.new("last")
        async with supervised({}) as (supervisor, _):
            client = await reconnecting(supervisor)
            began = asyncio.Event()

            async def endless():
                began.set()
                await asyncio.Event().wait()

            monkeypatch.setattr(client, "_resume", endless)
            client.scheduler_comm.abort()
            await began.wait()
            fire_and_forget(client.submit(pass_gate, "last", pure=False))
            await client.scheduler.identity()
            assert client._deferred
            if broken:
                client.scheduler_comm.abort()
            await client._close(fast=True)
            assert not client._deferred
            if not broken:
                await gate.started.acquire()
                gate.go.set()

    run(main)


def test_a_client_that_cannot_resume(monkeypatch):
    """Whatever the cause, it closes, and no future of its waits for ever."""

    async def main():
        gate = Gates.new("given up")
        async with supervised({}) as (supervisor, _):
            client = await reconnecting(supervisor)
            future = client.submit(pass_gate, "given up", pure=False)
            await gate.started.acquire()

            async def broken():
                raise KeyError("unforeseen")

            monkeypatch.setattr(client, "_resume", broken)
            client.scheduler_comm.abort()
            await asyncio.wait([client._handle_report_task])
            assert client.status == "closed"
            with pytest.raises((ResultLost, CancelledError)):
                await future

    run(main)


def test_a_new_client_during_a_takeover(monkeypatch):
    """A standby that names the lost supervisor is polled until it takes over."""

    async def main():
        gone, heir = side_by_side()
        missed = asyncio.Event()

        async def watched(address, connection_args):
            try:
                return await query_role(address, connection_args)
            except OSError:
                missed.set()
                raise

        async def slow_check():
            await missed.wait()
            return True

        monkeypatch.setattr(heir.failover, "_is_lost", slow_check)
        async with heir:
            async with gone:
                assert await heir.failover.elsewhere() == gone.address
            monkeypatch.setattr(resuming, "query_role", watched)
            async with reconnecting(heir) as client:
                assert missed.is_set()
                assert client.scheduler.address == heir.address

    with dask.config.set({"marsdask.failover.timeout": "5s"}):
        run(main)


def test_websockets_to_a_lost_supervisor():
    """They end at once: it confirms no closing handshake, and the event loop may end before."""

    async def main():
        async with (
            Supervisor(host=HOST, port=0, web=(HOST, 0)) as supervisor,
            resuming.ReconnectingClient(
                f"ws://{supervisor.web_address}", asynchronous=True, set_as_default=False
            ) as client,
        ):
            await client.scheduler.identity()
            comms = client._pooled(client.scheduler.address)
            client._disconnect(client.scheduler.address)
            assert comms
            assert all(comm.sock.stream.closed() for comm in comms)

    run(main)
