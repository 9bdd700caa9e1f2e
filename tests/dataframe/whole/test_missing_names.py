"""Names of pandas that are not there say what to use instead."""

from __future__ import annotations

import pandas as pd
import pytest

import marsdask.dataframe as md

FRAME = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
OBJECTS = {
    "frame": (lambda d: d, pd.DataFrame),
    "series": (lambda d: d.a, pd.Series),
    "groups": (lambda d: d.groupby("a"), type(FRAME.groupby("a"))),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_each_name_of_pandas_is_there_or_says_what_to_use(kind):
    """The error is both of Python's, so that hasattr() says that the name is not there."""
    make, theirs = OBJECTS[kind]
    found = make(md.DataFrame(FRAME))
    missing = [
        name for name in dir(theirs) if not name.startswith("_") and not hasattr(type(found), name)
    ]
    assert missing
    for name in missing:
        with pytest.raises(NotImplementedError, match=rf"{name} is not supported; use"):
            getattr(found, name)
        assert not hasattr(found, name)


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_name_that_nobody_has(kind):
    """It is a plain AttributeError, which names it."""
    make, _ = OBJECTS[kind]
    with pytest.raises(AttributeError, match="no attribute 'nonsense'") as error:
        make(md.DataFrame(FRAME)).nonsense  # noqa: B018
    assert not isinstance(error.value, NotImplementedError)
