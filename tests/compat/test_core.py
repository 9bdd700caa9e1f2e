"""The classes of ``mars.core``."""

from __future__ import annotations

from typing import Any

import marsdask.dataframe as md
from marsdask.compat import core


def test_classes() -> None:
    """The tuples of classes that Mars's programs ask for are ours."""
    lazy: Any = md.DataFrame({"a": [1, 2]})
    assert isinstance(lazy, core.DATAFRAME_TYPE)
    assert isinstance(lazy.a, core.SERIES_TYPE)
    assert isinstance(lazy.index, core.INDEX_TYPE)
    assert isinstance(lazy.a.to_tensor(), core.TENSOR_TYPE)
    assert isinstance(lazy.a.sum(), core.TILEABLE_TYPE)
    assert not isinstance(lazy, core.DATAFRAME_OR_SERIES_TYPE[1:] + core.CATEGORICAL_TYPE)
