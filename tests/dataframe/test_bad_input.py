"""Damaged files, wrong columns, failing functions and full disks: pandas's errors, and life after.

Each is tried with pandas and with polars as the kernels.
"""

from __future__ import annotations

import gc
import os
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.core.errors import SpillFull
from marsdask.dataframe.io.json import to_json_file
from marsdask.dataframe.io.parquet import to_parquet_file
from marsdask.dataframe.io.text import to_csv_file
from marsdask.dataframe.io.whole_files import to_feather_file, to_orc_file
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.coalesce

FRAME = pd.DataFrame(
    {
        "k": np.arange(120) // 6,
        "u": np.arange(120),
        "s": ["a", "b", "c"] * 40,
        "o": pd.Series([[1], [2]] * 60, dtype=object),
    }
)
PLAIN = FRAME.drop(columns="o")


@pytest.fixture(params=["pandas", "polars"])
def kernels(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let pandas or polars run what is relational."""
    with option_context({"dataframe.kernels": request.param}):
        yield request.param


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write twelve files of ten rows."""
    for number in range(12):
        rows = PLAIN[number * 10 : number * 10 + 10].reset_index(drop=True)
        rows.to_parquet(tmp_path / f"{number:02d}.parquet")
    return tmp_path


def error_of(call: Callable[[], Any]) -> type[Exception]:
    """Return the type of what a call raises."""
    try:
        call()
    except Exception as error:  # noqa: BLE001  # whatever it is
        return type(error)
    raise AssertionError("nothing was raised")


def told(error: BaseException) -> str:
    """Return what a user reads of an error."""
    return "".join(traceback.format_exception_only(error))


def overwritten(data: bytes, start: int, count: int) -> bytes:
    """Return bytes of which some are overwritten."""
    return data[:start] + b"\xff" * count + data[start + count :]


#: What happened to a file.
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "page": lambda data: overwritten(data, 10, 50),
    "pages": lambda data: overwritten(data, 4, len(data) // 4),
    "footer": lambda data: overwritten(data, len(data) - 60, 40),
    "another format": lambda data: b"k,u\n" + b"1,2\n" * 30,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(folder: Path, kernels: str, damage: str) -> None:
    """The error is pandas's, and polars's own never; other files can be read afterwards."""
    del kernels
    path = folder / "04.parquet"
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.raises(error_of(lambda: pd.read_parquet(folder))) as caught:
        md.read_parquet(folder).groupby("k").u.sum().compute()
    assert str(path) in told(caught.value)
    good = md.read_parquet(str(folder / "0[0-3].parquet")).groupby("s").u.sum()
    equal(good, PLAIN[:40].groupby("s").u.sum())


def test_a_file_that_goes_after_it_was_found(folder: Path, kernels: str) -> None:
    """It is missing when it is read."""
    del kernels
    lazy = md.read_parquet(folder).groupby("s").u.sum()
    (folder / "07.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"07\.parquet"):
        lazy.compute()


def table(**columns: Any) -> pd.DataFrame:
    """Return the rows of a file."""
    return pd.DataFrame(columns)


#: The rows of the files of a folder, whose columns differ.
SCHEMAS: dict[str, list[pd.DataFrame]] = {
    "missing": [table(a=[1, 2], b=[1, 2]), table(a=[3, 4])],
    "more": [table(a=[1, 2]), table(a=[3, 4], b=[1.0, 2.0])],
    "missing truth": [table(a=[1], b=[True]), table(a=[3])],
    "missing text": [table(a=[1], b=["x"]), table(a=[3])],
    "other order": [table(a=[1, 2], b=[1.5, 2]), table(b=[3.0, 4], a=[3, 4])],
    "floats of integers": [table(a=[1.5], b=[1]), table(a=[3], b=[2])],
    "integers of floats": [table(a=[1]), table(a=[3.0])],
    "no integers": [table(a=[1]), table(a=[3.5])],
    "too large": [table(a=np.array([1], "i4")), table(a=[2**40])],
    "no numbers": [table(a=[1]), table(a=["x"])],
    "units": [table(a=pd.to_datetime(["2020"]).as_unit(one)) for one in ("ms", "ns")],
    "texts": [table(a=["x", "y"]), table(a=pd.Series(["x", None], dtype=object))],
    "nothing": [table(a=[1, 2]), table(a=pd.Series([None], dtype=object))],
    "nullable": [table(a=[1.5]), table(a=pd.array([1, None], dtype="Int64"))],
    "categories": [table(a=pd.Categorical(list(one))) for one in ("xy", "zy")],
    "labels": [table(a=[1, 2], b=[1.5, 2]).set_index("a"), table(b=[3.5], a=[3])],
    "no labels": [table(a=[1, 2], b=[1.5, 2]), table(a=[3], b=[3.5]).set_index("a")],
}


#: The type that holds the values of all files, where pandas takes the first file's or refuses.
WIDER: dict[str, Any] = {
    "integers of floats": "float64",
    "no integers": "float64",
    "too large": "int64",
    "units": "datetime64[ns]",
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_columns_that_differ_between_files(tmp_path: Path, name: str) -> None:
    """They have a type that holds all values, else pandas's, however files become chunks."""
    for number, rows in enumerate(SCHEMAS[name]):
        rows.to_parquet(tmp_path / f"{number}.parquet")
    for merged in (True, False):
        lazy = md.read_parquet(tmp_path)
        with option_context({"coalesce": merged}):
            if name == "no numbers":
                with pytest.raises(ValueError, match="column 'a'") as caught:
                    lazy.compute()
                assert str(tmp_path / "1.parquet") in told(caught.value)
            elif name in WIDER:
                equal(lazy, pd.concat(SCHEMAS[name], ignore_index=True).astype(WIDER[name]))
            else:
                equal(lazy, pd.read_parquet(tmp_path))


def test_text_as_codes_in_one_file_only(tmp_path: Path) -> None:
    """One chunk of two files has both, and one type."""
    few, many = table(a=["x", "y"] * 500), table(a=[f"{i:09d}" for i in range(1000)])
    for number, rows in enumerate((few, many)):
        rows.to_parquet(tmp_path / f"{number}.parquet")
    equal(md.read_parquet(tmp_path, aggregate_files=True), pd.read_parquet(tmp_path))


Call = Callable[[Any], Any]

#: What pandas refuses.
REFUSED: dict[str, Call] = {
    "groups": lambda d: d.groupby("o").u.sum(),
    "merge": lambda d: d.merge(d[["o"]], on="o"),
    "distinct values": lambda d: d.drop_duplicates(["k", "o"]),
    "distinct in groups": lambda d: d.groupby("k").o.nunique(),
    "transform": lambda d: d.groupby("o").u.transform("sum"),
    "apply": lambda d: d.groupby("o").apply(lambda g: g.u.sum()),
    "pivot": lambda d: d.pivot_table("u", index="o", aggfunc="sum"),
    "columns": lambda d: d[{}],
    "no column": lambda d: d["zz"],
    "no columns": lambda d: d[["k", "zz"]],
    "no attribute": lambda d: d.zz,
    "no groups": lambda d: d.groupby("zz").u.sum(),
    "nothing of groups": lambda d: d.groupby("k")["zz"].sum(),
    "no aggregate": lambda d: d.groupby("k").agg({"zz": "sum"}),
    "no key": lambda d: d.merge(d, on="zz"),
    "no order": lambda d: d.sort_values("zz"),
    "no distinct": lambda d: d.drop_duplicates("zz"),
    "no labels": lambda d: d.set_index("zz"),
    "no drop": lambda d: d.drop(columns="zz"),
    "no melt": lambda d: d.melt(id_vars="zz"),
    "no pivot": lambda d: d.pivot_table("zz", index="k"),
    "no explode": lambda d: d.explode("zz"),
    "no largest": lambda d: d.nlargest(2, "zz"),
    "no query": lambda d: d.query("zz > 1"),
    "no rows": lambda d: d.loc[:, "zz"],
    "no type": lambda d: d.astype({"zz": "f8"}),
    "no rename": lambda d: d.rename(columns={"zz": "a"}, errors="raise"),
    "no pop": lambda d: d.pop("zz"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_keys_without_hashes_and_missing_columns(kernels: str, name: str) -> None:
    """The type of the error is pandas's."""
    del kernels
    call = REFUSED[name]
    with pytest.raises(error_of(lambda: call(FRAME))):
        call(md.DataFrame(FRAME, chunk_size=50)).compute()


def checked(value: int) -> int:
    """Return a value; one of the tenth file is not taken."""
    if value == 95:
        raise ZeroDivisionError("no such value")
    return value


def checked_rows(rows: Any) -> Any:
    """Look at all values of some rows."""
    for value in np.atleast_1d(rows["u"]):
        checked(value)
    return rows


#: Functions of the user, and whether what fails is a chunk of the file.
FUNCTIONS: dict[str, tuple[Call, bool]] = {
    "map": (lambda d: d.u.map(checked), True),
    "apply": (lambda d: d.u.apply(checked), True),
    "apply to rows": (lambda d: d.apply(lambda row: checked(row.u), axis=1, meta=("u", int)), True),
    "map_partitions": (lambda d: d.map_partitions(checked_rows, meta=PLAIN), True),
    "after a filter": (lambda d: d[d.u >= 0].u.map(checked), True),
    "groups": (lambda d: d.groupby("k").apply(lambda g: len(checked_rows(g))), False),
    "transform": (lambda d: d.groupby("k").u.transform(lambda u: u.map(checked)), False),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_fails_in_the_tenth_chunk(folder: Path, name: str) -> None:
    """The exception is its own; the file, the rows, its frame and the user's line are told."""
    call, of_chunk = FUNCTIONS[name]
    lazy = md.read_parquet(folder, split_row_groups=True)
    with (
        option_context({"coalesce": False}),
        pytest.raises(ZeroDivisionError, match="no such value") as caught,
    ):
        call(lazy).compute()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "checked"
    assert f"written at {__file__}" in told(caught.value)
    if of_chunk:
        where = f"rows 90 to 99\n  read from {folder / '09.parquet'}\n"
        assert "chunk (9,) of (12,)" in told(caught.value)
        assert where in told(caught.value)


def test_a_function_that_fails_beside_a_query(folder: Path, kernels: str) -> None:
    """The same, where chunks are merged: a function of partitions sees them as they are."""
    del kernels
    lazy = md.read_parquet(folder, split_row_groups=True)
    mapped: Any = lazy.map_partitions(checked_rows, meta=PLAIN)
    with pytest.raises(ZeroDivisionError) as caught:
        mapped.groupby("s").u.sum().compute()
    assert f"rows 90 to 99\n  read from {folder / '09.parquet'}\n" in told(caught.value)
    sums: Any = lazy.groupby("k").u.sum()
    with pytest.raises(ZeroDivisionError) as caught:
        sums.map(lambda x: checked(x - 460)).compute()
    assert "(map)" in told(caught.value)
    equal(lazy.groupby("s").u.sum(), PLAIN.groupby("s").u.sum())


def test_a_function_of_text_in_a_file(tmp_path: Path) -> None:
    """The bytes of the file are told, where rows have no numbers before all are read."""
    PLAIN.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ZeroDivisionError) as caught:
        md.read_csv(tmp_path / "x.csv").u.map(checked, meta=("u", int)).compute()
    assert f"read from {tmp_path / 'x.csv'}, bytes 0 to" in told(caught.value)


#: What does not fit memory.
LARGE: dict[str, Call] = {
    "sort": lambda d: d.sort_values(["key", "value"]),
    "merge": lambda d: d.merge(d, on="key"),
    "distinct": lambda d: d.drop_duplicates("key"),
    "groups": lambda d: d.groupby("key").value.sum(),
}


def pairs(rows: int) -> Any:
    """Return a lazy frame of keys, each about twice, and values."""
    drawn = mt.random.RandomState(0).randint(0, rows // 2, (rows, 2), chunk_size=(8_000, 2))
    return md.DataFrame(drawn, columns=["key", "value"])


def test_a_full_disk_while_rows_are_exchanged(tmp_path: Path) -> None:
    """An OSError; nothing is held, the session goes on, and no file is left in the end."""
    limits: dict[str, Any] = {
        "memory_limit": "2MiB",
        "spill_limit": "1MiB",
        "spill_dirs": str(tmp_path),
    }
    with marsdask.new_session("threads", n_workers=2, **limits) as session:
        for call in LARGE.values():
            with pytest.raises(SpillFull, match="1,048,576") as caught:
                call(pairs(160_000)).execute()
            assert isinstance(caught.value, OSError)
            del caught  # its frames hold results
            gc.collect()
            assert "0 results" in repr(session)
            assert pairs(1000).value.count().compute() == 1000
        state: Any = session.scheduler
        assert not state._engine.state.items
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device without room")
@pytest.mark.parametrize(
    "write", [to_csv_file, to_feather_file, to_json_file, to_orc_file, to_parquet_file]
)
def test_a_full_disk_while_files_are_written(write: Callable[..., None]) -> None:
    """Each format raises the system's error, and none ends the process."""
    with pytest.raises(OSError, match="No space left"):
        write(PLAIN, "/dev/full", first=True)
