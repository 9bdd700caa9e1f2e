"""Methods of the accessors of texts, times and categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.methods import methods
from tests.conformance.arguments.subjects.tensors import common

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


WORDS = np.array(["aXb", "", " aX", "\t1", "long a"])
#: The arguments that functions of arrays of texts need, and where they are not about texts.
STRINGS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(["find", "rfind", "count", "startswith", "endswith"], (WORDS, "a")),
    **dict.fromkeys(["index", "rindex"], (WORDS, "")),
    **dict.fromkeys(["center", "ljust", "rjust", "zfill"], (WORDS, 4)),
    **dict.fromkeys(["partition", "rpartition"], (WORDS, "X")),
    **dict.fromkeys(["equal", "not_equal", "less", "less_equal"], (WORDS, "aXb ")),
    **dict.fromkeys(["greater", "greater_equal"], (WORDS, "aXb ")),
    "decode": (np.strings.encode(WORDS),),
    "mod": (["%d", "a%d"], [1, 22]),
    "multiply": (WORDS, 2),
    "replace": (WORDS, "a", "bb"),
    "slice": (WORDS, 2),
    "translate": (WORDS, {97: "b"}),
    "join": ("-", WORDS),
}
REFUSED = {"array", "asarray", "chararray", "compare_chararrays"}


def strings() -> list[Case]:
    """Return the functions of arrays of texts; NumPy's ufuncs are tested elsewhere."""
    cases: list[Case] = []
    for space in ("strings", "char"):
        model, ours = getattr(np, space), getattr(mt, space)
        cases += [
            Case(
                f"{space}.{name}",
                getattr(model, name),
                getattr(ours, name),
                getattr(model, name),
                STRINGS.get(name, (WORDS,)),
            )
            for name in common(model, ours, REFUSED)
            if not isinstance(getattr(model, name), np.ufunc)
            and (space == "strings" or getattr(np.strings, name, None) is not getattr(model, name))
        ]
    return cases
