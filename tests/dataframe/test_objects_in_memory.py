"""Objects of pandas beside lazy rows: their labels must be equal, or are joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.test_lazy_arguments import change, check, module, result

FRAME = pd.DataFrame(
    {"a": [1, 2, 3, 1], "b": [4.0, np.nan, 6.0, 8.0], "s": list("xyxz")},
    index=pd.Index(["p", "q", "q", "r"], name="k"),
)
NUMBERS = FRAME[["a", "b"]]
ONE, OTHER = FRAME["a"] + 1, FRAME["b"].rename("z")
TWO = NUMBERS * 2

#: Calls with an object of pandas that has the labels of the lazy rows.
CALLS: dict[str, Callable[[Any], Any]] = {
    "+": lambda f: f.a + ONE,
    "reflected +": lambda f: ONE + f.a,
    "other name": lambda f: f.a - OTHER,
    "other name of labels": lambda f: ONE.rename_axis("w") - f.a,
    "frames": lambda f: f[["a", "b"]] * TWO,
    "reflected frames": lambda f: TWO / f[["a", "b"]],
    "frames of other columns": lambda f: f[["a"]] * TWO,
    "frame and its columns": lambda f: f[["a", "b"]] + pd.Series({"b": 2, "a": 3}),
    "frame and other columns": lambda f: f[["a", "b"]] + pd.Series({"b": 2, "c": 3}),
    "add(axis=0)": lambda f: f[["a", "b"]].add(ONE, axis=0),
    "add(fill_value=)": lambda f: f.b.add(OTHER, fill_value=1),
    "index": lambda f: f.a + pd.Index([5, 6, 7, 8], name="i"),
    "==": lambda f: f.a == ONE,
    "frames ==": lambda f: f[["a", "b"]] == TWO,
    "le": lambda f: f.a.le(OTHER),
    "&": lambda f: (f.a > 1) & (ONE > 2),
    "ufunc": lambda f: np.maximum(f.a, ONE),
    "between": lambda f: f.a.between(ONE, OTHER),
    "where": lambda f: f.a.where(ONE > 2, 0),
    "where(other)": lambda f: f.a.where(f.a > 1, OTHER),
    "mask of frames": lambda f: f[["a", "b"]].mask(TWO > 3, TWO),
    "clip": lambda f: f.a.clip(ONE, 5),
    "clip(axis=0)": lambda f: f[["a", "b"]].clip(upper=ONE, axis=0),
    "clip of frames": lambda f: f[["a", "b"]].clip(TWO - 3),
    "assign": lambda f: f.assign(n=OTHER),
    "frame[] =": lambda f: change(f, lambda o: o.__setitem__("n", ONE)),
    "frame[mask]": lambda f: f[ONE > 2],
    "frame[frame]": lambda f: f[["a", "b"]][TWO > 3],
    "frame[labels]": lambda f: f[pd.Series(["b", "a"])],
    "series[mask]": lambda f: f.a[ONE > 2],
    "loc[mask]": lambda f: f.loc[ONE > 2, "a"],
    "loc[labels]": lambda f: f.loc[pd.Series(["r", "p"])],
    "loc[mask] =": lambda f: change(f, lambda o: o.loc.__setitem__((ONE > 2, "a"), 7)),
    "groupby": lambda f: f.b.groupby(ONE).sum(),
    "set_index": lambda f: f.set_index(ONE),
    "set_index of other labels": lambda f: f.set_index(pd.Series([4, 3, 2, 1], name="i")),
    "combine_first": lambda f: f.set_index("s", append=True).b.combine_first(
        FRAME.set_index("s", append=True).a
    ),
    "update": lambda f: change(f.b, lambda o: o.update(ONE)),
    "align": lambda f: f.a.align(OTHER)[1],
    "align of frames": lambda f: f[["b"]].align(TWO)[0],
    "align(fill_value=)": lambda f: f[["b"]].align(TWO, axis=1, fill_value=0)[0],
    "align(join=, fill_value=)": lambda f: f.align(TWO[["a"]], "left", fill_value=7)[1][["b"]],
    "compare": lambda f: f.b.compare(OTHER.fillna(1)),
    "combine": lambda f: f.set_index("s", append=True).b.combine(
        FRAME.set_index("s", append=True).a, max
    ),
    "case_when": lambda f: f.a.case_when([(ONE > 2, OTHER)]),
    "corr": lambda f: f.a.corr(OTHER),
    "cov": lambda f: f.a.cov(OTHER),
    "corrwith": lambda f: f[["a", "b"]].corrwith(ONE),
    "corrwith frames": lambda f: f[["a", "b"]].corrwith(TWO),
    "merge": lambda f: f.merge(FRAME[["s", "b"]][::-1], on="s", how="left"),
    "top-level merge": lambda f: module(f).merge(f, OTHER.rename("a"), on="a"),
    "join": lambda f: f.join(FRAME.set_axis([*"qrst"]).add_prefix("r_"), how="inner"),
    "join of a list": lambda f: f.join([OTHER.groupby(level=0).sum()]),
    "concat": lambda f: module(f).concat([f, TWO, ONE.rename("a")[:1].to_frame()]),
}

#: Calls with an object of other labels.
OTHERS: dict[str, Callable[[Any], Any]] = {
    "other order": lambda f: f.a + ONE[::-1],
    "fewer rows": lambda f: f.a + ONE[:3],
    "more levels": lambda f: f.a + FRAME.set_index("s", append=True).a,
    "assign": lambda f: f.assign(n=ONE.reset_index(drop=True)),
    "mask": lambda f: f[(ONE > 2)[::-1]],
}


def rows(data: Any) -> Any:
    """Return lazy rows in two chunks."""
    return md.DataFrame(data, chunk_size=3)


@pytest.mark.parametrize("name", CALLS)
def test_equal_labels(name: str) -> None:
    """Rows with equal labels give what they give in pandas, whatever the chunks."""
    expected = result(CALLS[name], FRAME)
    with option_context({"coalesce": False}):
        returned = result(CALLS[name], rows(FRAME))
    assert not isinstance(expected, Exception), expected
    assert not isinstance(returned, Exception), returned
    check(returned, expected)


@pytest.mark.parametrize("name", OTHERS)
def test_other_labels_are_refused(name: str) -> None:
    """Labels are not aligned."""
    with pytest.raises(NotImplementedError, match="other labels is not supported"):
        OTHERS[name](rows(FRAME)).compute()


def test_rows_of_unknown_number() -> None:
    """Execution tells the number."""
    chosen = FRAME[FRAME["a"] > 1]
    lazy = rows(FRAME)
    lazy = lazy[lazy["a"] > 1]
    with pytest.raises(NotImplementedError, match="execute"):
        lazy["a"] + chosen["a"]
    check((lazy.execute()["a"] + chosen["a"]).compute(), chosen["a"] * 2)


def test_later_changes() -> None:
    """The object is copied."""
    values = ONE.copy()
    total = rows(FRAME)["a"] + values
    values.iloc[0] = 100
    check(total.compute(), FRAME["a"] + ONE)
