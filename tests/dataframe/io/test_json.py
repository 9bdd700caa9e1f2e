"""JSON files are read and written as pandas does."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table

_coalesce = one_mode.coalesce

FRAME = table(11)[["k", "f", "s", "u"]]
LAZY = md.DataFrame(FRAME, chunk_size=4)


@pytest.mark.parametrize("step", [1, 30, 100, None])
def test_lines(tmp_path: Any, step: int | None) -> None:
    """Each a row, in chunks of bytes, wherever these end."""
    LAZY.to_json(tmp_path / "x-*.json")
    for options in ({"lines": True}, {"orient": "records"}):
        lazy = md.read_json(str(tmp_path / "x-*.json"), blocksize=step, **options)
        equal(lazy, FRAME)
    assert (tmp_path / "x-000000.json").read_text().count("\n") == 4
    one = pd.read_json(tmp_path / "x-000001.json", lines=True)
    equal(md.read_json(tmp_path / "x-000001.json", lines=True, blocksize=step), one)


def test_one_file(tmp_path: Any) -> None:
    """Byte for byte that of pandas: of lines, or as a whole."""
    options: Any
    for options in ({"orient": "records", "lines": True}, {"orient": "split"}, {}):
        LAZY.to_json(tmp_path / "x.json", **options)
        assert (tmp_path / "x.json").read_text() == FRAME.to_json(**options)
        assert os.listdir(tmp_path) == ["x.json"]
        equal(md.read_json(tmp_path / "x.json", **options), FRAME)
        assert LAZY.to_json(**options) == FRAME.to_json(**options)
    LAZY.to_json(tmp_path / "x.json.gz", orient="records", lines=True)
    equal(md.read_json(tmp_path / "x.json.gz", orient="records", lines=True), FRAME)


#: Lines whose types one of them alone does not show.
LINES: dict[str, list[str]] = {
    "text": ['{"a":"01x"}', '{"a":2}', '{"a":"3"}'],
    "digits": ['{"a":"1"}', '{"a":"02"}', '{"a":"3"}'],
    "missing keys": ['{"a":1,"b":"x"}', '{"b":"2"}', '{"a":5}', '{"b":"z","a":2}'],
    "truth values": ['{"a":true}', '{"a":null}', '{"a":false}'],
    "truth values and numbers": ['{"a":true}', '{"a":2}', '{"a":false}'],
    "no dates": ['{"date":"2020-01-01"}', '{"date":"x"}', '{"date":"2021-01-01"}'],
    "dates": ['{"date":"2020-01-01"}', '{"date":null}', '{"date":"2021-01-01"}'],
    "numbers in a column of dates": ['{"c_at":-0.25}', '{"c_at":4611686018427387907}'],
    "a date among texts": ['{"c_at":"x"}', '{"c_at":"2024-01-01"}', '{"c_at":"y"}'],
    "texts by the name of dates": ['{"date":[1]}', '{"date":2}', '{"date":"2024-01-01"}'],
    "digits by the name of dates": ['{"date":"x"}', '{"date":"5"}', '{"date":"1600000000"}'],
    "units": ['{"date":1600000000000}', '{"date":1600000000}', '{"date":1700000000000}'],
    "seconds": ['{"date":1600000000}', '{"date":null}', '{"date":"1600000001"}'],
    "no seconds": ['{"date":1600000000}', '{"date":5}'],
    "days and months": ['{"date":"01/02/2020"}', '{"date":"13/02/2020"}', '{"date":"02/03/2020"}'],
    "zones": ['{"a_at":"2020-01-01T00:00:00Z"}', '{"a_at":"2020-01-01T00:00:00Z"}'],
    "other zones": ['{"a_at":"2020-01-01T00:00:00Z"}', '{"a_at":"2020-01-01T00:00:00+03:00"}'],
    "large": ['{"a":1}', '{"a":2}', '{"a":18446744073709551615}'],
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize(
    "options",
    [{}, {"dtype": False}, {"nrows": 2}, {"dtype": {"date": str}}, {"date_unit": "ms"}],
    ids=str,
)
def test_types_of_all_lines(tmp_path: Any, kind: str, options: Any) -> None:
    """Whatever a chunk of them shows."""
    path = tmp_path / "x.json"
    path.write_text("\n".join(LINES[kind]) + "\n")
    wanted = pd.read_json(path, lines=True, **options)
    equal(md.read_json(path, lines=True, blocksize=8, **options), wanted)


#: A first line with a date, and later ones that pandas reads otherwise on their own.
LATER = {
    "number": ['"2020-01-01"', "-0.25"],
    "no date": ["1600000000", "5"],
    "unit": ["1600000000", "1600000000000"],
    "zone": ['"2020-01-01T00:00:00Z"', '"2020-01-01T00:00:00+03:00"'],
    "text": ["1600000000", '"x"'],
    "order": ['"01/02/2020"', '"13/02/2020"'],
}


@pytest.mark.parametrize("kind", LATER)
def test_dates_that_later_rows_lack(tmp_path: Any, monkeypatch: Any, kind: str) -> None:
    """The error says so, and what to do: no chunk has dates of its own."""
    monkeypatch.setattr("marsdask.dataframe.io.json.HEAD_BYTES", 8)
    path = tmp_path / "x.json"
    path.write_text("".join(f'{{"date":{value}}}\n' for value in LATER[kind]))
    with pytest.raises(ValueError, match=r"column 'date' has other dates.*use dtype=False"):
        md.read_json(path, lines=True, blocksize=8).compute()
    wanted = pd.read_json(path, lines=True, dtype=False)
    equal(md.read_json(path, lines=True, blocksize=8, dtype=False), wanted)


def test_rows_of_several_files(tmp_path: Any) -> None:
    """A number of rows is that of one file."""
    LAZY.to_json(tmp_path / "x-*.json")
    with pytest.raises(NotImplementedError, match="head"):
        md.read_json(str(tmp_path / "x-*.json"), lines=True, nrows=2)


#: Rows of files of lines, of which some have other columns or types.
FILES_OF_LINES: dict[str, list[Any]] = {
    "more": [[{"a": 1}, {"a": 2}], [{"a": 3, "b": "x"}], [{"a": 4, "c": 0.5}]],
    "fewer": [[{"a": 1, "b": "x"}], [{"a": 3}]],
    "others": [[{"a": 1}], [{"b": 0.5}]],
    "no rows first": [[], [{"a": 1, "b": "x"}]],
    "floats": [[{"a": 1}], [{"a": 0.5}]],
    "texts": [[{"a": 1}], [{"a": "x"}]],
    "gaps first": [[{"a": None}], [{"a": "x"}]],
    "in the rows": [[{"a": 1}, {"b": 2}], [{"c": "x"}, {"a": 4}]],
}


@pytest.mark.parametrize("case", FILES_OF_LINES)
@pytest.mark.parametrize("step", [None, 9])
def test_files_of_lines_of_other_columns(tmp_path: Any, case: str, step: int | None) -> None:
    """Columns and types come from all files, as if the lines were of one."""
    texts = []
    for number, rows in enumerate(FILES_OF_LINES[case]):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{number}.json").write_text(text)
        texts.append(text)
    lazy: Any = md.read_json(str(tmp_path / "*.json"), lines=True, blocksize=step)
    wanted: Any = pd.read_json(io.StringIO("".join(texts)), lines=True)
    equal(lazy, wanted)
    label = wanted.columns[-1]
    equal(lazy[label].count(), wanted[label].count())
