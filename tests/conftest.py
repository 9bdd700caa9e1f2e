"""What all tests share: hypothesis profiles and the check that nothing is left running."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import dask
import psutil
import pytest
from hypothesis import HealthCheck, Phase, settings

from marsdask.core.config import set_option
from tests.subprocesses import children
from tests.turns import left_out

# Every graph of every test is held against the specification of its level (see `verification.py`).
os.environ.setdefault("MARSDASK_VERIFY", "1")

# What frames refuse stays refused, but where a test says otherwise: no other test of frames is to
# pass because pandas has computed what it compares.
set_option("dataframe.whole", "error")

# `ci` says the same thing on every run; `long` looks for news (make test-long), `fast` for the
# worst only (make test-fast). Making a failure smaller takes minutes: `shrink` does what `ci` left
# out, for the one test that failed.
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
FOUND = [Phase.explicit, Phase.reuse, Phase.generate]
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=5,
    phases=FOUND,
    print_blob=True,
    suppress_health_check=QUIET,
)
settings.register_profile("shrink", settings.get_profile("ci"), phases=list(Phase))
settings.register_profile("long", deadline=None, max_examples=200, suppress_health_check=QUIET)
settings.register_profile(
    "fast",
    derandomize=True,
    deadline=None,
    max_examples=3,
    phases=FOUND,
    print_blob=True,
    suppress_health_check=QUIET,
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(PROFILE)

#: Modules of few tests, which take long.
FIRST = {"test_public_types.py"}

# A shell ignores it in what it starts by `&`, and all children with it: no test could press Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Python 3.11 can stop for ever where distributed's workers sample stacks; ours take care of it.
if sys.version_info < (3, 12):
    dask.config.set({"distributed.worker.profile.enabled": False})

#: Seconds that a test's threads and children get to end once the test is over.
DEADLINE = 10.0

#: Helpers that live as long as the process, by design of who starts them.
LASTING_THREADS = ("Dask-Offload", "asyncio_", "IO loop", "Profile")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Keep modules and tests out of garbage collection: a million objects that live to the end.

    Collecting what tests leave behind every 700 objects took 4 % of the time of tests of frames.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)


def pytest_configure(config: pytest.Config) -> None:
    """Say what our marks mean."""
    config.addinivalue_line("markers", "in_turn(count): parameters meet in pairs, see CONTRIBUTING")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that repeat pairs of parameters, and begin with what takes a minute alone."""
    others = set(left_out(items, PROFILE))
    if others:
        config.hook.pytest_deselected(items=[item for item in items if item in others])
    # The last modules would keep one process busy while the others have nothing left to do.
    items[:] = sorted(
        (item for item in items if item not in others), key=lambda item: item.path.name not in FIRST
    )


def dask_pools() -> set[threading.Thread]:
    """Return the threads of the pools that dask.threaded keeps for the next call."""
    from dask import threaded

    pools: list[Any] = [threaded.default_pool]
    pools += [pool for by_size in list(threaded.pools.values()) for pool in by_size.values()]
    return {thread for pool in pools for thread in getattr(pool, "_threads", ())}


def threads() -> set[threading.Thread]:
    """Return the threads that would keep the interpreter from ending."""
    return {
        thread
        for thread in threading.enumerate()
        if not thread.daemon
        and thread is not threading.main_thread()
        and not thread.name.startswith(LASTING_THREADS)
    }


@pytest.fixture(autouse=True, scope="module")
def same_scheduler() -> Iterator[None]:
    """Fail a module that leaves Dask another default scheduler, as unclosed clients do."""
    before = dask.config.get("scheduler", None)
    yield
    assert dask.config.get("scheduler", None) == before


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a non-daemon thread or a child process behind."""
    threads_before, children_before = threads(), children()
    yield
    deadline = time.monotonic() + DEADLINE
    left = threads() - threads_before
    left -= dask_pools() if left else set()
    for thread in left:
        thread.join(max(0.0, deadline - time.monotonic()))
    alive = sorted(thread.name for thread in left if thread.is_alive())
    assert not alive, f"threads left behind: {alive}"
    _, strays = psutil.wait_procs(
        children() - children_before, timeout=max(0.0, deadline - time.monotonic())
    )
    lines = []
    for child in strays:
        with contextlib.suppress(psutil.NoSuchProcess):
            lines.append(f"{child}: {' '.join(child.cmdline())}")
            child.kill()
    assert not strays, f"processes left behind and killed: {lines}"
