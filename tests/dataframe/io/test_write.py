"""Files are written aside, and have their names once all are complete."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.io import write
from marsdask.dataframe.io.json import to_json_file
from marsdask.dataframe.io.parquet import to_parquet_file
from marsdask.dataframe.io.text import to_csv_file
from marsdask.dataframe.io.whole_files import to_feather_file, to_orc_file
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table
from tests.scheduler.storage.test_compaction import kept

_coalesce = one_mode.coalesce


def failing(frame: Any, rows: int) -> Any:
    """Return a lazy frame of which the chunk of a row raises."""

    def check(value: int) -> int:
        if value == rows:
            raise ZeroDivisionError("no such row")
        return value

    frame = frame.reset_index(drop=True)
    lazy: Any = md.DataFrame(frame.assign(n=range(len(frame))), chunk_size=4)
    lazy["n"] = lazy.n.map(check, meta=("n", int))
    return lazy


@pytest.mark.parametrize("single", [False, True])
def test_nothing_is_there_after_a_failure(tmp_path: Any, single: bool) -> None:
    """Neither files of the chunks before, nor parts of them; the next attempt writes all."""
    folder = tmp_path / "out"
    pattern = str(folder / "x-*.csv")
    whole = str(folder / "all.csv") if single else None
    frame = table(20)

    def attempt(lazy: Any) -> Any:
        return write.write_files(lazy, to_text, pattern, {}, single=whole)

    with pytest.raises(ZeroDivisionError, match="no such row"):
        attempt(failing(frame, 18))
    assert os.listdir(folder) == []
    written = attempt(failing(frame, 99)).fetch()
    assert written.rows.tolist() == [4] * 5
    assert len(os.listdir(folder)) == (1 if single else 5)
    assert set(written.path) == {str(path) for path in folder.iterdir()}


def to_text(block: Any, target: Any, *, first: bool) -> None:
    """Write a chunk as text."""
    block.to_csv(target, header=first, mode="wb")


def to_nowhere(block: Any, target: Any, *, first: bool) -> None:
    """Write some of a chunk, and find the disk full."""
    to_text(block, target, first=first)
    raise OSError(28, "No space left on device")


def test_a_full_disk(tmp_path: Any) -> None:
    """The error is the system's, and what was written is gone; the session goes on."""
    lazy = md.DataFrame(table(8), chunk_size=4)
    with pytest.raises(OSError, match="No space left"):
        write.write_files(lazy, to_nowhere, str(tmp_path / "*.csv"), {})
    assert os.listdir(tmp_path) == []
    equal(lazy, table(8))


def test_files_replace_those_they_are_made_of(tmp_path: Any) -> None:
    """With ``overwrite``, what lies in the folder goes when the new files are complete."""
    md.DataFrame(table(20), chunk_size=4).to_parquet(tmp_path)
    lazy = md.read_parquet(tmp_path, split_row_groups=True)
    lazy[lazy.u > 9].to_parquet(tmp_path, overwrite=True, name_function=lambda i: f"{i}.parquet")
    assert sorted(os.listdir(tmp_path)) == [f"{i}.parquet" for i in range(5)]
    wanted = table(20)[table(20).u > 9]
    pd.testing.assert_frame_equal(md.read_parquet(tmp_path).compute(), wanted)


def test_a_url(tmp_path: Any) -> None:
    """Files behind a URL are whole or not there; one may hold all chunks."""
    import fsspec

    fs = fsspec.filesystem("memory")
    lazy = md.DataFrame(table(10), chunk_size=4)
    for single in (None, "memory://written/all.csv"):
        write.write_files(lazy, to_text, "memory://written/x-*.csv", {}, single=single)
    names = [*(f"/written/x-{i:06d}.csv" for i in range(3)), "/written/all.csv"]
    assert sorted(fs.find("/written")) == sorted(names)
    assert fs.cat("/written/all.csv").decode() == table(10).to_csv()
    with pytest.raises(OSError, match="No space left"):
        write.write_files(lazy, to_nowhere, "memory://full/x-*.csv", {})
    assert not fs.exists("/full") or fs.find("/full") == []
    fs.rm("/written", recursive=True)


def test_what_is_not_computed_writes_nothing(tmp_path: Any) -> None:
    """Until the frame that is returned is."""
    lazy = md.DataFrame(table(10), chunk_size=4)
    writing = lazy.to_parquet(tmp_path, compute=False)
    assert os.listdir(tmp_path) == []
    writing.execute()
    equal(md.read_parquet(tmp_path), table(10))


def test_a_task_that_ends_after_a_failure_leaves_nothing(tmp_path: Any) -> None:
    """Its folder is gone by then."""
    target = write.Destination(str(tmp_path / "*.csv"), (), None, "mark")
    write.discard(target, 1)
    with pytest.raises(OSError, match=r"No such file|non-existent"):
        write.write_aside(table(3), 0, write=to_text, target=target, options=())
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("options", [{}, {"index": False}, {"index": True}])
@pytest.mark.parametrize("url", [False, True])
def test_files_have_one_type(tmp_path: Any, options: Any, url: bool) -> None:
    """Also where only values tell types: those of all rows, as in pandas."""
    folder = "memory://one_type" if url else str(tmp_path)
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "s": list("abcd")})

    def floats_last(d: Any) -> Any:
        return d.assign(a=d.a.mask(d.a >= 4, 2.5), b=d.a.where(d.a > 1)).set_index("s")

    floats_last(md.DataFrame(frame, chunk_size=1)).to_parquet(folder, **options)
    wanted = floats_last(frame)
    wanted = wanted.reset_index(drop=True) if options.get("index") is False else wanted
    equal(md.read_parquet(folder), wanted)
    if not url:
        pd.testing.assert_frame_equal(pd.read_parquet(folder), wanted)


WRITERS: dict[str, Any] = {
    "csv": (to_csv_file, {}),
    "json": (to_json_file, {"orient": "records", "lines": True}),
    "parquet": (to_parquet_file, {}),
    "orc": (to_orc_file, {}),
    "feather": (to_feather_file, {}),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_what_was_written_is_released(tmp_path: Any, writer: str) -> None:
    """The result of writing a chunk, which lives until all are written, keeps none of its rows."""
    write_one, options = WRITERS[writer]
    rows = 20_000
    text = [f"text {i}" for i in range(rows)]
    block = pd.DataFrame({"n": np.arange(rows), "s": text, "t": pd.Series(text, dtype=object)})
    target = write.Destination(str(tmp_path / "*.x"), (), None, "mark", watched=False)
    result = write.write_aside(
        block, 0, write=write_one, target=target, options=tuple(options.items())
    )
    assert kept(result) < 1_000


SINKS: dict[str, Any] = {
    "csv": (lambda frame, path: frame.to_csv(path, index=False), md.read_csv, "x.csv"),
    "csv, folder": (lambda frame, path: frame.to_csv(path, index=False), md.read_csv, "x"),
    "json": (
        lambda frame, path: frame.to_json(path, orient="records", lines=True),
        lambda path: md.read_json(path, lines=True),
        "x.json",
    ),
    "parquet": (lambda frame, path: frame.to_parquet(path), md.read_parquet, "x"),
    "parquet, overwrite": (
        lambda frame, path: frame.to_parquet(path, overwrite=True),
        md.read_parquet,
        "x",
    ),
    "parquet, file": (lambda frame, path: frame.to_parquet(path), md.read_parquet, "x.parquet"),
    "orc": (lambda frame, path: frame.to_orc(path), md.read_orc, "x"),
    "feather": (lambda frame, path: frame.to_feather(path), md.read_feather, "x"),
}


def _numbers(rows: int = 12) -> pd.DataFrame:
    return pd.DataFrame({"a": range(rows), "s": [f"text {i}" for i in range(rows)]})


@pytest.mark.parametrize("sink", SINKS)
def test_a_frame_is_written_to_what_it_reads(tmp_path: Any, sink: str) -> None:
    """Also with other chunks than before; a failure leaves what was there."""
    write_to, read, name = SINKS[sink]
    path = str(tmp_path / name)
    first = _numbers() if name == "x.parquet" else md.DataFrame(_numbers(), chunk_size=3)
    write_to(first, path)
    frame = read(path)
    later = md.DataFrame(_numbers(), chunk_size=6)
    later["a"] = later.a.map(_broken, meta=("a", int))
    with pytest.raises(ZeroDivisionError):
        write_to(later, path)
    pd.testing.assert_frame_equal(read(path).compute(), _numbers())
    frame["a"] = frame.a + 1
    write_to(frame, path)
    wanted = _numbers().assign(a=range(1, 13))
    pd.testing.assert_frame_equal(read(path).compute(), wanted)
    write_to(read(path).repartition(npartitions=1), path)
    pd.testing.assert_frame_equal(read(path).compute(), wanted)
    assert not [one for one in os.listdir(tmp_path) if one.startswith(".")]


def _broken(value: int) -> int:
    if value == 11:
        raise ZeroDivisionError("no such row")
    return value


def test_fewer_chunks_leave_no_files_of_more(tmp_path: Any) -> None:
    """What is read afterwards is what was written last."""
    path = str(tmp_path / "x")
    md.DataFrame(_numbers(), chunk_size=2).to_parquet(path)
    md.DataFrame(_numbers(4), chunk_size=4).to_parquet(path)
    pd.testing.assert_frame_equal(md.read_parquet(path).compute(), _numbers(4))


def test_files_of_others_are_refused_or_replaced(tmp_path: Any) -> None:
    """Before anything is written; with ``overwrite`` they are removed at the end."""
    (tmp_path / "x").mkdir()
    _numbers().to_parquet(tmp_path / "x" / "part.0.parquet")
    lazy = md.DataFrame(_numbers(4), chunk_size=2)
    with pytest.raises(FileExistsError, match=r"part\.0\.parquet; use overwrite=True"):
        lazy.to_parquet(tmp_path / "x")
    assert os.listdir(tmp_path / "x") == ["part.0.parquet"]
    lazy.to_parquet(tmp_path / "x", name_function=lambda number: f"more.{number}.parquet")
    assert len(md.read_parquet(tmp_path / "x")) == 16
    lazy.to_parquet(tmp_path / "x", overwrite=True)
    pd.testing.assert_frame_equal(md.read_parquet(tmp_path / "x").compute(), _numbers(4))


@pytest.mark.parametrize("name", ["x", "x.parquet"])
def test_a_file_of_the_folders_name_is_overwritten(tmp_path: Any, name: str) -> None:
    """As pandas overwrites it, once all is written."""
    (tmp_path / name).touch()
    md.DataFrame(_numbers(), chunk_size=5).to_parquet(tmp_path / name)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / name), _numbers())
    (tmp_path / "text").write_text("old")
    md.DataFrame(_numbers(), chunk_size=5).to_csv(tmp_path / "text", index=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "text"), _numbers())
    assert sorted(os.listdir(tmp_path)) == ["text", name]


@pytest.mark.parametrize("protocol", ["file", "local"])
@pytest.mark.parametrize("write", ["to_parquet", "to_csv", "to_json", "to_feather"])
def test_a_url_of_this_machine_is_a_path(tmp_path: Any, write: str, protocol: str) -> None:
    """Written as safely: a file is replaced, and after a failure nothing is left beside it."""
    path = tmp_path / "x.file"
    path.write_text("old")
    url = f"{protocol}://{path}"
    with pytest.raises(ZeroDivisionError):
        getattr(failing(table(20), 18), write)(url)
    assert os.listdir(tmp_path) == ["x.file"]
    assert path.read_text() == "old"
    if write in ("to_parquet", "to_csv"):
        getattr(md.DataFrame(_numbers(), chunk_size=5), write)(url)
        read: dict[str, Any] = {
            "to_parquet": md.read_parquet,
            "to_csv": lambda one: md.read_csv(one, index_col=0),
        }
        pd.testing.assert_frame_equal(read[write](url).compute(), _numbers())


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "orc", "feather"])
def test_buffers(form: str) -> None:
    """Take all rows, as pandas writes them."""
    frame = table(7)[["k", "f", "s"]]
    buffer, wanted = io.BytesIO(), io.BytesIO()
    getattr(md.DataFrame(frame, chunk_size=3), f"to_{form}")(buffer)
    getattr(frame, f"to_{form}")(wanted)
    assert buffer.getvalue() == wanted.getvalue()
    if form != "csv":
        with pytest.raises(NotImplementedError, match="buffers"):
            getattr(md.DataFrame(frame), f"to_{form}")(buffer, compute=False)


def test_chunks_without_rows_write_no_lines(tmp_path: Path) -> None:
    """Wherever they are in a file of JSON lines."""
    frame = pd.DataFrame({"a": range(8)})
    lazy = md.DataFrame(frame, chunk_size=2)
    for rows in (frame.a < 5, frame.a > 3, frame.a % 5 == 1):
        keep = md.Series(rows, chunk_size=2)
        lazy[keep].to_json(tmp_path / "x.json", orient="records", lines=True)
        text = frame[rows].to_json(orient="records", lines=True)
        assert (tmp_path / "x.json").read_text() == text
    with pytest.raises(NotImplementedError, match="mode='a'"):
        lazy.to_json(tmp_path / "x.json", orient="records", lines=True, mode="a")
    assert (tmp_path / "x.json").read_text() == text
