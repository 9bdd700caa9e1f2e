"""JSON files are read and written as pandas does."""

from __future__ import annotations

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
