"""A pytest plugin: notes the outcome of every test, and runs foreign suites without their setup.

Foreign suites bring their own ``conftest.py`` and configuration, which want packages of their own;
what their tests need of those is here.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

#: What makes a test start processes, besides fixtures.
_SPAWNS = re.compile(r"Nanny|(?<!gen_)cluster\(|LocalCluster\(|popen\(|subprocess|multiprocessing")
_SPAWNING_FIXTURES = {"client", "c", "client_no_amm", "cluster_fixture"}

#: Markers that the suites use and nobody has to act upon.
_MARKERS = (
    *("avoid_ci", "extra_packages", "flaky", "gpu", "ipython", "leaking", "network", "slow"),
    *(
        "ci1",
        "array_expr",
        "normal_and_array_expr",
        "skip_with_pyarrow_strings",
        "xfail_with_pyarrow_strings",
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runslow", action="store_true", help="run tests marked slow, too")
    parser.addoption("--in-process", action="store_true", help="leave out what starts processes")
    parser.addoption("--outcomes", help="the file to which `outcome nodeid` lines are added")
    parser.addoption("--only", help="a file of node ids: run no others")
    parser.addoption("--checkout", help="where the package's tests are, if not beside its code")


def pytest_configure(config: pytest.Config) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", f"{marker}: of the suite")
    checkout = config.getoption("--checkout")
    if checkout:
        _tests_beside_the_code("distributed", Path(checkout))
        utils_test = importlib.import_module("distributed.utils_test")
        utils_test.certs_dir = os.path.join(checkout, "distributed", "tests")  # type: ignore[attr-defined]


def _tests_beside_the_code(package: str, checkout: Path) -> None:
    """Let a package's tests be imported from elsewhere, and its code from where it is installed."""
    module: Any = importlib.import_module(package)
    names = [package]
    names += [
        one.name for one in pkgutil.walk_packages(module.__path__, f"{package}.") if one.ispkg
    ]
    for name in names:
        folder = checkout.joinpath(*name.split("."))
        if (folder / "tests").is_dir():
            importlib.import_module(name).__path__.append(str(folder))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--runslow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow"))
    out: set[pytest.Item] = set()
    if config.getoption("--in-process"):
        out.update(item for item in items if _spawns(item))
    if config.getoption("--only"):
        wanted = set(Path(config.getoption("--only")).read_text(encoding="utf-8").splitlines())
        out.update(item for item in items if item.nodeid not in wanted)
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]
    _note(config, "collected", *items)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    report = yield
    if report.failed:  # a file that cannot be imported is not one without tests
        _note(collector.config, "failed", collector)
    return report


def _note(config: pytest.Config, outcome: str, *tests: pytest.Item | pytest.Collector) -> None:
    with open(config.getoption("--outcomes"), "a", encoding="utf-8") as file:
        file.writelines(f"{outcome}\t{test.nodeid}\n" for test in tests)


def _spawns(item: Any) -> bool:
    try:
        source = inspect.getsource(inspect.unwrap(item.function))
    except (OSError, TypeError):
        source = ""
    fixtures = _SPAWNING_FIXTURES.intersection(item.fixturenames)
    return bool(fixtures) or _SPAWNS.search(source) is not None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    report = yield
    outcome = report.outcome
    if outcome == "passed" and report.when != "call":
        return report
    if hasattr(report, "wasxfail"):
        outcome = "xfailed" if report.outcome == "skipped" else "xpassed"
    _note(item.config, outcome, item)
    return report
