"""Few values have the quartiles, the whiskers and the outliers of all values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.plotting import box

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "k": RNG.integers(0, 3, 60),
        "x": np.where(RNG.random(60) < 0.2, np.nan, RNG.standard_t(1, 60)),
        "n": RNG.poisson(2, 60),
        "none": np.nan,
    }
)


def stats(values: Any, reach: float = 1.5) -> list[float]:
    """Return what matplotlib computes of a box: quartiles, ends of whiskers, outliers."""
    values = np.asarray(values, float)
    values = values[~np.isnan(values)]
    if not len(values):
        return []
    first, middle, third = np.percentile(values, [25, 50, 75])
    low, high = first - reach * (third - first), third + reach * (third - first)
    inside = values[(values >= low) & (values <= high)]
    ends = [inside.min(initial=first), inside.max(initial=third)]
    outside = np.sort(values[(values < low) | (values > high)])
    return [first, middle, third, *ends, *outside]


@pytest.mark.parametrize("reach", [1.5, 0, 3])
def test_boxes(reach):
    """Of frames in any chunks, of columns without a value, of few values."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=((9, 0, 31, 20),))
    for rows, one in ((FRAME, lazy), (FRAME[FRAME.n > 3], lazy[lazy.n > 3]), (FRAME[:2], lazy[:2])):
        found = box.box_rows(one, {"whis": reach})
        assert list(found) == list(rows)
        for label in rows:
            assert stats(found[label], reach) == pytest.approx(stats(rows[label], reach))
    assert not len(box.box_rows(lazy[lazy.n > 99], {}))


def test_many_outliers_are_thinned():
    """The farthest ones stay, and equal ones are one."""
    values = np.concatenate([np.zeros(9000), np.arange(3000)])
    lazy: Any = md.Series(values, chunk_size=5000)
    found = box.box_rows(lazy, {}, 10).iloc[:, 0]
    low, *_ = stats(values)[3:]
    assert len(found) == 4 * 11 + 1
    assert found.max() == 2999
    assert found.min() == low == 0


def test_boxes_of_groups():
    """All rows of a group meet; its key is a column of the few rows."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=13)
    found = box.grouped_box_rows(lazy.groupby(["k"]), ["k"], ["x", "n"], {})
    for key, rows in FRAME.groupby("k"):
        chosen = found[found.k == key]
        for label in ("x", "n"):
            assert stats(chosen[label]) == pytest.approx(stats(rows[label]))


def test_boxes_are_drawn():
    """``boxplot`` draws what pandas draws, by groups too, and refuses what needs all values."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    lazy: Any = md.DataFrame(FRAME, chunk_size=13)
    for call in (
        lambda x: x.boxplot(column=["x", "n"], whis=1.0),
        lambda x: x.boxplot(column="x", by="k"),
        lambda x: x.groupby("k").boxplot(column=["x", "n"])[1],
    ):
        found, wanted = (np.ravel(call(one))[0] for one in (lazy, FRAME))
        lines = [[line.get_xydata() for line in axis.lines] for axis in (found, wanted)]
        for line, other in zip(*lines, strict=True):
            order = [np.lexsort(one.T) for one in (line, other)]
            assert np.allclose(line[order[0]], other[order[1]])
        assert found.get_title() == wanted.get_title()
        plt.close("all")
    for refused in ({"showmeans": True}, {"notch": True}, {"whis": (5, 95)}):
        with pytest.raises(NotImplementedError):
            lazy.boxplot(column="x", **refused)
