"""Which collection wraps what."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.registry import class_of


def test_a_family_is_found_by_its_meta():
    """Subclasses of the meta's type belong to it, unless they have a family of their own."""
    assert class_of(np.empty(0)) is mt.Tensor
    assert class_of(np.empty(0).view(np.recarray)) is mt.Tensor
    assert class_of(np.ma.masked_array([])) is mt.ma.MaskedTensor


def test_what_nobody_wraps_is_told():
    """With the type."""
    with pytest.raises(TypeError, match="dict"):
        class_of({})
