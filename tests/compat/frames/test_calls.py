"""Calls of Mars's frames that differ in more than a keyword."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import marsdask.dataframe as md
from marsdask.compat import dataframe as old
from marsdask.compat import tensor as old_tensor
from marsdask.core.config import option_context

RAW = pd.DataFrame({"a": [3, 1, 2, 5], "b": [1.5, 0.5, 2.25, 1.0], "t": list("xyxy")})
TEXT = pd.ArrowDtype(pa.string())


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    old.offer()
    yield
    old.withdraw()


#: What takes Mars's words for the results of a function, and what pandas gives.
TOLD: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "apply": (
        lambda d: d[["a", "b"]].apply(
            lambda row: row.a + row.b, axis=1, output_type="series", dtype=float, name="s"
        ),
        (RAW.a + RAW.b).rename("s"),
    ),
    "apply, a frame": (
        lambda d: d[["a", "b"]].apply(
            lambda column: column * 2.0,
            output_type="dataframe",
            dtypes=pd.Series([np.dtype(float)] * 2, index=["a", "b"]),
        ),
        RAW[["a", "b"]] * 2.0,
    ),
    "apply of values": (lambda d: d.a.apply(lambda x: x + 0.5, dtype=float), RAW.a + 0.5),
    "apply, not inferred": (lambda d: d.a.apply(lambda x: x + 1, skip_infer=True), RAW.a + 1),
    "map": (lambda d: d.a.map({3: 1}, dtype=float), RAW.a.map({3: 1})),
    "map, in little memory": (lambda d: d.a.map({3: 1}, memory_scale=2), RAW.a.map({3: 1})),
    "transform": (
        lambda d: d.a.transform(lambda x: x + 1, dtype=int),
        RAW.a + 1,
    ),
    "transform of columns": (
        lambda d: d[["a"]].transform(lambda x: x + 1, dtypes=RAW[["a"]].dtypes),
        RAW[["a"]] + 1,
    ),
    "GroupBy.apply": (
        lambda d: d.groupby("t").apply(
            lambda rows: rows.b.sum(), output_type="series", dtype=float, name="b"
        ),
        RAW.groupby("t").b.sum().rename(None),
    ),
    "GroupBy.transform": (
        lambda d: d.groupby("t").b.transform(lambda x: x - x.min(), dtype=float, name="b"),
        RAW.b - RAW.groupby("t").b.transform("min"),
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_told_types(name: str) -> None:
    """What Mars is told of a function's results holds, or is not needed."""
    call, expected = TOLD[name]
    found = call(md.DataFrame(RAW, chunk_size=2)).execute().fetch()
    check: Any = (
        pd.testing.assert_frame_equal
        if isinstance(expected, pd.DataFrame)
        else pd.testing.assert_series_equal
    )
    check(found, expected)


def test_numbered_files(tmp_path: Path) -> None:
    """The star is the number of a chunk, without zeros."""
    lazy: Any = md.DataFrame(RAW, chunk_size=1)
    for suffix in ("csv", "parquet"):
        getattr(lazy, f"to_{suffix}")(tmp_path / f"out-*.{suffix}").execute()
        names = {path.name for path in tmp_path.glob(f"*.{suffix}")}
        assert names == {f"out-{number}.{suffix}" for number in range(4)}


def test_texts_of_arrow(tmp_path: Path) -> None:
    """Names and readers of Mars's give pandas's own type."""
    RAW.to_csv(tmp_path / "x.csv", index=False)
    RAW.to_parquet(tmp_path / "x.parquet")
    for name in ("csv", "parquet"):
        read: Any = getattr(old, f"read_{name}")
        path = tmp_path / f"x.{name}"
        found = read(path, use_arrow_dtype=True)
        assert found.dtypes["t"] == found.execute().fetch().dtypes["t"] == TEXT
        assert isinstance(found.dtypes["t"], old.ArrowStringDtype)
        with option_context({"dataframe.use_arrow_dtype": True}):
            assert read(path).dtypes["t"] == TEXT
            assert read(path, use_arrow_dtype=False).dtypes["t"] != TEXT
        assert found.drop(columns="t").dtypes.tolist() == RAW.dtypes.tolist()[:2]
    for word in ("Arrow[string]", "arrow_string"):
        assert md.Series(["a"]).astype(word).dtype == pd.Series(["a"], dtype=word).dtype == TEXT
    assert old.ArrowStringArray(["a", None]).dtype == TEXT
    assert old.ArrowListArray([["a"], []]).dtype == old.ArrowListDtype("string")
    assert old.ArrowListDtype(old.ArrowListDtype(np.int8)).name.count("list") == 2
    with pytest.raises(TypeError, match="Cannot construct"):
        old.ArrowStringDtype.construct_from_string("Arrow[int]")


def test_pairs_of_chunks() -> None:
    """A function gets each pair of chunks."""
    left: Any = md.DataFrame(RAW, chunk_size=3)
    right: Any = md.DataFrame({"c": [2, 4]}, chunk_size=1)

    def joined(a: Any, c: Any, least: int = 0) -> Any:
        rows = a.merge(c, how="cross")
        return rows[rows.a > rows.c + least]

    for least in (0, 2):
        found = left.cartesian_chunk(right, joined, args=(least,)).execute().fetch()
        expected = joined(RAW, pd.DataFrame({"c": [2, 4]}), least)
        by = ["a", "c"]
        pd.testing.assert_frame_equal(
            found.sort_values(by, ignore_index=True), expected.sort_values(by, ignore_index=True)
        )

    def of_numbers(a: Any, c: Any) -> Any:
        return a.astype(int) + len(c)

    texts: Any = md.Series(["1", "2"], chunk_size=1)
    with pytest.raises(TypeError, match="dtypes="):
        texts.cartesian_chunk(texts, lambda a, c: of_numbers(a, c[c.nope]))
    told = texts.cartesian_chunk(texts, of_numbers, output_type="series", dtype=np.dtype(int))
    assert sorted(told.execute().fetch()) == [2, 2, 3, 3]


def test_drawn_rows() -> None:
    """Rows are those of pandas, and the user's state stays where it is."""
    state = np.random.RandomState(3)
    lazy: Any = md.DataFrame(RAW, chunk_size=4)
    pairs: Any = ((lazy, RAW), (lazy.a, RAW.a))
    for obj, raw in pairs:
        first, again = (obj.sample(2, random_state=state).execute().fetch() for _ in range(2))
        assert first.equals(again)
        assert first.equals(raw.sample(2, random_state=np.random.RandomState(3)))


def test_rounded_frames() -> None:
    """Frames stay frames."""
    lazy: Any = md.DataFrame(RAW[["a", "b"]], chunk_size=2)
    for func in (old_tensor.around, old_tensor.round):
        pd.testing.assert_frame_equal(func(lazy, 1).execute().fetch(), RAW[["a", "b"]].round(1))
    assert old_tensor.around(1.26, 1).execute().fetch() == 1.3


def test_keywords_of_sessions() -> None:
    """What is fetched in batches, in a session and by limits is what pandas gives."""
    from marsdask.session import ensure_session

    lazy: Any = md.DataFrame(RAW, chunk_size=2)
    session = ensure_session(None)
    rows = list(lazy.itertuples(batch_size=1, session=session, index=False, name=None))
    assert rows == list(RAW.itertuples(index=False, name=None))
    assert lazy.a.to_dict(batch_size=1, session=session) == RAW.a.to_dict()
    assert lazy.a.to_tensor(dtype="f4").execute().fetch().dtype == np.float32
    assert md.Index([1, 2], names="n", store_data=True).name == "n"  # type: ignore[call-arg]
    with pytest.raises(NotImplementedError, match="CPU"):
        md.DataFrame(RAW, gpu=True)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="must be one of 'auto', 'shuffle'"):
        lazy.merge(lazy, on="a", method="guess")
    with pytest.raises(NotImplementedError, match="bias"):
        lazy.a.skew(bias=True)


def test_groups() -> None:
    """Groups are executed, and fetched as pandas's."""
    lazy: Any = md.DataFrame(RAW, chunk_size=2)
    pairs: Any = (
        (lazy.groupby("t"), RAW.groupby("t")),
        (lazy.groupby("t")[["a"]], RAW.groupby("t")[["a"]]),
        (lazy.a.groupby(lambda label: label % 2), RAW.a.groupby(lambda label: label % 2)),
    )
    for groups, expected in pairs:
        found = groups.execute().fetch()
        assert type(found) is type(expected)
        assert found.sum().equals(expected.sum())


def test_joined_texts() -> None:
    """One text of all rows is lazy, too."""
    lazy: Any = md.DataFrame(RAW, chunk_size=2)
    assert lazy.t.str.cat(sep="/").execute().fetch() == "x/y/x/y"
    assert lazy.t.str.cat(lazy.t).execute().fetch().tolist() == ["xx", "yy", "xx", "yy"]
