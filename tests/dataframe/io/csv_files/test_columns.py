"""Files of other columns than the first are read apart."""

from __future__ import annotations

from typing import Any

import pytest

from marsdask.dataframe.io.csv_files.columns import runs_of_columns
from marsdask.dataframe.storage.files import looked_at


@pytest.mark.parametrize(
    ("texts", "runs"),
    [
        (["a,b\n", "b,a\n"], []),
        (["a\n", "a,b\n", "b,a\n", "a\n"], [[0], [1, 2], [3]]),
        (["a,b\n", "a\n"], [[0], [1]]),
        (["a\n"], []),
    ],
    ids=str,
)
def test_runs(tmp_path: Any, texts: list[str], runs: list[list[int]]) -> None:
    """Runs of files of the same columns; none if all have the same."""
    paths = [str(tmp_path / f"{number}.csv") for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        with open(path, "w") as file:
            file.write(text)
    found = runs_of_columns(looked_at(tuple(paths)), {})
    assert found == [[paths[number] for number in run] for run in runs]
