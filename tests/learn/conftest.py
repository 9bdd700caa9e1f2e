"""Every test of estimators runs with the chunks as given and with merged ones."""

import pytest

from marsdask import new_session
from marsdask.core.config import option_context


@pytest.fixture(scope="package", autouse=True)
def _session():
    with new_session("synchronous") as session:
        yield session


@pytest.fixture(params=[True, False], ids=["merged", "as given"], autouse=True)
def _coalesce(request):
    with option_context({"coalesce": request.param, "verify": True}):
        yield
