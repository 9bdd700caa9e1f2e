"""The check that nothing is left running, and the profile of random examples."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.source import ROOT
from tests.turns import left_out

LEAKS = """
import subprocess, sys, threading
import pytest
from hypothesis import given, strategies
from tests import conftest

conftest.DEADLINE = 0.2
STOP = threading.Event()

def test_thread():
    threading.Thread(target=STOP.wait, name="leaked").start()

def test_clean():
    STOP.set()

def test_child():
    subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

def test_daemon():
    threading.Thread(target=threading.Event().wait, daemon=True).start()

RUNS, MET = [], []

@given(strategies.lists(strategies.integers(), min_size=30))
def test_property(numbers):
    RUNS.append(numbers)
    assert not numbers

@pytest.mark.in_turn(2)
@pytest.mark.parametrize("kind", "abc")
@pytest.mark.parametrize("mode", [0, 1])
def test_turns(kind, mode):
    MET.append((kind, mode))

def test_turns_are_taken():
    assert sorted(MET) == [("a", 0), ("b", 1), ("c", 0)]

PAIRS, ROWS = [], []

@pytest.mark.parametrize("kind", "abc")
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("frame_mode", ["default", "as given"])
def test_modes(kind, size, frame_mode):
    PAIRS.append((frame_mode, size, kind))

@pytest.mark.parametrize("kind", "abc")
@pytest.mark.parametrize("coalesce", ["default", "as given"])
def test_rows(kind, coalesce):
    ROWS.append((coalesce, kind))

def test_each_mode_meets_each_value():
    given = [met[1:] for met in PAIRS if met[0] == "as given"]
    others = [met[1:] for met in PAIRS if met[0] == "default"]
    assert len(given) == len(set(given)) == 6
    assert len(others) == 3
    assert {size for size, _ in others} == {1, 2}
    assert {kind for _, kind in others} == set("abc")
    assert ROWS == [("default", "a"), *(("as given", kind) for kind in "abc")]

def test_failures_are_not_made_smaller():
    assert len(RUNS) < 30
"""


def test_what_a_test_leaves_behind_fails_it(tmp_path: Path) -> None:
    """The test that left a thread or a child process is told; a failed property is so at once."""
    (tmp_path / "test_leaks.py").write_text(LEAKS)
    options = ["-p", "tests.conftest", "--rootdir", str(tmp_path), "-c", "/dev/null", "-q", "-rE"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "HYPOTHESIS_PROFILE": "ci"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 23 passed, 8 deselected, 2 errors" in done.stdout
    assert "@reproduce_failure(" in done.stdout
    assert "threads left behind: ['leaked']" in done.stdout
    assert "processes left behind and killed" in done.stdout


@pytest.mark.parametrize(
    ("profile", "expected"),
    [("long", {"as given": 9, "default": 9}), ("fast", {"as given": 5, "default": 4})],
)
def test_modes_of_long_and_of_fast_runs(profile: str, expected: dict[str, int]) -> None:
    """A long run leaves out nothing; in a fast one each choice of the others has one mode."""
    items: list[Any] = []
    for mode, kind, size in itertools.product(["as given", "default"], "abc", (1, 2, 3)):
        params = {"frame_mode": mode, "kind": kind, "size": size}
        spec = SimpleNamespace(params=params)
        item = SimpleNamespace(parent="", originalname="", callspec=spec)
        item.get_closest_marker = {}.get
        items.append(item)
    others = left_out(items, profile)
    choices = [item.callspec.params for item in items if item not in others]
    modes = [choice["frame_mode"] for choice in choices]
    assert {mode: modes.count(mode) for mode in expected} == expected
    assert len({(choice["kind"], choice["size"]) for choice in choices}) == 9
