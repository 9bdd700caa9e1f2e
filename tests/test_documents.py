"""The snippets of Mars's and Dask's documents run with marsdask in place of mars and dask."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask
import marsdask.compat
from tests.mars_documents import PROGRAMS, run_program
from tests.source import ROOT

#: Mars's documents, but for the addresses of clusters.
MARS = {
    "tensor and frame": """
import marsdask as mars
import marsdask.tensor as mt
import marsdask.dataframe as md
mars.new_session()
a = mt.random.rand(2000, 2000, chunk_size=200)
b = mt.inner(a, a)
b.execute()
df = md.DataFrame(a).sum()
df.execute()
assert b.shape == (2000, 2000) and abs(b.fetch()[0, 1] - 500) < 50
assert df.fetch().shape == (2000,) and abs(df.fetch()[0] - 1000) < 100
""",
    "default session": """
import marsdask.tensor as mt
import marsdask.dataframe as md
from marsdask.session import new_session
new_session().as_default()
a = mt.ones((2000, 2000), chunk_size=200)
b = mt.inner(a, a)
b.execute()
df = md.DataFrame(a).sum()
df.execute()
assert (b.fetch() == 2000).all() and (df.fetch() == 2000).all()
""",
    "dot": """
import marsdask.tensor as mt
a = mt.random.rand(10, 10)
assert a.dot(a.T).execute().fetch().shape == (10, 10)
""",
    "future": """
import marsdask.tensor as mt
a = mt.random.rand(100, 10)
future = a.mean().execute(wait=False)
assert future.done() in (True, False)
assert abs(float(str(future.result())) - 0.5) < 0.1
assert future.done()
""",
    "pi": """
import marsdask.tensor as mt
N = 200_000
mt.random.seed(1)
x = mt.random.uniform(-1, 1, size=(N, 2), chunk_size=N // 10)
pi = (mt.linalg.norm(x, axis=1) < 1).sum() * 4 / N
assert abs(float(pi.execute()) - 3.14) < 0.05 and f"{pi:.1f}" == "3.1"
""",
    "eager": """
import marsdask.tensor as mt
from marsdask.config import options, option_context
with option_context({"eager_mode": True}):
    a = mt.ones((2, 2)) + 1
    assert repr(a) == "array([[2., 2.],\\n       [2., 2.]])"
assert (a.fetch() == 2).all()
""",
    "remote": """
import marsdask.remote as mr
def inc(x):
    return x + 1
def sum_all(xs):
    return sum(xs)
def driver():
    return mr.ExecutableTuple([mr.spawn(inc, args=(i,)) for i in range(10)]).execute().fetch()
results = [mr.spawn(inc, args=(i,)) for i in range(10)]
assert mr.ExecutableTuple(results).execute().fetch() == list(range(1, 11))
assert mr.spawn(sum_all, args=(results,)).execute().fetch() == 55
assert mr.spawn(driver).execute().fetch() == list(range(1, 11))
""",
    "several": """
import marsdask.tensor as mt
a = mt.random.rand(100, 20, chunk_size=30)
u, s, v = mt.ExecutableTuple(mt.linalg.svd(a)).execute().fetch()
assert mt.allclose((u * s) @ v, a).execute()
""",
}

#: Programs as Dask's documents have them.
DASK = {
    "means of a transposed sum": """
import marsdask.tensor as da
x = da.random.random((1000, 1000), chunks=(100, 100))
y = x + x.T
z = y[::2, 500:].mean(axis=1)
assert z.chunks == ((50,) * 10,) and y.npartitions == 100 and y.chunksize == (100, 100)
assert abs(z.compute() - 1).max() < 0.1
""",
    "from_array": """
import numpy as np
import marsdask.tensor as da
data = np.arange(100_000).reshape(200, 500)
a = da.from_array(data, chunks=(100, 100))
assert a.numblocks == (2, 5)
assert (a.blocks[1, 3].compute() == data[100:, 300:400]).all()
assert (a[:50, 200].compute() == data[:50, 200]).all()
assert a.mean().compute() == data.mean()
b = da.concatenate([a, a], axis=0)
c = da.stack([a, a])
assert b.shape == (400, 500) and c.shape == (2, 200, 500)
assert da.where(a > 500, a, 0).sum().compute() == data[data > 500].sum()
""",
    "blocks and delayed": """
import numpy as np
import marsdask as dask
import marsdask.tensor as da
x = da.from_array(np.arange(12).reshape(3, 4), chunks=2)
doubled = x.map_blocks(lambda block: block * 2).rechunk((3, 1)).persist()
assert doubled.chunks == ((3,), (1, 1, 1, 1))
parts = doubled.to_delayed()
assert dask.compute(*parts.ravel())[1].tolist() == [[2], [10], [18]]
arrays = [da.from_delayed(dask.delayed(np.ones)(5), (5,), float) for _ in range(3)]
total, shape = dask.compute(da.stack(arrays).sum(), x.sum())
assert (total, shape) == (15, 66)
y = x[x > 4]
y.compute_chunk_sizes()
assert y.shape == (7,)
""",
}


@pytest.fixture(autouse=True)
def no_session_left() -> Iterator[None]:
    """End what the programs leave open."""
    yield
    marsdask.stop_server()


@pytest.mark.parametrize("name", [*MARS, *DASK])
def test_a_program_of_the_documents(name):
    """It runs, its assertions included, when only the import is changed."""
    program = (MARS | DASK)[name]
    exec(compile(program, name, "exec"), {"__name__": name})  # noqa: S102 - our own text


def as_mars(program: str) -> str:
    """Return a program as Mars's documents have it."""
    return program.replace("import marsdask as mars", "import mars").replace("marsdask", "mars")


@pytest.mark.parametrize("name", MARS)
def test_a_program_of_mars_runs_unchanged(name):
    """Where the alias is installed, not even the import is changed."""
    program = as_mars(MARS[name])
    assert "marsdask" not in program
    marsdask.compat.install()
    try:
        exec(compile(program, name, "exec"), {"__name__": name})  # noqa: S102 - our own text
    finally:
        marsdask.compat.uninstall()


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_documents(name, monkeypatch):
    """Word for word but for the address of a cluster, in this process."""
    run_program(name, None, monkeypatch)


def test_a_script_needs_no_guard(tmp_path):
    """And shows nothing but what it prints; the process ends by itself."""
    script = tmp_path / "script.py"
    script.write_text("import marsdask as mars\n" + MARS["future"] + "print('fine')\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "fine\n", "")


def test_frames_print_like_pandas():
    """What is executed shows values; what is not says what it is."""
    import marsdask.dataframe as md

    frame: Any = pd.DataFrame({"a": np.arange(4), "b": list("wxyz")})
    lazy = md.DataFrame(frame, chunk_size=2)
    assert "DataFrame" in repr(lazy)
    assert repr(lazy.execute()).splitlines()[:2] == repr(frame).splitlines()[:2]
