"""What pods have written, in the reports of tests that fail."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

#: Lines of each pod.
_LAST = 80


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the last lines of pods that wrote meanwhile to the report of a failure."""
    report = yield
    given = getattr(item, "funcargs", {})
    kube = given.get("kube") or getattr(given.get("kubedl"), "kube", None)
    if report.failed and kube is not None:
        for log in written(kube.kubelet.folder, call.start):
            lines = log.read_text(errors="replace").splitlines()
            report.sections.append((log.parent.name, "\n".join(lines[-_LAST:])))
    return report


def written(folder: Path, since: float) -> list[Path]:
    """Return the logs of pods in a folder that have changed since a time."""
    return sorted(log for log in folder.glob("*/log") if log.stat().st_mtime >= since)
