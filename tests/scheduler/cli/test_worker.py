"""The arguments and restarts of worker processes."""

import asyncio
import errno
import re
import socket
from argparse import Namespace
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Security
from distributed.comm import CommClosedError

from marsdask.scheduler.cli import discovery, find_supervisor, worker
from marsdask.scheduler.cli.resources import Resources
from marsdask.scheduler.cli.serve import FAILED
from marsdask.scheduler.cli.settings import Settings
from marsdask.scheduler.cli.sizes import ConfigError
from marsdask.scheduler.cli.worker import memory_config, worker_options
from marsdask.scheduler.errors import NoSupervisor
from marsdask.scheduler.worker import binding
from marsdask.scheduler.worker.memory_ledger import MemoryLedger


def settings_of(ports=(7003,), **given):
    """Return the settings of a command."""
    return Settings(
        host="0.0.0.0",
        ports=list(ports),
        advertise="h",
        supervisors=[],
        security=Security(),
        given=Namespace(**{"disable_proc_recover": None, **given}),
    )


def options(ports=(7003,), cores=(0, 1, 2), devices=None, **given):
    """Return the options of two processes that share three cores and 3000 bytes."""
    resources = Resources(3, 2, 3000, 1500, ["/a", "/b"], 4, 1, devices, {})
    settings = settings_of(ports, **given)
    return resources, worker_options(settings, resources, cores and list(cores))


def test_processes_share_what_there_is():
    """Cores and threads are dealt out, memory is divided, directories go round."""
    _, (first, second) = options()
    assert (first["nthreads"], second["nthreads"]) == (2, 1)
    assert (first["cores"], second["cores"]) == ([0], [1, 2])
    assert first["memory_limit"] == second["memory_limit"] == 1500
    assert (first["worker_port"], second["worker_port"]) == (7003, 0)
    assert first["restart_worker"]
    assert "env" not in first


def test_the_names_of_dasks_operator(monkeypatch):
    """It ends pods by the names of their workers: one process has it, several have numbers."""
    assert "name" not in options()[1][0]
    monkeypatch.setenv("DASK_WORKER_NAME", "pod-1")
    assert [one["name"] for one in options()[1]] == ["pod-1-0", "pod-1-1"]
    resources, _ = options()
    alone = replace(resources, processes=1)
    (one,) = worker_options(settings_of(), alone, None)
    assert one["name"] == "pod-1"


def test_ports_devices_and_recovery():
    """Each further port is a further process's; devices are dealt out with their slots."""
    _, (first, second) = options((1, 2), None, ["5", "6", "7"], disable_proc_recover=True)
    assert (first["worker_port"], second["worker_port"]) == (1, 2)
    assert first["env"] == {"CUDA_VISIBLE_DEVICES": "5,7"}
    assert second["resources"] == {"GPU": 1.0}
    assert not first["restart_worker"]
    assert "cores" not in first
    _, (none, _) = options(devices=[])
    assert none["env"] == {"CUDA_VISIBLE_DEVICES": ""}
    assert "resources" not in none


def test_spare_ports(caplog):
    """Unused ports are named in a warning."""
    settings = Settings("h", [1, 2, 3], None, [], Security(), Namespace())
    settings.tell_spare_ports(3)
    assert not caplog.messages
    settings.tell_spare_ports(1)
    assert caplog.messages == ["unused ports: 2, 3; this command starts one process"]
    caplog.clear()
    settings.tell_spare_ports(5)
    assert caplog.messages == ["2 of 5 processes listen on free ports: give as many with -p"]


def test_limits_are_mars_limits():
    """Pausing at 75 %, restarting at 90 %, spilling beyond the cache, which processes divide."""
    resources, _ = options()
    assert list(memory_config(resources).values()) == [0.5, 0.625, 0.75, 0.9, 750]
    uneven = replace(resources, memory=3 << 40, cache=2**40)
    target = memory_config(uneven)["distributed.worker.memory.target"]
    assert abs(target * uneven.memory - uneven.cache) < 2**12, "bytes, and no rounded share"
    resources.config["marsdask.shared.limit"] = 100
    assert memory_config(resources)["marsdask.shared.limit"] == 50


def test_who_has_lost_its_supervisor_joins_what_begins_then(monkeypatch):
    """The new supervisor is joined; those that ran before belong to other clusters."""
    here = ["here:1", "other:2"]
    joined = []

    class JoiningNanny:
        worker_address = "tcp://worker:1"

        def __init__(self, address, *, supervisors):
            joined.append((address, supervisors))

        def __await__(self):
            return iter(())

    async def endpoints(named, security):
        return here[:1]

    async def answer(known, security, patience, *, others):
        return (*others(), *known)[0]

    async def greet():
        return {}

    async def main():
        for found in (["here:1", "other:2"], ["other:2"], ["other:2", "a:3", "b:4"], ["new:5"]):
            here[:] = found
            await service._join([0])

    service: Any = object.__new__(worker.WorkerService)
    service.settings = SimpleNamespace(security=Security(), supervisors=[])
    vars(service).update(resources=None, cores=None, host=None, death_timeout=None)
    vars(service).update(_known=[], _strangers=None, _nannies={})
    monkeypatch.setattr(service, "_greet", greet)
    monkeypatch.setattr(worker, "MarsNanny", JoiningNanny)
    monkeypatch.setattr(worker, "worker_options", lambda *args: [{}])
    monkeypatch.setattr(discovery, "on_this_host", lambda: here)
    monkeypatch.setattr(find_supervisor, "endpoints", endpoints)
    monkeypatch.setattr(find_supervisor, "active_supervisor", answer)
    asyncio.run(main())
    assert [address for address, _ in joined] == ["here:1", "here:1", "here:1", "tcp://new:5"]
    assert joined[-1] == ("tcp://new:5", ["tcp://new:5"])


def test_what_has_started_is_closed_if_the_rest_fails(monkeypatch):
    """Otherwise the next try would start it again."""
    closed = []

    class ClosingNanny:
        def __init__(self, address, **options):
            self.worker_address = "tcp://worker:1"

        def __await__(self):
            return iter(())

        async def close(self):
            closed.append(self)

    async def answer(*args, **options):
        return "tcp://here:1"

    async def greet():
        return {}

    def fail(*lines):
        raise BrokenPipeError

    service: Any = object.__new__(worker.WorkerService)
    service.settings = SimpleNamespace(security=Security(), supervisors=["here:1"])
    vars(service).update(resources=None, cores=None, host=None, death_timeout=None)
    vars(service).update(_known=["here:1"], _strangers=set(), _nannies={}, _greet=greet)
    monkeypatch.setattr(worker, "MarsNanny", ClosingNanny)
    monkeypatch.setattr(worker, "worker_options", lambda *args: [{}, {}])
    monkeypatch.setattr(worker, "report", fail)
    monkeypatch.setattr(find_supervisor, "active_supervisor", answer)
    with pytest.raises(BrokenPipeError):
        asyncio.run(service._join([0, 1]))
    assert len(closed) == 2


def test_a_name_that_is_no_address_here():
    """The command says so in one line, before it looks for a supervisor."""
    service: Any = object.__new__(worker.WorkerService)
    service.settings = Settings("no-such-host.invalid", [0], None, [], Security(), Namespace())
    with pytest.raises(ConfigError, match=r"no-such-host\.invalid .*-H"):
        asyncio.run(service.start())


@pytest.mark.parametrize("reason", worker._LOST)
def test_whoever_has_lost_the_supervisor_looks_for_it_again(reason):
    """This also applies to a process that could not restart without a supervisor."""

    class EndedNanny:
        exitcode = 1
        restart_worker = True
        scheduler_addr = "tcp://here:1"

        def __init__(self, reason):
            self.reason = reason

        async def finished(self):
            pass

    async def join(positions):
        service._nannies |= {one: EndedNanny("scheduler-retire-workers") for one in positions}

    service: Any = object.__new__(worker.WorkerService)
    service.address = "tcp://here:1"
    service._nannies = {0: EndedNanny(reason)}
    service._join = join
    assert asyncio.run(service.finished()) == 0
    assert service._nannies[0].reason != reason


class RunningNanny:
    """A nanny that ends when it is let."""

    scheduler_addr = "tcp://here:1"

    def __init__(self, reason=None):
        self.reason = reason
        self.exitcode = 0
        self.restart_worker = True
        self.ended = asyncio.Event()
        if reason is not None:
            self.ended.set()

    async def finished(self):
        await self.ended.wait()


def losing(*causes):
    """Run a service of three of which the first loses its supervisor, and meets ``causes`` then.

    The others end once it has found one, the last of them as one that lost it too. Return the code
    and the positions that looked for a supervisor.
    """
    looked: list[list[int]] = []
    met = iter(causes)

    async def join(positions):
        looked.append(list(positions))
        for _ in range(3):  # whoever ends has ended
            await asyncio.sleep(0)
        cause = next(met, None)
        if cause is not None:
            raise cause
        service._nannies |= {one: RunningNanny("scheduler-retire-workers") for one in positions}
        service._nannies[1].ended.set()
        service._nannies[2].ended.set()

    async def main():
        service._nannies = {0: RunningNanny(worker._LOST[0]), 1: RunningNanny(), 2: RunningNanny()}
        service._nannies[2].reason = worker._LOST[1]
        return await service.finished()

    service: Any = object.__new__(worker.WorkerService)
    settings = Settings("0.0.0.0", [7003], None, [], Security(), Namespace())
    vars(service).update(address="tcp://next:2", settings=settings, _join=join)
    return asyncio.run(main()), looked


def broken(cause):
    """Return what a nanny raises that cannot start."""
    error = RuntimeError("Nanny failed to start.")
    error.__cause__ = cause
    return error


def unreachable(cause):
    """Return what a nanny raises whose connection fails for as long as is allowed."""
    error = OSError("Timed out trying to connect")
    error.__cause__ = cause
    return broken(error)


#: What those meet whose supervisor goes away while they join it.
GONE = [
    ConnectionResetError("closed"),
    TimeoutError(),
    broken(CommClosedError("closed")),
    unreachable(ConnectionRefusedError(errno.ECONNREFUSED, "refused")),
    unreachable(socket.gaierror(socket.EAI_NONAME, "unknown")),
]

#: What keeps a process from starting here, what is raised in the end, and what is said.
HERE = [
    (ConfigError("too old"), ConfigError, "too old"),
    (broken(OSError(errno.EADDRINUSE, "in use")), ConfigError, r"ports 7003 .*in use.*-p"),
    (broken(OSError(errno.ENOSPC, "full")), RuntimeError, "full"),
    (unreachable(OSError(errno.EMFILE, "too many")), RuntimeError, "too many"),
    (broken(KeyError("other")), RuntimeError, "KeyError.*other"),
]


@pytest.fixture
def pauses(monkeypatch):
    """Return the seconds of all pauses, none of which is made."""
    made: list[float] = []
    sleep = asyncio.sleep

    async def skipped(seconds):
        if seconds:
            made.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", skipped)
    return made


def test_who_has_lost_its_supervisor_does_not_wait_for_others():
    """The others may reconnect, and the ended ones must restart anyway."""
    assert losing() == (0, [[0], [2]])


@pytest.mark.parametrize("cause", [NoSupervisor("nowhere"), *GONE])
def test_it_looks_on_as_long_as_others_run(cause, pauses, caplog):
    """However often there is none, or one that goes away at once: theirs may come back."""
    assert losing(cause, cause) == (0, [[0], [0], [0], [2]])
    assert "cannot start" not in caplog.text


@pytest.mark.parametrize(("cause", "said"), [(cause, said) for cause, _, said in HERE])
def test_what_keeps_one_from_starting_ends_no_other(cause, said, pauses, caplog):
    """The error is logged, and joining is tried again."""
    assert losing(cause, cause) == (0, [[0], [0], [0], [2]])
    assert len(re.findall(f"cannot restart workers: .*{said}", caplog.text)) == 2
    assert "cannot join" not in caplog.text


@pytest.mark.parametrize(("cause", "kind", "said"), HERE)
def test_what_keeps_the_last_from_starting(cause, kind, said, pauses):
    """The command ends with it, as it does when the first ones start."""
    with pytest.raises(kind) as caught:
        losing(None, cause)
    assert kind is RuntimeError or re.search(said, str(caught.value))


@pytest.mark.parametrize("cause", GONE)
def test_the_last_looks_on_where_the_supervisor_goes_away(cause, pauses):
    """As it does before it has found one."""
    assert losing(None, cause, cause) == (0, [[0], [2], [2], [2]])


@pytest.mark.parametrize("cause", [NoSupervisor("nowhere"), GONE[0], HERE[0][0]])
def test_pauses_grow_between_tries(cause, pauses):
    """Waiting takes no CPU time, and the end of a process is noticed in time."""
    losing(*[cause] * 12)
    first, longest = worker._PAUSES
    assert pauses == [min(first * 2**number, longest) for number in range(12)]


def test_which_supervisor_was_lost(pauses, caplog):
    """It is that of the process, whichever was found since, and is said once."""
    losing(GONE[0], GONE[0])
    lost = [text for text in caplog.messages if "lost the supervisor" in text]
    assert lost == ["workers have lost the supervisor at tcp://here:1"] * 2, "one for each process"


def test_all_give_up_together():
    """That is when no supervisor was found for as long as allowed, and none runs any more."""
    assert losing(None, NoSupervisor("nowhere")) == (FAILED, [[0], [2]])


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (OSError(errno.EADDRINUSE, "in use"), (ConfigError, r"ports 7003 .*in use.*-p")),
        (OSError(errno.ENOSPC, "full"), (RuntimeError, "failed to start")),
        (KeyError("other"), (RuntimeError, "failed to start")),
    ],
)
def test_a_taken_port(cause, expected, monkeypatch):
    """The command says which it is and what to change; other failures are what they are."""

    async def join(positions):
        try:
            raise RuntimeError("worker failed to start") from cause
        except RuntimeError as error:
            raise RuntimeError("nanny failed to start") from error

    monkeypatch.setattr(binding, "POOL_VARIABLES", ())
    monkeypatch.setattr(MemoryLedger, "start", lambda *args: None)
    resources, _ = options()
    service: Any = object.__new__(worker.WorkerService)
    given = Namespace(no_bind_cpu=True)
    service.settings = Settings("0.0.0.0", [7003], None, [], Security(), given)
    service.resources, service._join = resources, join
    with pytest.raises(expected[0], match=expected[1]):
        asyncio.run(service.start())


@pytest.mark.parametrize("error", [ValueError("on purpose"), TimeoutError()])
def test_what_keeps_a_worker_from_moving_results(error, monkeypatch, caplog):
    """The error is logged, and the processes end."""

    class FakeSupervisor:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *exc):
            pass

        async def retire_workers(self, **options):
            raise error

    nanny = SimpleNamespace(worker_address="tcp://127.0.0.1:1", scheduler_addr="tcp://127.0.0.1:2")
    service: Any = object.__new__(worker.WorkerService)
    service.settings = SimpleNamespace(security=Security())
    service._nannies = {0: nanny}
    monkeypatch.setattr(worker, "rpc", lambda *args, **options: FakeSupervisor())
    asyncio.run(service._drain())
    assert ("on purpose" if error.args else "timed out") in caplog.text
