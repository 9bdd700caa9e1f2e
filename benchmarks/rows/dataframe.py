"""D01 to D12 and S01: each works on its files or rows in memory, as a pandas user writes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rows import Workload
from benchmarks.systems import System

Data = tuple[Any, ...]


def tables(*names: str) -> Any:
    """Return a setup that names the folders of tables."""

    def setup(s: System) -> Data:
        return tuple(s.files(name) for name in names)

    return setup


def d01a(s: System, path: str) -> Data:
    """Filter, then aggregate by a string of few values."""
    df = s.read(path)
    return (df[df.v3 > 50].groupby("id1").agg({"v1": "sum", "v3": "mean"}),)


def d01b(s: System, path: str) -> Data:
    """Aggregate by a string of many values."""
    return (s.read(path).groupby("id3").agg({"v1": "sum", "v3": "mean"}),)


def d02a(s: System, path: str) -> Data:
    """Aggregate by a key of a million values."""
    return (s.read(path).groupby("key").agg({"v": "sum"}),)


def d02b(s: System, path: str) -> Data:
    """Take the median of groups."""
    return (s.read(path).groupby(["id4", "id5"]).agg({"v3": "median"}),)


def merge(s: System, left: str, right: str) -> Data:
    """Join two tables on their key."""
    return (s.read(left).merge(s.read(right), on="key"),)


def d04(s: System, path: str) -> Data:
    """Sort a table by its key."""
    return (s.read(path).sort_values("key"),)


def d05(s: System, path: str) -> Data:
    """Drop the duplicates of a column."""
    return (s.read(path).key.drop_duplicates(),)


def d06(s: System, path: str) -> Data:
    """Count the values of a text."""
    return (s.read(path).id3.value_counts(),)


def d07a(s: System, path: str) -> Data:
    """Read a CSV file."""
    return (s.read_csv(path),)


def d07b(s: System, path: str) -> Data:
    """Aggregate the rows of a CSV file."""
    return (s.read_csv(path).groupby("id1").agg({"v1": "sum", "v3": "mean"}),)


def d08a(s: System, path: str) -> Data:
    """Average each value with those before it."""
    return (s.read(path).x.rolling(100).mean(),)


def d08b(s: System, path: str) -> Data:
    """Sum the differences of neighbours."""
    values = s.read(path).v
    return ((values - values.shift(1)).abs().sum(),)


def d08c(s: System, path: str) -> Data:
    """Label the rows by a column; Dask sorts them."""
    return (s.read(path).set_index("key"),)


def scaled(row: Any) -> float:
    """Compute a number of a row, in Python."""
    return float(row.key % 7 * row.w)


def d09a(s: System, path: str) -> Data:
    """Call a Python function with each row."""
    return (s.read(path).apply(scaled, axis=1, **s.meta((None, "f8"))),)


def correlation(group: Any) -> float:
    """Return the correlation of two columns."""
    return float(group.v1.corr(group.v2))


def d09b(s: System, path: str) -> Data:
    """Call a Python function with each group."""
    groups = s.read(path).groupby("id4")[["v1", "v2"]]
    return (groups.apply(correlation, **s.meta((None, "f8"))),)


def d11(s: System, path: str) -> Data:
    """Count the texts that end with a digit."""
    return (s.read(path).id3.str.endswith("7").sum(),)


def d12(s: System, path: str) -> Data:
    """Sum the arithmetic of columns where a condition holds."""
    df = s.read(path)
    return ((df.v1 * df.v2 + df.v3)[df.id4 > 50].sum(),)


#: How often the ten operations are run: processor time is counted in hundredths of seconds.
TIMES = 20


def little(s: System) -> Data:
    """Hold two tables of 1,000 rows and of ten."""
    rng = np.random.default_rng(6)
    rows = pd.DataFrame(
        {
            "k": rng.integers(0, 10, 1000),
            "t": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, 1000)],
            "x": rng.random(1000),
            "y": rng.random(1000),
        }
    )
    return s.frame(rows), s.frame(pd.DataFrame({"k": np.arange(10), "w": rng.random(10)}))


def ten_operations(rows: Any, weights: Any) -> Any:
    """Return a query of ten operations."""
    rows = rows[rows.x > 0.1]
    rows = rows.assign(z=rows.x * rows.y + 1)
    rows = rows.merge(weights, on="k")
    rows = rows[rows.w < 0.9]
    rows = rows.assign(u=rows.z * rows.w).fillna(0.0)
    found = rows.groupby("t").agg({"u": "sum", "z": "mean"}).reset_index()
    return found.sort_values("u", ascending=False).head(3)


def repeated(s: System, rows: Any, weights: Any) -> Data:
    """Run ten operations on little data, so often that it can be measured."""
    for _ in range(TIMES - 1):
        s.computed(ten_operations(rows, weights))
    return (ten_operations(rows, weights),)


GROUPBY, KV, LEFT, SMALL = (tables(one) for one in ("groupby", "kv", "left", "small"))
CSV = tables("groupby_csv")

ROWS = (
    Workload("D01a_filter_groupby", GROUPBY, d01a, unordered=True),
    Workload("D01b_groupby_str1e5", GROUPBY, d01b, unordered=True),
    Workload("D02a_groupby_1e6", KV, d02a, unordered=True),
    Workload("D02b_groupby_median", GROUPBY, d02b, unordered=True),
    Workload("D03a_merge_big", tables("left", "right"), merge, held=True, unordered=True),
    Workload("D03b_merge_small", tables("kv", "small"), merge, held=True, unordered=True),
    Workload("D04_sort_values", LEFT, d04, held=True),
    Workload("D05_drop_dup", KV, d05, unordered=True),
    Workload("D06_value_counts", GROUPBY, d06, unordered=True),
    Workload("D07a_read_csv", CSV, d07a, held=True),
    Workload("D07b_csv_groupby", CSV, d07b, unordered=True),
    Workload("D08a_rolling", LEFT, d08a, held=True),
    Workload("D08b_shift", KV, d08b),
    Workload("D08c_set_index", LEFT, d08c, held=True, unordered=True),
    Workload("D09a_apply_rows", SMALL, d09a),
    Workload("D09b_groupby_apply", GROUPBY, d09b, unordered=True),
    Workload("D11_str", GROUPBY, d11),
    Workload("D12_column_math", GROUPBY, d12),
    Workload("S01_ten_operations_20_times", little, repeated, unordered=True),
)
