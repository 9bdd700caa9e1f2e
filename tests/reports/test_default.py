"""Programs that users of such libraries reported, and programs like them, with default options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports import values
from tests.reports.programs import LITERALS, PROGRAMS, REFUSALS
from tests.reports.runner import MODES, differences, refusals

MODE = {"default": MODES["default"]}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, tmp_path: Path) -> None:
    """They give what the reference gives, or raise its error."""
    assert differences(PROGRAMS[name], None, tmp_path, MODE) == ""


@pytest.mark.parametrize("name", LITERALS)
def test_programs_of_ours(name: str, tmp_path: Path) -> None:
    """What no reference computes is what its words say."""
    assert differences(*LITERALS[name], tmp_path, MODE) == ""


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str, tmp_path: Path) -> None:
    """What cannot be is an error that says what would."""
    assert refusals(*REFUSALS[name], tmp_path, MODE) == ""


def test_many_rows(tmp_path: Path) -> None:
    """No row of millions is lost between bins."""
    assert differences(values.BIG, None, tmp_path, MODE) == ""
