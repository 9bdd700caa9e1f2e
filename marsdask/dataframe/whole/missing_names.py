"""The error for names that pandas has and that we do not."""

from __future__ import annotations

from typing import Any


class UnsupportedNameError(NotImplementedError, AttributeError):
    """A name of pandas that is not supported: ``hasattr`` says no, and the text what to use."""


def missing_name(obj: Any, name: str, theirs: type, way: str) -> AttributeError:
    """Return the error for a name that an object does not have.

    ``theirs`` is the class of pandas that may have it, ``way`` what to use instead.
    """
    if not name.startswith("_") and hasattr(theirs, name):
        return UnsupportedNameError(f"{type(obj).__name__}.{name} is not supported; use {way}")
    return AttributeError(
        f"{type(obj).__name__!r} object has no attribute {name!r}", name=name, obj=obj
    )


#: What to use instead of a name of a frame or a series.
CONVERSIONS = "to_pandas() for pandas's own, or to_dask() for Dask's"
#: What to use instead of a name of groups.
GROUP_CONVERSIONS = "apply() with a function of one group, or to_pandas() before groupby()"
