"""The tables of TPC-H, written once for all tests of queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rows import queries, tables

SCALE = 0.01


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tables."""
    root = tmp_path_factory.mktemp("tpch")
    for name in sorted({name for names in queries.TABLES.values() for name in names.split()}):
        tables.ensure(name, root, SCALE)
    return root
