"""CSV files are written as pandas does, in one file or one for each chunk."""

from __future__ import annotations

import io
import os
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe.reduction.fold import FrameFold
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(11)
LAZY = md.DataFrame(FRAME, chunk_size=4)


@pytest.mark.parametrize(
    "options",
    [{}, {"index": False}, {"header": False, "sep": ";"}, {"columns": ["u", "s"], "na_rep": "-"}],
    ids=str,
)
def test_one_file_is_that_of_pandas(tmp_path: Any, options: Any) -> None:
    """Byte for byte, by a path, a buffer and as text; also of a series."""
    wanted = FRAME.to_csv(**options)
    rows = LAZY.to_csv(tmp_path / "all.csv", **options)
    assert os.listdir(tmp_path) == ["all.csv"]
    assert (tmp_path / "all.csv").read_text() == wanted
    assert isinstance(rows, md.DataFrame)
    assert rows.rows.sum().compute() == 11
    buffer = io.StringIO()
    assert LAZY.to_csv(buffer, **options) is None
    assert buffer.getvalue() == LAZY.to_csv(**options) == wanted
    if "columns" not in options:
        assert LAZY.u.to_csv(**options) == FRAME.u.to_csv(**options)


def test_a_file_for_each_chunk(tmp_path: Any) -> None:
    """By a pattern, by names of the user, or in a folder as in Dask; each has a header."""
    LAZY.to_csv(tmp_path / "x-*.csv", index=False)
    equal(md.read_csv(str(tmp_path / "x-*.csv")).u, FRAME.u)
    assert len(list(tmp_path.iterdir())) == 3
    LAZY.to_csv(tmp_path / "out", index=False, name_function=lambda i: f"n{i}")
    assert sorted(os.listdir(tmp_path / "out")) == ["n0.part", "n1.part", "n2.part"]
    LAZY.to_csv(tmp_path / "d.csv", index=False, single_file=False)
    equal(md.read_csv(str(tmp_path / "d.csv" / "*.part")).u, FRAME.u)


def test_compressed_files(tmp_path: Any) -> None:
    """By their name; parts that are joined make one file that others read."""
    for name in ("one.csv.gz", "x-*.csv.bz2", "memory://text/all.csv.xz"):
        path = name if "://" in name else str(tmp_path / name)
        LAZY.to_csv(path, index=False)
        equal(md.read_csv(path).u, FRAME.u)
    with pytest.raises(NotImplementedError, match="zip"):
        LAZY.to_csv(tmp_path / "one.csv.zip")


def test_files_that_are_there(tmp_path: Any) -> None:
    """Are replaced, unless the mode forbids it."""
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(FileExistsError):
        LAZY.to_csv(path, mode="x")
    with pytest.raises(NotImplementedError, match="mode='a'"):
        LAZY.to_csv(path, mode="a")
    LAZY.to_csv(path)
    assert path.read_text() == FRAME.to_csv()


def test_other_tables(tmp_path: Any) -> None:
    """Of tabs, and of columns of fixed widths."""
    LAZY.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    equal(md.read_table(str(tmp_path / "x.tsv")).u, FRAME.u)
    for part, rows in enumerate((FRAME[:6], FRAME[6:])):
        (tmp_path / f"{part}.txt").write_text(rows[["u", "f"]].fillna(0).to_string(index=False))
    wanted = FRAME[["u", "f"]].fillna(0)
    equal(md.read_fwf(str(tmp_path / "*.txt")), wanted, check_dtype=False)
    with pytest.raises(FileNotFoundError, match="nope"):
        md.read_fwf(str(tmp_path / "nope*.txt"))


def test_pandas_reads_them(tmp_path: Any) -> None:
    """Also labels."""
    frame = table(9, index="labels")
    md.DataFrame(frame, chunk_size=4).to_csv(tmp_path / "x.csv")
    found = pd.read_csv(tmp_path / "x.csv", index_col="row", parse_dates=["t"])
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf_32", "latin-1"])
def test_encodings(tmp_path: Any, encoding: str) -> None:
    """The mark of the order of bytes is once in a file."""
    frame = pd.DataFrame({"ä": ["ö", "ü", "ß", "é"]})
    lazy = md.DataFrame(frame, chunk_size=1)
    lazy.to_csv(tmp_path / "x.csv", encoding=encoding)
    assert (tmp_path / "x.csv").read_bytes() == frame.to_csv().encode(encoding)
    buffer = io.BytesIO()
    lazy.to_csv(buffer, encoding=encoding)
    assert buffer.getvalue() == frame.to_csv().encode(encoding)


TIMES = pd.date_range("2024-01-30", periods=5, freq="12h")
#: Rows whose times are texts of other digits if some of them are written alone.
WITH_TIMES: dict[str, pd.DataFrame] = {
    "times": pd.DataFrame({"t": TIMES, "v": range(5)}),
    "days": pd.DataFrame({"t": TIMES.normalize(), "v": range(5)}),
    "parts of seconds": pd.DataFrame({"t": [*TIMES[:2], pd.NaT, TIMES[3] + pd.Timedelta("1us")]}),
    "labels": pd.DataFrame({"v": range(5)}, TIMES),
    "two levels": pd.DataFrame({"v": range(5), "t": TIMES, "n": range(5)}).set_index(["t", "n"]),
    "durations": pd.DataFrame({"t": TIMES - TIMES[0]}),
    "categories": pd.DataFrame({"t": pd.Categorical(TIMES)}),
    "columns of one label": pd.DataFrame(
        {0: TIMES, 1: range(5)},
    ).set_axis(["a", "a"], axis=1),
}


@pytest.mark.parametrize("options", [{}, {"index": False}, {"date_format": "%Y-%j"}], ids=str)
@pytest.mark.parametrize("name", WITH_TIMES)
def test_times_have_the_digits_that_one_of_all_needs(tmp_path, name, options):
    """Chunks of midnights alone are not written as days beside others."""
    frame = WITH_TIMES[name]
    path = tmp_path / "times.csv"
    for chunk in (1, 2, 5):
        md.DataFrame(frame, chunk_size=chunk).to_csv(path, **options)
        assert path.read_text() == frame.to_csv(**options)
    series, lazy = frame.iloc[:, 0], md.DataFrame(frame, chunk_size=1).iloc[:, 0]
    lazy.to_csv(path, **options)
    assert path.read_text() == series.to_csv(**options)


def test_rows_are_not_kept_until_all_times_are_known(tmp_path):
    """What is written depends on no look at all rows: each chunk is written and let go."""
    lazy = md.DataFrame(WITH_TIMES["times"], chunk_size=1)
    written: Any = lazy.to_csv(tmp_path / "*", compute=False)
    assert not any(isinstance(node, FrameFold) for node in Graph([written.node]).nodes)


def test_times_of_rows_chosen_of_an_unknown_number(tmp_path):
    """Have the same digits, though it is not known before that they are several chunks."""
    frame = WITH_TIMES["times"]
    with option_context({"coalesce": False}):
        rows = md.DataFrame(frame, chunk_size=1).query("v >= 0").iloc[:4]
        rows.to_csv(tmp_path / "times.csv", single_file=True)
    assert (tmp_path / "times.csv").read_text() == frame.iloc[:4].to_csv()
