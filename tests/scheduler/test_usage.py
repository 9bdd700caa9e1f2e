"""The usage of a process tree: the computation, and this process as an example."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.scheduler.usage import ProcessUsage, Usage, count, share, usage_since

numbers = st.floats(0, 1e6)


@given(numbers, st.lists(st.tuples(numbers, st.integers(0, 2**40))), st.floats(0, 100))
def test_nothing_is_negative(before, now, elapsed):
    """Whatever the counters say, for instance since a process is gone that was counted before."""
    cores, memory = usage_since(before, [ProcessUsage(*one) for one in now], elapsed)
    assert cores >= 0
    assert memory == sum(nbytes for _, nbytes in now)


@given(st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_what_is_used_and_what_is_left_is_all(used, total):
    """Neither is negative, and they add up."""
    within, left = share(used, total)
    assert within >= 0
    assert left >= 0
    assert within + left == pytest.approx(total)


def test_time_is_that_of_the_tree():
    """Half a core by this process and one by a child make one and a half."""
    now = [ProcessUsage(10.5, 5), ProcessUsage(4.0, 7)]
    assert usage_since(11.5, now, 2.0) == (1.5, 12)


def test_who_asks_soon_gets_the_last_answer():
    """The counters are read again after a while only, and over all of it."""
    time, seconds = [0.0], [0.0]
    usage = Usage(lambda: [ProcessUsage(seconds[0], 8)], lambda: time[0])
    time[0], seconds[0] = 2.0, 1.0
    assert usage() == (0.5, 8)
    time[0], seconds[0] = 2.5, 9.0
    assert usage() == (0.5, 8)
    time[0] = 4.0
    assert usage() == (4.0, 8)


def test_descendants_count():
    """A child is seen while it lives, and its processor's time remains when it was waited for."""
    command = [sys.executable, "-S", "-c", "sum(range(3_000_000)); print(flush=True); input()"]
    before = count()  # other tests may have left the interpreter a child that lasts
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        alone = count(children=False)
        child.stdout.readline()
        with_child = count()
        child.communicate(b"\n")
    assert len(alone) == 1
    assert len(with_child) == len(before) + 1
    spent = sum(one.seconds for one in with_child[1:]) - sum(one.seconds for one in before[1:])
    assert spent > 0
    ticks = os.sysconf("SC_CLK_TCK")  # whole ones are counted, and fractions of sums are not exact
    gained = count(children=False)[0].seconds - alone[0].seconds
    assert round(gained * ticks) >= round(spent * ticks)
