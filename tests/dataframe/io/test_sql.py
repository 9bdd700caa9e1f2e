"""Queries are read in ranges of a column, and tables written chunk by chunk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(20)[["u", "f", "s", "k"]].sort_values("u", ignore_index=True)


@pytest.fixture
def uri(tmp_path: Any) -> str:
    """Write the table, and return the address of the database."""
    address = f"sqlite:///{tmp_path / 'x.db'}"
    assert md.DataFrame(FRAME, chunk_size=6).to_sql("t", address, index=False) == 20
    return address


def test_tables_come_back(uri: str) -> None:
    """As pandas reads them; by a name, a query, a connection."""
    equal(md.read_sql_table("t", uri), FRAME)
    equal(md.read_sql_table("t", uri, columns=["s", "u"]), FRAME[["s", "u"]])
    with closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as con:
        wanted = pd.read_sql("SELECT u, f FROM t WHERE u < 9", con)
        equal(md.read_sql("SELECT u, f FROM t WHERE u < 9", con), wanted)
        equal(md.read_sql("t", con, index_col=["u", "s"]), FRAME.set_index(["u", "s"]))


@pytest.mark.parametrize("column", ["u", "f", "k"])
def test_ranges_of_a_column(uri: str, column: str) -> None:
    """Each row is in one of them, also where the column has no value."""
    lazy = md.read_sql("t", uri, partition_col=column, num_partitions=4)
    assert 1 < lazy.npartitions <= 4
    equal(lazy.sort_values("u", ignore_index=True), FRAME)
    if column == "u":
        lengths: Any = lazy.map_partitions(len).compute()
        assert lengths.tolist() == [5, 5, 5, 5]
        theirs = md.read_sql_table("t", uri, index_col="u", npartitions=2, limits=(0, 20))
        lengths = theirs.map_partitions(len).compute()
        assert lengths.tolist() == [10, 10]
        equal(theirs, FRAME.set_index("u"))


def test_ranges_of_times(tmp_path: Any) -> None:
    """Which SQLite has as text."""
    address = f"sqlite:///{tmp_path / 'x.db'}"
    frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=12, freq="D"), "n": range(12)})
    md.DataFrame(frame, chunk_size=5).to_sql("t", address, index=False)
    lazy = md.read_sql("t", address, partition_col="t", num_partitions=3, parse_dates=["t"])
    assert lazy.npartitions == 3
    equal(lazy, frame, check_dtype=False)


def test_bad_input(uri: str) -> None:
    """With pandas's exceptions; nothing is written of rows that cannot be computed."""
    lazy = md.DataFrame(FRAME, chunk_size=6)
    with pytest.raises(ValueError, match="already exists"):
        lazy.to_sql("t", uri)
    lazy.to_sql("t", uri, if_exists="append", index=False)
    assert len(md.read_sql_table("t", uri)) == 40
    bad = lazy.u.map(lambda n: 1 // (n - 19), meta=("u", int))
    with pytest.raises(ZeroDivisionError):
        bad.to_sql("other", uri)
    with pytest.raises(pd.errors.DatabaseError, match="other"):
        md.read_sql_table("other", uri)
    with pytest.raises(TypeError, match="con must be"):
        md.read_sql("t", 3)
    with closing(sqlite3.connect(":memory:")) as con, pytest.raises(NotImplementedError):
        md.read_sql("t", con)


@pytest.mark.parametrize("begun", [None, True, False])
def test_a_write_that_fails_leaves_nothing(tmp_path: Any, begun: bool | None) -> None:
    """Neither rows nor the table; what the user had begun to write stays."""
    path = tmp_path / "x.db"
    lazy = md.DataFrame(FRAME.assign(k=FRAME.u // 15), chunk_size=6)
    with closing(sqlite3.connect(path)) as con:
        con.execute("CREATE TABLE t (u INTEGER UNIQUE, f, s, k)")
        con.execute("INSERT INTO t (u) VALUES (17)")
        con.commit()
        if begun:
            con.execute("INSERT INTO t (u) VALUES (-1)")
        target: Any = f"sqlite:///{path}" if begun is None else con
        with pytest.raises(pd.errors.DatabaseError):
            lazy.to_sql("t", target, if_exists="append", index=False)
        left = con.execute("SELECT u FROM t ORDER BY u").fetchall()
        assert left == ([(-1,), (17,)] if begun else [(17,)])
        with pytest.raises(sqlite3.OperationalError):
            lazy.to_sql("new", target, index=False, dtype={"u": "mistaken("})
        assert not con.execute("SELECT * FROM sqlite_master WHERE name = 'new'").fetchall()
        lazy.to_sql("new", target, index=False)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("SELECT COUNT(*) FROM new").fetchone() == (20,)


QUERIES = [
    *("SELECT u, u FROM t", "SELECT u, s FROM t;", "SELECT u FROM t -- rows", "SELECT*\nFROM\nt"),
    *("SELECT u, s AS a, s AS a FROM t;\n", "PRAGMA table_info(t)", "SELECT ';' AS u FROM t ; "),
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_any_form(uri: str, query: str) -> None:
    """With columns of one name, comments, an end; in ranges of a column too."""
    with closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as connection:
        wanted = pd.read_sql_query(query, connection)
    equal(md.read_sql(query, uri), wanted)
    equal(md.read_sql_query(query, uri), wanted)
    if list(wanted.columns).count("u") == 1 and wanted.u.dtype == "int64":
        lazy = md.read_sql_query(query, uri, partition_col="u", num_partitions=3)
        equal(lazy.sort_values("u", ignore_index=True), wanted.sort_values("u", ignore_index=True))


def test_names_are_quoted(tmp_path: Any) -> None:
    """Those of spaces, and words of the language."""
    address = f"sqlite:///{tmp_path / 'x.db'}"
    frame = pd.DataFrame({"order": range(8), "two words": [*range(7), None]})
    md.DataFrame(frame, chunk_size=3).to_sql("group", address, index=False)
    for column in frame:
        lazy = md.read_sql_table("group", address, partition_col=column, num_partitions=2)
        equal(lazy.sort_values("order", ignore_index=True), frame)
    equal(md.read_sql_table("group", address, columns=["two words"]), frame[["two words"]])
    with pytest.raises(pd.errors.DatabaseError, match="no such column"):
        md.read_sql_table("group", address, columns=["other"])


@pytest.mark.parametrize("partitions", [1, 4])
def test_a_table_is_replaced_by_what_is_computed_of_it(tmp_path: Any, partitions: int) -> None:
    """All rows are read before the first is written; a failure leaves the table."""
    uri = f"sqlite:///{tmp_path}/x.db"
    rows = pd.DataFrame({"i": range(40), "a": range(40)})
    md.DataFrame(rows).to_sql("t", uri, index=False)
    frame = md.read_sql_table("t", uri, partition_col="i", num_partitions=partitions)
    frame["a"] = frame.a + 1
    frame.to_sql("t", uri, if_exists="replace", index=False)
    pd.testing.assert_frame_equal(md.read_sql_table("t", uri).compute(), rows.assign(a=rows.a + 1))
    frame["a"] = frame.a.map(lambda value: 1 // (value - 40), meta=("a", int))
    with pytest.raises(ZeroDivisionError):
        frame.to_sql("t", uri, if_exists="replace", index=False)
    pd.testing.assert_frame_equal(md.read_sql_table("t", uri).compute(), rows.assign(a=rows.a + 1))


def test_a_path_is_that_of_the_call(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks may run in another folder, where another database may have the name."""
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("x.db")) as connection:
        pd.DataFrame({"a": [1, 2]}).to_sql("t", connection, index=False)
    frame = md.read_sql_query("SELECT * FROM t", "sqlite:///x.db")
    monkeypatch.chdir("/")
    assert frame.a.sum().compute() == 3
