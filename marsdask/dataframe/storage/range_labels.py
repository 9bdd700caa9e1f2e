"""Row labels that files store as a RangeIndex in place of its labels, or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.node import Node
from marsdask.core.sizes import is_single


def stored_range(footers: Sequence[Any]) -> pd.RangeIndex:
    """Return the labels of all rows of files: those that pandas wrote if they fit, or from 0.

    As with pandas, the first file tells them for all, and counts only if it has as many labels.
    """
    rows = sum(footer.num_rows for footer in footers)
    metadata = footers[0].schema.to_arrow_schema().metadata or {}
    columns = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
    if len(columns) == 1 and isinstance(columns[0], dict) and columns[0].get("kind") == "range":
        start, stop, step = (int(columns[0][key]) for key in ("start", "stop", "step"))
        labels = pd.RangeIndex(start, stop, step, name=columns[0]["name"])
        if len(labels) == rows:
            return labels
    return pd.RangeIndex(rows)


def labels_of_runs(labels: pd.RangeIndex, runs: Sequence[tuple[int, int]]) -> Any:
    """Return the labels of runs of rows, each a first row and a number of rows."""
    first, stop = runs[0][0], sum(runs[-1])
    if stop - first == sum(count for _, count in runs):
        return labels[first:stop]
    return labels.take(np.concatenate([np.arange(at, at + count) for at, count in runs]))


def are_numbers(node: Node) -> bool:
    """Tell whether it is known that the labels of all rows are their numbers, without a name.

    Those of chosen rows are not, whose alignment ends with the choice, in brackets.
    """
    rows = node.alignment
    numbered = rows.startswith(("range:", "number:")) and not rows.endswith("]")
    return numbered and node.meta.index.name is None


def labels_as_columns(node: Node) -> bool | None:
    """Tell how labels are stored if the user did not: ``None`` for pandas's choice.

    Some chunks of a filtered frame may have a range of labels, which pandas would not write; it
    would not read the name of such labels from several files.
    """
    return None if are_numbers(node) or is_single(node.chunks[0]) else True
