"""A pytest plugin for array-api-tests: each call executes, so that every shape is known at once."""

from __future__ import annotations

from marsdask.core.config import options


def pytest_configure() -> None:
    """Turn eager mode on for the whole run."""
    options.eager_mode = True
