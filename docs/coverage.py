"""Write docs/api-coverage.md: which names of Mars, Dask, NumPy and the array API are offered.

``python docs/coverage.py`` after names have come or gone; a test compares. The names of Mars and of
the standard stand in docs/names/, those of Dask and NumPy are the installed versions'. Chapters but
the tensor's are measured by Mars alone, whose internal names they leave out.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib
import inspect
import re
import textwrap
import types
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array
import numpy as np
import pandas as pd
import sklearn

import marsdask
import marsdask.compat.dataframe
import marsdask.compat.local_cluster
import marsdask.compat.mars
import marsdask.compat.tensor
import marsdask.dataframe
import marsdask.learn
import marsdask.remote
import marsdask.tensor
from marsdask.core.results.execution import Execution
from marsdask.scheduler import registry

HERE = Path(__file__).parent
PAGE = HERE / "api-coverage.md"
VERSIONS = (
    f"Dask {dask.__version__}, NumPy {np.__version__}, pandas {pd.__version__}, "
    f"scikit-learn {sklearn.__version__}"
)

#: What has submodules of its own, in the order of the page.
SPACES = ("", "Tensor", "random", "random.RandomState", "linalg", "fft", "ma", "special", "stats")
SPACES += (
    "strings",
    "char",
    "spatial.distance",
    "images",
    "lib.index_tricks",
    "arithmetic",
    "datasource",
)

#: Why names are not offered: the first pattern that fits counts.
REASONS = {
    "Tensor.from_dataframe": "`frame.to_tensor()`",
    "arithmetic.is_build_mode": "internal to Mars",
    "Tensor.params": "internal to Mars",
    "Tensor.refresh_params": "internal to Mars",
    "Tensor.type_name": "internal to Mars",
    "Tensor.chunk_shape": "`numblocks`",
    "Tensor.fetch_log": "what tasks print goes to the output of the process that runs them",
    "Tensor.nsplits": "`chunks`",
    "random.RandomStateField": "internal to Mars",
    "array_expr_enabled": "internal to Dask",
    "Tensor.A": "`T` and `compute()`",
    "linalg.compression_*": "internal to `svd_compressed`",
    "linalg.LinAlgError": "`numpy.linalg.LinAlgError`, which is what is raised",
    "ma.normalize_masked_array": "internal to Dask",
    "False_": "Python's own",
    "True_": "Python's own",
    "nditer": "for loops over memory; `map_blocks` is for chunks",
    "nested_iters": "for loops over memory; `map_blocks` is for chunks",
    "flatiter": "`Tensor.flat` is one",
    "broadcast": "`broadcast_arrays` and `broadcast_shapes`",
    "ndarray": "it is `Tensor`",
    "ufunc": "NumPy's ufuncs take tensors as they are",
    "matrix": "NumPy advises against matrices; tensors of two axes and `@`",
    "asmatrix": "NumPy advises against matrices",
    "bmat": "NumPy advises against matrices; `block`",
    "rec*": 'structured types are NumPy\'s: `dtype` takes fields, `x["field"]` too',
    "memmap": "`from_array(numpy.memmap(...))`",
    "poly*": "a few coefficients are no tensor: NumPy's own",
    "roots": "a few coefficients are no tensor: NumPy's own",
    "array2string": "text is made of `compute()`: NumPy's own",
    "array_str": "text is made of `compute()`: NumPy's own",
    "array_repr": "text is made of `compute()`: NumPy's own",
    "format_float_*": "text of one number: NumPy's own",
    "b*_repr": "text of one number: NumPy's own",
    "*buf*": "NumPy's own",
    "*errcall": "a function cannot follow tasks into other processes; `errstate` does",
    "show_*": "about NumPy's build",
    "get_include": "about NumPy's build",
    "info": "about NumPy's build; `help()`",
    "test": "about NumPy's build",
    "__version__": "about NumPy's build",
    "real_if_close": "the type cannot depend on values",
    "asarray_chkfinite": "only running tells: `isfinite(x).all()`",
    "little_endian": "`sys.byteorder`",
    "complex256": "`clongdouble`: the name is not everywhere",
    "float128": "`longdouble`: the name is not everywhere",
    "einsum_path": "`einsum` finds its own",
    "Tensor.__delitem__": "nothing can be deleted from an array",
    "Tensor.ctypes": "of memory: `compute()` first",
    "Tensor.data": "of memory: `compute()` first",
    "Tensor.?etfield": "of memory: `view(dtype)` or `compute()` first",
    "Tensor.dump*": "pickle the tensor, or what `compute()` returns",
    "Tensor.tobytes": "`compute().tobytes()`",
    "Tensor.tofile": "`compute().tofile()`",
}

REASONS |= dict.fromkeys(
    (
        *("Tensor.attach", "Tensor.build_graph", "Tensor.cache", "Tensor.cix", "Tensor.copy_from"),
        *("Tensor.copy_to", "Tensor.detach", "Tensor.entities", "Tensor.extra_params", "Tensor.id"),
        *("Tensor.inputs", "Tensor.is_coarse", "Tensor.key", "Tensor.op", "Tensor.reset_key"),
        *("Tensor.tiles", "Tensor.to_kv"),
    ),
    "internal to Mars",
)

#: What other parts of the same work bring; a name that is there counts as done.
COMING = "not yet"

#: The other chapters: what their names are those of, ``None`` if there is no such module yet.
CHAPTERS: dict[str, Any] = {
    "dataframe": marsdask.compat.dataframe,
    "learn": marsdask.learn,
    "remote": marsdask.remote,
    "session": marsdask.compat.mars,
}

_FRAME = marsdask.dataframe.DataFrame({"a": [1], "b": [1]})
_VALUES = [
    pd.Series(np.zeros(1, "datetime64[ns]")),
    pd.Series(np.zeros(1, "timedelta64[ns]")),
    pd.Series(pd.period_range("2000", periods=1)),
    pd.Series(["a"]),
]


class CoverageRow(NamedTuple):
    """One name and who has it."""

    name: str
    mars: str
    standard: str
    dask: str
    numpy: str
    here: str
    differs: str


def listed(source: str) -> set[str]:
    """Return the names of a file of docs/names."""
    return set((HERE / "names" / f"{source}.txt").read_text(encoding="utf-8").split())


def _accessor(kind: str) -> types.SimpleNamespace:
    """Return what an accessor has for values of any type: it has pandas's names, by getattr."""
    names = [name.removeprefix(f"Series.{kind}.") for name in listed("mars_dataframe")]
    lazy = map(marsdask.dataframe.Series, [v for v in _VALUES if hasattr(v, kind)])
    found = [getattr(series, kind) for series in lazy]
    return types.SimpleNamespace(**{n: True for n in names if any(_has(a, n) for a in found)})


def _has(owner: Any, name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas is about to drop some
        try:
            return hasattr(owner, name)
        except (NotImplementedError, TypeError):  # nothing lazy stands for what it gives
            return False


#: What Mars calls what users get without naming it.
RENAMED = {
    "groupby.DataFrameGroupBy": type(_FRAME.groupby("a")),
    "groupby.SeriesGroupBy": type(_FRAME.groupby("a")["b"]),
    "window.EWM": _FRAME.ewm(1),
    "window.Expanding": _FRAME.expanding(),
    "window.Rolling": _FRAME.rolling(1),
    "DataFrame.plot": _FRAME.plot,
    "Series.plot": _FRAME["a"].plot,
    "core.Object": marsdask.remote.Object,
    "deploy.oscar.local": marsdask.compat.local_cluster,
    "MutableTensor": marsdask.tensor.MutableTensor,
    "Series.dt": _accessor("dt"),
    "Series.str": _accessor("str"),
    "session.SyncSession": marsdask.Session(registry.create("inline")),
    "session.ExecutionInfo": Execution,
}


def _public(module: Any) -> set[str]:
    """Return the names that a module or class means to be seen."""
    names = getattr(module, "__all__", None) or [n for n in dir(module) if n[0] != "_"]
    return {
        name
        for name in names
        if not isinstance(getattr(module, name, None), types.ModuleType)
        and not str(getattr(getattr(module, name, None), "__module__", "")).startswith("typing")
    }


def _dask() -> set[str]:
    found = _public(dask.array) | {f"Tensor.{n}" for n in dir(dask.array.Array) if n[0] != "_"}
    for space in ("linalg", "fft", "random", "ma", "stats"):
        module = importlib.import_module(f"dask.array.{space}")
        for name in _public(module):
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", module.__name__) == module.__name__:
                found.add(f"{space}.{name}")
    return found


def _numpy() -> set[str]:
    found = _public(np) | {
        f"Tensor.{n}"
        for n in dir(np.ndarray)
        if n[0] != "_" or n in ("__matmul__", "__imatmul__", "__dlpack__", "__delitem__")
    }
    for space in ("linalg", "fft", "strings", "char"):
        found |= {f"{space}.{name}" for name in _public(getattr(np, space))}
    return found


_MISSING = object()


def resolve(name: str, root: Any = marsdask.tensor) -> Any:
    """Return what a name stands for, ``None`` if it is not there."""
    for old, new in RENAMED.items():
        if f"{name}.".startswith(f"{old}."):
            root, name = new, name.removeprefix(old).removeprefix(".")
    parts = [part for part in name.split(".") if part]
    for place, part in enumerate(parts, 1):
        root = _member(root, part, more=place < len(parts))
        if root is _MISSING:
            return None
        if part == "__array_namespace_info__" and "." in name:
            root = root()
    return root if root is not None else Ellipsis


def _member(owner: Any, name: str, more: bool) -> Any:
    """Return a member of a class or module; if ``more`` follows, a module before a function."""
    if inspect.isclass(owner):
        found = inspect.getattr_static(owner, name, _MISSING)
        # An accessor gives its class.
        of_class = getattr(owner, name, found)
        return of_class if inspect.isclass(of_class) else found
    found = getattr(owner, name, _MISSING)
    if isinstance(owner, types.ModuleType) and (found is _MISSING or (more and callable(found))):
        try:
            return importlib.import_module(f"{owner.__name__}.{name}")
        except ModuleNotFoundError:
            return found
    return found


def refuses(value: Any) -> bool:
    """Tell whether all that a function does is to raise ``NotImplementedError``."""
    if inspect.isclass(value):
        value = vars(value).get("__init__")
    value = getattr(value, "__func__", value)
    if isinstance(value, property):
        value = value.fget
    if not inspect.isfunction(value):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    except (OSError, SyntaxError, TypeError):
        return False
    body = [line for line in getattr(tree, "body", []) if not _is_text(line)]
    return len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImpl" in ast.unparse(body[0])


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def here(name: str) -> str:
    """Return what the table says of us: done, raises, or why there is no such name."""
    value = resolve(name)
    if value is not None:
        return "raises" if refuses(value) else "done"
    short = name.removeprefix("arithmetic.").removeprefix("datasource.")
    if short in marsdask.compat.tensor.REMOVED:
        return "marsdask.compat"
    if short != name and resolve(short) is not None:
        return f"`{short}`"
    for pattern, reason in REASONS.items():
        if fnmatch.fnmatchcase(name, pattern):
            return reason
    return COMING


def differs(name: str) -> str:
    """Return what the docstring says of how a function differs from NumPy's."""
    text = " ".join((inspect.getdoc(resolve(name)) or "").split())
    found = re.search(r"Differs from NumPy[^:]*: (.*?[.])(?= [A-Z]|$)", text)
    return found.group(1) if found else ""


def rows() -> list[CoverageRow]:
    """Return the table."""
    sources = [listed("mars"), listed("array_api"), _dask(), _numpy()]
    names = sorted(set().union(*sources), key=_place)
    return [
        CoverageRow(
            name, *("x" if name in source else "" for source in sources), here(name), differs(name)
        )
        for name in names
    ]


def _space(name: str) -> str:
    return name.rpartition(".")[0]


def _place(name: str) -> tuple[int, str, str, str]:
    space = _space(name)
    return SPACES.index(space) if space in SPACES else len(SPACES), space, name.lower(), name


class Name(NamedTuple):
    """One name of Mars's and what is said of us."""

    name: str
    here: str


def names(chapter: str) -> list[Name]:
    """Return what is said of the names of a chapter."""
    return [
        Name(name, _state(name, CHAPTERS[chapter]))
        for name in sorted(listed(f"mars_{chapter}"), key=lambda n: (_space(n), n.lower(), n))
    ]


#: The methods that frames have for programs of Mars, by class.
_OFFERED: dict[str, dict[str, Any]] = {}
for table in (
    marsdask.compat.dataframe.REMOVED,
    marsdask.compat.dataframe.PROPERTIES,
    marsdask.compat.frames.methods.METHODS,
):
    for kind, members in table.items():
        _OFFERED.setdefault(kind.__name__, {}).update(members)
_OFFERED |= dict.fromkeys(("DataFrameGroupBy", "SeriesGroupBy"), _OFFERED["GroupBy"])


def _state(name: str, root: Any) -> str:
    value = None if root is None else resolve(name, root)
    if value is None and root is marsdask.compat.dataframe:
        value = _OFFERED.get(_space(name).rpartition(".")[2], {}).get(name.rpartition(".")[2])
    if value is None:
        return COMING
    return "raises" if refuses(value) else "done"


def of_mars(table: list[CoverageRow]) -> tuple[int, int]:
    """Return how many of Mars's names of tensors there are, and all but its internal ones."""
    offered = [row for row in table if row.mars and row.here != "internal to Mars"]
    there = [row for row in offered if row.here in ("done", "marsdask.compat")]
    return len(there), len(offered)


def summary(table: list[CoverageRow]) -> list[str]:
    """Return the table of chapters: how many names of Mars are there, and how many are not yet."""
    done, known = of_mars(table)
    lines = ["| chapter | names of Mars | done | raises, or goes by another name | not yet |"]
    lines += ["|---|---|---|---|---|", f"| `tensor` | {known} | {done} | {known - done} | 0 |"]
    for chapter in CHAPTERS:
        states = [name.here for name in names(chapter)]
        counts = [len(states), *map(states.count, ("done", "raises", COMING))]
        lines.append(f"| `{chapter}` | " + " | ".join(map(str, counts)) + " |")
    return lines


#: Modules of scikit-learn whose public names count, and those of dask-ml by module.
_LEARN = (
    *("cluster", "compose", "decomposition", "ensemble", "feature_extraction"),
    *("feature_extraction.text", "impute", "linear_model", "metrics"),
    *("model_selection", "naive_bayes", "neighbors", "preprocessing", "semi_supervised"),
)


#: Why names of dask-ml are not offered, and of scikit-learn: of a module, or the first that fits.
_NOT_LEARNT = {
    "dask-ml": {
        "cluster.SpectralClustering": "scikit-learn's on some of the rows, then "
        "`KNeighborsClassifier`",
        "linear_model.PoissonRegression": "`PoissonRegressor`, which is scikit-learn's",
    },
    "scikit-learn": {
        "*Display": "drawn from values in memory: give scikit-learn's own what our metrics return",
        "cluster": "compare all pairs of samples, or samples in their order: learn in memory",
        "compose": "`FunctionTransformer` and `Pipeline`; others learn in memory",
        "decomposition": "learn in memory",
        "ensemble.*Boosting*": "`contrib.lightgbm` and `contrib.xgboost`, which bin features, too",
        "ensemble.AdaBoost*": "each tree needs those before: learn in memory",
        "ensemble": "`BaggingClassifier` and `BaggingRegressor` of trees, and the `Blockwise` ones",
        "feature_extraction": "of items in memory",
        "feature_extraction.text": "`CountVectorizer` and `HashingVectorizer`",
        "impute": "`SimpleImputer`",
        "linear_model.*CV": "`GridSearchCV` of the estimator without `CV`",
        "linear_model.MultiTask*": "one estimator for each target",
        "linear_model.P*": "`SGDClassifier`, of which it is a case",
        "linear_model.ridge_regression": "`Ridge`",
        "linear_model.RidgeClassifier": "`LogisticRegression`",
        "linear_model": "learn in memory",
        "metrics.*_chunked": "`pairwise_distances`, which is lazy",
        "metrics.*at_thresholds": "`roc_curve` and `precision_recall_curve`",
        "metrics.d2_brier_score": "`brier_score_loss`",
        "metrics": "compares clusterings: scikit-learn's own, of labels in memory",
        "model_selection": "in memory",
        "naive_bayes": "learn by `wrappers.Incremental`, chunk by chunk",
        "neighbors.*Tree": "of samples in memory; `NearestNeighbors` has one for each chunk",
        "neighbors": "`NearestNeighbors`, `radius_neighbors`; others learn in memory",
        "preprocessing": "learn in memory",
        "semi_supervised": "`LabelPropagation`",
    },
}


def _why_not(library: str, name: str) -> str:
    """Return what to use instead of a name of another library."""
    reasons = _NOT_LEARNT[library]
    found = [key for key in reasons if fnmatch.fnmatchcase(name, key)]
    return reasons[found[0] if found else _space(name)]


def of_scikit_learn() -> set[str]:
    """Return the public names of the modules of scikit-learn that have a module here."""
    modules = {space: importlib.import_module(f"sklearn.{space}") for space in _LEARN}
    return {
        f"{space}.{name}"
        for space, module in modules.items()
        for name in module.__all__
        if not inspect.ismodule(vars(module).get(name))
    }


def _by_letter(name: str) -> tuple[str, str]:
    return name.lower(), name


def learn_lines() -> list[str]:
    """Return how many names of each library for learning there are here, module by module."""
    libraries = {"dask-ml": listed("dask_ml"), "scikit-learn": of_scikit_learn()}
    lines = ["", "## Learn, by dask-ml and scikit-learn", ""]
    lines += [
        "Functions and classes of dask-ml 2025.1, and of scikit-learn's modules that are here.",
        "Estimators of scikit-learn that are not here learn in memory, and predict lazily by",
        "`wrappers.ParallelPostFit`.",
    ]
    for library, names_of in libraries.items():
        done = {name for name in names_of if _state(name, marsdask.learn) == "done"}
        lines += ["", f"{len(done)} of {len(names_of)} names of {library}:", ""]
        lines += ["| of | done | not here |", "|---|---|---|"]
        for space in sorted({_space(name) for name in names_of}):
            members = sorted((n for n in names_of if _space(n) == space), key=_by_letter)
            left = _by_reason(library, [name for name in members if name not in done])
            cells = [_listed([name for name in members if name in done]), "<br>".join(left)]
            lines.append(f"| `{space}` | " + " | ".join(cells) + " |")
    return lines


def _listed(names_of: list[str]) -> str:
    return ", ".join(f"`{name.rpartition('.')[2]}`" for name in names_of)


def _by_reason(library: str, missing: list[str]) -> list[str]:
    """Return the names that are not here with what to use, those of one reason together."""
    found: dict[str, list[str]] = {}
    for name in missing:
        found.setdefault(_why_not(library, name), []).append(name)
    return [f"{_listed(members)}: {why}" for why, members in found.items()]


def chapter_lines(chapter: str) -> list[str]:
    """Return a chapter: for each class and module what is there and what is not."""
    lines = ["", f"## marsdask.{chapter}" if chapter != "session" else "## marsdask", ""]
    lines += ["| of | done | raises | not yet |", "|---|---|---|---|"]
    found: dict[str, list[Name]] = {}
    for name in names(chapter):
        found.setdefault(_space(name.name), []).append(name)
    for space, members in found.items():
        cells = [
            ", ".join(f"`{n.name.rpartition('.')[2]}`" for n in members if n.here == state)
            for state in ("done", "raises", COMING)
        ]
        lines.append(f"| {f'`{space}`' if space else 'the module'} | " + " | ".join(cells) + " |")
    return lines


def page(table: list[CoverageRow]) -> str:
    """Return the page."""
    done = sum(row.here == "done" for row in table)
    lines = [
        "# What is offered",
        "",
        *summary(table),
        "",
        "`session` is what lies outside of the other packages: sessions, options, clusters. Names",
        "that are internal to Mars do not count.",
        "",
        "`python docs/coverage.py` wrote this page. The tables of tensors have the names of Mars",
        "0.10, of the array API standard 2024.12, and of the installed libraries:",
        f"{VERSIONS}.",
        "*Done* means that the name is there and does more than to refuse; *raises*, that it",
        "refuses and says what to use.",
        "",
        f"{done} of these {len(table)} names are done.",
    ]
    space = None
    for row in table:
        if _space(row.name) != space:
            space = _space(row.name)
            title = f"marsdask.tensor.{space}".rstrip(".") if space else "marsdask.tensor"
            lines += ["", f"## {title}", "", *_HEAD]
        name = row.name.rpartition(".")[2]
        lines.append("| " + " | ".join((f"`{name}`", *row[1:])) + " |")
    for chapter in CHAPTERS:
        lines += chapter_lines(chapter)
    lines += learn_lines()
    return "\n".join(lines) + "\n"


_HEAD = ("| name | Mars | standard | Dask | NumPy | marsdask | differs |", "|---|" + "---|" * 6)


def read(text: str) -> dict[str, CoverageRow]:
    """Return the rows of a page's tables of tensors by name."""
    found, space = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            space = line.removeprefix("## marsdask.tensor").removeprefix(".")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == len(CoverageRow._fields):
            name = f"{space}.{cells[0].strip('`')}".lstrip(".")
            found[name] = CoverageRow(name, *cells[1:])
    return found


if __name__ == "__main__":
    table = rows()
    PAGE.write_text(page(table), encoding="utf-8")
    left = [row.name for row in table if row.here == COMING]
    print(len(table), "names of tensors,", len(left), "of them", COMING + ":", *left)
    print(*summary(table), sep="\n")
