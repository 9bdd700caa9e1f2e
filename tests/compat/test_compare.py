"""The comparison of others' tests: what it runs, and what it calls a difference."""

from __future__ import annotations

import ast
import importlib.util
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import dask.array as da
import pytest

HERE = Path(__file__).parent

THEIRS = """
import dask.base, distributed
from distributed.utils_test import Worker, gen_cluster

def test_stock_scheduler():
    assert dask.base.get_scheduler() is None

def test_stock_worker():
    assert distributed.Worker.__name__ == Worker.__name__ == "Worker"

def test_never():
    assert False

def test_get():
    assert dask.delayed(sum)([1, 2]).compute(scheduler="sync") == 3

@gen_cluster(client=True)
async def test_servers(c, s, a, b):
    assert await c.submit(sum, [1, 2]) == 3
"""

SHARED = """
import numpy
from distributed.utils_test import gen_cluster

@gen_cluster(client=True)
async def test_small(c, s, a, b):
    few = c.submit(numpy.ones, 3, workers=[a.address])
    assert await c.submit(numpy.sum, few, workers=[b.address]) == 3
    assert b.shared_results.borrows(few.key)
    word = c.submit(str, 3, workers=[a.address])
    assert await c.submit(int, word, workers=[b.address]) == 3
    assert word.key in a.shared_results._published
"""


DISTURBED = """
import pytest
before = []

def test_first():
    before.append(1)

@pytest.mark.parametrize("number", range(11))
def test_after(number):
    assert not before
"""


@pytest.fixture
def compare(monkeypatch):
    """Import the script as a module."""
    spec = importlib.util.spec_from_file_location("compare", HERE / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "compare", module)  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


def test_what_fails_with_ours_only(compare, tmp_path):
    """Ours are in place in the second run, and known differences are told from others."""
    (tmp_path / "test_them.py").write_text(THEIRS)
    suite = compare.Suite(
        name="theirs",
        folder=tmp_path,
        plugins=(),
        ours=("our_servers", "our_get"),
        environment={"MARSDASK_GET": "threads"},
        limit=None,
    )
    found = compare.compare(suite, "test_them.py", {"*::test_stock_worker": "it may"})
    allowed, lost, neither, *both = (
        f"test_them.py::test_{name}"
        for name in ("stock_worker", "stock_scheduler", "never", "get", "servers")
    )
    assert found == compare.ComparedFile(
        ours=set(both), neither={neither}, allowed={allowed}, lost={lost}
    )


def test_what_fails_after_others_with_either(compare, tmp_path):
    """Many tests that pass by themselves are judged by what stock says in the same company."""
    assert compare.ALONE < 11
    (tmp_path / "test_them.py").write_text(DISTURBED)
    suite = compare.Suite("theirs", tmp_path, plugins=(), ours=(), limit=None)
    found = compare.compare(suite, "test_them.py", {})
    both = {f"test_them.py::test_after[{number}]" for number in range(11)}
    assert found == compare.ComparedFile({"test_them.py::test_first"}, both, set(), set())


def test_what_takes_longer(compare, tmp_path, monkeypatch):
    """A test over its limit is tried again with more of it."""

    def run(suite, file, *, ours, only=None):
        return {"test_slow": "passed" if not ours or suite.limit > 60 else "failed"}

    monkeypatch.setattr(compare, "run", run)
    suite = compare.Suite("theirs", tmp_path, plugins=(), ours=())
    found = compare.compare(suite, "test_them.py", {})
    assert found == compare.ComparedFile({"test_slow"}, set(), set(), set())


def test_both_are_timed(compare, tmp_path, capsys, monkeypatch):
    """Then stock runs the whole file, and what fails is compared as ever."""
    clock = iter((0.0, 6.0, 10.0, 14.0))
    monkeypatch.setattr(compare, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    runs = []

    def run(suite, file, *, ours, only=None):
        runs.append((ours, only))
        return {"test_a": "passed", "test_b": "failed" if ours else "passed", "test_c": "failed"}

    monkeypatch.setattr(compare, "run", run)
    suite = compare.Suite("theirs", tmp_path, plugins=(), ours=(), default=("test_*.py",))
    (tmp_path / "test_them.py").touch()
    monkeypatch.setattr(compare, "suites", lambda _: [suite])
    assert compare.main(["--times"]) == 1
    assert runs == [(True, None), (False, None), (True, ["test_b"])]
    told = capsys.readouterr().out
    assert "FAILS WITH OURS ONLY: test_b\n" in told
    assert "theirs: 6 s, 1.50 times stock's 4 s\n" in told


def test_all_results_are_shared(compare, tmp_path):
    """With the plugin, what distributed's tests compute lies in shared memory, however small."""
    (tmp_path / "test_them.py").write_text(SHARED)
    ours = ("our_servers", "share_all")
    suite = compare.Suite("shared", tmp_path, plugins=(), ours=ours, limit=None)
    assert compare.run(suite, "test_them.py", ours=True) == {"test_them.py::test_small": "passed"}


def test_what_cannot_be_imported(compare, tmp_path):
    """The tests of a file that only stock can import are lost."""
    text = "import sys\nassert 'colorsys' not in sys.modules\ndef test_a(): pass"
    (tmp_path / "test_it.py").write_text(text)
    suite = compare.Suite("it", tmp_path, (), ours=("colorsys",), limit=None)
    found = compare.compare(suite, "test_it.py", {})
    assert found == compare.ComparedFile(set(), set(), set(), {"test_it.py::test_a"})


REFUSED = """
import pytest
from dask.array import ones

def test_refused():
    with pytest.raises(ValueError):
        ones(3)

def test_other():
    assert ones(3) is None

def test_both():
    assert ones(3).sum().compute() == 3
"""


def test_what_wants_an_error(compare, tmp_path):
    """Is told from other failures by code, and counted."""
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "test_it.py").write_text(REFUSED)
    suite = compare.Suite("it", tmp_path, (), ours=("our_arrays",), limit=None)
    outcomes = compare.run(suite, "test_it.py", ours=True)
    names = ("refused", "other", "both")
    told = [outcomes[f"test_it.py::test_{name}"] for name in names]
    assert told == ["refused", "failed", "passed"]
    assert compare.failed(outcomes) == {f"test_it.py::test_{name}" for name in names[:2]}
    found = compare.ComparedFile({"a", "b"}, {"e"}, {"c"}, {"d"}, {}, {"c"})
    assert compare.shares([found, found]).startswith("4 of 8 tests")
    assert "(50.0 %); 2 of the others" in compare.shares([found, found])


def test_tests_without_chunks_are_left_out(compare, tmp_path):
    """Of xarray's tests those that say nothing of chunks, and forms of others without them."""
    (tmp_path / "test_it.py").write_text(CHUNKED)
    suite = compare.Suite("it", tmp_path, ("chunked_only",), ours=(), limit=None)
    outcomes = compare.run(suite, "test_it.py", ours=False)
    found = {test.partition("::test_")[2] for test in outcomes}
    assert found == {"words", "forms[True]", "fixture"}


CHUNKED = """
import pytest

@pytest.fixture
def backend():
    return 1

def test_words():
    "Says chunks."

def test_none():
    pass

@pytest.mark.parametrize("use_dask", [True, False])
def test_forms(use_dask):
    pass

def test_fixture(backend):
    pass
"""


def test_each_known_difference_has_a_reason(compare):
    """The list names suites that exist, and says why for each test."""
    known = tomllib.loads((HERE / "differences.toml").read_text())
    names = {suite.name for suite in compare.suites("somewhere")}
    assert known.keys() <= names
    assert all(reason for tests in known.values() for reason in tests.values())


def test_differences_of_arrays(compare):
    """They are in the list of the suite, name tests of Dask's, and the page shows them."""
    known = compare.known_differences()["array"]
    suite = next(suite for suite in compare.suites(None) if suite.name == "array")
    texts = {path.name: path.read_text() for path in suite.folder.glob("dask/array/tests/*.py")}
    for pattern in known:
        file, _, test = pattern.removeprefix("*/").removesuffix("[[]*").partition("::")
        assert f"def {test}(" in texts[file], pattern
    spec = importlib.util.spec_from_file_location(
        "from_dask", HERE.parents[1] / "docs/from_dask.py"
    )
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.page() == script.PAGE.read_text(), "python docs/from_dask.py writes the page anew"


PANDAS = """
import pandas as pd
import pandas._testing as tm
import pytest
from pandas.core.frame import DataFrame as Inside

@pytest.mark.parametrize("frame", [pd.DataFrame({"a": [3, 1, 2, 1]})])
def test_good(frame):
    assert isinstance(frame, pd.DataFrame)
    assert type(frame).__module__.startswith("marsdask.")
    tm.assert_frame_equal(frame.sort_values("a"), pd.DataFrame({"a": [1, 1, 2, 3]}, [1, 3, 2, 0]))
    assert (frame.a == 1).sum() == 2

def test_value():
    tm.assert_series_equal(pd.Series([1]) + 1, pd.Series([1]))

def test_kind():
    tm.assert_series_equal(pd.Series([1]) + 1, pd.Series([2.0]))

def test_no_error():
    with pytest.raises(KeyError):
        pd.Series([1]) + 1

def test_lazy_error():
    with pytest.raises(ValueError, match="whatever"):
        pd.Series([1, 2]).map(lambda value: int("x"))

def test_another_error():
    with pytest.raises(KeyError):
        pd.Series([1, 2]).rolling(-1)

def test_stopped():
    pd.Series([1]).no_such_name

def test_inside():
    assert Inside

def test_same_object():
    frame = pd.DataFrame()
    assert frame is frame
"""


def test_how_tests_of_pandas_fail(compare, tmp_path, monkeypatch):
    """A wrong value, type or silence is told from an error; what is internal is set apart."""
    folder = tmp_path / "suite" / "pandas" / "tests"
    folder.mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (folder / "test_it.py").write_text(PANDAS)
    suite = next(suite for suite in compare.suites(None) if suite.name == "pandas")
    (tmp_path / "in_tmp.py").write_text(
        "import pathlib, pandas_tests\n"
        f"pandas_tests.PANDAS = pathlib.Path({str(folder.parent)!r})\n"
    )
    suite = compare.replace(
        suite, folder=tmp_path / "suite", plugins=("pandas_tests", "in_tmp"), conftests=False
    )
    outcomes = compare.run(suite, "pandas/tests/test_it.py", ours=True)
    told = {test.rpartition("::test_")[2].partition("[")[0]: how for test, how in outcomes.items()}
    assert told == {
        "good": "passed",
        "value": "wrong: value",
        "kind": "wrong: kind",
        "no_error": "wrong: no error",
        "lazy_error": "passed",
        "another_error": "stopped: another error",
        "stopped": "stopped",
        "inside": "internal Inside",
        "same_object": "internal is",
    }
    assert len(compare.failed(outcomes)) == 3


ARRAYS = """
import dask.array as da
import dask.array.fft
from dask.array import Array as Kind, sum as total
from dask.array.core import normalize_chunks
from dask.array.utils import assert_eq

def helper(x):
    return x._meta

def test_ours():
    assert da.ones is not real.ones
    assert Kind.__name__ == "Tensor"
    assert dask.array.fft.fft.__module__.startswith("marsdask")
    assert_eq(total(da.ones(4, chunks=2)), 4.0)

def test_of_a_helper():
    helper(da.ones(3))

def test_of_an_import():
    normalize_chunks(2, (3,))
"""


def test_arrays_of_ours_under_their_imports(monkeypatch):
    """Public names are answered with ours; tests that name others are told with the name."""
    monkeypatch.syspath_prepend(str(HERE / "plugins"))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in ("_check_chunks", "_check_dsk", "same_keys"):
        monkeypatch.setattr(da.utils, name, getattr(da.utils, name))
    plugin = importlib.import_module("our_arrays")
    tree = ast.parse(ARRAYS)
    assert plugin.Internals(tree).of_tests() == {
        "test_of_a_helper": "_meta",
        "test_of_an_import": "dask.array.core.normalize_chunks",
    }
    tree = ast.fix_missing_locations(plugin.Imports().visit(tree))
    names = {"__answer__": plugin.answer, "real": da}
    exec(compile(tree, "arrays", "exec"), names)  # noqa: S102 - the text above
    names["test_ours"]()
    monkeypatch.delitem(sys.modules, "our_arrays")


def test_a_run_that_does_not_start_is_an_error(compare, tmp_path):
    """An option that pytest does not know is no comparison without differences."""
    (tmp_path / "test_them.py").write_text(THEIRS)
    suite = compare.Suite("theirs", tmp_path, plugins=(), ours=(), options=("--no-such-option",))
    with pytest.raises(SystemExit, match="--no-such-option"):
        compare.run(suite, "test_them.py", ours=True)


def test_patterns_that_match_no_file_are_errors(compare, capsys):
    """As are names of suites: nothing compared is not that nothing differs."""
    for arguments, words in (
        (["--suite", "array", "dask/array/tests/test_nothing.py"], "test_nothing.py"),
        (["--suite", "nothing"], "no such suite"),
    ):
        with pytest.raises(SystemExit, match="2"):
            compare.main(arguments)
        assert words in capsys.readouterr().err


def test_known_differences_that_pass(compare, capsys, monkeypatch):
    """They are told and counted; a pattern of which one test differs is not."""
    folder = "dask/array/tests/test_creation.py"
    found = compare.ComparedFile(
        frozenset({f"{folder}::test_a[1]", f"{folder}::test_b[1]"}),
        frozenset(),
        frozenset({f"{folder}::test_b[2]"}),
        frozenset(),
    )
    known = {f"*/test_creation.py::test_{name}[[]*": "why" for name in "abc"}
    monkeypatch.setattr(compare, "known_differences", lambda: {"array": known})
    monkeypatch.setattr(compare, "compare", lambda *_, timed: found)
    assert compare.main(["--suite", "array", folder]) == 0
    told = capsys.readouterr().out
    assert "KNOWN, BUT PASSES: */test_creation.py::test_a[[]*\n" in told
    assert "1 known differences pass\n" in told
