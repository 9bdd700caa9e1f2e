"""Compare CPU times of programs that want one column of a wide Parquet file with Dask's.

`python -m benchmarks.columns_read --columns 40 --rows 1000000` takes a minute. Ours run with
pandas's kernels, as jobs do that the engine is not for.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

import marsdask
import marsdask.dataframe as md

FILES = 4

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "fillna, round": lambda frame: frame.fillna(0).round(2)["c3"].sum(),
    "arithmetic": lambda frame: (frame * 2 + 1)["c3"].sum(),
    "add_prefix": lambda frame: frame.add_prefix("x_")["x_c3"].sum(),
    "isna": lambda frame: frame.isna()["c3"].sum(),
    "reset_index": lambda frame: frame.reset_index()["c3"].sum(),
    "dropna(subset)": lambda frame: frame.dropna(subset=["c2"])["c3"].sum(),
    "groupby.sum": lambda frame: frame.groupby("c0").sum()["c3"],
}


def cpu_seconds(program: Callable[[Any], Any], read: Callable[[Any], Any], folder: str) -> float:
    """Return the CPU seconds of reading and computing, the least of three runs."""
    runs = []
    for _ in range(3):
        start = time.process_time()
        program(read(folder)).compute()
        runs.append(time.process_time() - start)
    return min(runs)


def main() -> None:
    """Print a table of CPU times and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    marsdask.options.dataframe.kernels = "pandas"
    values = np.random.default_rng(0).normal(size=(options.rows // FILES, options.columns))
    frame = pd.DataFrame(values, columns=[f"c{at}" for at in range(options.columns)])
    frame["c0"] = frame["c0"].round(1)
    print("| program | Dask CPU s | ours CPU s | Dask / ours |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            frame.to_parquet(Path(folder, f"{number}.parquet"))
        for name, program in PROGRAMS.items():
            theirs, ours = (
                cpu_seconds(program, read, folder) for read in (dd.read_parquet, md.read_parquet)
            )
            print(f"| {name} | {theirs:.2f} | {ours:.2f} | {theirs / ours:.1f} |")


if __name__ == "__main__":
    main()
