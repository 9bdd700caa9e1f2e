"""Nodes that say ``settled`` prove it: every chunk has the declared types, whatever it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.collection import collect
from marsdask.core.config import option_context
from marsdask.core.graph import Graph
from marsdask.dataframe import collection as collections
from marsdask.dataframe.keyed.merge import Merge
from marsdask.dataframe.nodes import dtypes
from marsdask.dataframe.nodes.frame_node import FrameNode
from marsdask.scheduler.base import all_dtypes
from tests.dataframe import one_mode
from tests.dataframe.tables import equal

_coalesce = one_mode.as_given

#: Rows of which the first chunks show other types than all: whole numbers, no gaps, one zone.
ROWS = pd.DataFrame(
    {
        "k": [1, 1, 2, 2, 3, 4],
        "i": [1, 2, 3, 4, 5, 6],
        "z": [1, 1, 1, 1, 0, 0],
        "f": [1.0, 2.0, 3.0, np.nan, 5.5, np.nan],
        "b": [True, True, True, False, False, True],
        "s": ["1", "2", "3", "4.5", None, "6"],
        "o": pd.Series([1, 2, 3, 4.5, None, 6], dtype=object),
        "c": pd.Categorical(["x", "x", "y", "y", None, "z"]),
        "t": pd.date_range("2024-01-01", periods=6, freq="12h"),
    }
)
OTHERS = pd.DataFrame({"k": [1, 1, 9], "w": [1, 2, 3], "d": [True, False, True]})

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "shift": lambda f, o: f.shift(1),
    "diff": lambda f, o: f[["i", "f"]].diff(),
    "filled": lambda f, o: f.shift(1).i.fillna(0),
    "where": lambda f, o: f.where(f.i < 4),
    "mask": lambda f, o: f.i.mask(f.i > 4, 0.5),
    "clip": lambda f, o: f.i.clip(0.5, 4.5),
    "divided": lambda f, o: f.i // f.z,
    "modulo": lambda f, o: f.i % f.z,
    "quotient": lambda f, o: f.i / f.z,
    "replaced": lambda f, o: f.i.replace({6: 0.5}),
    "mapped": lambda f, o: f.i.map({1: 1, 2: 2}),
    "called": lambda f, o: f.i.map(lambda i: i if i < 4 else 0.5),
    "applied": lambda f, o: f.apply(lambda row: row.i, axis=1),
    "numbers": lambda f, o: md.to_numeric(f.s),
    "texts": lambda f, o: f.s.str.len(),
    "parts": lambda f, o: f.s.str.split(".", expand=True),
    "cast": lambda f, o: f.astype({"i": float, "f": "float32"}),
    "compared": lambda f, o: f.i > f.f,
    "sum of columns": lambda f, o: f.i + f.f,
    "converted": lambda f, o: f[["i", "f"]].convert_dtypes(),
    "differences": lambda f, o: f[["i"]].compare(f[["z"]].set_axis(["i"], axis=1)),
    "inner": lambda f, o: f.merge(o, on="k"),
    "left": lambda f, o: f.merge(o, on="k", how="left"),
    "right": lambda f, o: f.merge(o, on="k", how="right"),
    "outer": lambda f, o: f.merge(o, on="k", how="outer"),
    "as of": lambda f, o: md.merge_asof(f, o, on="k"),
    "concatenated": lambda f, o: md.concat([f, o]),
    "first": lambda f, o: f.combine_first(f),
    "sorted": lambda f, o: f.sort_values("i", ascending=False),
    "distinct": lambda f, o: f.drop_duplicates("k"),
    "labels": lambda f, o: f.reindex([0, 5, 9]),
    "chosen labels": lambda f, o: f.loc[[5, 0]],
    "listed": lambda f, o: f.iloc[[5, 0]],
    "ranks": lambda f, o: f.f.rank(),
    "ranks of groups": lambda f, o: f.groupby("k").i.rank(),
    "numbers in groups": lambda f, o: f.groupby("f").cumcount(),
    "numbers of groups": lambda f, o: f.groupby("f").ngroup(),
    "sums": lambda f, o: f.groupby("f").i.sum(),
    "many": lambda f, o: f.groupby("k").agg({"i": ["sum", "mean", "var"], "b": "max", "s": "min"}),
    "firsts": lambda f, o: f.groupby("k").first(),
    "transformed": lambda f, o: f.groupby("f").i.transform("sum"),
    "shifted": lambda f, o: f.groupby("k").i.shift(1),
    "of groups": lambda f, o: f.groupby("k")[["i"]].apply(lambda rows: rows.head(1)),
    "masks of groups": lambda f, o: f.groupby("f").head(1),
    "means of floats": lambda f, o: f.astype({"f": "float32"}).groupby("k").f.transform("mean"),
    "short sums": lambda f, o: f.astype({"f": "float32"}).groupby("k").f.sum(),
    "stacked": lambda f, o: f[["i", "f"]].stack(),
    "unstacked": lambda f, o: f.groupby(["k", "b"]).i.sum().unstack(),
    "melted": lambda f, o: f[["i", "f"]].melt(),
    "exploded": lambda f, o: f.explode("i"),
    "counts": lambda f, o: f.k.value_counts(),
    "described": lambda f, o: f[["i", "f"]].describe(),
    "modes": lambda f, o: f.i.mode(),
    "running": lambda f, o: f.i.cumsum(),
    "windows": lambda f, o: f.i.rolling(2).sum(),
    "bins": lambda f, o: f.set_index("t").i.resample("1D").sum(),
    "assigned": lambda f, o: f.assign(i=f.i.where(f.b)),
    "partitions": lambda f, o: f.repartition(npartitions=2),
    "divisions": lambda f, o: f.partitions[1:],
    "by partition": lambda f, o: f.map_partitions(pd.DataFrame.convert_dtypes, meta=ROWS[:0]),
    "from_map": lambda f, o: md.from_map(lambda i: ROWS.iloc[i : i + 2], [0, 2, 4]),
    "extremes": lambda f, o: f[["i", "f"]].max(),
    "shuffled": lambda f, o: f.shuffle("k"),
    "distinct counts": lambda f, o: f.nunique(),
}


def sources(folder: Any) -> Iterator[tuple[str, Any]]:
    """Yield frames of files whose later rows are of other types than the first."""
    lines = "i,s\n" + "1,a\n" * 20 + "2.5,\n" + "x,b\n" * 3
    (folder / "x.csv").write_text(lines)
    (folder / "y.csv").write_text("i,f\n" + "1,1\n" * 20)
    for name in ("x", "y"):
        yield name, md.read_csv(str(folder / f"{name}.csv"), chunk_bytes=16, dtype={"i": str})
    (folder / "p").mkdir()
    rows: list[list[Any]] = [[1, 2], [3, None]]
    for number, values in enumerate(rows):
        pd.DataFrame({"i": pd.array(values, "Int64"), "s": ["a", None]}).to_parquet(
            folder / "p" / f"{number}.parquet"
        )
    yield "parquet", md.read_parquet(folder / "p")
    yield "filtered", md.read_parquet(folder / "p", filters=[("i", ">", 1)])


def broken_claims(lazy: Any, blocks_of: Callable[[Any], list[Any]]) -> list[str]:
    """Return the settled nodes below whose chunks have other types than these declare."""
    broken = []
    for node in Graph([lazy.node]).nodes:
        if not node.settled or not isinstance(node, FrameNode) or node.is_row:
            continue
        for block in blocks_of(collect(node)):
            if len(block) and all_dtypes(block) != all_dtypes(node.meta):
                types = f"{all_dtypes(node.meta)}, not {all_dtypes(block)}"
                broken.append(f"{type(node).__name__} {node.label}: {types}")
    return broken


@pytest.fixture
def blocks_of(monkeypatch: Any) -> Callable[[Any], list[Any]]:
    """Return a function that computes the chunks of a collection as they are."""
    seen: list[Any] = []

    def kept(blocks: list[Any]) -> Any:
        seen.extend(blocks)
        return blocks[0]

    def compute(lazy: Any) -> list[Any]:
        seen.clear()
        lazy.compute()
        return list(seen)

    monkeypatch.setattr(collections, "concat_chunks", kept)
    return compute


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, blocks_of: Any) -> None:
    """Each node of a program has the types in all chunks that it says are settled."""
    lazy = PROGRAMS[name](md.DataFrame(ROWS, chunk_size=2), md.DataFrame(OTHERS, chunk_size=1))
    assert not broken_claims(lazy, blocks_of)


def test_readers(tmp_path: Any, blocks_of: Any) -> None:
    """So have readers of files."""
    for name, lazy in sources(tmp_path):
        assert not broken_claims(lazy, blocks_of), name


def test_too_wide_a_claim_is_seen(monkeypatch: Any, blocks_of: Any) -> None:
    """A merge that claims types which only its rows tell does not pass."""
    monkeypatch.setattr(Merge, "settled", True)
    lazy = md.DataFrame(ROWS, chunk_size=2).merge(md.DataFrame(OTHERS), on="k", how="left")
    assert "Merge" in broken_claims(lazy, blocks_of)[0]


def overriding(kind: type[FrameNode]) -> Iterator[type[FrameNode]]:
    """Yield the classes of frames' nodes that decide themselves what is settled."""
    if "settled" in vars(kind):
        yield kind
    for child in kind.__subclasses__():
        yield from overriding(child)


def test_each_claim_is_made(tmp_path: Any) -> None:
    """Every class of node that decides what is settled is in a program."""
    pair = md.DataFrame(ROWS, chunk_size=2), md.DataFrame(OTHERS, chunk_size=1)
    frames = [program(*pair) for program in PROGRAMS.values()]
    frames += [lazy for _, lazy in sources(tmp_path)]
    made = {type(node) for lazy in frames for node in Graph([lazy.node]).nodes}
    claims = {kind for kind in overriding(FrameNode) if kind.__module__.startswith("marsdask.")}
    missing = {kind for kind in claims if not any(issubclass(each, kind) for each in made)}
    assert not missing


#: Programs whose first rows have another type than all rows together.
BY_ROWS = (
    *("left", "right", "outer", "as of", "where", "mask", "clip", "divided", "modulo"),
    *("replaced", "mapped", "numbers", "texts", "assigned", "converted", "differences"),
)
#: What chooses some of the rows.
CHOICES: dict[str, Callable[[Any], Any]] = {
    "first": lambda f: f.head(1),
    "last": lambda f: f.tail(1),
    "slice": lambda f: f.iloc[1:2],
    "listed": lambda f: f.iloc[[0]],
    "complete": lambda f: f.dropna(),
    "filtered": lambda f: f[f.w.notna()],
    "labelled": lambda f: f.loc[[0]],
    "one row": lambda f: f[["k", "w"]].iloc[0],
    "distinct": lambda f: f.drop_duplicates("w"),
    "single": lambda f: f.drop_duplicates("w", keep=False),
    "first of groups": lambda f: f.groupby("b").head(1),
    "largest": lambda f: f.nlargest(1, "w"),
    "numbered": lambda f: f.sort_values("k").reset_index(drop=True).head(1),
}


@pytest.mark.parametrize("name", BY_ROWS)
def test_first_rows_have_the_types_of_all(name):
    """Numbers are floats if a value is missing in any row, also in one that is not chosen."""
    rows = PROGRAMS[name](md.DataFrame(ROWS, chunk_size=2), md.DataFrame(OTHERS, chunk_size=2))
    found, wanted = rows.head(1).compute(), rows.compute().head(1)
    assert [*all_dtypes(found)] == [*all_dtypes(wanted)]


@pytest.mark.parametrize("kernels", ["pandas", "polars"])
@pytest.mark.parametrize("name", CHOICES)
def test_chosen_rows_have_the_types_of_all(name, kernels):
    """Whatever chooses rows of a join gives them the types of all its rows."""
    choose = CHOICES[name]
    rows = md.DataFrame(ROWS[["k", "b"]], chunk_size=2)
    with option_context({"dataframe.kernels": kernels}):
        found = choose(rows.merge(md.DataFrame(OTHERS), on="k", how="left"))
        equal(found, choose(ROWS[["k", "b"]].merge(OTHERS, on="k", how="left")))


#: What makes labels of keys, or a column of them, of some of the rows.
KEYS: dict[str, Callable[[Any], Any]] = {
    "sums": lambda f: f.groupby("w").k.sum(),
    "sizes of several keys": lambda f: f.groupby(["b", "w"]).size(),
    "lists of functions": lambda f: f.groupby("w").k.agg(["sum", "max"]),
    "assigned": lambda f: f.assign(m=f.w * 2).groupby("m").k.sum(),
    "series": lambda f: f.k.groupby(f.w).sum(),
    "labels": lambda f: f.set_index("w").groupby(level=0).k.sum(),
    "counts": lambda f: f.w.value_counts(),
    "modes": lambda f: f.w.mode(),
    "table": lambda f: f.pivot_table("k", "w", "b", aggfunc="sum"),
    "keys of another join": lambda f: f.merge(OTHERS if eager(f) else md.DataFrame(OTHERS), on="w"),
}


def eager(rows: Any) -> bool:
    """Tell whether rows are a frame of pandas."""
    return isinstance(rows, pd.DataFrame)


@pytest.mark.parametrize("name", KEYS)
def test_keys_have_the_types_of_all_rows(name):
    """Also where no row without a key is in a chunk, and those without one are dropped."""
    call = KEYS[name]
    wanted = call(ROWS[["k", "b"]].merge(OTHERS, on="k", how="left"))
    with option_context({"coalesce": False}):
        rows = md.DataFrame(ROWS[["k", "b"]], chunk_size=1)
        equal(call(rows.merge(md.DataFrame(OTHERS), on="k", how="left")), wanted)


def test_rows_of_large_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the types of their chunk, since all would have to be computed before the first."""
    left = pd.DataFrame({"k": range(6), "a": 1})
    right = md.DataFrame(pd.DataFrame({"k": range(4), "v": 1}))
    with option_context({"coalesce": False}):
        joined = md.DataFrame(left, chunk_size=2).merge(right, on="k", how="left")

        def types() -> list[Any]:
            chosen = joined.head(2), joined.iloc[[0, 1]], joined[joined.k < 2]
            return [one.compute().v.dtype for one in chosen]

        assert types() == [np.dtype(float)] * 3
        monkeypatch.setattr(dtypes, "SMALL_SOURCES", 16)
        assert types() == [np.dtype(int)] * 3


#: Numbers whose type only rows decide: all are matched, or none has a gap.
DECIDED_BY_ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "merge": lambda f, o: f.iloc[:2].merge(o, on="k", how="left")[["w"]],
    "bins": lambda f, o: f.iloc[:2].resample("2W", on="t")[["i"]].sum().rename(columns={"i": "w"}),
}
WITH_A_MASK = pd.DataFrame({"w": pd.array([1, None, 3], "Int64")})
ON_BOTH: dict[str, Callable[[Any], Any]] = {
    "cumprod": lambda f: f.cumprod(skipna=False),
    "cumsum": lambda f: f.cumsum(skipna=False),
    "where": lambda f: f.where(f.w > 0),
    "shift": lambda f: f.shift(1),
    "any": lambda f: f.any(),
    "first": lambda f: f.head(2),
    "groups": lambda f: f.groupby("w").size(),
}


@pytest.mark.parametrize("name", ON_BOTH)
@pytest.mark.parametrize("rows", DECIDED_BY_ROWS)
@pytest.mark.parametrize("first", [True, False])
def test_numbers_beside_others_with_a_mask(name: str, rows: str, first: bool) -> None:
    """Have the type of all rows in each chunk."""

    def joined(module: Any, frame: Any, others: Any, masked: Any) -> Any:
        parts = [DECIDED_BY_ROWS[rows](frame, others), masked]
        return module.concat(parts if first else parts[::-1], ignore_index=True)

    lazy = [md.DataFrame(part, chunk_size=1) for part in (ROWS, OTHERS, WITH_A_MASK)]
    equal(ON_BOTH[name](joined(md, *lazy)), ON_BOTH[name](joined(pd, ROWS, OTHERS, WITH_A_MASK)))
