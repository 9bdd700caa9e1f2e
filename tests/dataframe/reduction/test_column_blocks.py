"""Frames of many columns cost a task for each block of columns, and have pandas's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.graph import Graph
from marsdask.dataframe.reduction import column_blocks
from tests.dataframe.tables import equal

#: The columns of the frames: numbers, truths and texts, with gaps.
COUNT = 64

NUMBERS: dict[str, Callable[[Any], Any]] = {
    "describe": lambda d: d.describe(percentiles=[0.1, 0.7]),
    "quantile": lambda d: d.quantile(0.3),
    "quantiles": lambda d: d.quantile([0.25, 0.5], interpolation="nearest"),
    "median": lambda d: d.median(),
    "agg": lambda d: d.agg(["sum", "max", "mean"]),
}

MIXED: dict[str, Callable[[Any], Any]] = {
    "describe": lambda d: d.describe(),
    "describe all": lambda d: d.describe(include="all"),
    "nunique": lambda d: d.nunique(),
    "nunique with gaps": lambda d: d.nunique(dropna=False),
    "agg": lambda d: d.agg(["min", "count"]),
    "melt": lambda d: d.melt(),
    "melt by": lambda d: d.melt(["c3", "c0"], var_name="of", value_name="is"),
    "melt with labels": lambda d: d.melt(["c0"], ["c4", "c1"], ignore_index=False),
    "mode": lambda d: d.mode(),
    "mode with gaps": lambda d: d.mode(dropna=False),
    "value_counts": lambda d: d.value_counts(normalize=True),
    "value_counts with gaps": lambda d: d.value_counts(dropna=False),
}


def wide(kinds: int) -> pd.DataFrame:
    """Return a frame whose columns are of the first kinds in turn."""
    rng = np.random.default_rng(0)
    makers: list[Callable[[], Any]] = [
        lambda: np.where(rng.random(7) < 0.2, np.nan, rng.integers(0, 4, 7)),
        lambda: rng.integers(0, 4, 7),
        lambda: rng.integers(0, 4, 7) > 1,
        lambda: pd.array([None if i == 2 else f"t{i}" for i in rng.integers(0, 4, 7)], "str"),
    ]
    return pd.DataFrame({f"c{at}": makers[at % kinds]() for at in range(COUNT)})


CASES = [(2, call) for call in NUMBERS.values()] + [(4, call) for call in MIXED.values()]
NAMES = [*NUMBERS, *(f"mixed {name}" for name in MIXED)]


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(("kinds", "call"), CASES, ids=NAMES)
@pytest.mark.parametrize("several", [False, True], ids=["one block", "blocks"])
def test_statistics_of_wide_frames_are_pandas(
    kinds: int, call: Callable[[Any], Any], several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one block or in several, and the plan has no node for each column."""
    frame = wide(kinds)
    if several:
        monkeypatch.setattr(column_blocks, "MANY_COLUMNS", 16)
        monkeypatch.setattr(column_blocks, "BLOCK_BYTES", 7 * 8 * 24 * 2)
    lazy = md.DataFrame(frame, chunk_size=3)
    result = call(lazy)
    equal(result, call(frame))
    assert len(Graph([result.node]).nodes) < COUNT // 2


def test_long_columns_are_not_brought_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks have limited bytes; of columns that exceed them each is computed by itself."""
    lazy = md.DataFrame(wide(2), chunk_size=3)
    monkeypatch.setattr(column_blocks, "BLOCK_BYTES", 7 * 8)
    assert column_blocks.column_blocks(lazy) == []
    equal(lazy.median(), wide(2).median())
