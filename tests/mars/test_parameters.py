"""Each parameter of each function and method of Mars's frames is taken, or refused by its name.

``parameters.txt`` has the names of what pymars 0.10.0 gives its users.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.api.typing import DataFrameGroupBy

import marsdask.dataframe as md
from marsdask.compat import dataframe as old
from marsdask.compat.frames import calls, keywords
from marsdask.dataframe.keyed.groupby import GroupBy

LINES = Path(__file__).with_name("parameters.txt").read_text().splitlines()
PARAMETERS = {name: words.split() for name, _, words in (line.partition(":") for line in LINES)}

#: Our classes, and pandas's of the same methods.
CLASSES: dict[str, tuple[type, type]] = {
    "DataFrame": (md.DataFrame, pd.DataFrame),
    "Series": (md.Series, pd.Series),
    "Index": (md.Index, pd.Index),
    "DataFrameGroupBy": (GroupBy, DataFrameGroupBy),
    "SeriesGroupBy": (GroupBy, DataFrameGroupBy),
}

#: What the methods of pandas 1 are called today, which have the same parameters.
NEW_NAMES = {"backfill": "bfill", "iteritems": "items", "pad": "ffill", "tshift": "shift"}

#: What functions of the alias take by looking for it.
LOOKED_FOR = {
    *("use_arrow_dtype", "low_limit", "high_limit", "chunk_size", "partition_col"),
    *("num_partitions", "freq", "closed", "infer_datetime_format"),
}


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    old.offer()
    yield
    old.withdraw()


def named(func: Any) -> set[str]:
    """Return the parameters of a function, without that of the object."""
    try:
        return set(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return set()


def taken(name: str) -> set[str]:
    """Return what is taken under a name: here, in pandas, and by the tables of Mars's words."""
    *modules, last = name.split(".")
    if not modules:
        theirs = pd.DataFrame.from_records if last == "from_records" else getattr(pd, last, None)
        table = set(keywords.FUNCTIONS.get(last, {})) | LOOKED_FOR
        return named(getattr(old, last)) | named(theirs) | table
    ours, model = CLASSES[modules[-1]]
    last = NEW_NAMES.get(last, last) if last in old.REMOVED.get(ours, {}) else last
    table = set(keywords.KEYWORDS.get(ours, {}).get(last, {}))
    if last in calls.CALLS.get(ours, {}):
        table |= {*calls.TELLING, "name_function"}
    return named(getattr(ours, last)) | named(getattr(model, last, None)) | table


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name: str) -> None:
    """Each is known."""
    assert set(PARAMETERS[name]) <= taken(name)
