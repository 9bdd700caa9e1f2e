"""Schedulers by name."""

from importlib import metadata

import dask
import pytest

from marsdask.scheduler import registry
from marsdask.scheduler.callable import CallableScheduler
from marsdask.scheduler.errors import UnknownScheduler
from marsdask.scheduler.inprocess.inline import InlineScheduler
from marsdask.scheduler.inprocess.threads import ThreadsScheduler


class RegisteredScheduler(InlineScheduler):
    """A scheduler from elsewhere."""

    name = "mine"


@pytest.fixture
def _mine(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    registry.register("mine", RegisteredScheduler)


def test_built_in():
    """The five built-in schedulers are known, and Dask's words for them."""
    assert set(registry.names()) >= {"inline", "threads", "processes", "synchronous", "dask"}
    assert registry.create("sync").name == registry.create("synchronous").name == "synchronous"
    assert registry.create("threading").name == "threads"


def test_options_reach_the_constructor():
    """Options go to the factory, which refuses what it does not know."""
    scheduler = registry.create("threads", nthreads=3)
    assert isinstance(scheduler, ThreadsScheduler)
    assert scheduler.nthreads == 3
    with pytest.raises(TypeError):
        registry.create("inline", wheels=4)


@pytest.mark.usefixtures("_mine")
def test_register():
    """A registered factory is known and created by name."""
    assert "mine" in registry.names()
    assert isinstance(registry.create("mine"), RegisteredScheduler)


def test_entry_point(monkeypatch):
    """An installed entry point is known by name, and imported only when it is wanted."""
    entries = metadata.EntryPoints(
        [
            metadata.EntryPoint("theirs", f"{__name__}:RegisteredScheduler", registry.ENTRY_POINTS),
            metadata.EntryPoint("broken", "no.such.module:Thing", registry.ENTRY_POINTS),
        ]
    )
    monkeypatch.setattr(metadata, "entry_points", entries.select)
    assert set(registry.names()) > {"theirs", "broken"}
    assert registry.create("theirs").name == "mine"
    with pytest.raises(ModuleNotFoundError):
        registry.create("broken")


def test_unknown_name():
    """An unknown name is a ValueError that lists the known and guesses the meant."""
    with pytest.raises(
        UnknownScheduler, match=r"'threds'\. Did you mean 'threads'\? Choose from .*inl"
    ):
        registry.create("threds")
    with pytest.raises(ValueError, match="unknown scheduler: 'qqq'; choose from"):
        registry.resolve("qqq")
    for address in ("127.0.0.1:7005", "host.example:7005/path", "[::1]:7005"):
        with pytest.raises(UnknownScheduler, match="Did you mean 'http://"):
            registry.resolve(address)


def test_resolve():
    """A scheduler is itself, None the default, a callable a Dask get."""
    inline = InlineScheduler()
    assert registry.resolve(inline) is inline
    assert registry.resolve().name == "threads"
    assert registry.resolve("inline").name == "inline"
    assert isinstance(registry.resolve(dask.get), CallableScheduler)


def test_resolve_refuses():
    """What is no scheduler is refused with what is accepted."""
    with pytest.raises(TypeError, match="expected a scheduler"):
        registry.resolve(3)


def test_unknown_options():
    """An option that a scheduler does not take is refused with what it takes."""
    with pytest.raises(
        TypeError, match=r"'threads' got an unexpected option 'nthread'\. Did you mean 'nthre"
    ):
        registry.create("threads", nthread=2)
    with pytest.raises(TypeError, match="unexpected option 'colour'; choose from nthreads, "):
        registry.create("threads", colour=2)
