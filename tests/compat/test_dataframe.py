"""The methods that pandas removed and Mars's programs may still use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.compat import dataframe as old

RAW = pd.DataFrame({"a": [1.0, None, 3.0], "b": [1, 1, 2]})


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    old.offer()
    yield
    old.withdraw()
    assert not hasattr(md.DataFrame, "append")
    assert not hasattr(md.Series, "is_monotonic")


#: By what they warn of: what programs do, and what pandas does today.
REMOVED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "DataFrame.append is gone from pandas: use concat": (
        lambda frame: frame.append(frame, ignore_index=True),
        pd.concat([RAW, RAW], ignore_index=True),
    ),
    "DataFrame.pad is gone from pandas: use ffill": (lambda frame: frame.pad(), RAW.ffill()),
    "DataFrame.tshift is gone from pandas: use shift": (
        lambda frame: frame.tshift(1),
        RAW.shift(1),
    ),
    "Series.backfill is gone from pandas: use bfill": (
        lambda frame: frame["a"].backfill().to_frame(),
        RAW[["a"]].bfill(),
    ),
    "GroupBy.fillna is gone from pandas: use ffill": (
        lambda frame: frame.groupby("b").fillna(method="ffill"),
        RAW.groupby("b").ffill(),
    ),
}


@pytest.mark.parametrize("words", REMOVED)
def test_removed_methods(words: str) -> None:
    """They do what they did, and warn of the word of today."""
    program, expected = REMOVED[words]
    with pytest.warns(DeprecationWarning, match=words):
        found = program(md.DataFrame(RAW, chunk_size=2))
    pd.testing.assert_frame_equal(found.execute().fetch(), expected)


def test_others() -> None:
    """Iterators and attributes warn as well; all other names are those of the frames."""
    frame: Any = md.DataFrame(RAW, chunk_size=2)
    with pytest.warns(DeprecationWarning, match="iteritems is gone"):
        assert [name for name, _ in frame.iteritems()] == ["a", "b"]
    with pytest.warns(DeprecationWarning, match="use is_monotonic_increasing"):
        assert frame["b"].is_monotonic.execute().fetch()
    with (
        pytest.warns(DeprecationWarning, match="fillna is gone"),
        pytest.raises(NotImplementedError, match="fill the frame before groupby"),
    ):
        frame.groupby("b").fillna(0)
    stamp: Any = old.Timestamp
    with pytest.warns(DeprecationWarning, match=r"Timestamp\(freq=\) is gone from pandas"):
        made = stamp("2020-01-01", freq="D")
    assert type(made) is pd.Timestamp
    assert made == old.Timestamp(2020, 1, 1) == old.Timestamp.fromisoformat("2020-01-01")
    assert isinstance(made, old.Timestamp)
    assert issubclass(pd.Timestamp, old.Timestamp)
    assert not isinstance(pd.NaT, old.Timestamp)
    assert old.DataFrame is md.DataFrame
    assert old.concat is md.concat
