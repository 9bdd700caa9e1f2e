"""Codecs of zarr arrays that would run code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

zarr: Any = pytest.importorskip("zarr")
numcodecs: Any = pytest.importorskip("numcodecs")


def test_pickles_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the call where numcodecs is too old to refuse; by it when the array is read otherwise."""
    array = zarr.create_array(
        tmp_path / "x", shape=4, dtype=np.dtypes.StringDType(), chunks=4, zarr_format=2
    )
    array[:] = np.array(list("abcd"), dtype=np.dtypes.StringDType())
    path = str(tmp_path / "x")
    with monkeypatch.context() as old:
        old.delattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE")
        assert mt.from_zarr(path).compute().tolist() == list("abcd")
    told = json.loads((tmp_path / "x/.zarray").read_text())
    (tmp_path / "x/.zarray").write_text(json.dumps(told | {"compressor": {"id": "pickle"}}))
    with pytest.raises(Exception, match=r"Pickle\.decode is disabled|Refusing to decode"):
        mt.from_zarr(path).compute()
    monkeypatch.delattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE")
    with pytest.raises(ValueError, match="x has the codec 'pickle', which runs code"):
        mt.from_zarr(path)
