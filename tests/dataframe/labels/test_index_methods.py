"""Methods of lazy labels are pandas's, and labels choose rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.tensor import Tensor
from tests.dataframe.tables import equal

NUMBERS = pd.Index([3, 1, 3, 7, 0, 1], name="n")
TIMES = pd.Timestamp(0) + pd.TimedeltaIndex(np.array([5, 90, 17, 400], "m8[h]"), name="t")
OBJECTS = pd.Index([None, 1, 2, "a", "b"], dtype=object)
MASKED = pd.Index([1, None, 3], dtype="Int64")
TEXTS = pd.Index(["b", None, "a", "b"], dtype="str")

#: Calls of labels, and what labels they are.
CALLS: dict[str, tuple[pd.Index[Any], Any]] = {
    "unique": (NUMBERS, lambda i: i.unique()),
    "drop_duplicates": (TEXTS, lambda i: i.drop_duplicates()),
    "dropna": (TEXTS, lambda i: i.dropna()),
    "fillna": (TEXTS, lambda i: i.fillna("z")),
    "map": (NUMBERS, lambda i: i.map(lambda x: x * 2)),
    "sort_values": (NUMBERS, lambda i: i.sort_values(ascending=False)),
    "copy": (NUMBERS, lambda i: i.copy(name="m").T.transpose()),
    "drop": (NUMBERS, lambda i: i.drop([1, 7])),
    "duplicated": (NUMBERS, lambda i: i.duplicated()),
    "take": (NUMBERS, lambda i: i.take([2, 0])),
    "append": (NUMBERS, lambda i: i.append([i + 1])),
    "append integers": (OBJECTS[1:3], lambda i: i.append(i)),
    "append texts": (OBJECTS[3:], lambda i: i.append(i)),
    "append both": (OBJECTS, lambda i: i.append(i)),
    "to_series of texts": (OBJECTS[3:], lambda i: i.to_series()),
    "to_series of both": (OBJECTS, lambda i: i.to_series()),
    "map of masked to texts": (MASKED, lambda i: i.map(str)),
    "map of masked to numbers": (MASKED, lambda i: i.map(lambda _: 1)),
    "astype": (NUMBERS, lambda i: i.astype(float)),
    "rename": (NUMBERS, lambda i: i.rename("m")),
    "set_names": (NUMBERS, lambda i: i.set_names(["m"])),
    "get_level_values": (NUMBERS, lambda i: i.get_level_values(0)),
    "to_series": (NUMBERS, lambda i: i.to_series()),
    "to_frame": (NUMBERS, lambda i: i.to_frame(name="x")),
    "value_counts": (NUMBERS, lambda i: i.value_counts()),
    "arithmetic": (NUMBERS, lambda i: 1 - i * 2 + i // 2),
    "difference": (NUMBERS, lambda i: i.difference([1, 9])),
    "difference of names": (NUMBERS, lambda i: i.difference(pd.Index([1, 9], name="m"))),
    "intersection": (NUMBERS, lambda i: i.intersection([3, 1, 9], sort=True)),
    "union": (NUMBERS, lambda i: i.union([9, 1, 1, 1])),
    "union of texts": (TEXTS, lambda i: i.union(["c", "b"], sort=False)),
    "union with a name": (NUMBERS, lambda i: i.union(pd.Index([2], name="m"))),
    "union without a name": (NUMBERS, lambda i: i.union(pd.Index([2]))),
    "union with none": (NUMBERS, lambda i: i.union([])),
    "union with the same": (NUMBERS, lambda i: i.union(NUMBERS)),
    "symmetric_difference": (NUMBERS, lambda i: i.symmetric_difference([9, 1, 8, 9])),
    "symmetric_difference unsorted": (
        NUMBERS,
        lambda i: i.symmetric_difference([9, 1, 8], sort=False),
    ),
    "difference without a name": (NUMBERS, lambda i: i.difference(pd.Index([1]))),
    "diff": (NUMBERS, lambda i: i.diff(2)),
    "repeat": (NUMBERS, lambda i: i.repeat(2)),
    "argsort": (NUMBERS, lambda i: i.argsort()),
    "searchsorted": (NUMBERS, lambda i: i.sort_values().searchsorted([3, 8])),
    "item": (NUMBERS, lambda i: i[3:4].item()),
    "putmask": (NUMBERS, lambda i: i.putmask(i > 2, 0)),
    "where": (NUMBERS, lambda i: i.where(i > 2)),
    "where with others": (TEXTS, lambda i: i.where(i != "b", "x")),
    "ravel": (NUMBERS, lambda i: i.ravel()),
    "identical": (NUMBERS, lambda i: i.identical(NUMBERS)),
    "not identical": (NUMBERS, lambda i: i.identical(NUMBERS.rename("m"))),
    "of another type": (NUMBERS, lambda i: i.identical(NUMBERS.astype(float))),
    "to_flat_index": (NUMBERS, lambda i: i.to_flat_index()),
    "upper": (TEXTS, lambda i: i.str.upper()),
    "texts that match": (TEXTS, lambda i: i.dropna().str.startswith("b")),
    "lengths": (TEXTS, lambda i: i.str.len()),
    "parts of texts": (TEXTS, lambda i: i.str[0]),
    "leap years": (TIMES, lambda i: i.is_leap_year),
    "ends of months": (TIMES, lambda i: i.is_month_end),
    "units": (TIMES, lambda i: i.as_unit("ms")),
    "unit": (TIMES, lambda i: i.unit),
    "rows of a mask": (NUMBERS, lambda i: i[i > 1]),
    "rows between": (TIMES, lambda i: i[1:3]),
    "rows at": (NUMBERS, lambda i: i[[2, 0]]),
    "a label": (NUMBERS, lambda i: i[3]),
    "isin": (NUMBERS, lambda i: i.isin([1, 7])),
    "isna": (TEXTS, lambda i: i.isna()),
    "min": (NUMBERS, lambda i: i.min()),
    "max of times": (TIMES, lambda i: i.max()),
    "nunique": (TEXTS, lambda i: i.nunique()),
    "argmax": (NUMBERS, lambda i: i.argmax()),
    "compared": (NUMBERS, lambda i: i > 1),
    "equal": (TIMES, lambda i: i == TIMES[2]),
    "year": (TIMES, lambda i: i.day),
    "floor": (TIMES, lambda i: i.floor("D")),
    "strftime": (TIMES, lambda i: i.strftime("%d")),
    "tz_localize": (TIMES, lambda i: i.tz_localize("UTC").tz_convert("Asia/Tokyo")),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    """Labels, columns, frames, arrays and values."""
    labels, call = CALLS[name]
    wanted = call(labels)
    for size in (1, 4, 9):
        found = call(md.Index(labels, chunk_size=size))
        if isinstance(wanted, np.ndarray):
            assert isinstance(found, Tensor)
            np.testing.assert_array_equal(found.compute(), wanted)
        elif isinstance(wanted, pd.Index | pd.Series | pd.DataFrame):
            equal(found, wanted)
        else:
            assert (found.compute() if hasattr(found, "compute") else found) == wanted


def test_facts():
    """What is known, and what is computed."""
    for labels in (NUMBERS, TIMES, TEXTS, NUMBERS[:0], NUMBERS.sort_values(), pd.Index([3, 2, 2])):
        lazy = md.Index(labels, chunk_size=2)
        for name in ("names", "nlevels", "size", "empty"):
            assert getattr(lazy, name) == getattr(labels, name), name
        for name in ("is_unique", "has_duplicates", "hasnans"):
            assert getattr(lazy, name).compute() == getattr(labels, name), name
        for name in ("is_monotonic_increasing", "is_monotonic_decreasing"):
            if labels is not TEXTS:
                assert getattr(lazy, name).compute() == getattr(labels, name), name
        assert lazy.equals(labels)
        assert not lazy.equals(md.Index(labels.append(labels[:1] if len(labels) else NUMBERS)))


def test_labels_choose_rows():
    """A comparison of labels is a mask, and parts of times are groups."""
    frame: Any = pd.DataFrame({"x": range(4)}, index=TIMES)
    lazy = md.DataFrame(frame, chunk_size=3)
    equal(lazy[lazy.index > TIMES[0]], frame[frame.index > TIMES[0]])
    equal(lazy.x[lazy.index.isin(TIMES[:2])], frame.x[frame.index.isin(TIMES[:2])])
    few = lazy[lazy.x > 0]
    equal(few.loc[few.index < TIMES[3]], frame[frame.x > 0].loc[lambda x: x.index < TIMES[3]])
    equal(lazy.groupby(lazy.index.day).x.sum(), frame.groupby(frame.index.day).x.sum())


def test_refusals():
    """What is not there says so."""
    lazy: Any = md.Index(NUMBERS, chunk_size=2)
    for call in (
        lambda: lazy.append(NUMBERS),
        lambda: lazy.set_names(["m"], level=0),
        lambda: lazy.to_series(index=[1]),
    ):
        with pytest.raises((NotImplementedError, TypeError)):
            call()
    with pytest.raises(AttributeError):
        _ = lazy.year


def test_levels():
    """Levels are dropped, or become tuples."""
    frame: Any = pd.DataFrame({"a": [1, 2, 1], "b": list("xyz"), "c": 0}).set_index(["a", "b"])
    lazy = md.DataFrame(frame, chunk_size=2).index
    equal(lazy.droplevel("a"), frame.index.droplevel("a"))
    equal(lazy.to_flat_index(), frame.index.to_flat_index())
    assert lazy.is_(lazy)
    assert not lazy.is_(lazy.droplevel(0))


def test_labels_that_are_not_there():
    """Cannot be dropped, unless errors are ignored."""
    lazy: Any = md.Index(NUMBERS, chunk_size=2)
    with pytest.raises(KeyError, match="not found in axis"):
        lazy.drop([1, 99])
    equal(lazy.drop([1, 99], errors="ignore"), NUMBERS.drop([1, 99], errors="ignore"))
