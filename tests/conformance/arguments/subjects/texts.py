"""Methods of the accessors of texts, times and categories."""

from __future__ import annotations

from typing import Any

import pandas as pd

import marsdask.dataframe as md
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.methods import methods

TEXTS = pd.Series(["Abc", "b,c,d", None, " pad ", " a,a"], name="t")
NUMBERS = pd.Series(["1", "22"], name="t")
TIMES = pd.Series(
    pd.DatetimeIndex(["2024-03-30 22:15", "2023-12-31 23:00", "NaT", "2024-03-31 04:00"]), name="w"
)
SPANS = pd.Series(pd.to_timedelta(["1 day 02:03:04.5", None, "-3h"]), name="s")
PERIODS = pd.Series(pd.period_range("2024-01", periods=3, freq="M"), name="p")
CATEGORIES = pd.Series(pd.Categorical(["x", "y", None], ["z", "y", "x"]), name="c")

#: The arguments that methods need.
NEEDED: dict[str, dict[str, Any]] = {
    "contains": {"pat": "a"},
    "count": {"pat": "a"},
    "startswith": {"pat": "A"},
    "endswith": {"pat": "a"},
    "find": {"sub": "a"},
    "rfind": {"sub": "a"},
    "index": {"sub": ""},
    "rindex": {"sub": ""},
    "findall": {"pat": "a"},
    "match": {"pat": "a"},
    "fullmatch": {"pat": "a.*"},
    "pad": {"width": 8},
    "center": {"width": 8},
    "ljust": {"width": 8},
    "rjust": {"width": 8},
    "zfill": {"width": 8},
    "wrap": {"width": 2},
    "extract": {"pat": "([a-c])"},
    "extractall": {"pat": "([a-c])"},
    "get": {"i": 1},
    "join": {"sep": "-"},
    "repeat": {"repeats": 2},
    "replace": {"pat": "a", "repl": "X"},
    "removeprefix": {"prefix": "A"},
    "removesuffix": {"suffix": "a"},
    "translate": {"table": {97: "z"}},
    "encode": {"encoding": "utf-8"},
    "decode": {"encoding": "utf-8"},
    "str.normalize": {"form": "NFC"},
    "strftime": {"date_format": "%Y"},
    "tz_localize": {"tz": "UTC"},
    "tz_convert": {"tz": "Asia/Tokyo"},
    "round": {"freq": "h"},
    "floor": {"freq": "h"},
    "ceil": {"freq": "h"},
    "to_period": {"freq": "M"},
    "asfreq": {"freq": "D"},
    "as_unit": {"unit": "ms"},
    "set_categories": {"new_categories": ["x", "y"]},
    "reorder_categories": {"new_categories": ["x", "y", "z"]},
    "rename_categories": {"new_categories": ["r", "s", "t"]},
    "add_categories": {"new_categories": ["n"]},
    "remove_categories": {"removals": ["z"]},
}


def accessors() -> list[Case]:
    """Return the methods of accessors."""
    subjects = {
        "str": (TEXTS, "str", {"decode", "tz_convert"}),
        "bytes": (TEXTS.str.encode("utf-8"), "str", set()),
        "dt": (TIMES, "dt", {"tz_convert"}),
        "zoned": (TIMES.dt.tz_localize("UTC"), "dt", set()),
        "spans": (SPANS, "dt", set()),
        "periods": (PERIODS, "dt", set()),
        "cat": (CATEGORIES, "cat", set()),
    }
    only = {
        "bytes": {"decode"},
        "zoned": {"tz_convert"},
    }
    cases: list[Case] = []
    for title, (values, accessor, left_out) in subjects.items():

        def model(values: Any = values, accessor: str = accessor) -> Any:
            return getattr(values, accessor)

        def ours(values: Any = values, accessor: str = accessor) -> Any:
            return getattr(md.Series(values), accessor)

        cases += [
            case
            for case in methods(title, model, ours, NEEDED, left_out)
            if title not in only or case.name.rpartition(".")[2] in only[title]
        ]
    return cases
