"""Bad input: errors of the type that NumPy raises, at the call, and sessions that stay usable."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.errors import NotExecutedError, OptionError, SessionClosed, SpillFull
from marsdask.scheduler.errors import UnknownScheduler
from tests.source import ROOT

#: Calls that NumPy refuses; each is given the module and an array of 3 x 4 numbers.
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "negative shape": lambda xp, a: xp.ones((-1, 3)),
    "shape of floats": lambda xp, a: xp.ones(2.5),
    "dtype": lambda xp, a: xp.ones(3, dtype="nonsense"),
    "astype dtype": lambda xp, a: a.astype("nonsense"),
    "astype casting": lambda xp, a: a.astype("i4", casting="safe"),
    "sum dtype": lambda xp, a: a.sum(dtype="nonsense"),
    "shapes of operands": lambda xp, a: a + xp.ones((5,)),
    "shapes of where": lambda xp, a: xp.where(a > 0, xp.ones(5), a),
    "operand missing": lambda xp, a: xp.add(a),
    "keyword of a ufunc": lambda xp, a: xp.add(a, a, nonsense=1),
    "keyword of a reduction": lambda xp, a: xp.sum(a, nonsense=1),
    "out shape": lambda xp, a: xp.add(a, a, out=xp.ones((2, 2))),
    "out of no array": lambda xp, a: xp.add(a, a, out=3),
    "float bits": lambda xp, a: a & a,
    "invert floats": lambda xp, a: ~a,
    "log of text": lambda xp, a: xp.log(xp.array(["a", "b"])),
    "mean of text": lambda xp, a: xp.mean(xp.array(["a", "b"])),
    "sum of dates": lambda xp, a: xp.array(["2020"], dtype="M8[Y]").sum(),
    "matmul shapes": lambda xp, a: a @ a,
    "matmul of a number": lambda xp, a: xp.matmul(a, 2.0),
    "dot shapes": lambda xp, a: xp.dot(a, a),
    "inner shapes": lambda xp, a: xp.inner(a, xp.ones((3, 3))),
    "tensordot shapes": lambda xp, a: xp.tensordot(a, a, axes=1),
    "tensordot axes": lambda xp, a: xp.tensordot(a, a, axes=([5], [0])),
    "einsum shapes": lambda xp, a: xp.einsum("ij,jk->ik", a, a),
    "einsum output": lambda xp, a: xp.einsum("ij->k", a),
    "einsum operands": lambda xp, a: xp.einsum("ij,jk", a),
    "einsum axes": lambda xp, a: xp.einsum("ijk->i", a),
    "einsum letters": lambda xp, a: xp.einsum("i$->i", a),
    "sum axis": lambda xp, a: a.sum(axis=2),
    "sum axis twice": lambda xp, a: a.sum(axis=(0, 0)),
    "sum float axis": lambda xp, a: a.sum(axis=1.0),
    "cumsum axis": lambda xp, a: xp.cumsum(a, axis=5),
    "argmax axis": lambda xp, a: xp.argmax(a, axis=5),
    "max of nothing": lambda xp, a: xp.ones((0,)).max(),
    "argmax of nothing": lambda xp, a: xp.argmax(xp.ones((0,))),
    "sort axis": lambda xp, a: xp.sort(a, axis=2),
    "sort kind": lambda xp, a: xp.sort(a, kind="nonsense"),
    "argsort axis": lambda xp, a: xp.argsort(a, axis=-3),
    "partition kth": lambda xp, a: xp.partition(a, 99, axis=1),
    "percentile 101": lambda xp, a: xp.percentile(a, 101),
    "percentile -1": lambda xp, a: xp.percentile(a, [-1, 50]),
    "percentile axis": lambda xp, a: xp.percentile(a, 50, axis=3),
    "percentile method": lambda xp, a: xp.percentile(a, 50, method="nonsense"),
    "quantile 1.1": lambda xp, a: xp.quantile(a, 1.1),
    "unique axis": lambda xp, a: xp.unique(a[0], axis=1),
    "index": lambda xp, a: a[3],
    "negative index": lambda xp, a: a[0, -5],
    "indices too many": lambda xp, a: a[0, 0, 0],
    "list of indices": lambda xp, a: a[[0, 7]],
    "lists that differ": lambda xp, a: a[[0, 1], [0, 1, 2]],
    "float index": lambda xp, a: a[1.0],
    "text index": lambda xp, a: a["a"],
    "mask shape": lambda xp, a: a[np.ones(4, bool)],
    "slice step": lambda xp, a: a[::0],
    "ellipsis twice": lambda xp, a: a[..., ...],
    "take": lambda xp, a: xp.take(a, 99),
    "set shape": lambda xp, a: a.__setitem__(0, np.ones(5)),
    "set index": lambda xp, a: a.__setitem__(9, 1),
    "reshape": lambda xp, a: a.reshape(5, 3),
    "reshape -1 twice": lambda xp, a: a.reshape(-1, -1),
    "transpose": lambda xp, a: a.transpose(0, 0),
    "swapaxes": lambda xp, a: a.swapaxes(0, 5),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, 5),
    "squeeze": lambda xp, a: a.squeeze(0),
    "expand_dims": lambda xp, a: xp.expand_dims(a, 5),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (3, 5)),
    "concatenate": lambda xp, a: xp.concatenate([a, xp.ones((2, 2))]),
    "concatenate nothing": lambda xp, a: xp.concatenate([]),
    "concatenate axis": lambda xp, a: xp.concatenate([a, a], axis=2),
    "stack": lambda xp, a: xp.stack([a, xp.ones(3)]),
    "split": lambda xp, a: xp.split(a, 2),
    "repeat": lambda xp, a: xp.repeat(a, -1, axis=0),
    "roll axis": lambda xp, a: xp.roll(a, 1, axis=5),
    "pad mode": lambda xp, a: xp.pad(a, 1, mode="nonsense"),
    "pad width": lambda xp, a: xp.pad(a, -1),
    "linspace": lambda xp, a: xp.linspace(0, 1, -3),
    "arange": lambda xp, a: xp.arange(),
    "arange step": lambda xp, a: xp.arange(0, 5, 0),
    "svd of a vector": lambda xp, a: xp.linalg.svd(xp.ones(3)),
    "qr of a vector": lambda xp, a: xp.linalg.qr(xp.ones(3)),
    "inv": lambda xp, a: xp.linalg.inv(a),
    "solve": lambda xp, a: xp.linalg.solve(a, a),
    "cholesky": lambda xp, a: xp.linalg.cholesky(a),
    "norm order": lambda xp, a: xp.linalg.norm(a, "nonsense"),
    "fft axis": lambda xp, a: xp.fft.fft(a, axis=5),
    "fft norm": lambda xp, a: xp.fft.fft(a, norm="nonsense"),
    "random shape": lambda xp, a: xp.random.rand(-1),
    "random scale": lambda xp, a: xp.random.normal(0, -1, size=3),
    "random bounds": lambda xp, a: xp.random.randint(5, 2, size=3),
    "random choice": lambda xp, a: xp.random.choice(3, 5, replace=False),
    "attribute": lambda xp, a: a.nonsense,
    "len of a number": lambda xp, a: len(xp.ones(())),
    "items of a number": lambda xp, a: list(xp.ones(())),
    "truth of several": lambda xp, a: bool(a),
    "truth of none": lambda xp, a: bool(xp.ones(0)),
    "float of several": lambda xp, a: float(a),
    "int of several": lambda xp, a: int(a),
    "float as an index": lambda xp, a: range(10)[xp.ones(())],
    "format of several": lambda xp, a: f"{a:.2f}",
}


def error_of(call: Callable[[], Any]) -> Exception:
    """Return what a call raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the caller compares the types
        call()
    return caught.value


@pytest.fixture
def session() -> Iterator[marsdask.Session]:
    """Give a session of its own."""
    with marsdask.new_session(n_workers=2) as session:
        yield session


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses_is_refused_at_the_call(name):
    """With the same type of error, and before anything is computed."""
    array = np.arange(12.0).reshape(3, 4)
    expected = error_of(lambda: REFUSED[name](np, array))
    found = error_of(lambda: REFUSED[name](mt, mt.tensor(array, chunk_size=2)))
    assert isinstance(found, type(expected)), f"{found!r} but NumPy raises {expected!r}"
    assert str(found)


@pytest.mark.parametrize(
    ("size", "chunks"),
    [
        (-1, ((3,), (4,))),
        ("auto", ((3,), (4,))),
        (None, ((3,), (4,))),
        ("1MiB", ((3,), (4,))),
        (np.int64(2), ((2, 1), (2, 2))),
        ((np.uint8(2), -1), ((2, 1), (4,))),
        (((3,), (1, 3)), ((3,), (1, 3))),
        ({0: 2}, ((2, 1), (4,))),
        (99, ((3,), (4,))),
    ],
)
def test_chunk_sizes_that_are_taken(size, chunks):
    """Mars's, Dask's and NumPy's ways to say how large chunks are."""
    makers = (mt.ones((3, 4), chunk_size=size), mt.tensor(np.ones((3, 4)), chunks=size))
    assert {x.chunks for x in makers} == {chunks}
    assert mt.ones((3, 4), chunk_size=-1).rechunk(size).chunks == chunks


@pytest.mark.parametrize(
    ("size", "error"),
    [
        (2.5, TypeError),
        (np.float64(2), TypeError),
        (float("nan"), TypeError),
        (True, TypeError),
        ((True, 2), TypeError),
        (((3.0,), (4,)), TypeError),
        (object(), TypeError),
        ("nonsense", TypeError),
        (0, ValueError),
        (-2, ValueError),
        ((2, -2), ValueError),
        (((1, 1), (4,)), ValueError),
        (((4, -1), (4,)), ValueError),
        ((2, 2, 2), ValueError),
        ([], ValueError),
        ({5: 1}, (ValueError, IndexError)),
    ],
)
def test_chunk_sizes_that_are_refused(size, error):
    """Floats, bools, negatives, zero, and sizes that do not add up, by every function alike."""
    for make in (
        lambda: mt.ones((3, 4), chunk_size=size),
        lambda: mt.tensor(np.ones((3, 4)), chunks=size),
        lambda: mt.ones((3, 4)).rechunk(size),
    ):
        with pytest.raises(error, match=r"chunk|axis"):
            make()


@pytest.mark.parametrize("size", [2.5, 0, -5, True, (2, "x"), "nonsense"])
def test_an_option_for_chunks_is_checked_when_it_is_set(size):
    """Not when the next tensor is made."""
    with pytest.raises(ValueError, match="chunk_size"):
        marsdask.options.chunk_size = size
    assert mt.ones(3).chunks == ((3,),)


def test_unknown_options_are_named():
    """The error lists options with a name like it; no option is set by mistake."""
    for call in (
        lambda: marsdask.set_option("chunk_siz", 3),
        lambda: setattr(marsdask.options, "chunk_siz", 3),
        lambda: marsdask.options.chunk_siz,
        lambda: marsdask.option_context({"chunk_siz": 3}).__enter__(),
    ):
        with pytest.raises(OptionError, match=r"\. Did you mean 'chunk_size'\?"):
            call()


def test_unknown_schedulers_are_named():
    """Whether a session or Dask is asked."""
    with pytest.raises(UnknownScheduler, match=r"\. Did you mean 'processes'\?"):
        marsdask.new_session("proceses")
    with pytest.raises(ValueError, match="processes"):
        mt.ones(3).compute(scheduler="proceses")
    with pytest.raises(TypeError, match="new_session"):
        mt.ones(3).execute(session="threads")  # type: ignore[call-overload]
    found = marsdask.get_default_session()
    assert found is None or not found.closed


@pytest.mark.parametrize("settings", [{"n_workers": -1}, {"memory_limit": "much"}, {"typo": 1}])
def test_settings_of_a_session_are_checked(settings):
    """No session is left half started."""
    before = marsdask.get_default_session()
    with pytest.raises((ValueError, TypeError)):
        marsdask.new_session(**settings)
    assert marsdask.get_default_session() is before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_workers", 0),
        ("n_workers", "x"),
        ("n_worker", 0),
        ("n_worker", "a"),
        ("n_cpu", True),
        ("spill_dirs", 5),
        ("spill_limit", 0),
        ("memory_limit", ""),
        ("memory_limit", 0),
    ],
)
def test_a_wrong_setting_of_a_session_is_named(name, value):
    """With its value, before anything starts; nothing that is false is taken for nothing given."""
    settings: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=f"^invalid {name}: {value!r}; give a "):
        marsdask.new_session(**settings)


@pytest.fixture
def users() -> Iterator[None]:
    """See errors as users do: where graphs are verified, all frames are shown."""
    with option_context({"verify": False}):
        yield


class OfTheUser(KeyError):
    """What a function of the user raises."""


def fails_where_zero(block: Any) -> Any:
    """Fail for the chunk that starts with zero."""
    if block.flat[0] == 0:
        raise OfTheUser("mine")
    return block


def failing() -> Any:
    """Return an expression whose first chunk fails."""
    x = mt.arange(16, chunk_size=2).reshape(4, 4)
    y = x.map_chunk(fails_where_zero, dtype=int)  # the user's line
    return y + 1


def text_of(error: BaseException) -> str:
    """Return what a user would see."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
@pytest.mark.parametrize(
    "run",
    [
        lambda x: x.execute(),
        lambda x: x.compute(),
        lambda x: x.persist(),
        lambda x: x.execute(wait=False).result(60),
        lambda x: float(x.sum()),
        np.asarray,
    ],
    ids=["execute", "compute", "persist", "future", "float", "asarray"],
)
@pytest.mark.usefixtures("users")
def test_a_task_that_raises(scheduler, run):
    """Its own type of error, the user's line, the chunk; nothing of the job stays."""
    with marsdask.new_session(scheduler) as session:
        with pytest.raises(OfTheUser) as caught:
            run(failing())
        text = text_of(caught.value)
        assert "# the user's line" in text
        assert "in fails_where_zero" in text
        assert "chunk (0, 0)" in text or "in the task" in text
        ours = [line for line in text.splitlines() if f"{os.sep}marsdask{os.sep}core" in line]
        assert len(ours) <= 5, text
        del caught
        gc.collect()
        assert "0 results" in repr(session)
        assert mt.ones(3).sum().execute().fetch() == 3


@pytest.mark.usefixtures("users")
def test_a_traceback_is_short():
    """What a user sees of a failing function is no longer than it must be."""
    with marsdask.new_session("threads", n_workers=1), pytest.raises(OfTheUser) as caught:
        failing().execute()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert len(frames) <= 5
    assert frames[-1].name == "fails_where_zero"


def test_a_full_spill_disk(tmp_path):
    """The error tells of the limit, nothing is held, and what was written goes."""
    settings: dict[str, Any] = {
        "memory_limit": "16MiB",
        "spill_limit": "8MiB",
        "spill_dirs": str(tmp_path),
    }
    with marsdask.new_session(n_workers=1, **settings) as session:
        x = mt.random.rand(2000, 2000, chunk_size=250)
        x = x[x[:, 0] >= 0]  # how many rows is not known beforehand
        with pytest.raises(SpillFull, match="8,388,608") as caught:
            x.execute()
        assert isinstance(caught.value, OSError)
        del caught
        gc.collect()
        assert "0 results" in repr(session)
        scheduler: Any = session.scheduler
        assert not scheduler._engine.state.items
        assert mt.ones((100, 100)).sum().execute().fetch() == 10_000
    assert not list(tmp_path.iterdir())


def test_an_unwritable_spill_directory(tmp_path):
    """It is refused by new_session(), as opening a file there would be."""
    (tmp_path / "file").write_text("")
    before = marsdask.get_default_session()
    with pytest.raises(OSError, match="file"):
        marsdask.new_session(spill_dirs=[str(tmp_path), str(Path(tmp_path, "file"))])
    assert marsdask.get_default_session() is before


def test_a_cancelled_job(session):
    """Its result raises, its chunks are gone, and the session goes on."""
    started, go_on = threading.Event(), threading.Event()

    def waits(block: Any) -> Any:
        started.set()
        go_on.wait(60)
        return block

    x = mt.ones(40, chunk_size=1).map_chunk(waits, dtype=float, elementwise=True)
    future = x.execute(wait=False)
    assert started.wait(60)
    with pytest.raises(TimeoutError):
        future.result(timeout=0)
    assert future.cancel()
    go_on.set()
    with pytest.raises(CancelledError):
        future.result(60)
    assert future.done()
    assert "0 results" in repr(session)
    with pytest.raises(NotExecutedError):
        x.fetch()
    assert mt.ones(3).sum().execute().fetch() == 3


def test_fetch_before_execute():
    """It is told, as a ValueError, what to call."""
    with pytest.raises(NotExecutedError, match=r"execute\(\)") as caught:
        mt.ones(3).fetch()
    assert isinstance(caught.value, ValueError)


def test_a_closed_session():
    """Neither computes nor gives results; what it computed can be described and made again."""
    with marsdask.new_session("synchronous") as session:
        x = mt.ones(3).execute()
    for call in (
        lambda: mt.ones(3).execute(session=session),
        lambda: mt.ones(3).compute(session=session),
        lambda: x.fetch(session=session),
        x.fetch,
    ):
        with pytest.raises(SessionClosed, match="closed"):
            call()
    assert "ones" in repr(x)


def test_what_is_no_collection():
    """Execute and fetch name what they were given."""
    for verb in (marsdask.execute, marsdask.fetch):
        with pytest.raises(TypeError, match="not int"):
            verb(3)


INTERRUPTED = """
import sys, time
import marsdask, marsdask.tensor as mt

def slow(block):
    print("started", flush=True)
    time.sleep(0.05)
    return block

session = marsdask.new_session({name!r}, **{settings!r})
if session.plan().budget == 2**22:
    # Some of it goes to disk.
    kept = mt.random.rand(1000, 1000, chunk_size=200).execute()
mt.ones(4000, chunk_size=1).map_chunk(slow, dtype=float).execute()
"""


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("threads", {"memory_limit": "4MiB"}),
        ("synchronous", {}),
        ("processes", {"n_workers": 2}),
    ],
)
def test_ctrl_c_ends_a_program(name, settings, tmp_path):
    """With KeyboardInterrupt, long before its work is done, and without files left behind."""
    program = INTERRUPTED.format(name=name, settings=settings)
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as child:
        assert child.stdout is not None
        # A worker process has a standard output of its own or the child's.
        assert child.stdout.readline() == "started\n"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert child.returncode not in (0, None)
    assert not list(tmp_path.iterdir())
