"""D01, D03 and D04: each reads its Parquet files and works on them, as pandas would write it."""

from __future__ import annotations

from typing import Any

from benchmarks.rows import Workload
from benchmarks.systems import System

Data = tuple[Any, ...]


def groupby_files(s: System) -> Data:
    """Name the db-benchmark table."""
    return (s.files("groupby"),)


def big_files(s: System) -> Data:
    """Name two tables of permuted keys."""
    return s.files("left"), s.files("right")


def small_files(s: System) -> Data:
    """Name a long table of few keys and a table of a tenth of them."""
    return s.files("kv"), s.files("small")


def left_files(s: System) -> Data:
    """Name one table of permuted keys."""
    return (s.files("left"),)


def d01a(s: System, path: str) -> Data:
    """Filter, then aggregate by a string of few values."""
    df = s.read(path)
    return (df[df.v3 > 50].groupby("id1").agg({"v1": "sum", "v3": "mean"}),)


def d01b(s: System, path: str) -> Data:
    """Aggregate by a string of many values."""
    return (s.read(path).groupby("id3").agg({"v1": "sum", "v3": "mean"}),)


def merge(s: System, left: str, right: str) -> Data:
    """Join two tables on their key."""
    return (s.read(left).merge(s.read(right), on="key"),)


def d04(s: System, path: str) -> Data:
    """Sort a table by its key."""
    return (s.read(path).sort_values("key"),)


ROWS = (
    Workload("D01a_filter_groupby", groupby_files, d01a, unordered=True),
    Workload("D01b_groupby_str1e5", groupby_files, d01b, unordered=True),
    Workload("D03a_merge_big", big_files, merge, held=True, unordered=True),
    Workload("D03b_merge_small", small_files, merge, held=True, unordered=True),
    Workload("D04_sort_values", left_files, d04, held=True),
)
