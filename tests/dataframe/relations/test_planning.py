"""Programs of frames that an engine runs equal those of pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask
import marsdask.dataframe as md
from marsdask.core.compilation.passes import run_passes
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.core.machine.plan import Plan
from marsdask.dataframe.relations import choice
from marsdask.dataframe.relations.polars_kernels import engine as polars_engine
from marsdask.dataframe.relations.query import Query, QueryResources
from tests.dataframe.tables import equal
from tests.strategies import draws

MACHINE = Plan(workers=2, budget=1 << 30, one_process=True)


def values(rows: int, seed: int) -> pd.DataFrame:
    """Return rows with repeated keys, and with missing values of each type that has some."""
    rng = np.random.default_rng(seed)
    texts: Any = ["a", "bb", "ä", None]
    return pd.DataFrame(
        {
            "k": rng.integers(-2, 3, rows),
            "small": rng.integers(-99, 99, rows).astype(np.int8),
            "f": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(-3, 9, rows) / 4),
            "g": rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5], rows),
            "s": pd.Series(rng.choice(texts, rows), dtype="str").array,
            "b": rng.random(rows) < 0.5,
            "u": rng.permutation(rows),
            "t": pd.to_datetime(rng.integers(0, 4, rows), unit="D").where(rng.random(rows) > 0.2),
            "d": pd.to_datetime(rng.integers(0, 999, rows), unit="D"),
        }
    )


@pytest.fixture(autouse=True)
def _coalesce() -> Iterator[None]:
    """Let polars run whatever is relational, instead of the modes of other tests."""
    with option_context({"dataframe.kernels": "polars", "verify": True}):
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write three files of different numbers of rows and row groups."""
    folder = tmp_path_factory.mktemp("rows")
    for number, rows in enumerate((40, 1, 23)):
        values(rows, number).to_parquet(folder / f"{number}.parquet", row_group_size=9)
    return folder


COLUMNS = ("k", "small", "f", "g", "s", "b", "u", "t", "d")

Step = Callable[[Any], Any]

#: Steps from a frame of the columns above to one of the same columns.
STEPS: dict[str, Step] = {
    "filter by floats": lambda d: d[d.f > 0],
    "filter by what is not": lambda d: d[~((d.g <= 1.5) & (d.f == d.f))],
    "filter by text": lambda d: d[(d.s == "a") | (d.s > "az")],
    "filter by other text": lambda d: d[d.s != "a"],
    "filter by a list": lambda d: d[d.s.isin(["bb", "ä"]) | d.k.isin([1, 2])],
    "filter by parts of text": lambda d: d[d.s.str.startswith("b") ^ d.s.str.contains("a.*")],
    "filter by what is missing": lambda d: d[d.t.isna() | d.s.notna()],
    "filter by times": lambda d: d[d.d >= pd.Timestamp("1971-01-01")],
    "filter by range": lambda d: d[d.u.between(3, 40) & d.f.between(0, 1.5, inclusive="left")],
    "arithmetic": lambda d: d.assign(f=d.f * 2 - d.k, u=d.u + 3, k=-d.k),
    "division": lambda d: d.assign(f=d.k / d.small, g=d.u / 7),
    "integers": lambda d: d.assign(small=d.small * 3, k=d.k - d.small),
    "fill": lambda d: d.assign(f=d.f.fillna(0.5), s=d.s.fillna("none"), k=d.k.fillna(3)),
    "choose": lambda d: d.assign(f=d.f.where(d.k > 0), k=d.k.mask(d.g > 1, 7)),
    "bound": lambda d: d.assign(f=d.f.clip(-0.25, 1), g=d.g.clip(upper=0), k=d.k.clip(lower=0)),
    "cast": lambda d: d.assign(k=d.small.astype("int64"), f=d.b.astype(float)),
    "years": lambda d: d.assign(k=d.d.dt.year - 1970 + d.k),
    "sort": lambda d: d.sort_values(["s", "f"], ascending=[False, True]),
    "sort nulls first": lambda d: d.sort_values(["f", "t"], na_position="first"),
    "sort by one": lambda d: d.sort_values("k", ascending=False, kind="stable"),
    "number": lambda d: d.reset_index(drop=True),
    "head": lambda d: d.head(17),
    "distinct": lambda d: d.drop_duplicates(["k", "s"]),
    "last distinct": lambda d: d.drop_duplicates("g", keep="last"),
    # Few rows, since five steps multiply them.
    "inner": lambda d: d.merge(d[d.u < 9][["k", "f"]].rename(columns={"f": "z"}).head(3), on="k")[
        list(COLUMNS)
    ],
    "inner by text": lambda d: d.merge(d[["s"]].drop_duplicates(), on="s"),
    "inner by keys of others": lambda d: d.merge(
        d[d.u > 20][["g"]].drop_duplicates().rename(columns={"g": "z"}), left_on="g", right_on="z"
    )[list(COLUMNS)],
    "inner by groups": lambda d: (
        d.merge(d.groupby("s", as_index=False, sort=False).agg(z=("f", "max")), on="s", how="left")
        .assign(f=lambda d: d.f + d.z)
        .drop(columns="z")
    ),
    "largest of all": lambda d: d.sort_values(["f", "u"], ascending=[False, True]).head(30),
    "left": lambda d: (
        d.merge(d[d.f > 1][["u", "s"]].rename(columns={"s": "z"}).head(3), on="u", how="left")
        .drop(columns="s")
        .rename(columns={"z": "s"})[list(COLUMNS)]
    ),
}
#: What is made of the rows in the end.
ENDS: dict[str, Step] = {
    "rows": lambda d: d,
    "column": lambda d: d.f,
    "labels": lambda d: d.reset_index(),
    "index": lambda d: d.set_index("u"),
    "sum": lambda d: d.k.sum(),
    "mean": lambda d: d.f.mean(),
    "largest": lambda d: d.u.max(),
    "groups": lambda d: d.groupby("s").agg({"f": "sum", "k": "max", "u": "mean"}),
    "groups of two": lambda d: d.groupby(["k", "g"], as_index=False).agg(
        n=("u", "count"), low=("f", "min"), kinds=("s", "nunique"), v=("f", "var")
    ),
    "groups met": lambda d: d.groupby("t", sort=False).agg(
        n=("k", "size"), a=("f", "first"), z=("s", "last"), m=("f", "median")
    ),
    "groups with missing keys": lambda d: d.groupby(["s", "g"], dropna=False).f.std(),
    "counts": lambda d: d.groupby("k").size(),
    "groups again": lambda d: (
        d.groupby(["k", "s"], as_index=False).agg(n=("u", "sum")).groupby("k").n.max()
    ),
    "best groups": lambda d: (
        d.groupby("k", as_index=False)
        .agg(n=("u", "sum"))
        .sort_values("n", ascending=False, kind="stable")
        .head(2)
    ),
    "rows of large groups": lambda d: d.merge(
        d.groupby("k", as_index=False).agg(n=("u", "count")), on="k", how="left"
    ),
}


def queries(lazy: Any) -> list[Query]:
    """Return the queries of a planned program."""
    nodes = run_passes(Graph([lazy.node]), MACHINE).nodes
    return [node for node in nodes if isinstance(node, Query)]


@contextmanager
def without_rules() -> Iterator[None]:
    """Let polars run programs as they are written, and keep every order."""
    with (
        mock.patch.object(polars_engine, "OPTIMIZATIONS", pl.QueryOptFlags.none()),
        mock.patch.object(polars_engine, "ordered", lambda below, _: {x.token_name for x in below}),
        mock.patch.object(polars_engine, "are_equal", return_value=False),
        mock.patch.object(polars_engine, "is_semi", return_value=False),
    ):
        yield


@contextmanager
def in_parts() -> Iterator[None]:
    """Let duckdb return results in chunks of a few rows, from files."""
    with (
        option_context({"dataframe.kernels": "duckdb"}),
        mock.patch.object(choice, "LARGEST_BLOCK", 500),
        mock.patch.object(QueryResources, "kept", 0),
    ):
        yield


#: How programs run: by polars with and without rules, by duckdb with results whole and in parts, by
#: pandas with merged chunks and as given.
WAYS: dict[str, Callable[[], Any]] = {
    "polars": lambda: option_context({}),
    "polars without rules": without_rules,
    "duckdb": lambda: option_context({"dataframe.kernels": "duckdb"}),
    "duckdb in parts": in_parts,
    "pandas": lambda: option_context({"dataframe.kernels": "pandas"}),
    "pandas in chunks": lambda: option_context({"dataframe.kernels": "pandas", "coalesce": False}),
}


@draws(250)
@given(data=st.data())
def test_random_programs_equal_pandas(files: Path, data: Any) -> None:
    """Of files and of frames in memory, each way: values, types, labels and their order."""
    way = data.draw(st.sampled_from(["polars", *WAYS]), label="way")
    names = data.draw(st.lists(st.sampled_from(sorted(STEPS)), max_size=7))
    end = data.draw(st.sampled_from(sorted(ENDS)))
    whole = pd.concat([values(40, 0), values(1, 1), values(23, 2)], ignore_index=True)
    if data.draw(st.booleans(), label="from files"):
        lazy: Any = md.read_parquet(str(files / "*.parquet"))
        whole = pd.read_parquet(files)
    else:
        lazy = md.DataFrame(whole, chunk_size=13)
    wanted: Any = whole
    for name in names:
        lazy, wanted = STEPS[name](lazy), STEPS[name](wanted)
    with WAYS[way]():
        equal(ENDS[end](lazy), ENDS[end](wanted), check_exact=False)


#: Programs whose rows are written, and in how many files.
WRITTEN: dict[str, tuple[Step, int]] = {
    "sorted": (lambda d: d.sort_values("u", kind="stable"), 3),
    "groups": (lambda d: d.groupby("u", as_index=False).agg(f=("f", "sum")), 1),
    "joined": (lambda d: d.merge(d[["u", "k"]].rename(columns={"k": "z"}), on="u"), 3),
    "distinct": (lambda d: d.drop_duplicates("u"), 1),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written_rows_are_parts_of_a_result(files: Path, name: str, tmp_path: Path) -> None:
    """As many files as chunks, with all rows in order."""
    program, count = WRITTEN[name]
    lazy = program(md.read_parquet(str(files / "*.parquet")))
    with in_parts():
        with mock.patch.object(Query, "tile", autospec=True, side_effect=Query.tile) as tile:
            lazy.to_parquet(str(tmp_path / "rows"))
        assert tile.called
    assert len(list((tmp_path / "rows").glob("*.parquet"))) == count
    wanted = program(pd.read_parquet(files)).reset_index(drop=True)
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "rows").reset_index(drop=True), wanted, check_exact=False
    )


@pytest.mark.parametrize("way", WAYS)
def test_scalars_are_rows_of_a_file(files: Path, way: str, tmp_path: Path) -> None:
    """A query of one value has no chunks that the file's writer could see."""
    lazy: Any = md.read_parquet(str(files / "*.parquet"))[["u", "f"]]
    with WAYS[way]():
        lazy.describe(percentiles=[]).to_parquet(str(tmp_path / "rows"))
    wanted = pd.read_parquet(files)[["u", "f"]].describe(percentiles=[])
    result = pd.read_parquet(tmp_path / "rows")
    pd.testing.assert_frame_equal(result, wanted, check_exact=False)


def test_functions_of_users_see_chunks_as_they_are(files: Path) -> None:
    """Of unknown sizes none come from a query; of known ones they are the same."""
    lazy = md.read_parquet(str(files / "*.parquet"))
    with in_parts():
        assert not queries(lazy.drop_duplicates("u").map_partitions(len))
        rows: Any = lazy.sort_values("u").map_partitions(lambda part: pd.Series([len(part)]))
        assert queries(rows)
        assert rows.compute().tolist() == [40, 1, 23]


@pytest.mark.parametrize("step", STEPS)
def test_each_step_runs_in_the_engine(files: Path, step: str) -> None:
    """So that the random programs test what they are meant to."""
    lazy = md.read_parquet(str(files / "*.parquet"))
    (query,) = queries(STEPS[step](lazy).sort_values("u"))
    assert not query.below


@pytest.mark.parametrize("end", sorted(set(ENDS) - {"rows", "column", "labels", "index"}))
def test_each_end_runs_in_the_engine(files: Path, end: str) -> None:
    """Scans alone do not: pandas reads files as well."""
    lazy = md.read_parquet(str(files / "*.parquet"))
    assert len(queries(ENDS[end](lazy))) == 1


def test_where_nothing_is_planned(files: Path) -> None:
    """Not for pandas, unknown memory, chunks that users see, little memory, few rows."""
    lazy = md.read_parquet(str(files / "*.parquet")).groupby("k").u.sum()
    with option_context({"dataframe.kernels": "pandas"}):
        assert not queries(lazy)
    with option_context({"dataframe.kernels": "auto"}):
        assert not queries(lazy)
    assert queries(lazy)
    graph = Graph([lazy.node])
    for plan in (
        Plan(workers=2, budget=1 << 30),
        Plan(one_process=True, coalesce=False),
        Plan(one_process=True, budget=1000),
    ):
        assert run_passes(graph, plan).roots[0].label == "groupby"
        assert not any(isinstance(one, Query) for one in run_passes(graph, plan).nodes)


def test_users_functions_stay_with_pandas(files: Path) -> None:
    """And what comes after them; what comes before runs in the engine."""
    lazy = md.read_parquet(str(files / "*.parquet"))
    found = lazy.groupby("k", as_index=False).u.sum()
    rolled = found.u.rolling(2).mean()
    assert [one.label for one in queries(rolled)]
    wanted = pd.read_parquet(files).groupby("k", as_index=False).u.sum().u.rolling(2).mean()
    equal(rolled, wanted)


def test_long_chains_are_not_planned() -> None:
    """Plans are named and pickled by recursion: long ones stay with pandas."""
    frame = pd.DataFrame({"a": np.arange(50), "b": 1.0})
    lazy: Any = md.DataFrame(frame, chunk_size=20)
    for number in range(300):
        lazy, frame = lazy.assign(b=lazy.b + lazy.a), frame.assign(b=frame.b + frame.a)
        if number % 3 == 0:
            lazy, frame = lazy[lazy.a >= 0], frame[frame.a >= 0]
    equal(lazy.groupby("a").b.sum(), frame.groupby("a").b.sum())


def test_a_result_is_an_input(files: Path) -> None:
    """What a session keeps is read as it is, with the types that it was found to have."""
    lazy = md.read_parquet(str(files / "*.parquet"))
    wanted = pd.read_parquet(files)
    kept = lazy[lazy.k > 0].execute()
    equal(kept.groupby("s").f.sum(), wanted[wanted.k > 0].groupby("s").f.sum())
    with marsdask.new_session("threads") as session:
        there = lazy.groupby("k").f.mean().execute(session=session).fetch()
    pd.testing.assert_series_equal(there, wanted.groupby("k").f.mean())


def test_sums_of_the_same_rows_are_one_query(files: Path) -> None:
    """Values of the same rows are read once; one that needs another's value is a query after it."""
    with mock.patch.object(polars_engine, "run", wraps=polars_engine.run) as runs:
        frame = md.read_parquet(files)
        rows = frame[frame.k > 0]
        total, least, count = rows.f.sum(), rows.u.min(), rows.s.count()
        marsdask.execute(total, least, count)
        assert runs.call_count == 1
        away = (rows.f - rows.f.mean()).abs().sum().execute()
        assert runs.call_count == 3
    wanted = pd.read_parquet(files)[lambda d: d.k > 0]
    assert (least.fetch(), count.fetch()) == (wanted.u.min(), wanted.s.count())
    np.testing.assert_allclose(total.fetch(), wanted.f.sum())
    np.testing.assert_allclose(away.fetch(), (wanted.f - wanted.f.mean()).abs().sum())


@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("last", ["all", "filter", "head", "merge again"])
def test_merges_of_repeated_keys_keep_the_order(files: Path, how: str, last: str) -> None:
    """Rows of equal keys meet in the order of both sides, whatever follows."""

    def program(one: Any) -> Any:
        rows = one.read_parquet(files)[["k", "u", "f"]]
        found = rows.merge(rows[["k", "u"]].rename(columns={"u": "w"}), on="k", how=how)
        if last == "filter":
            return found[found.w > 20]
        if last == "merge again":
            return found.merge(rows[["k", "f"]].rename(columns={"f": "z"}), on="k").tail(99)
        return found.head(33) if last == "head" else found

    equal(program(md), program(pd))


AFTER_CONCAT: dict[str, Step] = {
    "filter": lambda d: d[d.k > 2],
    "tail": lambda d: d.tail(2),
    "labels": lambda d: d[d.k > 2].set_index("k"),
    "values": lambda d: d[d.k > 2].k.unique(),
}


@pytest.mark.parametrize("name", AFTER_CONCAT)
def test_known_types_of_a_query_hold_in_each_chunk_of_a_concat(name: str) -> None:
    """Floats of shifted rows are the type of all rows, also of those that have no gap."""
    rows, other = pd.DataFrame({"k": [1, 2], "b": [1, 2]}), pd.DataFrame({"k": [2, 3], "s": [1, 2]})
    shifted = md.DataFrame(rows, chunk_size=1)[["k"]].shift(1)
    result = AFTER_CONCAT[name](md.concat([shifted, md.DataFrame(other, chunk_size=2)]))
    wanted = AFTER_CONCAT[name](pd.concat([rows[["k"]].shift(1), other]))
    if name == "values":
        values = result.compute()
        assert (values.dtype, *values) == (wanted.dtype, *wanted)
    else:
        equal(result, wanted)
