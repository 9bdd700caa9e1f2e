"""The keywords that pandas removed and Mars's programs may still use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.compat import dataframe as old
from marsdask.compat.frames import keywords

RAW = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 4.0]}, index=[7, 7, 8, 8])


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    before = {kind: dict(vars(kind)) for kind in keywords.KEYWORDS}
    old.offer()
    old.offer()
    yield
    old.withdraw()
    assert {kind: dict(vars(kind)) for kind in keywords.KEYWORDS} == before


#: By what they warn of: what programs do, and what pandas does today.
CALLS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "DataFrame.sum(level=)": (lambda d: d.sum(level=0), RAW.groupby(level=0).sum()),
    "Series.kurt(level=)": (lambda d: d["a"].kurt(level=0), RAW["a"].groupby(level=0).kurt()),
    "DataFrame.all(level=)": (lambda d: d.all(level=0), RAW.groupby(level=0).all()),
    "DataFrame.fillna(method=)": (lambda d: d.fillna(method="pad", limit=1), RAW.ffill(limit=1)),
    "Series.fillna(method=)": (lambda d: d["a"].fillna(method="bfill"), RAW["a"].bfill()),
    "DataFrame.fillna(downcast=)": (lambda d: d.fillna(0, downcast=None), RAW.fillna(0)),
    "DataFrame.where(try_cast=)": (lambda d: d.where(d > 1, try_cast=False), RAW.where(RAW > 1)),
    "Series.mask(errors=)": (
        lambda d: d["b"].mask(d["b"] > 1, errors="raise"),
        RAW["b"].mask(RAW["b"] > 1),
    ),
    "DataFrame.rolling(axis=)": (lambda d: d.rolling(2, axis=0).sum(), RAW.rolling(2).sum()),
    "DataFrame.expanding(center=)": (
        lambda d: d.expanding(2, center=False).sum(),
        RAW.expanding(2).sum(),
    ),
    "DataFrame.set_axis(inplace=)": (
        lambda d: d.set_axis(["x", "y"], axis=1, inplace=False),
        RAW.set_axis(["x", "y"], axis=1),
    ),
    "Series.apply(convert_dtype=)": (
        lambda d: d["b"].apply(str, convert_dtype=True),
        RAW["b"].apply(str),
    ),
    "Series.map(arg=)": (lambda d: d["b"].map(arg={1.0: 5.0}), RAW["b"].map({1.0: 5.0})),
    "DataFrame.pct_change(limit=)": (
        lambda d: d[["b"]].pct_change(limit=None),
        RAW[["b"]].pct_change(),
    ),
    "to_datetime(infer_datetime_format=)": (
        lambda d: old.to_datetime(d["b"], infer_datetime_format=True),
        pd.to_datetime(RAW["b"]),
    ),
    "date_range(closed=)": (
        lambda d: old.date_range("2020-01-01", "2020-01-04", closed="left"),
        pd.date_range("2020-01-01", "2020-01-04", inclusive="left"),
    ),
}


@pytest.mark.parametrize("words", CALLS)
def test_removed_keywords(words: str) -> None:
    """They do what they did, and warn of the word of today."""
    call, expected = CALLS[words]
    with pytest.warns(DeprecationWarning, match="is gone from pandas: ") as seen:
        found = call(md.DataFrame(RAW, chunk_size=2)).execute().fetch()
    assert str(seen[0].message).startswith(f"{words} is gone")
    assert seen[0].filename == __file__
    check: dict[type, Any] = {
        pd.DataFrame: pd.testing.assert_frame_equal,
        pd.Series: pd.testing.assert_series_equal,
    }
    check.get(type(expected), pd.testing.assert_index_equal)(found, expected)


def test_lines_of_files(tmp_path: Any) -> None:
    """The end of lines is chosen by its old name."""
    with pytest.warns(DeprecationWarning, match="lineterminator="):
        lazy: Any = md.DataFrame(RAW).to_csv(tmp_path / "file.csv", line_terminator="\r\n")
    lazy.execute()
    assert (tmp_path / "file.csv").read_bytes().count(b"\r\n") == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d.align(d, method="ffill"),
        lambda d: d.rolling(2, axis=1),
        lambda d: d.sum(level=0, axis=1),
        lambda d: d.ffill(downcast="infer"),
        lambda d: d.set_axis(["x", "y"], axis=1, inplace=True),
    ],
    ids=["align", "rolling", "sum", "ffill", "set_axis"],
)
def test_without_a_counterpart(call: Any) -> None:
    """They say what to use."""
    with (
        pytest.warns(DeprecationWarning, match="is gone"),
        pytest.raises(NotImplementedError, match=r"fill|transpose|groupby|astype|assign"),
    ):
        call(md.DataFrame(RAW))


def test_fillna_takes_one_of_both() -> None:
    """A value or a method, and a method that there is."""
    for how in ({"value": 0, "method": "ffill"}, {"method": "guess"}):
        with (
            pytest.warns(DeprecationWarning, match="is gone"),
            pytest.raises(ValueError, match="method"),
        ):
            md.DataFrame(RAW).fillna(**how)


def test_several_old_keywords_in_one_call() -> None:
    """Each is blamed on the call's line, in the order of the table."""
    with pytest.warns(DeprecationWarning, match="is gone") as seen:
        found = md.DataFrame(RAW).fillna(None, downcast=None, method="ffill")
    assert [str(one.message).partition("=")[0] for one in seen] == [
        "DataFrame.fillna(method",
        "DataFrame.fillna(downcast",
    ]
    assert {one.filename for one in seen} == {__file__}
    pd.testing.assert_frame_equal(found.to_pandas(), RAW.ffill())


@pytest.mark.parametrize(
    "select",
    [lambda d: d, lambda d: d["b"], lambda d: d.index],
    ids=["frame", "series", "index"],
)
def test_futures_of_values(select: Callable[[Any], Any]) -> None:
    """to_pandas(wait=False) gives one, whose result is pandas's object."""
    lazy = select(md.DataFrame(RAW, chunk_size=2))
    assert lazy.to_pandas(wait=False).result(30).equals(select(RAW))
    assert lazy.to_pandas(wait=True).equals(select(RAW))
