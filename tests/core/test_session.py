"""Sessions: results and their lifetime, failures, which session runs what."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
import weakref
from typing import Any

import dask
import numpy as np
import pytest

import marsdask
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.errors import NotExecutedError, SessionClosed
from marsdask.core.results.stored import Stored
from marsdask.core.session import (
    ensure_session,
    get_default_session,
    new_session,
    set_default_session,
    stop_server,
)
from marsdask.scheduler import create
from tests.core.recording import recording_session
from tests.subprocesses import in_fork


@pytest.fixture(autouse=True)
def no_default_session():
    yield
    stop_server()
    set_default_session(None)


def thread_count(session):
    scheduler: Any = session.scheduler
    return scheduler.nthreads


def one_more(block):
    return block + 1


def failing(block):
    raise RuntimeError("broken block")


def test_results_live_as_long_as_a_collection():
    """Execute keeps the chunks; dropping the last reference frees them."""
    with recording_session() as (_, scheduler):
        x = (mt.ones((4, 4), chunk_size=2) + 1).execute()
        twin = x + 0
        assert scheduler.results
        del x
        gc.collect()
        assert scheduler.results, "an expression over a result keeps it"
        del twin
        gc.collect()
        assert not scheduler.results


@pytest.mark.parametrize("run", ["execute", "compute"])
def test_nodes_are_freed_at_once(run):
    """No cycle keeps what was computed until Python collects its garbage."""
    gc.collect()
    gc.disable()
    try:
        x = mt.ones((40, 40), chunk_size=10).map_blocks(one_more, dtype=float)
        getattr(x, run)()
        watch = weakref.ref(x.node)
        del x
        assert watch() is None
    finally:
        gc.enable()


def test_a_loop_holds_one_result():
    """``x = f(x); x.execute()`` drops each ancestor's chunks."""
    with recording_session() as (_, scheduler):
        x = mt.ones((4, 4), chunk_size=2)
        for _ in range(5):
            x = x + 1
            x.execute()
            gc.collect()
            assert isinstance(x.node, Stored)
            assert len(scheduler.results) == len(x.node.result.layout.keys)
        np.testing.assert_array_equal(x.fetch(), np.full((4, 4), 6.0))


@pytest.mark.parametrize("built_before", [True, False])
def test_later_expressions_reuse_results(built_before):
    """What was executed is not computed again, also for an expression written before."""
    with recording_session() as (_, scheduler), option_context({"coalesce": False}):
        x = mt.ones((4, 4), chunk_size=2).map_blocks(np.sqrt, dtype=float)
        y = x + 1 if built_before else None
        x.execute()
        before = scheduler.tasks
        y = x + 1 if y is None else y
        np.testing.assert_array_equal(y.compute(), np.full((4, 4), 2.0))
        assert scheduler.tasks - before == 4


def test_executing_twice_computes_once():
    """A result that the session holds is found by the name of the expression."""
    with recording_session() as (_, scheduler):
        x = (mt.ones((4, 4), chunk_size=2) + 1).execute()
        before = scheduler.tasks
        x.execute()
        same = (mt.ones((4, 4), chunk_size=2) + 1).execute()
        assert scheduler.tasks == before
        np.testing.assert_array_equal(same.fetch(), x.fetch())


def test_compute_keeps_nothing():
    """A value computed and handed out is no longer held."""
    with recording_session() as (_, scheduler):
        assert (mt.ones((4, 4), chunk_size=2) + 1).sum().compute() == 32
        assert not scheduler.results


def test_a_failed_job_leaves_nothing_held_and_the_session_usable():
    """Neither the failing task nor those before it stay."""
    with recording_session() as (_, scheduler):
        x = mt.ones((4, 4), chunk_size=2)
        with pytest.raises(RuntimeError, match="broken block"):
            (x + x.map_blocks(failing, dtype=float)).execute()
        assert not scheduler.results
        assert x.sum().compute() == 16


def test_a_failure_says_where_and_what():
    """The user's line, the operation, the chunk and its inputs are in the message."""
    x = mt.ones((4, 6), chunk_size=(4, 3))
    bad = x.map_blocks(failing, dtype=float)  # the user's line
    with recording_session(), pytest.raises(RuntimeError) as caught:
        bad.execute()
    notes = "\n".join(caught.value.__notes__)
    assert "in failing, chunk (0, " in notes
    assert "# the user's line" in notes
    assert "test_session.py" in notes


def test_a_failure_shows_only_the_users_and_the_kernels_frames():
    """The machinery between the call and the kernel is not shown."""
    bad = mt.ones(3).map_blocks(failing, dtype=float)
    users = option_context({"verify": False})
    with users, recording_session(), pytest.raises(RuntimeError) as caught:
        bad.sum().execute()
    frames = [entry.name for entry in caught.traceback]
    assert frames[-1] == "failing"
    assert len(frames) <= 6


def test_an_interrupt_reaches_the_caller_and_the_session_goes_on():
    """Ctrl-C while waiting cancels the job; the next one runs."""
    calls = []

    def interrupt() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt

    with recording_session(interrupt) as (_, scheduler):
        x = mt.ones((4, 4), chunk_size=2) + 1
        with pytest.raises(KeyboardInterrupt):
            x.execute()
        assert not scheduler.results
        assert x.sum().compute() == 32


def test_ctrl_c_stops_the_work_and_leaves_the_session_usable():
    """A real SIGINT while tasks run."""
    opened = threading.Event()
    first = threading.Lock()

    def interrupt(block):
        # A second signal would reach whatever runs next.
        if first.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
        opened.wait(30)
        return block

    with new_session(n_workers=2):
        x = mt.ones((40, 40), chunk_size=10).map_blocks(interrupt, dtype=float)
        try:
            with pytest.raises(KeyboardInterrupt):
                x.execute()
        finally:
            opened.set()
        assert mt.ones(3).sum().compute() == 3
        with pytest.raises(NotExecutedError):
            x.fetch()


def test_a_task_may_compute():
    """On the same session, without waiting for itself."""

    def nested(block):
        return block + mt.ones((4, 4), chunk_size=2).sum().compute()

    with new_session(n_workers=1):
        x = mt.ones((4, 4), chunk_size=2).map_blocks(nested, dtype=float)
        np.testing.assert_array_equal(x.compute(), np.full((4, 4), 17.0))


def test_a_closed_session_says_so():
    """Executing and fetching raise SessionClosed; closing again does nothing."""
    session = new_session("synchronous", default=False)
    x = mt.ones(3).execute(session=session)
    session.close()
    session.close()
    assert session.closed
    with pytest.raises(SessionClosed):
        x.fetch()
    with pytest.raises(SessionClosed):
        mt.ones(4).execute(session=session)


def test_results_of_a_closed_session_are_computed_anew_elsewhere():
    """Another session cannot use them, and says what became of them."""
    session = new_session("synchronous", default=False)
    x = mt.ones(3).execute(session=session)
    session.close()
    with recording_session(), pytest.raises(SessionClosed):
        (x + 1).compute()


@pytest.mark.skipif(os.name == "nt", reason="uses fork")
@pytest.mark.parametrize("name", ["threads", "processes"])
def test_a_forked_child_has_sessions_of_its_own(name):
    """It inherits no threads: it reads its parent's results, and computes elsewhere."""
    with new_session(name, n_workers=1) as session:
        x = mt.arange(6, chunk_size=3).execute()

        def later():
            return [*x.fetch().tolist(), int((x + 1).sum().execute().fetch())]

        assert in_fork(later) == "[0, 1, 2, 3, 4, 5, 21]"
        refused = "SessionClosed('the scheduler belongs to the parent"
        assert refused in in_fork(lambda: mt.ones(3).execute(session=session))
        assert refused in in_fork(lambda: mt.ones(3).compute(session=session))
        assert in_fork(session.close) == "None"
        assert (x + 2).sum().execute().fetch() == 27


@pytest.mark.skipif(os.name == "nt", reason="uses fork")
def test_a_forked_child_goes_on_without_threads():
    """The session that has none stays the default one."""
    with new_session("synchronous") as session:
        assert in_fork(lambda: ensure_session() is session) == "True"
        assert in_fork(lambda: mt.ones(3).sum().execute().fetch()) == repr(np.float64(3))


def test_fetch_before_execute_is_a_value_error():
    """The message says what to call."""
    with recording_session(), pytest.raises(NotExecutedError, match="execute"):
        mt.ones((3, 7)).fetch()
    with pytest.raises(ValueError, match="execute"):
        mt.ones((3, 7)).fetch()


def test_results_cross_sessions():
    """One session computes with another's results."""
    with recording_session() as (one, _), recording_session() as (two, _):
        x = (mt.ones((4, 4), chunk_size=2) + 1).execute(session=one)
        assert (x + 1).sum().compute(session=two) == 48


def test_the_order_of_choice():
    """``session=``, then the default one, then Dask's wish, then threads."""
    with dask.config.set(scheduler="synchronous"):
        assert ensure_session().scheduler.name == "synchronous"
        chosen = new_session("inline")
        assert ensure_session() is chosen is get_default_session()
        other = new_session("synchronous", default=False)
        assert ensure_session(other) is other
        chosen.close()
        other.close()
        assert ensure_session().scheduler.name == "synchronous"
    assert ensure_session().scheduler.name == "threads"
    assert ensure_session() is ensure_session()


def test_the_default_before_comes_back():
    """When a session closes that took its place, unless that one has closed as well."""
    with new_session("inline") as outer:
        with new_session("synchronous") as inner:
            assert get_default_session() is inner
        assert get_default_session() is outer
        last = new_session("inline")
    last.close()
    assert get_default_session() is None


def test_a_get_in_dasks_configuration_is_used():
    """A callable there runs the tasks."""
    graphs = []

    def get(graph, keys, **kwargs):
        graphs.append(graph)
        return dask.get(graph, keys, **kwargs)

    with dask.config.set(scheduler=get):
        assert mt.ones(3).sum().compute() == 3
    assert graphs


def test_stop_server_closes_what_started_by_itself():
    """The next execution starts a new session."""
    first = ensure_session()
    stop_server()
    assert first.closed
    assert get_default_session() is None
    assert ensure_session() is not first


def test_the_forms_of_new_session():
    """A name, a scheduler, a get, and Mars's words for workers and memory."""
    scheduler = create("inline")
    with new_session(scheduler, session_id="mine") as session:
        assert session.scheduler is scheduler
        assert session.session_id == "mine"
    assert scheduler.submit({}, ()).done(), "whoever passes a scheduler closes it"
    scheduler.close()
    with new_session(n_cpu=3, mem_bytes=10**8) as session:
        assert thread_count(session) == 3
        assert session.plan().budget == 10**8
        assert new_session(new=False) is session
        assert get_default_session() is session
    assert get_default_session() is None
    with new_session(n_workers=1, spill_dirs=[]) as session:
        assert session.plan().spill == 0
    with new_session(n_workers=1, memory_limit="1 GB", spill_dirs=None) as session:
        assert thread_count(session) == 1
    with new_session(dask.get) as session:
        assert mt.ones(3).sum().compute() == 3
    with option_context({"n_workers": 2}), new_session() as session:
        assert thread_count(session) == 2


def test_what_new_session_cannot_do_it_refuses():
    """Unknown schedulers, backends and the web page of a process are named."""
    with pytest.raises(ValueError, match="threads"):
        new_session("thread")
    with pytest.raises(NotImplementedError, match="backend"):
        new_session(backend="ray")
    with pytest.raises(NotImplementedError, match="dashboard"):
        new_session("threads", web=True)


def test_several_threads_share_a_session():
    """Each gets its own value."""
    with new_session(n_workers=2):
        values = {}

        def work(number):
            values[number] = (mt.ones((20, 20), chunk_size=5) * number).sum().compute()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert values == {number: 400 * number for number in range(8)}


def test_executed_and_unexecuted_collections_pickle():
    """The copy has the same values, in a process that knows nothing of the session too."""
    with recording_session():
        lazy = mt.ones((4, 4), chunk_size=2) + 1
        copy = pickle.loads(pickle.dumps(lazy))
        assert copy.node is lazy.node
        done = (mt.ones((4, 4), chunk_size=2) + 2).execute()
        data = pickle.dumps(done)
    with recording_session():
        np.testing.assert_array_equal(pickle.loads(data).compute(), np.full((4, 4), 3.0))


def test_a_progress_bar_is_asked_for_each_time():
    """``show_progress=True`` draws it even for work that takes no time."""
    with recording_session():
        assert mt.ones(3).sum().execute(show_progress=False).fetch() == 3


def test_misspelt_arguments_are_refused():
    """What is nearly an argument of new_session is no scheduler's option."""
    with pytest.raises(TypeError, match=r"\. Did you mean 'n_workers'\?"):
        marsdask.new_session(n_wokers=2)
