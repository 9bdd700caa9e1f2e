"""The adapters that let one workload run on each system.

This file also runs under the interpreter of pymars (Python 3.9), so it imports a system only
when that system is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.rows import Size

Shape = Sequence[int]
FACTORS = (12.9898, 78.233, 37.719)
#: Seconds that a scheduler gets to free what was dropped.
PATIENCE = 10.0
NOTHING: Mapping[str, Any] = MappingProxyType({})


class System:
    """NumPy, pandas and scikit-learn in one process; the others say what they do differently."""

    packages: tuple[str, ...] = ("numpy", "pandas", "scikit-learn")
    arrays = "numpy"
    frames = "pandas"
    learn = "sklearn"
    chunk_word = ""
    takes_sql = False
    kmeans_options: Mapping[str, Any] = MappingProxyType({"algorithm": "lloyd"})
    pca_options: Mapping[str, Any] = NOTHING
    linear_options: Mapping[str, Any] = NOTHING

    def __init__(self, scale: float, data: Path) -> None:
        """Import the system's arrays; frames and estimators come when a row asks."""
        self.size = Size(scale)
        self.data = data
        self.xp = import_module(self.arrays)

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages this system stands on."""
        found = {}
        for package in self.packages:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                continue
        return found

    def close(self) -> None:
        """Stop what the system started."""

    # what arrays are made of

    def chunked(self, chunks: Shape) -> dict[str, Any]:
        """Return the keyword that asks for these chunks, if the system has one."""
        return {self.chunk_word: tuple(chunks)} if self.chunk_word else {}

    def array(self, shape: Shape, chunks: Shape, seed: int = 0) -> Any:
        """Hold h(i, j) = frac(sin(12.9898 i + 78.233 j + seed) * 43758.5453), made in place."""
        phase: Any = float(seed)
        for axis, n in enumerate(shape):
            index = self.xp.arange(n, **self.chunked(chunks[axis : axis + 1])) * FACTORS[axis]
            where = [None] * len(shape)
            where[axis] = slice(None)  # type: ignore[call-overload]
            phase = index[tuple(where)] + phase
        wave = self.xp.sin(phase) * 43758.5453
        return self.hold(wave - self.xp.floor(wave))[0]

    def ones(self, shape: Shape, chunks: Shape) -> Any:
        """Return ones, lazily where the system is lazy."""
        return self.xp.ones(tuple(shape), **self.chunked(chunks))

    def sparse(self, matrix: Any, chunks: Shape) -> Any:
        """Hold a sparse matrix of SciPy's."""
        del chunks
        return matrix

    def normal(self, n: int, chunk: int) -> Any:
        """Return normal numbers, lazily where the system is lazy."""
        return self.xp.random.default_rng().standard_normal(n, **self.chunked((chunk,)))

    # where the names differ

    def inner(self, a: Any, b: Any) -> Any:
        """Return the inner product over the last axes."""
        return self.xp.inner(a, b)

    def rechunk(self, x: Any, chunks: Shape) -> Any:
        """Return the same array in other chunks."""
        return x

    def singular_values(self, x: Any) -> Any:
        """Return the singular values of a tall matrix."""
        return self.xp.linalg.svd(x, compute_uv=False)

    def topk(self, x: Any, k: int) -> Any:
        """Return the k largest, the largest first."""
        return np.sort(np.partition(x, x.size - k)[-k:])[::-1]

    def wrap(self, x: Any) -> Any:
        """Repeat the first row after the last."""
        return self.xp.pad(x, ((0, 1), (0, 0), (0, 0)), mode="wrap")

    # running

    def settle(self) -> None:
        """Wait until results that were dropped are gone: the next run would find them."""

    def hold(self, *lazy: Any) -> tuple[Any, ...]:
        """Compute and keep the results where the system keeps them."""
        return lazy

    def bring(self, *lazy: Any) -> tuple[Any, ...]:
        """Compute and bring the results to the caller."""
        return lazy

    def computed(self, lazy: Any) -> Any:
        """Compute and bring one result, without keeping it."""
        return self.bring(lazy)[0]

    def value(self, x: Any) -> Any:
        """Bring one held result to the caller."""
        return x

    # frames and estimators

    def files(self, table: str) -> str:
        """Return the directory of a generated table's Parquet files."""
        return str(self.data / table)

    def read(self, path: str) -> Any:
        """Open a directory of Parquet files."""
        return import_module(self.frames).read_parquet(path)

    def read_csv(self, path: str) -> Any:
        """Open a directory of one CSV file."""
        return import_module(self.frames).read_csv(f"{path}/{Path(path).name}.csv")

    def frame(self, rows: Any) -> Any:
        """Hold a pandas frame of few rows."""
        return rows

    def meta(self, like: Any) -> dict[str, Any]:
        """Return the keyword that says what a function returns, if the system needs one."""
        del like
        return {}

    def estimator(self, module: str, name: str) -> Any:
        """Return an estimator's class."""
        return getattr(import_module(f"{self.learn}.{module}"), name)

    def fitted(self, attribute: Any) -> Any:
        """Return a fitted attribute that `bring` understands."""
        return attribute


class Limit(System):
    """NumPy's data under the programs of `limits.py`."""

    packages = ("numpy", "pyarrow", "scikit-learn")


class Sql(System):
    """The base class of systems that take the rows' texts of `tpch.sql`."""

    takes_sql = True

    def query(self, text: str, folders: Mapping[str, str]) -> Any:
        """Run a text over tables: folders of Parquet files by name."""
        raise NotImplementedError

    @staticmethod
    def where(path: str) -> str:
        """Return the pattern of the files of a table: Parquet, or one of CSV."""
        csv = Path(path) / f"{Path(path).name}.csv"
        return str(csv) if csv.exists() else f"{path}/*.parquet"

    def value(self, x: Any) -> Any:
        """Return the answer as pandas's rows do: one number by itself."""
        return x.iloc[0, 0] if x.shape == (1, 1) else x


class Polars(Sql):
    """polars, whose threads are as many as the cores."""

    packages = ("polars",)

    def query(self, text: str, folders: Mapping[str, str]) -> Any:
        polars = import_module("polars")
        scans = {name: self.scan(path) for name, path in folders.items()}
        return polars.SQLContext(scans).execute(text).collect()

    def scan(self, path: str) -> Any:
        """Return the lazy rows of a table."""
        polars = import_module("polars")
        where = self.where(path)
        return polars.scan_csv(where) if where.endswith(".csv") else polars.scan_parquet(where)

    def value(self, x: Any) -> Any:
        return super().value(x.to_pandas() if hasattr(x, "to_pandas") else x)


class DuckDB(Sql):
    """duckdb in memory; its results are Arrow's."""

    packages = ("duckdb",)

    def query(self, text: str, folders: Mapping[str, str]) -> Any:
        with import_module("duckdb").connect() as connection:
            for name, path in folders.items():
                connection.sql(f"FROM '{self.where(path)}'").create_view(name)
            return connection.sql(text).to_arrow_table()

    def value(self, x: Any) -> Any:
        return super().value(x.to_pandas())


def released(client: Any) -> None:
    """Wait, if not for ever, until a scheduler holds no more for a client than that wants."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if client.run_on_scheduler(wanted, client=client.id) <= len(client.futures):
            return
        time.sleep(0.01)


def wanted(dask_scheduler: Any, client: str) -> int:
    """Return how many results a scheduler holds for a client."""
    return len(dask_scheduler.clients[client].wants_what)


class Chunked(System):
    """The base class of systems with lazy chunked arrays."""

    kmeans_options: Mapping[str, Any] = NOTHING

    def rechunk(self, x: Any, chunks: Shape) -> Any:
        return x.rechunk(tuple(chunks))

    def singular_values(self, x: Any) -> Any:
        return self.xp.linalg.svd(x)[1]

    def topk(self, x: Any, k: int) -> Any:
        return self.xp.topk(x, k)


class Dask(Chunked):
    """dask.array and dask.dataframe on the threaded scheduler; dask-ml where it is installed."""

    packages = ("dask", "distributed", "dask-ml", "numpy", "pandas")
    arrays = "dask.array"
    frames = "dask.dataframe"
    learn = "dask_ml"
    chunk_word = "chunks"
    pca_options: Mapping[str, Any] = MappingProxyType({"svd_solver": "full"})
    linear_options: Mapping[str, Any] = MappingProxyType({"solver": "lbfgs", "C": 1e9})

    def __init__(self, scale: float, data: Path) -> None:
        """Import dask beside its arrays."""
        super().__init__(scale, data)
        self.dask = import_module("dask")

    def inner(self, a: Any, b: Any) -> Any:
        """Dask has no `inner`; for matrices it is this."""
        return self.xp.dot(a, b.T)

    def sparse(self, matrix: Any, chunks: Shape) -> Any:
        return self.hold(self.xp.from_array(matrix, chunks=tuple(chunks), asarray=False))[0]

    def frame(self, rows: Any) -> Any:
        return self.hold(import_module(self.frames).from_pandas(rows, npartitions=1))[0]

    def meta(self, like: Any) -> dict[str, Any]:
        return {"meta": like}

    def hold(self, *lazy: Any) -> tuple[Any, ...]:
        return tuple(self.dask.persist(*lazy))

    def bring(self, *lazy: Any) -> tuple[Any, ...]:
        return tuple(self.dask.compute(*lazy))

    def value(self, x: Any) -> Any:
        return x.compute() if hasattr(x, "dask") else x


class DaskCluster(Dask):
    """The same on a LocalCluster of two processes of one thread."""

    def __init__(self, scale: float, data: Path) -> None:
        """Start the cluster."""
        super().__init__(scale, data)
        self.distributed = import_module("distributed")
        self.cluster = self.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        )
        self.client = self.distributed.Client(self.cluster)

    def hold(self, *lazy: Any) -> tuple[Any, ...]:
        held = super().hold(*lazy)
        self.distributed.wait(held)
        return held

    def settle(self) -> None:
        released(self.client)

    def close(self) -> None:
        self.client.close()
        self.cluster.close()


class MarsDask(Chunked):
    """marsdask under its default scheduler."""

    packages: tuple[str, ...] = ("marsdask", "dask", "numpy", "pandas", "scikit-learn")
    root = "marsdask"
    arrays = "marsdask.tensor"
    frames = "marsdask.dataframe"
    learn = "marsdask.learn"
    chunk_word = "chunk_size"

    def __init__(self, scale: float, data: Path) -> None:
        """Import the module that executes beside its arrays."""
        super().__init__(scale, data)
        self.module = import_module(self.root)

    def sparse(self, matrix: Any, chunks: Shape) -> Any:
        return self.hold(self.xp.tensor(matrix, **self.chunked(chunks)))[0]

    def normal(self, n: int, chunk: int) -> Any:
        return self.xp.random.normal(size=n, chunk_size=chunk)

    def frame(self, rows: Any) -> Any:
        return self.hold(import_module(self.frames).DataFrame(rows))[0]

    def wrap(self, x: Any) -> Any:
        """Mars has no `pad`."""
        return self.xp.concatenate([x, x[:1]], axis=0)

    def hold(self, *lazy: Any) -> tuple[Any, ...]:
        self.module.execute(*lazy)
        return lazy

    def computed(self, lazy: Any) -> Any:
        return lazy.compute()

    def bring(self, *lazy: Any) -> tuple[Any, ...]:
        # What an estimator has learnt is an array already, though it answers `fetch`, too.
        self.module.execute(*(x for x in lazy if isinstance(x, self.module.Collection)))
        return tuple(self.value(x) for x in lazy)

    def value(self, x: Any) -> Any:
        return x.execute().fetch() if hasattr(x, "fetch") else x


class MarsDaskCluster(MarsDask):
    """The same on a cluster of its own: a supervisor and two processes of one thread."""

    def __init__(self, scale: float, data: Path) -> None:
        """Start the cluster."""
        super().__init__(scale, data)
        self.session = self.module.new_session(n_worker=2, n_cpu=2)

    def settle(self) -> None:
        released(self.session.scheduler.client)

    def close(self) -> None:
        self.session.close()


class PyMars(MarsDask):
    """pymars 0.10 on the cluster of one host that it starts itself."""

    packages = ("pymars", "numpy", "pandas", "scikit-learn")
    root = "mars"
    arrays = "mars.tensor"
    frames = "mars.dataframe"
    learn = "mars.learn"
    pca_options: Mapping[str, Any] = MappingProxyType({"svd_solver": "full"})

    def __init__(self, scale: float, data: Path) -> None:
        """Start Mars's own cluster."""
        super().__init__(scale, data)
        self.module.new_session()

    def hold(self, *lazy: Any) -> tuple[Any, ...]:
        self.module.execute(list(lazy))
        return lazy

    def bring(self, *lazy: Any) -> tuple[Any, ...]:
        self.hold(*(x for x in lazy if hasattr(x, "fetch")))
        return tuple(self.value(x) for x in lazy)

    def value(self, x: Any) -> Any:
        return x.fetch() if hasattr(x, "fetch") else x

    def close(self) -> None:
        self.module.stop_server()


SYSTEMS: dict[str, type[System]] = {
    "limit": Limit,
    "np": System,
    "polars": Polars,
    "duckdb": DuckDB,
    "dask": Dask,
    "dask21": DaskCluster,
    "marsdask": MarsDask,
    "marsdask21": MarsDaskCluster,
    "pymars": PyMars,
}
