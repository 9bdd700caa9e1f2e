"""XGBoost has one thread: others cost more, by waiting, than trees of few rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    xgboost = pytest.importorskip("xgboost")
    with xgboost.config_context(nthread=1):
        yield
