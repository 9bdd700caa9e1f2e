"""Programs that mix what an engine runs with what only pandas does equal those of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.relations import test_planning as engine
from tests.dataframe.relations.programs import ENDS, STEPS, Step
from tests.dataframe.tables import equal
from tests.strategies import draws

files = engine.files
_coalesce = engine._coalesce

#: The rows of the files.
WHOLE = pd.concat(
    [engine.values(40, 0), engine.values(1, 1), engine.values(23, 2)], ignore_index=True
)

#: More rows take too long.
LARGEST = 2000


class RandomProgram(NamedTuple):
    """A random program."""

    way: str
    """Who runs it."""
    chunk_size: int | None
    """How rows in memory are cut; ``None`` for those of files."""
    steps: Sequence[str]
    end: str
    executed: int | None = None
    """The step after which its rows are kept by a session."""


def step_named(name: str) -> Step:
    """Return a step, of an engine or not."""
    return STEPS[name] if name in STEPS else lambda _, rows: engine.STEPS[name](rows)


def end_named(name: str) -> Step:
    """Return what is made of rows, by an engine or not."""
    return ENDS[name] if name in ENDS else lambda _, rows: engine.ENDS[name](rows)


def wanted(program: RandomProgram, folder: Path) -> Any:
    """Return what pandas makes of a program; leave out what it refuses, and too many rows."""
    rows: Any = WHOLE if program.chunk_size else pd.read_parquet(folder)
    try:
        for name in program.steps:
            rows = step_named(name)(pd, rows)
            if len(rows) > LARGEST:
                reject()
        return end_named(program.end)(pd, rows)
    except (TypeError, ValueError, KeyError, AttributeError):
        reject()


def check(program: RandomProgram, folder: Path) -> None:
    """Run a program and compare."""
    right = wanted(program, folder)
    with engine.WAYS[program.way]():
        lazy: Any = (
            md.DataFrame(WHOLE, chunk_size=program.chunk_size)
            if program.chunk_size
            else md.read_parquet(str(folder / "*.parquet"))
        )
        for number, name in enumerate(program.steps):
            lazy = step_named(name)(md, lazy)
            if number == program.executed:
                lazy = lazy.execute()
        equal(end_named(program.end)(md, lazy), right, check_exact=False)


# pandas itself warns of infinities of both signs in a sum, and of extension types in queries.
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:Engine has switched to 'python':RuntimeWarning")
@draws(40)
@given(
    way=st.sampled_from(sorted(engine.WAYS)),
    chunk_size=st.sampled_from([None, 7, 13, 100]),
    steps=st.lists(st.sampled_from(sorted({*STEPS, *engine.STEPS})), max_size=6),
    end=st.sampled_from(sorted({*ENDS, *engine.ENDS})),
    executed=st.one_of(st.none(), st.integers(0, 5)),
)
def test_mixed_programs_equal_pandas(files: Path, **drawn: Any) -> None:
    """Of files and of frames in memory, each way, and with results of a session in between."""
    try:
        check(RandomProgram(**drawn), files)
    except NotImplementedError:
        reject()


#: What random programs found.
FOUND = [
    RandomProgram("pandas in chunks", 7, ["where of others"], "groups of labels"),
    RandomProgram("pandas", None, ["where of others"], "correlations"),
    RandomProgram(
        "pandas", 13, ["where of others", "filter by what is not", "interpolate"], "rows"
    ),
    RandomProgram(
        "polars", None, ["division", "filter by a list", "inner by keys of others"], "best groups"
    ),
]


@pytest.mark.parametrize("program", FOUND, ids=str)
def test_what_was_found(files: Path, program: RandomProgram) -> None:
    """Each was wrong once."""
    check(program, files)
