"""Dask's, pandas's and other libraries' tests with their classes and with ours: ``make compat``.

Each file of a suite runs with ours in place first; what does not pass runs again stock, and what
passes then a third time with ours, alone and with more time: on a busy machine timing fails, too.
Where that would be many, stock runs the whole file before: tests of a file may disturb each other.
What differs and may is in ``differences.toml``, each with its reason; anything else fails the
comparison.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

#: Seconds for one file.
FILE_LIMIT = 3600

#: Tests of one file that are tried again: more than that is no accident of timing.
ALONE = 10

#: How much longer than in its file a test may take then: what it returns is compared, not its time.
PATIENCE = 3

#: Distributed's tests that are about workers' results.
SHARED = (
    *("active_memory_manager", "cancelled_state", "client", "failed_workers", "resources"),
    *("scheduler", "spill", "worker", "worker_memory", "worker_state_machine"),
)

#: xarray's files of tests that are about arrays in chunks, or of which some are; the others
#: (computation, dataarray, dataset, duck_array_ops, groupby, variable) are not compared yet.
CHUNKED = (
    *("accessor_dt", "coarsen", "coding_times", "dask", "interp", "missing", "rolling"),
    "weighted",
)

#: Folders and files of pandas's tests that are about what its users call.
PANDAS = tuple(
    f"pandas/tests/{name}.py"
    for name in (
        *("apply/**/test_*", "arithmetic/**/test_*", "frame/indexing/test_*"),
        *("frame/methods/test_*", "frame/test_*", "groupby/**/test_*", "indexing/**/test_*"),
        *("io/parser/**/test_*", "io/test_parquet", "reductions/test_*", "resample/test_*"),
        *("reshape/**/test_*", "series/accessors/test_*", "series/indexing/test_*"),
        *("series/methods/test_*", "series/test_*", "strings/test_*", "tools/test_*"),
        "window/**/test_*",
    )
)

#: Files of scikit-learn's tests that are about estimators which are here.
ESTIMATORS = tuple(
    f"sklearn/{name}.py"
    for name in (
        "cluster/tests/test_k_means",
        "compose/tests/test_column_transformer",
        "decomposition/tests/test_incremental_pca",
        "decomposition/tests/test_pca",
        "decomposition/tests/test_truncated_svd",
        "ensemble/tests/test_bagging",
        "ensemble/tests/test_iforest",
        "feature_extraction/tests/test_feature_hasher",
        "feature_extraction/tests/test_text",
        "impute/tests/test_impute",
        "linear_model/_glm/tests/test_glm",
        "linear_model/tests/test_base",
        "linear_model/tests/test_coordinate_descent",
        "linear_model/tests/test_logistic",
        "linear_model/tests/test_ridge",
        "linear_model/tests/test_sgd",
        "model_selection/tests/test_search",
        "model_selection/tests/test_split",
        "model_selection/tests/test_successive_halving",
        "neighbors/tests/test_neighbors",
        "preprocessing/tests/test_data",
        "preprocessing/tests/test_encoders",
        "preprocessing/tests/test_function_transformer",
        "preprocessing/tests/test_label",
        "preprocessing/tests/test_polynomial",
        "preprocessing/tests/test_target_encoder",
        "semi_supervised/tests/test_label_propagation",
        "tests/test_naive_bayes",
    )
)


@dataclass(frozen=True)
class Suite:
    """A package's tests: where, and what puts ours in place."""

    name: str
    folder: Path
    plugins: tuple[str, ...]
    ours: tuple[str, ...]
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    default: tuple[str, ...] = ()
    #: What the runs with their classes need.
    stock: tuple[str, ...] = ()
    #: Another suite whose known differences are this one's, too.
    like: str = ""
    #: Seconds for one test; needs the package pytest-timeout.
    limit: int | None = 60
    #: Whether the suite's own set-up is used.
    conftests: bool = False
    #: Tests of one file that are tried again: those of which time or others may be the cause.
    alone: int = ALONE

    def files(self, wanted: Iterable[str]) -> Iterator[str]:
        """Yield the files that match any of the patterns, the suite's own if there are none."""
        seen = set()
        for pattern in tuple(wanted) or self.default:
            for path in sorted(self.folder.glob(pattern)):
                name = path.relative_to(self.folder).as_posix()
                if name not in seen:
                    seen.add(name)
                    yield name


def suites(checkout: str | None) -> Iterator[Suite]:
    """Yield the suites that can run here."""
    found = find_spec("dask")
    assert found is not None
    assert found.origin is not None
    packages = Path(found.origin).parents[1]
    dask = ("dask.conftest",)
    array, frame = "dask/array/tests/test_*.py", "dask/dataframe/**/test_*.py"
    threads = {"MARSDASK_GET": "threads"}
    yield Suite("dask", packages, dask, ("our_get",), (), threads, (array, frame))
    yield Suite("array", packages, dask, ("our_arrays",), (), {}, (array,))
    if find_spec("xarray"):
        fixtures = ("chunked_only", "xarray.tests.conftest")
        tests = tuple(f"xarray/tests/test_{name}.py" for name in CHUNKED)
        yield Suite("xarray", packages, fixtures, ("our_xarray",), (), {}, tests)
    cluster = {"MARSDASK_GET": "cluster"}
    shared = ("our_servers", "share_all")
    ours = (*shared, "our_get")
    yield Suite("cluster", packages, dask, ours, (), cluster, (array, frame), ("our_get",))
    yield Suite(
        "learn",
        packages,
        ("sklearn.conftest",),
        ("our_estimators",),
        (),
        {},
        ESTIMATORS,
        limit=None,
    )
    tests, frames = ("pandas_tests",), ("our_frames",)
    pandas = Suite("pandas", packages, tests, frames, (), {}, PANDAS, limit=None)
    yield replace(pandas, conftests=True, alone=0)
    if checkout:
        yield from _of_distributed(checkout, shared)


def _of_distributed(checkout: str, shared: tuple[str, ...]) -> Iterator[Suite]:
    utils = ("distributed.utils_test",)
    options = ("--in-process", f"--checkout={checkout}")
    default = ("distributed/tests/test_*.py", "distributed/*/tests/test_*.py")
    yield Suite("distributed", Path(checkout), utils, ("our_servers",), options, {}, default)
    chosen = tuple(f"distributed/tests/test_{name}.py" for name in SHARED)
    yield Suite("shared", Path(checkout), utils, shared, options, {}, chosen, like="distributed")


def run(
    suite: Suite, file: str, *, ours: bool, only: Iterable[str] | None = None
) -> dict[str, str]:
    """Run a file, or some tests of it, and return each test's outcome."""
    with tempfile.TemporaryDirectory() as folder:
        outcomes, chosen = Path(folder, "outcomes"), Path(folder, "only")
        outcomes.touch()
        # Plugins are imported in this order: ours, before anything binds what they replace.
        plugins = ("outcomes", *(suite.ours if ours else suite.stock), *suite.plugins)
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider"]
        command += ["--config-file", os.devnull, "--rootdir", str(suite.folder)]
        command += [] if suite.conftests else ["--noconftest"]
        command += ["--import-mode=importlib", *suite.options]
        command += [f"--timeout={suite.limit}"] if suite.limit else []
        command += [word for plugin in plugins for word in ("-p", plugin)]
        command += [f"--outcomes={outcomes}"]
        if only is not None:
            chosen.write_text("\n".join(only), encoding="utf-8")
            command += [f"--only={chosen}"]
        path = os.pathsep.join([str(ROOT), str(HERE / "plugins"), os.environ.get("PYTHONPATH", "")])
        with contextlib.suppress(subprocess.TimeoutExpired):  # what has no outcome has not passed
            done = subprocess.run(
                [*command, str(suite.folder / file)],
                env={**os.environ, **suite.environment, "PYTHONPATH": path},
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                check=False,
                timeout=FILE_LIMIT,
            )
            if done.returncode == pytest.ExitCode.USAGE_ERROR:
                raise SystemExit(f"{file}: pytest did not start\n{done.stderr}")
        found: dict[str, str] = {}
        for line in outcomes.read_text(encoding="utf-8").splitlines():
            outcome, _, test = line.partition("\t")
            # A test may pass, and its teardown fail; how it fails is said before that it does.
            if outcome.startswith(KINDS) or not found.get(test, "").startswith(("failed", *KINDS)):
                found[test] = outcome
        return found


#: What a suite's plugin says of a test that fails: nothing was refused; a program would stop with
#: an error, which is no difference; it would go on with something else.
KINDS = ("refused", "stopped", "wrong")


def passed(outcomes: dict[str, str]) -> set[str]:
    """Return the tests that passed."""
    return {test for test, outcome in outcomes.items() if outcome == "passed"}


def failed(outcomes: dict[str, str]) -> set[str]:
    """Return the tests that failed or, in a crash or for want of time, were not reached."""
    bad = ("failed", "refused", "wrong", "collected")
    return {test for test, outcome in outcomes.items() if outcome.startswith(bad)}


@dataclass(frozen=True)
class ComparedFile:
    """One file: the tests that pass with ours, fail with either, and fail with ours only.

    Of the last, there are those that may differ, and those that may not.
    """

    ours: frozenset[str]
    neither: frozenset[str]
    allowed: frozenset[str]
    lost: frozenset[str]
    #: Tests that are not run, for they name what is internal: {test: the name}.
    apart: dict[str, str] = field(default_factory=dict)
    #: Of those that fail with ours only, the ones that want an error where ours returns a result.
    refused: frozenset[str] = frozenset()
    #: Tests in which a program would stop with an error, where that is no difference.
    stopped: frozenset[str] = frozenset()
    #: How tests fail, where the suite tells.
    how: dict[str, str] = field(default_factory=dict)
    #: Seconds with ours and with stock, of files that are timed.
    seconds: tuple[float, ...] = ()


def compare(suite: Suite, file: str, known: Iterable[str], *, timed: bool = False) -> ComparedFile:
    """Run a file with ours, and what does not pass with stock; all of it if it is timed."""
    outcomes, spent = run_timed(suite, file, ours=True)
    good, doubtful = passed(outcomes), failed(outcomes)
    whole = file in doubtful or not outcomes  # it was not imported
    stock: dict[str, str] = {}
    seconds: tuple[float, ...] = ()
    if timed:
        together, other = run_timed(suite, file, ours=False)
        stock = {test: found for test, found in together.items() if whole or test in doubtful}
        seconds = (spent, other)
    elif doubtful or whole:
        stock = run(suite, file, ours=False, only=None if whole else doubtful)
        if not whole and len(passed(stock) - allowed_by(known, stock)) > ALONE:
            together = run(suite, file, ours=False)
            stock |= {test: "failed" for test in stock if together.get(test) == "failed"}
    allowed, neither = allowed_by(known, passed(stock)), failed(stock)
    lost = passed(stock) - allowed
    patient = replace(suite, limit=suite.limit and PATIENCE * suite.limit)
    for test in sorted(lost)[: suite.alone]:
        # A run of its own for each: some tests only fail after others.
        good |= passed(run(patient, file, ours=True, only=[test]))
    known_ones, bad = frozenset(allowed - good), frozenset(lost - good)
    refused = {test for test, outcome in outcomes.items() if outcome == "refused"}
    differ = frozenset(refused & (known_ones | bad))
    apart = internal(outcomes)
    stopped = frozenset(test for test, how in outcomes.items() if how.startswith("stopped"))
    return ComparedFile(
        *(frozenset(good), frozenset(neither), known_ones, bad, apart, differ, stopped),
        {test: outcomes[test] for test in bad if outcomes.get(test, "").startswith("wrong")},
        seconds,
    )


def run_timed(suite: Suite, file: str, *, ours: bool) -> tuple[dict[str, str], float]:
    """Run a file and return each test's outcome, and the seconds."""
    started = time.monotonic()
    return run(suite, file, ours=ours), time.monotonic() - started


def internal(outcomes: dict[str, str]) -> dict[str, str]:
    """Return the tests that were set apart, with the internal name of each."""
    found = ((test, outcome.partition("internal ")[2]) for test, outcome in outcomes.items())
    return {test: name for test, name in found if name}


def known_differences() -> dict[str, dict[str, str]]:
    """Return for each suite the patterns of tests that may differ, with the reasons."""
    known: dict[str, dict[str, str]] = tomllib.loads((HERE / "differences.toml").read_text())
    groups = tomllib.loads((HERE / "array_differences.toml").read_text())
    for group in (*groups["difference"], *groups["open"]):
        for test in group["tests"]:
            known.setdefault("array", {})[f"*/{test}"] = group["reason"]
    groups = tomllib.loads((HERE / "xarray_differences.toml").read_text())
    for group in groups["difference"]:
        for test in group["tests"]:
            known.setdefault("xarray", {})[f"*/{test}"] = group["reason"]
    return known


def allowed_by(known: Iterable[str], tests: Iterable[str]) -> set[str]:
    """Return the tests that a pattern names."""
    return {test for test in tests if any(fnmatch.fnmatchcase(test, name) for name in known)}


def passing(known: Iterable[str], found: ComparedFile) -> list[str]:
    """Return the patterns that name tests of a file which all pass with ours."""
    others = found.neither | found.allowed | found.lost
    return [
        name for name in known if allowed_by([name], found.ours) and not allowed_by([name], others)
    ]


def check_wanted(parser: argparse.ArgumentParser, wanted: list[str], among: list[Suite]) -> None:
    """End with an error if no suite is chosen, or a pattern matches no file of any."""
    if not among:
        parser.error("no such suite; distributed's need --distributed")
    for pattern in wanted:
        if not any(any(suite.folder.glob(pattern)) for suite in among):
            parser.error(f"no file of the suites matches {pattern!r}")


def show(
    suite: Suite, file: str, known: Iterable[str], found: ComparedFile, *, internal: bool
) -> int:
    """Print what was found of a file; return how many known differences pass."""
    note = f"{len(found.allowed)} known" if found.allowed else ""
    note += f"  {len(found.stopped)} stop with an error" if found.stopped else ""
    aside = f"  {len(found.apart)} internal" if found.apart else ""
    aside += "".join(f" {seconds:6.0f} s" for seconds in found.seconds)
    counts = f"{len(found.ours):6} {len(found.neither):14}"
    print(f"{f'{suite.name}: {file}':64} {counts}  {note}{aside}", flush=True)
    if internal:
        for test, inner in sorted(found.apart.items()):
            print(f"  INTERNAL, {inner}: {test}", flush=True)
    for test in sorted(found.lost):
        how = f", {found.how[test]}" if test in found.how else ""
        print(f"  FAILS WITH OURS ONLY{how}: {test}", flush=True)
    # Of arrays only: the other suites' are known for their timing and placement.
    stale = list(passing(known, found)) if suite.name in ("array", "xarray") else []
    for pattern in stale:
        print(f"  KNOWN, BUT PASSES: {pattern}", flush=True)
    return len(stale)


def shares(files: list[ComparedFile]) -> str:
    """Tell how many tests that pass with stock pass with ours, and how many of the rest refuse.

    Those want an error where ours returns a result.
    """
    good = sum(len(found.ours) for found in files)
    others = sum(len(found.allowed | found.lost) for found in files)
    refused = sum(len(found.refused) for found in files)
    stopped = sum(len(found.stopped) for found in files)
    if stopped:
        return (
            f"{good} tests pass with ours ({100 * good / (good + others + stopped):.1f} %); "
            f"{stopped} stop with an error, and {others} do not"
        )
    return (
        f"{good} of {good + others} tests that pass with stock pass with ours "
        f"({100 * good / max(1, good + others):.1f} %); {refused} of the others want an error "
        "where ours returns a result"
    )


def parse(arguments: list[str] | None) -> tuple[argparse.Namespace, list[Suite]]:
    """Return the options and the chosen suites."""
    parser = argparse.ArgumentParser(description="Run others' tests with stock and with ours.")
    parser.add_argument("--distributed", metavar="CHECKOUT", help="of dask/distributed")
    parser.add_argument("--suite", action="append", help="a suite's name (default all)")
    parser.add_argument("--jobs", type=int, default=1, help="files side by side (default 1)")
    parser.add_argument("--internal", action="store_true", help="name tests that are set apart")
    parser.add_argument("--times", action="store_true", help="compare how long files take, too")
    parser.add_argument("files", nargs="*", help="patterns of files within the suites")
    chosen = parser.parse_args(arguments)
    among = [
        suite
        for suite in suites(chosen.distributed)
        if not chosen.suite or suite.name in chosen.suite
    ]
    check_wanted(parser, chosen.files, among)
    return chosen, among


def main(arguments: list[str] | None = None) -> int:
    """Compare suites and print a line for each file; return 1 if tests fail that may not."""
    chosen, among = parse(arguments)
    differences = known_differences()
    work = [
        (suite, file, differences.get(suite.like, {}) | differences.get(suite.name, {}))
        for suite in among
        for file in suite.files(chosen.files)
    ]
    bad = stale = 0
    files: dict[str, list[ComparedFile]] = {}
    print(f"{'file':64} {'pass':>6} {'fail with both':>14}  differ")
    # Its threads only wait for the processes that run the tests; map, unlike submit, cancels what
    # has not begun when this is interrupted.
    with ThreadPoolExecutor(chosen.jobs) as pool:
        results = pool.map(partial(compare, timed=chosen.times), *zip(*work, strict=True))
        for (suite, file, known), found in zip(work, results, strict=True):
            bad += len(found.lost)
            stale += show(suite, file, known, found, internal=chosen.internal)
            files.setdefault(suite.name, []).append(found)
    if not chosen.distributed:
        print("distributed's own suite is in no package: give a checkout, DISTRIBUTED=path")
    for name, found_in in files.items():
        print(f"{name}: {shares(found_in)}")
        if chosen.times:
            ours, stock = map(sum, zip(*(found.seconds for found in found_in), strict=True))
            print(f"{name}: {ours:.0f} s, {ours / stock:.2f} times stock's {stock:.0f} s")
    if stale:
        print(f"{stale} known differences pass")
    print(f"{bad} tests fail with ours that pass with stock")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
