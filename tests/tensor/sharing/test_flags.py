"""Flags of tensors are those of NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

ARRAYS: dict[str, Any] = {
    "new": lambda a: a,
    "the transpose": lambda a: a.T,
    "columns": lambda a: a[:, 1:],
    "one row": lambda a: a[:1],
    "read-only": lambda a: np.broadcast_to(a, (2, 3, 4)),
}

NAMES = (
    "aligned", "behaved", "c_contiguous", "carray", "contiguous", "f_contiguous", "farray", "fnc",
    "forc", "owndata", "writeable", "writebackifcopy",
)  # fmt: skip

KEYS = ("C", "F", "O", "W", "A", "X", "C_CONTIGUOUS", "FNC", "CONTIGUOUS", "FORTRAN", "CA", "FA")


@pytest.mark.parametrize("name", ARRAYS)
def test_flags(name: str) -> None:
    """By name, by key and as text."""
    ours, theirs = (ARRAYS[name](x(np.ones((3, 4)))) for x in (mt.tensor, np.array))
    for flag in NAMES:
        assert getattr(ours.flags, flag) == getattr(theirs.flags, flag), flag
    for key in KEYS:
        assert ours.flags[key] == theirs.flags[key], key
    assert mt.isfortran(ours) == np.isfortran(ours) == np.isfortran(theirs)
    assert repr(ours.flags) == repr(theirs.flags)
    assert ours.flags == ours.flags
    assert ours.flags != mt.broadcast_to(mt.ones(1), (9, 9)).T[1:].flags or name == "read-only"
    with pytest.raises(KeyError, match="Unknown flag"):
        ours.flags["Z"]


def test_read_only() -> None:
    """A tensor that was said to be read-only refuses writes, and so do views made of it."""
    both: list[Any] = [np.ones((3, 4)), mt.ones((3, 4))]
    for x in both:
        early = x[0]
        x.flags.writeable = False
        late = x[1]
        for target in (x, late):
            with pytest.raises(ValueError, match="read-only"):
                target[...] = 2
        early[0] = 5
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            late.flags.writeable = True
        x.setflags(write=True)
        x.setflags(write=False)
        x.flags["WRITEABLE"] = True
        x.flags.writeable = True
        x[1] = 6
        late.flags.writeable = True
        late[1] = 7
        with pytest.raises(KeyError, match="Unknown flag"):
            x.flags["Z"] = True
        np.testing.assert_array_equal(np.asarray(x), [[5, 1, 1, 1], [6, 7, 6, 6], [1, 1, 1, 1]])
    fixed = mt.broadcast_to(mt.ones(2), (3, 2))
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        fixed.flags.writeable = True
    fixed.execute()
    with pytest.raises(ValueError, match="read-only"):
        fixed += 1
