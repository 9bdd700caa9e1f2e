"""A pytest plugin: in xarray's own tests, arrays in chunks are tensors.

xarray's tests ask one function for the manager of chunked arrays, and xarray itself an option:
both name ours here.
"""

from __future__ import annotations

import importlib
from typing import Any

import xarray

xarray.set_options(chunk_manager="marsdask")
manager: Any = importlib.import_module("marsdask.compat.xarray").TensorManager()
tests: Any = importlib.import_module("xarray.tests")
tests.get_dask_chunkmanager = lambda: manager
tests.dask_chunkmanager = manager
tests.dask_array_api = manager.array_api
tests.dask_array_type = manager.array_cls
