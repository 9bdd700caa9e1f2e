"""A pytest plugin: of a suite, only tests that are about arrays in chunks.

A test is one of them if it says so in its text, or asks for a fixture that makes chunks.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

_SAYS = re.compile(r"dask|chunk|lazy|lazily")
_FIXTURES = {"backend", "chunk", "chunked", "dask", "use_dask"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave the others out."""
    chosen = [item for item in items if _is_chunked(item)]
    config.hook.pytest_deselected(items=[item for item in items if not _is_chunked(item)])
    items[:] = chosen


def _is_chunked(item: Any) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if parameters.get("use_dask") is False:
        return False
    if "test_dask" in item.nodeid or _FIXTURES & set(item.fixturenames):
        return True
    try:
        return _SAYS.search(inspect.getsource(inspect.unwrap(item.function))) is not None
    except (OSError, TypeError):
        return False
