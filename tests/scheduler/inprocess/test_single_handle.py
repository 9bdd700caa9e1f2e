"""The handle of simple schedulers."""

import gc
import weakref
from concurrent.futures import CancelledError

import pytest

from marsdask.scheduler.events import Event, GraphEnded
from marsdask.scheduler.inprocess.single_handle import Submission


def test_ends_once():
    """The first end counts."""
    events: list[Event] = []
    handle = Submission(["a"], [events.append])
    assert handle.finish("done")
    assert not handle.finish("failed", ValueError())
    handle.cancel()
    handle.wait(0)
    assert handle.done()
    assert events == [GraphEnded("done")]


def test_cancelled():
    """A cancelled handle raises CancelledError."""
    handle = Submission(["a"])
    handle.cancel()
    with pytest.raises(CancelledError):
        handle.wait(0)


def test_timeout():
    """A handle that has not ended times out."""
    with pytest.raises(TimeoutError, match="0"):
        Submission(["a"]).wait(0)


def test_no_cycle_holds_the_error():
    """An error that was raised dies with its last reference, without the garbage collector."""

    class RaisedError(Exception):
        pass

    handle = Submission(["a"])
    handle.finish("failed", RaisedError(), "a")
    gc.disable()
    try:
        try:
            handle.wait(0)
        except RaisedError as raised:
            error = weakref.ref(raised)
        del handle
        assert error() is None
    finally:
        gc.enable()
