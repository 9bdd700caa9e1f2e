"""Make the Parquet tables of the frame rows once, a file at a time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.rows import queries, tpch

GROUPS = 100
TABLES_OF_ROW = {
    "D01a_filter_groupby": ("groupby",),
    "D01b_groupby_str1e5": ("groupby",),
    "D03a_merge_big": ("left", "right"),
    "D03b_merge_small": ("kv", "small"),
    "D02a_groupby_1e6": ("kv",),
    "D02b_groupby_median": ("groupby",),
    "D04_sort_values": ("left",),
    "D05_drop_dup": ("kv",),
    "D06_value_counts": ("groupby",),
    "D07a_read_csv": ("groupby_csv",),
    "D07b_csv_groupby": ("groupby_csv",),
    "D08a_rolling": ("left",),
    "D08b_shift": ("kv",),
    "D08c_set_index": ("left",),
    "D09a_apply_rows": ("small",),
    "D09b_groupby_apply": ("groupby",),
    "D11_str": ("groupby",),
    "D12_column_math": ("groupby",),
    **{query.upper(): tuple(names.split()) for query, names in queries.TABLES.items()},
}


def names(pattern: str, codes: np.ndarray, count: int) -> pa.Array:
    """Spell codes as strings, each distinct one formatted once."""
    return pa.array([pattern % i for i in range(1, count + 1)]).take(pa.array(codes))


def groupby(scale: float) -> Iterator[pa.Table]:
    """Yield db-benchmark's group-by table: 1e7 rows, K = 100, ten files."""
    rows = round(1e6 * scale)
    many = max(1, round(1e7 * scale) // GROUPS)
    for part in range(10):
        rng = np.random.default_rng([1, part])
        yield pa.table(
            {
                "id1": names("id%03d", rng.integers(0, GROUPS, rows), GROUPS),
                "id2": names("id%03d", rng.integers(0, GROUPS, rows), GROUPS),
                "id3": names("id%010d", rng.integers(0, many, rows), many),
                "id4": rng.integers(1, GROUPS + 1, rows),
                "id5": rng.integers(1, GROUPS + 1, rows),
                "id6": rng.integers(1, many + 1, rows),
                "v1": rng.integers(1, 6, rows),
                "v2": rng.integers(1, 16, rows),
                "v3": rng.uniform(0, 100, rows).round(6),
            }
        )


def keyed(scale: float, seed: int, column: str) -> Iterator[pa.Table]:
    """Yield 5e6 permuted keys with one value each, eight files."""
    rng = np.random.default_rng(seed)
    keys = rng.permutation(round(5e6 * scale))
    for part in np.array_split(keys, 8):
        yield pa.table({"key": part, column: rng.random(len(part))})


def left(scale: float) -> Iterator[pa.Table]:
    """Yield the left side of the big merge."""
    return keyed(scale, 2, "x")


def right(scale: float) -> Iterator[pa.Table]:
    """Yield the right side of the big merge."""
    return keyed(scale, 3, "y")


def kv(scale: float) -> Iterator[pa.Table]:
    """Yield 3e7 rows over 1e6 keys, twelve files."""
    for part in range(12):
        rng = np.random.default_rng([4, part])
        rows = round(2.5e6 * scale)
        key = rng.integers(0, max(1, round(1e6 * scale)), rows)
        yield pa.table({"key": key, "v": rng.random(rows)})


def small(scale: float) -> Iterator[pa.Table]:
    """Yield a tenth of the keys of `kv`, once each."""
    rng = np.random.default_rng(5)
    keys = rng.permutation(max(10, round(1e6 * scale)))[: max(1, round(1e5 * scale))]
    yield pa.table({"key": keys, "w": rng.random(len(keys))})


TABLES: dict[str, Callable[[float], Iterator[pa.Table]]] = {
    "groupby": groupby,
    "groupby_csv": groupby,
    "left": left,
    "right": right,
    "kv": kv,
    "small": small,
    **{
        name: partial(tpch.table, name)
        for name in sorted({name for names in queries.TABLES.values() for name in names.split()})
    },
}

#: Tables that are one CSV file each.
OF_CSV = {"groupby_csv"}


def ensure_for(row: str, root: Path, scale: float) -> None:
    """Write the tables that a row reads."""
    for table in TABLES_OF_ROW.get(row, ()):
        ensure(table, root, scale)


def ensure(table: str, root: Path, scale: float) -> None:
    """Write a table unless it is there; an interrupted run leaves none that looks complete."""
    target = root / table
    if target.exists():
        return
    root.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{table}-", dir=root))
    try:
        if table in OF_CSV:
            write_csv(TABLES[table](scale), making / f"{table}.csv")
        else:
            for number, part in enumerate(TABLES[table](scale)):
                pq.write_table(part, making / f"part-{number:02d}.parquet")
        making.rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def write_csv(parts: Iterator[pa.Table], path: Path) -> None:
    """Write parts of a table as one CSV file, without quotes."""
    how = csv.WriteOptions(include_header=False, quoting_style="none")
    with path.open("wb") as file:
        for part in parts:
            if not file.tell():
                file.write(",".join(part.column_names).encode() + b"\n")
            csv.write_csv(part, file, how)
