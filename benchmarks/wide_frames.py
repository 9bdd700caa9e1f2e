"""Compare CPU times of frames of many columns and few rows with pandas's.

`python -m benchmarks.wide_frames --columns 1000` takes seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import marsdask.dataframe as md

ROWS, CHUNK = 20, 7

OPERATIONS: dict[str, Callable[[Any, Path], Any]] = {
    "describe": lambda frame, _: frame.describe(),
    "melt": lambda frame, _: frame.melt(),
    "agg(list)": lambda frame, _: frame.agg(["sum", "max"]),
    "nunique": lambda frame, _: frame.nunique(),
    "quantile": lambda frame, _: frame.quantile([0.25, 0.5]),
    "median": lambda frame, _: frame.median(),
    "value_counts": lambda frame, _: frame.value_counts(),
    "to_csv": lambda frame, folder: frame.to_csv(str(folder / "wide.csv")),
    "isna": lambda frame, _: frame.isna(),
    "astype": lambda frame, _: frame.astype("f4"),
    "corr of 300": lambda frame, _: frame.iloc[:, :300].corr(),
}


def cpu_seconds(call: Callable[[Any, Path], Any], frame: Any, folder: Path) -> float:
    """Return the CPU seconds of a call and of computing its result, the least of three runs."""
    runs = []
    for _ in range(3):
        start = time.process_time()
        result = call(frame, folder)
        if hasattr(result, "compute"):
            result.compute()
        runs.append(time.process_time() - start)
        del result
    return min(runs)


def main() -> None:
    """Print a table of CPU times and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=1000)
    columns = parser.parse_args().columns
    values = np.random.default_rng(0).normal(size=(ROWS, columns))
    plain = pd.DataFrame(values, columns=[f"c{at}" for at in range(columns)])
    lazy = md.DataFrame(plain, chunk_size=CHUNK)
    print("| operation | pandas CPU s | ours CPU s | ours / (pandas + 0.01) |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, call in OPERATIONS.items():
            theirs, ours = (cpu_seconds(call, x, Path(folder)) for x in (plain, lazy))
            print(f"| {name} | {theirs:.3f} | {ours:.3f} | {ours / (theirs + 0.01):.1f} |")


if __name__ == "__main__":
    main()
