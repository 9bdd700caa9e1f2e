"""A file that decides which supervisor is active."""

from __future__ import annotations

import json
import os
import socket
import threading
from types import SimpleNamespace

import dask.config
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.cluster.arbiter import FileArbiter, configured
from tests.strategies import draws

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files are locked on Unix only")
PATIENCE = 10.0


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def world(tmp_path):
    """Return a clock, and two supervisors' views of a file."""
    clock, path = Clock(), str(tmp_path / "active")
    return SimpleNamespace(
        clock=clock,
        path=path,
        one=FileArbiter(path, PATIENCE, clock),
        two=FileArbiter(path, PATIENCE, clock),
    )


def test_one_at_a_time(world):
    """Who renews stays; who has not for as long as the patience is followed, in a higher epoch."""
    assert world.one.take("one", 5) == 5
    for _ in range(5):
        assert world.two.take("two", 3) is None
        world.clock.now += PATIENCE - 1
        assert world.one.renew("one", 5)
    assert world.two.take("two", 3) is None
    world.clock.now += PATIENCE
    assert world.two.take("two", 3) == 6
    assert not world.one.renew("one", 5), "it continues too late"
    assert world.two.renew("two", 6)


def test_who_has_ended_is_followed_at_once(world):
    """Also oneself, restarted."""
    assert world.one.take("one", 1) == 1
    assert world.two.take("two", 9, ended="one") == 9
    assert world.two.take("two", 1) == 10


def test_only_who_has_ended_is_followed_at_once(world):
    """Not who has followed it, and is unknown to a third one."""
    assert world.one.take("one", 1) == 1
    assert world.two.take("two", 2, ended="one") == 2
    assert world.one.take("three", 9, ended="one") is None
    assert world.two.renew("two", 2)


def test_who_releases_it_is_followed_at_once(world):
    """But nobody releases it for another."""
    assert world.one.take("one", 1) == 1
    world.two.release("two")
    assert world.two.take("two", 1) is None
    world.one.release("one")
    assert not world.one.renew("one", 1)
    assert world.two.take("two", 1) == 2


def test_a_writer_that_was_killed(world):
    """What it left half written is not read."""
    world.one.take("one", 1)
    new = world.path + f".{socket.gethostname()}-{os.getpid()}.new"
    with open(new, "w") as file:
        file.write('{"holder": "tw')
    assert world.one.renew("one", 1)
    with open(world.path) as file:
        assert json.load(file)["holder"] == "one"
    assert not os.path.exists(new)


def test_threads_of_one_process_exclude_each_other(world, monkeypatch):
    """A question that hung may go on beside the next one."""
    inside, go, second = threading.Event(), threading.Event(), threading.Event()
    read = world.one._read

    def hang():
        (second if inside.is_set() else inside).set()
        assert go.wait(60)
        return read()

    monkeypatch.setattr(world.one, "_read", hang)
    taken = []
    threads = [
        threading.Thread(target=lambda: taken.append(world.one.take("one", 1))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    assert inside.wait(60)
    assert not second.wait(0.2)
    go.set()
    for thread in threads:
        thread.join(60)
    assert sorted(taken) == [1, 2]


@pytest.mark.parametrize("content", ["", '{"holder": "o', "\udcff", "[]", '{"holder": "o"}'])
def test_a_file_that_cannot_be_understood(world, content):
    """It is no answer, which supervisors expect as ``OSError``."""
    with open(world.path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(content)
    for ask in (world.one.take, world.one.renew):
        with pytest.raises(OSError, match="invalid content"):
            ask("one", 1)


def test_it_is_configured(tmp_path):
    """By a path; without one there is no arbiter."""
    assert configured(PATIENCE) is None
    with dask.config.set({"marsdask.failover.arbiter": str(tmp_path / "active")}):
        found = configured(PATIENCE)
    assert isinstance(found, FileArbiter)
    assert found.take("one", 2) == 2


@given(
    steps=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["take", "renew"]), st.integers(0, 12)),
        max_size=20,
    )
)
@draws(25)
def test_epochs_are_never_given_twice(steps, tmp_path_factory):
    """Whatever they do and whenever: epochs grow, and nobody renews what another has taken."""
    clock, path = Clock(), str(tmp_path_factory.mktemp("arbiter") / "active")
    views = {name: FileArbiter(path, PATIENCE, clock) for name in "ab"}
    holder, last = None, -1
    for name, action, passed in steps:
        clock.now += passed
        if action == "renew":
            assert views[name].renew(name, 0) == (holder == name)
        elif (epoch := views[name].take(name, 0)) is not None:
            assert epoch > last
            holder, last = name, epoch
