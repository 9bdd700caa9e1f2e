"""Methods of groups and of windows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import marsdask.dataframe as md
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.frames import FRAME, LEFT_OUT, LEVELS, TIMES
from tests.conformance.arguments.subjects.methods import methods

GROUPED = FRAME.assign(g=[1, 2, 1, 2, 1]).reset_index(drop=True)
TIMED = FRAME.set_axis(TIMES)

#: The arguments that methods need.
NEEDED: dict[str, dict[str, Any]] = {
    "agg": {"func": ["sum", "min"]},
    "aggregate": {"func": ["sum", "min"]},
    "apply": {"func": np.sum},
    "transform": {"func": "cumsum"},
    "filter": {"func": lambda rows: rows["a"].sum() > 4},
    "group.filter": {"func": lambda rows: rows.sum() > 4},
    "group.corr": {"other": GROUPED["a"]},
    "group.cov": {"other": GROUPED["a"]},
    "resample.get_group": {"name": TIMES[0].floor("12h")},
    "resample.transform": {"arg": "cumsum"},
    "ewm.agg": {"func": ["mean", "var"]},
    "ewm.aggregate": {"func": ["mean", "var"]},
    "get_group": {"name": 1},
    "corrwith": {"other": GROUPED[["a", "b"]] * 2},
    "nlargest": {"n": 2},
    "nsmallest": {"n": 2},
    "quantile": {"q": 0.3},
    "rolling.quantile": {"q": 0.3},
    "take": {"indices": [0]},
    "map": {"func": abs},
    "isin": {"values": [1]},
}
#: Methods that make windows, with the method of these that is called.
WINDOWS: dict[str, tuple[dict[str, Any], str]] = {
    "rolling": ({"window": 2}, "sum"),
    "expanding": ({}, "sum"),
    "ewm": ({"com": 1}, "mean"),
}
OUT = (LEFT_OUT | {"pipe"}) - {"rolling", "expanding", "ewm", "resample"}


def _cases(title: str, model: Any, make: Callable[[Any], Any], left_out: set[str]) -> list[Case]:
    kind = md.DataFrame if isinstance(model, pd.DataFrame) else md.Series
    return list(methods(title, lambda: make(model), lambda: make(kind(model)), NEEDED, left_out))


def _makers(title: str, model: Any, steps: dict[str, tuple[dict[str, Any], str]]) -> list[Case]:
    """Return methods that make groups or windows, each with the method of these that is called."""
    kind = md.DataFrame if isinstance(model, pd.DataFrame) else md.Series
    return [
        Case(
            f"{title}.{name}",
            partial(_made, model, name, step),
            lambda name=name, step=step, **how: _made(kind(model), name, step, **how),
            getattr(model, name),
            needed=needed,
        )
        for name, (needed, step) in steps.items()
    ]


def _made(rows: Any, name: str, step: str, **how: Any) -> Any:
    return getattr(getattr(rows, name)(**how), step)()


def groups() -> list[Case]:
    """Return the methods of groups of frames and of series, and those that make them."""
    left_out = OUT | {"rolling", "expanding", "ewm", "resample"}
    by = {"groupby": ({"by": "g"}, "sum")}
    return [
        *_makers("DataFrame", GROUPED, by),
        *_makers("Gaps", GROUPED.assign(g=[1.0, np.nan, 1.0, 2.0, np.nan]), by),
        *_makers("Categories", GROUPED.assign(g=pd.Categorical(list("abaca"), list("zabc"))), by),
        *_makers("Levels", LEVELS, {"groupby": ({"level": 0}, "sum")}),
        *_makers("Timed", TIMED, {"resample": ({"rule": "12h"}, "sum")}),
        *_cases("groups", GROUPED, lambda rows: rows.groupby("g"), left_out),
        *_cases("group", GROUPED, lambda rows: rows.groupby("g")["b"], left_out),
        *_cases("resample", TIMED, lambda rows: rows.resample("12h"), left_out),
    ]


def windows() -> list[Case]:
    """Return the methods of windows."""
    return [
        *_makers("DataFrame", FRAME, WINDOWS),
        *_makers("Timed", TIMED, {"rolling": ({"window": "10h"}, "sum")}),
        *_cases("rolling", FRAME, lambda rows: rows.rolling(2), OUT),
        *_cases("expanding", FRAME, lambda rows: rows.expanding(), OUT),
        *_cases("ewm", FRAME, lambda rows: rows.ewm(com=1), OUT),
    ]
