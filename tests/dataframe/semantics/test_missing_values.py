"""None, nan, NaT, NA and the text "nan" are kept apart wherever pandas keeps them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md

MISSING = {"None": None, "nan": np.nan, "NaT": pd.NaT, "NA": pd.NA, "text": "nan"}

#: A column of each type with gaps; that of objects has all kinds of them, and chunks without texts.
COLUMNS: dict[str, Callable[[], pd.Series]] = {
    "object": lambda: pd.Series(["u", None, "nan", np.nan, pd.NA, "v", pd.NaT], dtype=object),
    "str": lambda: pd.Series(["u", None, "nan", "v", "u", "w", "q"], dtype="str"),
    "category": lambda: pd.Series(pd.Categorical(["u", None, "v", "v", "u", "nan", "u"])),
    "Int64": lambda: pd.Series([1, None, 3, 1, 4, 5, 3], dtype="Int64"),
}
MASK = [True, False] * 3 + [True]


def module(rows: Any) -> Any:
    """Return pandas for its objects, and our functions for ours."""
    return pd if isinstance(rows, pd.Series) else md


def filled(value: Any) -> list[Any]:
    """Return a list with a value in two chunks."""
    return ["u", value, "u", "u", value, "u", "u"]


def change(rows: Any, write: Callable[[Any], Any]) -> Any:
    """Return a copy that was written to."""
    other = rows.copy()
    write(other)
    return other


def framed(rows: Any) -> Any:
    """Return a frame of the rows and of numbers."""
    return rows.to_frame("a").assign(k=[1, 2, 1, 2, 1, 1, 2])


def labelled(rows: Any) -> Any:
    """Return distinct rows as labels of numbers."""
    return framed(rows).drop_duplicates("a").set_index("a")


def index_of(rows: Any) -> Any:
    """Return the rows as labels."""
    return module(rows).Index(rows)


def write_column(value: Any) -> Callable[[Any], None]:
    """Return what assigns a list to a column in place."""
    return lambda frame: frame.loc.__setitem__((slice(None), "a"), filled(value))


#: Calls with a missing value as an argument.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "[] =": lambda s, m: change(s, lambda o: o.__setitem__(0, m)),
    "loc[list] =": lambda s, m: change(s, lambda o: o.loc.__setitem__([0, 4], m)),
    "iloc[:] = list": lambda s, m: change(s, lambda o: o.iloc.__setitem__(slice(1, 3), [m, "u"])),
    "at =": lambda s, m: change(s, lambda o: o.at.__setitem__(0, m)),
    "frame[] = list": lambda s, m: change(framed(s), lambda o: o.__setitem__("n", filled(m))),
    "frame.loc[:, a] =": lambda s, m: change(framed(s), write_column(m)),
    "insert": lambda s, m: change(framed(s), lambda o: o.insert(0, "n", filled(m))),
    "assign": lambda s, m: framed(s).assign(n=m),
    "where": lambda s, m: s.where(s.index < 3, m),
    "where(list)": lambda s, m: s.where(s.index < 3, filled(m)),
    "mask": lambda s, m: s.mask(s.index < 3, m),
    "fillna": lambda s, m: s.fillna(m),
    "replace": lambda s, m: s.replace("u", m),
    "replace of": lambda s, m: s.replace([m], "u"),
    "isin": lambda s, m: s.isin([m]),
    "frame.isin": lambda s, m: framed(s).isin({"a": [m]}),
    "reindex": lambda s, m: s.reindex([0, 1, 9], fill_value=m),
    "shift": lambda s, m: s.shift(1, fill_value=m),
    "groupby(list)": lambda s, m: framed(s).groupby(filled(m), dropna=False).k.sum(),
    "concat": lambda s, m: module(s).concat([s, module(s).Series([m], dtype=object)]),
    "combine_first": lambda s, m: s.combine_first(module(s).Series(filled(m), dtype=object)),
    "Series": lambda s, m: module(s).Series(filled(m), dtype=object),
    "DataFrame": lambda s, m: module(s).DataFrame({"q": filled(m)}),
    "index.isin": lambda s, m: index_of(s).isin([m]),
    "index.insert": lambda s, m: index_of(s).insert(1, m),
    "index.fillna": lambda s, m: index_of(s).fillna(m),
    "index.where": lambda s, m: index_of(s).where(MASK, m),
    "index.putmask": lambda s, m: index_of(s).putmask(MASK, m),
    "loc[[]]": lambda s, m: labelled(s).loc[[m]],
    "drop": lambda s, m: labelled(s).drop([m]),
    "index.drop": lambda s, m: index_of(s).drop_duplicates().drop([m]),
    "set_axis": lambda s, m: s.set_axis(filled(m)),
    "set_index(Index)": lambda s, m: framed(s).set_index(pd.Index(filled(m), dtype=object)),
    "set_index([list])": lambda s, m: framed(s).set_index([filled(m)]),
    "value_counts": lambda s, m: s.where(s == "u", m).value_counts(dropna=False),
    "drop_duplicates": lambda s, m: s.where(s == "u", m).drop_duplicates(),
    "factorize": lambda s, m: s.where(s == "u", m).factorize(use_na_sentinel=False),
    "mode": lambda s, m: s.where(s == "u", m).mode(dropna=False),
    "max": lambda s, m: s.where(s == "u", m).max(),
}

#: Calls that carry or find what is missing.
CARRIED: dict[str, Callable[[Any], Any]] = {
    "unique": lambda s: s.drop_duplicates(),
    "value_counts": lambda s: s.value_counts(dropna=False),
    "ffill": lambda s: s.ffill(),
    "shift": lambda s: s.shift(-2),
    "factorize": lambda s: s.factorize(use_na_sentinel=False),
    "astype(object)": lambda s: s.astype(object),
    "sort_values": lambda s: s.astype("category").sort_values(na_position="first", kind="stable"),
    "groupby": lambda s: framed(s).groupby("a", dropna=False).k.sum(),
    "groupby().first": lambda s: framed(s).groupby("k").a.first(),
    "merge": lambda s: framed(s).merge(framed(s), on="a"),
    "merge(outer)": lambda s: framed(s).iloc[2:].merge(framed(s).iloc[:3], on="a", how="outer"),
    "set_index": lambda s: framed(s).set_index("a"),
    "reindex": lambda s: s.reindex([0, 8, 1]),
    "get_dummies": lambda s: module(s).get_dummies(s, dummy_na=True, dtype=int),
    "tolist": lambda s: s.tolist(),
    "iat": lambda s: framed(s).iat[1, 0],
    "index": index_of,
    "index.unique": lambda s: index_of(s).unique(),
    "index.dropna": lambda s: index_of(s).dropna(),
    "index.isna": lambda s: index_of(s).isna(),
    "index.to_frame": lambda s: index_of(s).to_frame(name="z"),
    "where": lambda s: s.where(s.index < 3),
    "duplicated": lambda s: s.duplicated(keep=False),
    "explode": lambda s: s.explode(),
    "frame.explode": lambda s: framed(s).explode(["a", "k"]),
    "repeat": lambda s: s.repeat(2),
    "melt": lambda s: framed(s).melt("k"),
    "melt(ids)": lambda s: framed(s).melt("a"),
    "stack": lambda s: framed(s).assign(t="x")[["a", "t"]].stack(),
    "lreshape": lambda s: module(s).lreshape(
        framed(s).assign(b=s, i=s), {"q": ["a", "b"]}, dropna=False
    ),
}


def cells(values: Any) -> list[str]:
    """Return texts of values that tell what is missing by what."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    return [repr(value) for value in plain]


def parts(value: Any) -> Any:
    """Return types, labels and values of a computed result."""
    value = value.compute() if hasattr(value, "compute") else value
    if isinstance(value, tuple | list):
        return [parts(item) for item in value]
    if isinstance(value, pd.DataFrame):
        return [parts(value.index), *(parts(value.iloc[:, at]) for at in range(value.shape[1]))]
    if isinstance(value, pd.Series):
        return [str(value.dtype), parts(value.index), cells(value.array)]
    if isinstance(value, pd.Index):
        return [str(value.dtype), cells(value)]
    return cells(value) if isinstance(value, np.ndarray) else cells([value])


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """Return what a call gives, or the type of the error that it raises."""
    try:
        return parts(call(*args))
    except (KeyError, TypeError, ValueError) as error:
        return type(error)


def lazy(rows: pd.Series) -> Any:
    """Return the rows in chunks of two."""
    return md.Series(rows, chunk_size=2)


@pytest.mark.parametrize("name", CALLS)
def test_values_that_are_given(name: str) -> None:
    """Objects have what was given, and is found among them by what it is."""
    call, rows = CALLS[name], COLUMNS["object"]()
    for kind, missing in MISSING.items():
        assert outcome(call, lazy(rows), missing) == outcome(call, rows, missing), kind


#: Calls whose results pandas types otherwise.
OTHER_TYPES = {
    ("Int64", "get_dummies"),  # a column of NA is named nan
    ("category", "sort_values"),
}


@pytest.mark.parametrize("name", CARRIED)
def test_values_that_are_there(name: str) -> None:
    """What is missing in a column comes out as what it was."""
    call = CARRIED[name]
    for kind, column in COLUMNS.items():
        if (kind, name) not in OTHER_TYPES:
            rows = column()
            assert outcome(call, lazy(rows)) == outcome(call, rows), kind
