"""What may be imported inside of functions, and why."""

from __future__ import annotations

#: Packages that are heavy or optional: importing them inside the function that needs them is fine.
LAZY_PACKAGES = {
    "IPython": "optional: notebooks",
    "PIL": "optional: images",
    "asyncio": "heavy: only where an execution is awaited",
    "bokeh": "heavy: only for plots",
    "cryptography": "heavy: only where certificates are made",
    "cupy": "optional: extra gpu",
    "distributed": "heavy: half a second that in-process users need not pay",
    "fsspec": "heavy: only where files lie behind URLs; dask brings it",
    "graphviz": "optional: visualize",
    "h5py": "optional: HDF5 files",
    "sqlalchemy": "optional: databases other than SQLite",
    "kubernetes": "optional: extra kubernetes",
    "websocket": "comes with kubernetes",
    "matplotlib": "optional: plots",
    "numexpr": "optional: only limited where it is loaded",
    "pandas": "heavy: a tensor program never needs it",
    "polars": "heavy: only where relations run",
    "prometheus_client": "optional: extra metrics",
    "numcodecs": "optional: comes with zarr",
    "psutil": "heavy: only where limits are read",
    "pyarrow": "heavy: only where files or frames are",
    "scipy": "heavy: each submodule is loaded by the function that needs it",
    "sklearn": "heavy: only estimators need it",
    "threadpoolctl": "heavy: only once native pools are limited",
    "tiledb": "optional: TileDB arrays",
    "tqdm": "heavy: only where a bar is shown",
    "zarr": "optional: zarr stores",
}

#: Other function-local imports, each with its reason: {file: {module: reason}}.
LAZY_IMPORTS = {
    "marsdask/dataframe/io/dask_frames.py": {
        "dask.dataframe": "heavy: only mixed programs need it"
    },
    "marsdask/dataframe/relations/query.py": {
        "marsdask.dataframe.relations.polars_kernels.engine": (
            "heavy: imports polars, and pandas may do"
        ),
        "marsdask.dataframe.relations.duckdb_kernels.engine": "heavy: imports duckdb and polars",
        "marsdask.dataframe.relations.results.frames": "heavy: imports polars",
    },
    "marsdask/tensor/chunks.py": {"dask.array.core": "heavy: only where chunks start from others"},
    "marsdask/tensor/blocks.py": {"dask.array.svg": "heavy: only notebooks draw chunks"},
    "marsdask/compat/xarray.py": {
        "dask.array.core": "heavy: only where xarray cuts files",
        "marsdask.core.config": "heavy: xarray loads each manager that is installed",
        "marsdask.tensor": "heavy: xarray loads each manager that is installed",
        "marsdask.tensor.scan.user_scan": "heavy: xarray loads each manager that is installed",
    },
    "marsdask/tensor/io/dask_arrays.py": {"dask.array": "heavy: only programs that mix need it"},
    "scheduler/inprocess/worker_process.py": {"multiprocessing.connection": "is Windows's own"},
    "scheduler/registry.py": {"importlib": "heavy: only where plug-ins are looked for"},
    "scheduler/worker/binding.py": {"fcntl": "exists on Unix only"},
    "scheduler/cluster/connections/descriptors.py": {"resource": "exists on Unix only"},
}
