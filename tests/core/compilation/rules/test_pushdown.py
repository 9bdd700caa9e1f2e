"""Sources read no columns and no row groups that nothing needs."""

from __future__ import annotations

import pytest

import marsdask.dataframe as md
from marsdask.core.compilation.passes import run_passes
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.io.csv import ReadCsv
from marsdask.dataframe.io.parquet import ReadParquet
from tests.dataframe.tables import equal, table


@pytest.fixture
def path(tmp_path):
    """Return a file of ten row groups, ``n`` rising through them."""
    table(50).assign(n=range(50)).to_parquet(tmp_path / "x.parquet", row_group_size=5)
    return tmp_path / "x.parquet"


def source(*lazies):
    """Return the reader that is left after the passes."""
    graph = run_passes(Graph([lazy.node for lazy in lazies]), Plan(), check=True)
    (reader,) = [node for node in graph.nodes if isinstance(node, ReadParquet | ReadCsv)]
    return reader


PROGRAMS = {
    "column": (lambda d: d.u.sum(), {"u"}),
    "grouped": (lambda d: d[d.f > 1].groupby("k").agg({"u": "sum"}), {"f", "k", "u"}),
    "sorted": (lambda d: d.sort_values("u").head(3)[["s"]], {"u", "s"}),
    "assigned": (lambda d: d.assign(x=d.f * 2)[["x", "k"]], {"f", "k"}),
    "merged": (lambda d: d.merge(md.DataFrame({"k": [1], "v": [2]}), on="k").v.sum(), {"k"}),
    "renamed": (lambda d: d.rename(columns={"u": "v", "k": "u"}).v.sum(), {"u"}),
    "distinct": (lambda d: d.drop_duplicates("s").u.max(), {"s", "u"}),
    "everything": (lambda d: d[d.u > 3], {"k", "f", "s", "b", "u", "t", "n"}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_columns_that_are_read(path, name):
    """Only what the program needs, and the result is the same."""
    program, columns = PROGRAMS[name]
    lazy = program(md.read_parquet(path))
    assert set(source(lazy).columns) == columns
    frame = table(50).assign(n=range(50))
    if name != "merged":
        equal(lazy, program(frame))


def test_several_results_share_what_is_read(path):
    """One source has the columns of all that is computed together."""
    d = md.read_parquet(path)
    assert set(source(d.u.sum(), d.f.mean()).columns) == {"u", "f"}


def test_csv_columns(tmp_path):
    """Columns of a text file that nothing needs are not parsed."""
    table(20).to_csv(tmp_path / "x.csv", index=False)
    d = md.read_csv(tmp_path / "x.csv")
    assert list(source(d.groupby("k").u.sum()).like.columns) == ["k", "u"]


@pytest.mark.parametrize(
    ("mask", "left"),
    [
        (lambda d: d.n > 29, 20),
        (lambda d: (d.n >= 10) & (d.n < 20) & (d.f > 0), 10),
        (lambda d: d.n == 7, 5),
        (lambda d: d.n < 0, 0),
        pytest.param(lambda d: (d.n > 29) | (d.u < 3), 50, id="either"),
        pytest.param(lambda d: d.n + 1 > 29, 50, id="computed"),
    ],
)
def test_row_groups_that_are_read(path, mask, left):
    """Statistics exclude row groups; labels stay those of the whole."""
    d = md.read_parquet(path)
    chosen = d[mask(d)]
    assert sum(source(chosen).sizes) == left
    frame = table(50).assign(n=range(50))
    equal(chosen, frame[mask(frame)])


def test_nothing_is_left_out_that_is_seen_elsewhere(path):
    """A row group is read if something besides the filter needs its rows."""
    d = md.read_parquet(path)
    assert sum(source(d[d.n > 29], d.u.sum()).sizes) == 50
    assert sum(source(d[d.n > 29], d.n > 29).sizes) == 50
