"""Functions on a supervisor's workers, of one thread each: the programs of all schedulers."""

from __future__ import annotations

import io
import traceback

import numpy as np
import pytest

import marsdask
import marsdask.compat
import marsdask.remote as mr
from tests.remote.programs import PROGRAMS
from tests.remote.test_run_script import MEETING
from tests.remote.test_spawn import fail
from tests.test_documents import MARS, as_mars


@pytest.fixture(scope="module")
def session():
    with marsdask.new_session(n_worker=2, n_cpu=2) as session:
        yield session


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Check nothing: the tests of the module share the cluster."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(session, program):
    """Workers of one thread give the same values: functions that wait leave their thread."""
    run, expected = PROGRAMS[program]
    assert run() == expected


def test_errors_and_logs(session):
    """The supervisor keeps the function's frames, and what functions printed on workers."""
    with pytest.raises(ZeroDivisionError, match="boom") as caught:
        mr.spawn(fail).execute()
    told = "".join(traceback.format_exception(caught.value))
    assert 'raise ZeroDivisionError("boom")' in told
    called = mr.spawn(print, ("to", "work")).execute()
    assert str(called.fetch_log()) == "to work\n"


@pytest.mark.parametrize("name", ["tensor and frame", "default session"])
def test_documents(session, name):
    """The programs of Mars's documents run by the alias on the cluster, to the right values."""
    program = as_mars(MARS[name]).replace("mars.new_session()", "").replace("new_session()", "here")
    names = {"here": session}
    marsdask.compat.install()
    try:
        exec(compile(program, name, "exec"), names)  # noqa: S102 - our own text
        a, b, df = (names[key] for key in ("a", "b", "df"))
        assert all(item._session is session for item in (b, df))
        values = a[:2].execute().fetch()
        np.testing.assert_allclose(b[:2, :2].execute().fetch(), values @ values.T)
        np.testing.assert_allclose(df.fetch()[:3], a[:, :3].sum(axis=0).execute().fetch())
        assert type(a[0, 0].execute().fetch()) is float
    finally:
        marsdask.compat.uninstall()


def test_scripts(session):
    """Ranks run beside different workers at the same time; more ranks than workers are refused."""
    data = {"word": "hello", "tensor": marsdask.tensor.arange(5, chunk_size=2)}
    done = mr.run_script(io.StringIO(MEETING), data, n_workers=2)
    said = sorted(line[:8] for line in str(done.fetch_log()).splitlines())
    assert said == ["[rank 0]", "[rank 1]"]
    with pytest.raises(ValueError, match="needs as many workers, but 'supervisor' has 2"):
        mr.run_script(io.StringIO(MEETING), data, n_workers=3)
    with pytest.raises(TimeoutError, match="2 did not end within"):
        mr.run_script(io.StringIO("import time; time.sleep(600)"), n_workers=2, timeout=0.2)
