"""Programs that users of such libraries reported, in processes and on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import marsdask
from tests.reports.programs import LITERALS, PROGRAMS, REFUSALS
from tests.reports.runner import MODES, differences, refusals

MODE = {name: MODES[name] for name in ("chunks of 2", "executed")}
#: What must not be run where tasks have memory of their own: an array that they write to.
SHARED = {"memory map over itself"}


@pytest.fixture(autouse=True)
def nothing_left_running() -> None:
    """Leave processes that a program starts to the programs after it."""


@pytest.fixture(autouse=True, scope="module", params=["threads", "processes", "cluster"])
def session(request: pytest.FixtureRequest) -> Iterator[marsdask.Session]:
    """Have tasks run in threads, in processes, or on two workers of a cluster."""
    if request.param == "cluster":
        session = marsdask.new_session(n_worker=2, n_cpu=2)
    else:
        session = marsdask.new_session(request.param, n_workers=2)
    with session:
        yield session


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, tmp_path: Path) -> None:
    """They give what the reference gives, or raise its error."""
    assert differences(PROGRAMS[name], None, tmp_path, MODE) == ""


@pytest.mark.parametrize("name", [name for name in LITERALS if name not in SHARED])
def test_programs_of_ours(name: str, tmp_path: Path) -> None:
    """What no reference computes is what its words say."""
    assert differences(*LITERALS[name], tmp_path, MODE) == ""


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str, tmp_path: Path) -> None:
    """What cannot be is an error that says what would."""
    assert refusals(*REFUSALS[name], tmp_path, MODE) == ""
