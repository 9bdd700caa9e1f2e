"""Results that pandas makes of computed rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def to_dict(obj: Any, *args: Any, **options: Any) -> dict[Any, Any] | list[Any]:
    """Compute, and return a dict, or a list of them. See pandas.DataFrame.to_dict."""
    result: dict[Any, Any] | list[Any] = obj.compute().to_dict(*args, **options)
    return result


def to_records(frame: Any, *args: Any, **options: Any) -> np.recarray[Any, Any]:
    """Compute, and return an array of records. See pandas.DataFrame.to_records."""
    records: np.recarray[Any, Any] = frame.compute().to_records(*args, **options)
    return records


def to_string(obj: Any, *args: Any, **options: Any) -> str | None:
    """Compute, and return a text of all rows. See pandas.DataFrame.to_string."""
    text: str | None = obj.compute().to_string(*args, **options)
    return text


def to_html(frame: Any, *args: Any, **options: Any) -> str | None:
    """Compute, and return an HTML table of all rows. See pandas.DataFrame.to_html."""
    text: str | None = frame.compute().to_html(*args, **options)
    return text


def to_markdown(obj: Any, *args: Any, **options: Any) -> str | None:
    """Compute, and return a Markdown table of all rows. See pandas.DataFrame.to_markdown."""
    text: str | None = obj.compute().to_markdown(*args, **options)
    return text


def through_pandas(name: str, what: str) -> Callable[..., object]:
    """Return a method that computes all rows and calls pandas's of that name."""

    def call(self: Any, *args: Any, **options: Any) -> object:
        return getattr(self.compute(), name)(*args, **options)

    call.__name__ = name
    call.__doc__ = f"""Compute all rows in this process, and {what}. See pandas.DataFrame.{name}.

    Parameters
    ----------
    *args, **options : object
        The arguments of pandas.

    Returns
    -------
    object
        What pandas returns.
    """
    return call
