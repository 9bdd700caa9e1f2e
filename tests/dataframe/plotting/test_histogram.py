"""Counts of bins are NumPy's, whatever chunks the values lie in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import gaussian_kde

import marsdask.dataframe as md
from marsdask.dataframe.plotting.histogram import counted_rows, density_rows
from tests.dataframe.tables import filtered, table

FRAME = table(40, seed=5)


def frames() -> list[tuple[Any, Any]]:
    """Return a frame and lazy ones, of unknown lengths and of no rows among them."""
    lazy = md.DataFrame(FRAME, chunk_size=((7, 0, 20, 13),))
    none = FRAME[FRAME.u > 99]
    return [
        (FRAME, lazy),
        (filtered(FRAME), filtered(lazy)),
        (none, lazy[lazy.u > 99]),
    ]


@pytest.mark.parametrize(
    "how", [{}, {"bins": 3}, {"bins": [0, 1, 5]}, {"range": (0, 2)}, {"include_bool": True}]
)
def test_counts(how):
    """Bins are those of all columns together; missing values are in none."""
    for frame, lazy in frames():
        kinds = ["number", "bool"] if "include_bool" in how else ["number"]
        columns = frame.drop(columns="t").select_dtypes(kinds).astype(float)
        values = columns.to_numpy().ravel()
        edges = np.histogram_bin_edges(
            values[~np.isnan(values)], how.get("bins", 10), how.get("range")
        )
        rows, given = counted_rows(lazy.drop(columns="t"), dict(how))
        assert np.array_equal(given["bins"], edges)
        for at, label in enumerate(columns):
            wanted = np.histogram(columns[label].dropna(), edges)[0]
            assert np.array_equal(given["weights"][:, at], wanted)
            assert np.array_equal(np.histogram(rows[label], edges)[0], np.ones(len(edges) - 1))


@pytest.mark.parametrize("method", [None, "silverman", 0.3])
def test_densities(method):
    """Binned values have the bandwidth of all values."""
    _, lazy = frames()[0]
    rows, how = density_rows(lazy[["f", "u"]], {"bw_method": method})
    bandwidths = how["bw_method"]
    for at, label in enumerate(rows):
        found = gaussian_kde(rows[label], bandwidths, how["weights"][:, at])
        values = FRAME[label].dropna()
        wanted = gaussian_kde(values, method)
        points = np.linspace(values.min(), values.max(), 20)
        assert np.allclose(found(points), wanted(points), rtol=1e-2)
        assert np.allclose(found.covariance, wanted.covariance, rtol=1e-9)


def test_refusals():
    """What counts cannot say is refused before anything runs."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=9)
    for call in (
        lambda: counted_rows(lazy, {}),
        lambda: counted_rows(lazy.u, {"weights": [1] * 40}),
        lambda: counted_rows(lazy.u, {"bins": "auto"}),
        lambda: counted_rows(lazy[["k", "u"]], {"by": "k"}),
        lambda: density_rows(lazy.u, {"bw_method": lambda kde: 1.0}),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(TypeError, match="no numeric data"):
        counted_rows(lazy[["s"]], {})
    with pytest.raises(ValueError, match="bw_method"):
        density_rows(lazy.u, {"bw_method": "nothing"})


def test_frames_and_columns_are_drawn():
    """``hist`` draws what pandas draws, with the options of pandas and of matplotlib."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    def heights(axes: Any) -> list[Any]:
        return [
            [(p.get_x(), p.get_height()) for p in axis.patches if p.get_height()]
            for axis in np.ravel(axes)
        ]

    lazy: Any = md.DataFrame(FRAME, chunk_size=9)
    for call in (
        lambda x: x[["k", "f", "u"]].hist(bins=4, legend=True, density=True),
        lambda x: x.hist(column="f", bins=[0, 1, 2]),
        lambda x: x.f.hist(bins=5, cumulative=True),
        lambda x: x.b.astype(int).hist(range=(0, 2)),
    ):
        found, wanted = [(plt.figure(), call(one))[1] for one in (lazy, FRAME)]
        assert heights(found) == heights(wanted)
        for axis, other in zip(np.ravel(found), np.ravel(wanted), strict=True):
            assert axis.get_title() == other.get_title()
            assert axis.get_ylim() == pytest.approx(other.get_ylim())
        plt.close("all")
    with pytest.raises(ValueError, match="nothing to plot"):
        lazy[["s"]].hist()
    with pytest.raises(NotImplementedError):
        lazy[["k", "u"]].hist(by="k")
