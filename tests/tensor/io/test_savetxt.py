"""Text files and archives, read and written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from tests.strategies import assert_same

X = np.arange(30.0).reshape(5, 6)
RECORDS = np.array([(1, 2.5), (3, 4.5), (5, 6.5)], [("a", "i4"), ("b", "f8")])
ARRAYS = {
    "matrix": X,
    "vector": X[0],
    "nothing": X[:0],
    "no columns": X[:, :0],
    "complex": X * 1j,
    "records": RECORDS,
    "cube": X.reshape(5, 3, 2),
    "number": np.array(3.0),
    "texts": np.array(["a", "bc", "d"]),
    "objects": np.array([{}, None]),
}
TEXT = ("matrix", "vector", "nothing", "no columns", "complex", "records", "cube", "number")


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_text_is_numpys(tmp_path: Path, name: str, suffix: str) -> None:
    """Byte for byte, written a few rows at a time; or the type of the error."""
    form: dict[str, Any] = {"header": "one\ntwo", "footer": "end", "fmt": "%s", "delimiter": ";"}
    ours, theirs = tmp_path / f"ours{suffix}", tmp_path / f"theirs{suffix}"
    lazy = mt.tensor(ARRAYS[name], chunk_size=2)
    try:
        np.savetxt(theirs, ARRAYS[name], **form)
    except ValueError as error:
        with pytest.raises(type(error), match="Expected 1D or 2D"):
            mt.savetxt(ours, lazy, **form)
        return
    with option_context({"chunk_store_limit": 100}):
        mt.savetxt(ours, lazy, **form)
    opened = np.lib.npyio.DataSource().open
    with opened(str(ours)) as found, opened(str(theirs)) as expected:
        assert found.read() == expected.read()


def test_text_goes_into_open_files() -> None:
    """As it stands, without a file of its own."""
    file = io.StringIO()
    mt.savetxt(file, mt.tensor(X, chunk_size=3), fmt="%d")
    file.seek(0)
    assert_same(mt.loadtxt(file, chunk_size=2), X)


def test_text_is_read_at_the_call(tmp_path: Path) -> None:
    """As NumPy reads it."""
    path = tmp_path / "x.txt"
    path.write_text("1 2\n3 4\n")
    assert mt.loadtxt(path, chunk_size=1).chunks == ((1, 1), (1, 1))
    assert_same(mt.loadtxt(path), [[1.0, 2.0], [3.0, 4.0]])
    assert_same(mt.genfromtxt(path, dtype=int), [[1, 2], [3, 4]])
    fields = mt.loadtxt(path, dtype=RECORDS.dtype, unpack=True)
    assert [field.compute().tolist() for field in fields] == [[1, 3], [2.0, 4.0]]
    records = mt.fromregex(path, r"(\d+) (\d+)", RECORDS.dtype)
    np.testing.assert_array_equal(records["b"].compute(), [2.0, 4.0])


@pytest.mark.parametrize("save", ["savez", "savez_compressed"])
def test_archives_are_numpys(tmp_path: Path, save: str) -> None:
    """What NumPy reads is what was there, whichever way arrays are named."""
    lazy = {name: mt.tensor(array, chunk_size=2) for name, array in ARRAYS.items()}
    with option_context({"chunk_store_limit": 100}):
        getattr(mt, save)(tmp_path / "x", mt.ones(3), X, **lazy)
    with np.load(tmp_path / "x.npz", allow_pickle=True) as found:
        assert sorted(found) == sorted([*ARRAYS, "arr_0", "arr_1"])
        np.testing.assert_array_equal(found["arr_0"], np.ones(3), strict=True)
        np.testing.assert_array_equal(found["arr_1"], X, strict=True)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(found[name], array, strict=True)


def test_archives_that_cannot_be_written(tmp_path: Path) -> None:
    """Two arrays of one name; objects that are not to be pickled."""
    with pytest.raises(ValueError, match="arr_0"):
        mt.savez(tmp_path / "x", X, arr_0=X)
    with pytest.raises(ValueError, match="pickle"):
        mt.savez(tmp_path / "y", ARRAYS["objects"], allow_pickle=False)
    file = io.BytesIO()
    mt.savez(file, x=mt.tensor(X, chunk_size=4))
    file.seek(0)
    with np.load(file) as found:
        np.testing.assert_array_equal(found["x"], X)
