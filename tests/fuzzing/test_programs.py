"""Programs of some calls give what NumPy and pandas give, or are refused."""

from __future__ import annotations

import os
import time
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.fuzzing import programs
from tests.fuzzing.templates import TEMPLATES

#: ``make fuzz`` sets them; here some programs that are always the same.
SEED = os.environ.get("FUZZ_SEED", "1")
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
FEW = 30


def test_programs():
    """No value, type, label or error differs in silence."""
    end = time.monotonic() + SECONDS
    differences = []
    for number in count():
        if number >= FEW and time.monotonic() >= end:
            break
        difference = programs.run(f"{SEED}-{number}")
        if difference is not None:
            differences.append(str(difference))
    assert not differences, f"{len(differences)} of {number} programs:\n" + "\n".join(differences)


def test_every_line_is_valid():
    """Each template makes an expression of Python, and most run on the reference."""
    rng = Random(0)
    runs = []
    for kind, start in (
        ("frame", programs.frame_of(rng)),
        ("series", pd.Series([1.5, 2.0, None])),
        ("array", np.arange(6.0)),
    ):
        for template in TEMPLATES[kind]:
            code = compile(programs.fill(template, start, rng), template, "eval")
            try:
                eval(code, {"pd": pd, "np": np, "x": start, "y": start})  # noqa: S307
            except Exception:  # noqa: BLE001 - whatever it is
                runs.append(False)
            else:
                runs.append(True)
    assert np.mean(runs) > 0.7


@pytest.mark.parametrize(
    "wrong",
    [
        lambda frame: frame + 1,
        lambda frame: frame.astype("float32"),
        lambda frame: frame.rename(columns={"a": "b"}),
        lambda frame: frame.iloc[::-1],
    ],
    ids=["value", "type", "label", "order"],
)
def test_differences_are_seen(wrong: Any):
    """Another value, type, label or order is a difference."""
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    programs.check_equal(md.DataFrame(frame).compute(), frame)
    with pytest.raises(AssertionError):
        programs.check_equal(wrong(frame), frame)


def test_a_narrow_reason_leaves_out_few_lines():
    """Gaps among truth values change the order of the columns that a line sorts, and no others."""
    frame = pd.DataFrame({"a": pd.Series([True, None, np.nan], dtype=object), "b": [1, 2, 3]})
    assert programs.has_sorted_gaps("x.groupby('a', dropna=False)[['b']].sum()", frame)
    assert programs.has_sorted_gaps("x.mode(dropna=False)", frame)
    for line in (
        "x.groupby('b', dropna=False)[['a']].first()",
        "x.groupby('a', sort=False, dropna=False).size()",
        "x.nunique(axis=0, dropna=False)",
    ):
        assert not programs.has_sorted_gaps(line, frame)
    assert programs.has_sorted_gaps("x.value_counts(dropna=False)", frame["a"])


def test_levels_of_the_past_are_left_out_where_ours_forgets_them():
    """Those of rows that were chosen before execution, or are sorted again, and no others."""
    frame = pd.DataFrame({"u": [0.5, 4.0, 1.5], "f": [1.5, 0.5, 1.0]})
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    chosen, ours = frame.stack().iloc[[2, 1]], lazy.stack().iloc[[2, 1]]
    assert not programs.has_past_levels(chosen, ours.node)
    assert programs.has_past_levels(chosen, ours.execute().node)
    assert not programs.has_past_levels(frame.stack(), lazy.stack().execute().node)
    assert not programs.has_past_levels(frame, lazy.execute().node)
    assert programs.has_past_levels(chosen[::-1].sort_index(), ours[::-1].sort_index().node)
