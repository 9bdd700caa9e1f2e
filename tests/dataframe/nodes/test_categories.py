"""Categories that only computing tells are those of all rows, whatever the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from marsdask.dataframe.nodes.categories import with_all_categories
from tests.dataframe import one_mode
from tests.dataframe.category_programs import ORDERED, PROGRAMS, check, parts

_coalesce = one_mode.as_given

#: Programs that show only rows of the first or the last chunks: they do not run the others.
PARTIAL = {"head", "tail", "iloc"}
#: Programs for all sources; the others depend on the source in no other way.
DECISIVE = ("codes", "categories", "as_ordered compared", "remove", "sorted", "filter", "merge")


def reordered() -> list[pd.DataFrame]:
    """Return frames with equal categories in another order."""
    first = parts()[0]
    texts = first.c.astype(object)
    return [
        first.assign(c=pd.Categorical(texts, names), v=first.v + 4 * number)
        for number, names in enumerate((["k2", "k0"], ["k0", "k2"]))
    ]


def joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of frames with all categories, in order of their occurrence."""
    columns = [frame.c.array for frame in frames]
    dtype: Any = pd.api.types.union_categoricals(columns, ignore_order=True).dtype
    dtype = pd.CategoricalDtype(dtype.categories, ordered=frames[0].c.cat.ordered)
    return pd.concat(
        [
            frame.assign(c=frame.c.cat.set_categories(dtype.categories, ordered=dtype.ordered))
            for frame in frames
        ]
    )


def mapped(frames: list[pd.DataFrame], folder: Any = None) -> Any:
    """Return a frame of a function of numbers."""
    del folder
    return md.from_map(frames.__getitem__, range(len(frames)), meta=frames[0].iloc[:0])


def by_partitions(frames: list[pd.DataFrame], folder: Any) -> Any:
    """Return a frame of a function of partitions."""
    del folder
    numbers = md.DataFrame({"i": range(len(frames))}, chunk_size=1)
    return numbers.map_partitions(
        lambda block: frames[int(block.i.iloc[0])] if len(block) else frames[0].iloc[:0],
        meta=frames[0].iloc[:0],
    )


def delayed(frames: list[pd.DataFrame], folder: Any) -> Any:
    """Return a frame of delayed values."""
    del folder
    return md.from_delayed(list(map(dask.delayed, frames)), meta=frames[0].iloc[:0])


def from_feather(frames: list[pd.DataFrame], folder: Any) -> Any:
    """Return a frame of Feather files; its rows are numbered through."""
    paths = [str(folder / f"{number}.feather") for number in range(len(frames))]
    for frame, path in zip(frames, paths, strict=True):
        frame.reset_index(drop=True).to_feather(path)
    return md.read_feather(paths)


def executed(frames: list[pd.DataFrame], folder: Any) -> Any:
    """Return an executed frame."""
    return mapped(frames, folder).execute()


SOURCES: dict[str, Callable[[list[pd.DataFrame], Any], Any]] = {
    "map_partitions": by_partitions,
    "from_delayed": delayed,
    "read_feather": from_feather,
    "execute": executed,
}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in PARTIAL])
def test_programs(name: str) -> None:
    """Each program gives what it gives in pandas, though each chunk has other categories."""
    check(PROGRAMS[name], mapped(parts()), joined(parts()))


@pytest.mark.parametrize("name", ORDERED)
def test_programs_of_ordered_categories(name: str) -> None:
    """So do programs of categories that have an order."""
    check(ORDERED[name], mapped(parts(ordered=True)), joined(parts(ordered=True)))


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str, tmp_path: Any) -> None:
    """The categories are those of all rows, also where all chunks have them in another order."""
    for frames in (parts(), reordered()):
        lazy, whole = SOURCES[source](frames, tmp_path), joined(frames)
        if source == "read_feather":
            whole = whole.reset_index(drop=True)
        for name in DECISIVE:
            check(PROGRAMS[name], lazy, whole)


@pytest.mark.parametrize("name", [name for name in DECISIVE if name != "filter"])
def test_concatenated(name: str) -> None:
    """Concatenated columns have the categories of the first, or none if these are others."""
    for frames in (parts(), reordered()):
        check(PROGRAMS[name], md.concat(list(map(md.DataFrame, frames))), pd.concat(frames))


def test_concatenated_sources() -> None:
    """Concatenated sources are as pandas's, whose types differ once they are known."""
    first, others = parts()[:1], parts()[1:]
    wanted = pd.concat([joined(first), joined(others)])
    found = md.concat([mapped(first), mapped(others)]).compute()
    pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("options", [{"dataframe.kernels": "polars"}, {"coalesce": True}], ids=str)
def test_options(options: Any) -> None:
    """Engines, and coalesced chunks, have the categories of all rows."""
    with option_context(options):
        for name in ("sorted", "grouped by all", "merge", "filter", "value_counts"):
            check(PROGRAMS[name], mapped(parts()), joined(parts()))


def noted(number: int, folder: Any) -> pd.DataFrame:
    """Return a frame, and note in a folder that it was made."""
    (folder / str(number)).touch()
    return parts()[number]


def test_chunks_that_are_not_needed_do_not_run(tmp_path: Any) -> None:
    """The first rows need no look at all chunks."""
    lazy = md.from_map(noted, range(4), meta=parts()[0].iloc[:0], folder=tmp_path)
    assert len(lazy.head(2)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["0"]


def test_types_at_the_call() -> None:
    """The categories can be had as a type; known ones are not computed again."""
    found = with_all_categories(mapped(parts()))
    pd.testing.assert_series_equal(found.dtypes, joined(parts()).dtypes)
    assert with_all_categories(found) is found
    pd.testing.assert_frame_equal(found.compute(), joined(parts()))
