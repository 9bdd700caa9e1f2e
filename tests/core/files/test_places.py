"""Places overlap whatever names they have."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import marsdask.tensor as mt
from marsdask.core.files.places import file_place, overlap, places_of, read_by


def test_names_of_files(tmp_path: Path) -> None:
    """Relative paths, links, URLs and other names of a file are one place."""
    (tmp_path / "a").write_text("x")
    (tmp_path / "soft").symlink_to(tmp_path / "a")
    os.link(tmp_path / "a", tmp_path / "hard")
    place = file_place(str(tmp_path / "a"))
    for path in ("soft", "hard", "../" + tmp_path.name + "/a"):
        assert place.overlaps(file_place(str(tmp_path / path)))
    assert place.overlaps(file_place(f"file://{tmp_path}/a"))
    assert place.overlaps(file_place(str(tmp_path)))
    assert file_place(str(tmp_path)).overlaps(place)
    assert not place.overlaps(file_place(str(tmp_path / "ab")))
    assert not place.overlaps(file_place("memory://a"))
    assert file_place("memory://a/b").overlaps(file_place("memory://a//b/c"))
    assert str(tmp_path / "a") in str(place)


def test_arrays(tmp_path: Path) -> None:
    """Views overlap by their bytes, and maps of one file by the file."""
    array = np.arange(100.0)
    (one,), (other,) = places_of(array[:50]), places_of(array[60:])
    assert not one.overlaps(other)
    assert one.overlaps(places_of(array[40:70])[0])
    array.tofile(tmp_path / "x")
    maps = [np.memmap(tmp_path / "x", "f8", "r+")[10:] for _ in range(2)]
    assert places_of(maps[0])[1].overlaps(places_of(maps[1])[1])
    owner = type("Owner", (), {})()
    assert places_of(owner) == places_of(owner)


def test_what_nodes_read(tmp_path: Path) -> None:
    """Sources are found below other nodes; what was computed reads nothing any more."""
    np.save(tmp_path / "x.npy", np.arange(6.0))
    place = file_place(str(tmp_path / "x.npy"))
    lazy = (mt.load(tmp_path / "x.npy")[::2] + 1).sum()
    assert overlap([lazy.node], [place]) == place
    assert overlap([mt.ones(3).node], [place]) is None
    assert read_by([lazy.execute().node]) == []
    mine = np.ones(3)
    assert overlap([mt.tensor(mine).node], list(places_of(mine))) is None
    assert overlap([mt.tensor(mine, copy=False).node], list(places_of(mine))) is not None
