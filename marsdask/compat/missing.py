"""Alternatives to modules of Mars that do not exist here."""

from __future__ import annotations

from typing import Final

_INTERNAL: Final = "it was internal to Mars"
_SKLEARN: Final = "use scikit-learn's on tensors, which it takes as arrays, or dask_ml's"

#: What to use, by the beginning of the module's name.
INSTEAD: Final = {
    "contrib": "getters and converters for Dask's programs are in mars.contrib.dask",
    "dataframe.align": _INTERNAL,
    "dataframe.arrays": "pandas has string and list types of Arrow itself: pandas.ArrowDtype",
    "dataframe.contrib": "Ray and vineyard are not supported: use read_parquet or from_dask",
    "dataframe.core": "the classes are in mars.dataframe",
    "dataframe.datasource": "the functions are in mars.dataframe",
    "deploy.yarn": "start mars-supervisor and mars-worker on the hosts, or use Kubernetes",
    "deploy.oscar.pool": _INTERNAL,
    "deploy.oscar.service": _INTERNAL,
    "deploy.utils": _INTERNAL,
    "learn.contrib.joblib": "the function is in mars.learn.contrib.joblib",
    "learn.contrib.lightgbm": "the classes and functions are in mars.learn.contrib.lightgbm",
    "learn.contrib.pytorch": "the classes and functions are in mars.learn.contrib.pytorch",
    "learn.contrib.tensorflow": "the functions, which refuse, are in mars.learn.contrib.tensorflow",
    "learn.contrib.statsmodels": "the classes are in mars.learn.contrib.statsmodels",
    "learn.contrib.tsfresh": "the class, which refuses, is in mars.learn.contrib.tsfresh",
    "learn.contrib.xgboost": "the classes and functions are in mars.learn.contrib.xgboost",
    "learn.contrib": "the names are in mars.learn.contrib, in a module for each library",
    "learn.datasets": "the functions are in mars.learn.datasets",
    "learn.ensemble": "the classes are in mars.learn.ensemble",
    "learn.glm": "the classes are in mars.learn.glm and mars.learn.linear_model",
    "learn.lightgbm": "use mars.learn.contrib.lightgbm",
    "learn.proxima": "the names are in mars.learn.proxima; Proxima itself is gone",
    "learn.pytorch": "use mars.learn.contrib.pytorch",
    "learn.tensorflow": "use mars.remote.run_script, which sets RANK and MASTER_ADDR",
    "learn.statsmodels": "use mars.learn.contrib.statsmodels",
    "learn.xgboost": "use mars.learn.contrib.xgboost",
    "learn": "names are in mars.learn in the same modules as in scikit-learn; else " + _SKLEARN,
    "lib": _INTERNAL,
    "metrics": "use the pages of the web service, or distributed's metrics",
    "opcodes": _INTERNAL,
    "optimization": _INTERNAL,
    "oscar": "Mars's actors are not here: use actors of distributed (Client.submit(actor=True))",
    "resource": "use psutil",
    "serialization": "objects are pickled",
    "services": _INTERNAL,
    "storage": _INTERNAL,
    "typing": _INTERNAL,
    "utils": _INTERNAL,
    "tensor.images": "mars.tensor.imread reads images",
    "tensor": "the functions are in mars.tensor",
    "dataframe": "the functions are in mars.dataframe",
    "remote": "the functions are in mars.remote",
    "core": "Object is in mars.remote, Tensor in mars.tensor and DataFrame in mars.dataframe",
}


def instead_of(name: str) -> str:
    """Return what to use instead of ``mars.<name>``."""
    fitting = [key for key in INSTEAD if f"{name}.".startswith(f"{key}.")]
    if not fitting:
        return "marsdask has no such module, nor has Mars 0.10"
    return INSTEAD[max(fitting, key=len)]
