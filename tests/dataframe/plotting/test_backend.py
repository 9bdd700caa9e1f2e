"""Without the library that draws, nothing is computed."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import marsdask.dataframe as md


def test_missing_matplotlib(monkeypatch):
    """The error says what to install, before a task runs."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    def fail(block: Any) -> Any:
        raise AssertionError(block)

    lazy: Any = md.Series([1, 2]).map_partitions(fail, meta=(None, "i8"))
    for call in (lazy.plot, lazy.plot.hist, lazy.hist, lazy.to_frame("x").boxplot):
        with pytest.raises(ImportError, match="marsdask\\[plot\\]"):
            call()
