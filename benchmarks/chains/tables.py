"""Families of operations on frames and their columns."""

from __future__ import annotations

from typing import Any

from .family import OURS, Family, Vocabulary

table, numbers, column, text = (
    Vocabulary.table,
    Vocabulary.numbers,
    Vocabulary.column,
    Vocabulary.text,
)


def extended(v: Vocabulary, d: Any, i: int) -> Any:
    """Set a column."""
    d[f"n{i % 3}"] = d["a"] + i
    return d


def grouped(v: Vocabulary, d: Any, i: int) -> Any:
    """Aggregate by a key, and keep the key."""
    return d.groupby("k").agg({"a": "sum", "b": "mean"}).reset_index()


def through_arrays(v: Vocabulary, s: Any, i: int) -> Any:
    """Make an array and a column of that."""
    if v is OURS:
        return v.frame.Series(s.to_tensor() + 1)
    return v.frame.from_dask_array(s.to_dask_array() + 1)


ROWWISE = {
    "d.assign": Family(table, lambda v, d, i: d.assign(n=d.a * 2 + d.b)),
    "d[column] =": Family(table, extended),
    "d[d.a > -i]": Family(table, lambda v, d, i: d[d.a > -i]),
    "assign, filter": Family(table, lambda v, d, i: d.assign(n=d.a * 2)[d.a > -i]),
    "d[columns]": Family(table, lambda v, d, i: d[["a", "b"] if i % 2 else ["b", "a"]]),
    "rename": Family(table, lambda v, d, i: d.rename(columns={"a": "a"})),
    "d.astype": Family(table, lambda v, d, i: d.astype({"a": "f8" if i % 2 else "i8"})),
    "dropna": Family(table, lambda v, d, i: d.dropna()),
    "fillna": Family(table, lambda v, d, i: d.fillna(0)),
    "s * s + s": Family(column, lambda v, s, i: s * s + s),
    "s + i": Family(column, lambda v, s, i: s + i),
    "s.where": Family(column, lambda v, s, i: s.where(s > 0, 0)),
    "s.isin": Family(column, lambda v, s, i: s + s.isin([1, 2])),
    "s.str": Family(text, lambda v, s, i: s.str.upper() if i % 2 else s.str.lower()),
    "to_tensor": Family(column, through_arrays),
}

ROWS = {
    "head": Family(table, lambda v, d, i: d.head(40)),
    "iloc": Family(table, lambda v, d, i: d.iloc[::-1]),
    "concat": Family(table, lambda v, d, i: v.frame.concat([d.iloc[:20], d.iloc[20:]])),
    "merge": Family(table, lambda v, d, i: d.merge(d[["k"]].drop_duplicates(), on="k")),
    "groupby": Family(table, grouped),
    "sort_values": Family(table, lambda v, d, i: d.sort_values("a")),
    "sort_index": Family(table, lambda v, d, i: d.sort_index()),
    "set_index": Family(table, lambda v, d, i: d.set_index("a").reset_index()),
    "drop_duplicates": Family(table, lambda v, d, i: d.drop_duplicates()),
    "d.cumsum": Family(numbers, lambda v, d, i: d.cumsum()),
    "s.cumsum": Family(column, lambda v, s, i: s.cumsum()),
    "shift": Family(column, lambda v, s, i: s.shift(1)),
    "s.diff": Family(column, lambda v, s, i: s.diff()),
    "rolling": Family(column, lambda v, s, i: s.rolling(3).sum()),
    "s.sum": Family(column, lambda v, s, i: s - s.sum()),
    "d.mean": Family(numbers, lambda v, d, i: d - d.mean()),
    "value_counts": Family(column, lambda v, s, i: s.value_counts().reset_index(drop=True)),
}

TABLES = {**ROWWISE, **ROWS}
