"""Row labels of Parquet files that store a RangeIndex in place of its labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def stored_range(footers: Sequence[Any]) -> pd.RangeIndex:
    """Return the labels of all rows of files: those that pandas wrote if they fit, or from 0.

    As with pandas, the first file tells them for all, and counts only if it has as many labels.
    """
    rows = sum(footer.num_rows for footer in footers)
    metadata = footers[0].schema.to_arrow_schema().metadata or {}
    kept = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
    if len(kept) == 1 and isinstance(kept[0], dict) and kept[0].get("kind") == "range":
        start, stop, step = (int(kept[0][key]) for key in ("start", "stop", "step"))
        labels = pd.RangeIndex(start, stop, step, name=kept[0]["name"])
        if len(labels) == rows:
            return labels
    return pd.RangeIndex(rows)


def labels_of_runs(labels: pd.RangeIndex, runs: Sequence[tuple[int, int]]) -> Any:
    """Return the labels of runs of rows, each a first row and a number of rows."""
    first, stop = runs[0][0], sum(runs[-1])
    if stop - first == sum(count for _, count in runs):
        return labels[first:stop]
    return labels.take(np.concatenate([np.arange(at, at + count) for at, count in runs]))
