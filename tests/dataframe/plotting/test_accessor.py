"""``plot`` draws what pandas draws of all rows, or of rows that stand for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import table

FRAME = table(30, seed=2)[["k", "f", "s", "u"]]

#: Calls of a frame that draw lines and bars.
CALLS: dict[str, Any] = {
    "line": lambda x: x.plot(),
    "x and y": lambda x: x.plot("u", "f"),
    "numbers of columns": lambda x: x.plot(x=3, y=[0, 1]),
    "area": lambda x: x[["u"]].plot.area(),
    "bar": lambda x: x.plot.bar(x="s", y="u"),
    "barh": lambda x: x.groupby("k").u.sum().plot.barh(),
    "hist": lambda x: x.plot.hist(bins=4, stacked=True),
    "hist of one": lambda x: x.plot(kind="hist", y="f"),
    "scatter": lambda x: x.plot.scatter(x="k", y="u", c="f"),
    "pie": lambda x: x.groupby("k").size().plot.pie(),
    "box": lambda x: x.plot.box(),
    "density": lambda x: x.u.plot.density(bw_method=0.2),
    "groups": lambda x: x[["k", "u"]].groupby("k").plot.line(x="u")[1],
    "histograms of groups": lambda x: x.groupby("k").u.hist(bins=3)[1],
    "column": lambda x: x.f.plot(title="f"),
}


def drawn(axis: Any) -> list[Any]:
    """Return the lines, bars and points of an axis."""
    lines = [line.get_xydata() for line in axis.lines]
    bars = [
        [[*p.get_xy(), p.get_height()]] if hasattr(p, "get_xy") else [[p.theta1, p.theta2]]
        for p in axis.patches
    ]
    dots = [np.asarray(one.get_offsets()) for one in axis.collections]
    return [np.asarray(one, float) for one in (*lines, *bars, *dots)]


@pytest.mark.parametrize("name", CALLS)
def test_kinds(name):
    """All kinds of plots of few rows are pandas's."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    found, wanted = (
        (plt.figure(), CALLS[name](one))[1] for one in (md.DataFrame(FRAME, chunk_size=11), FRAME)
    )
    mine, theirs = drawn(found), drawn(wanted)
    plt.close("all")
    assert len(mine) == len(theirs) > 0
    for one, other in zip(mine, theirs, strict=True):
        if name == "box":
            one, other = np.sort(one, axis=0), np.sort(other, axis=0)  # noqa: PLW2901
        assert np.allclose(one, other, rtol=1e-2, atol=1e-5, equal_nan=True)
    assert found.get_xlabel() == wanted.get_xlabel()
    assert found.get_ylabel() == wanted.get_ylabel()


def test_a_limit():
    """``max_points`` says how many rows of a line are drawn."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    axis: Any = md.Series(np.arange(900), chunk_size=300).plot(max_points=100)
    assert len(axis.lines[0].get_xydata()) <= 106
    plt.close("all")


def test_errors():
    """Kinds that there are not, arguments that pandas refuses, and what all rows would say."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=11)
    for call, error in (
        (lambda: lazy.plot(kind="nothing"), ValueError),
        (lambda: lazy.u.plot.scatter(x="k", y="u"), ValueError),
        (lambda: lazy.u.plot("line"), TypeError),
        (lambda: lazy.plot.line(1, 2, 3), TypeError),
        (lambda: lazy.plot.hist(backend="other"), NotImplementedError),
    ):
        with pytest.raises(error):
            call()
    pytest.importorskip("matplotlib").use("Agg")
    later: Any = (
        (lambda: lazy.plot.box(by="k"), NotImplementedError),
        (lambda: lazy.plot(y="nothing"), KeyError),
        (lazy[["s"]].plot, TypeError),
        (lambda: lazy.plot.pie(max_points=5), NotImplementedError),
    )
    for call, error in later:
        with pytest.raises(error):
            call()
