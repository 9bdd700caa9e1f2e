"""Tables of all types of columns, cut somehow, in all states: for tests of what others see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.strategies import chunkings

#: A value of each kind of column by its number; a third of them are missing where they can be.
KINDS: dict[str, Any] = {
    "int": lambda n: pd.Series([*range(n)], dtype="i8"),
    "float": lambda n: pd.Series([np.nan if i % 3 == 1 else i / 4 for i in range(n)], dtype="f8"),
    "bool": lambda n: pd.Series([i % 2 == 0 for i in range(n)], dtype=bool),
    "str": lambda n: pd.Series([None if i % 3 == 1 else f"s{i}" for i in range(n)], dtype="str"),
    "datetime": lambda n: pd.Series(pd.date_range("2024-01-31", periods=n, freq="D")),
    "category": lambda n: pd.Series(
        pd.Categorical([None if i % 3 == 1 else "ab"[i % 2] for i in range(n)], ["a", "b"])
    ),
    "object": lambda n: pd.Series(
        [None if i % 3 == 1 else f"o{i}" for i in range(n)], dtype=object
    ),
    "nullable": lambda n: pd.Series([None if i % 3 == 1 else i for i in range(n)], dtype="Int64"),
}
LABELS: dict[str, Any] = {
    "range": pd.RangeIndex,
    "shifted": lambda n: pd.RangeIndex(5, 5 + 2 * n, 2, name="row"),
    "text": lambda n: pd.Index([f"r{i}" for i in range(n)], dtype="str", name="row"),
}


@st.composite
def states(draw: Any, kinds: Any = tuple(KINDS)) -> tuple[Any, Any]:
    """Return a frame of some of the kinds and the lazy one: cut, filtered or executed somehow."""
    rows = draw(st.integers(0, 9))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique=True))
    frame = pd.DataFrame({kind: KINDS[kind](rows) for kind in chosen})
    frame.index = LABELS[draw(st.sampled_from(sorted(LABELS)))](rows)
    (sizes,) = draw(chunkings((rows,)))
    lazy = md.DataFrame(frame, chunk_size=(sizes,))
    if draw(st.booleans()):
        mask = np.arange(rows) % 4 != 2
        frame, lazy = frame[mask], lazy[list(mask)] if rows else lazy
    if draw(st.booleans()):
        lazy.execute()
    return frame, lazy
