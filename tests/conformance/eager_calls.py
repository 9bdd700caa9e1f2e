"""A call of every public function and method of frames, of masked tensors and of statistics.

Calls take a frame ``a.f`` of the columns ``key`` and ``v``, its columns ``a.key`` and ``a.v``, the
truths ``a.c``, those of its rows ``a.m``, their labels ``a.i``, another frame ``a.g`` of ``key``
and ``w``, groups ``a.by``, windows ``a.w``, the text ``a.s``, tensors ``a.x`` (matrix), ``a.y`` and
``a.z`` (vectors), ``a.large`` (truths) and ``a.mean`` (a scalar), masked ones ``a.mx`` and
``a.my``, what is not ours: ``a.pandas``, ``a.dask`` and ``a.delayed``, and a folder ``a.folder``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from scipy import special

import marsdask.dataframe as md
import marsdask.tensor as mt
from marsdask.core.collection import Collection
from marsdask.dataframe.keyed.groupby import GroupBy
from marsdask.dataframe.windows.ewm import ExponentialMovingWindow
from marsdask.dataframe.windows.expanding import Expanding
from marsdask.dataframe.windows.resample import Resampler
from marsdask.dataframe.windows.rolling import Rolling
from tests.conformance import eager_rows

Call = Callable[[Any], Any]


def operands(folder: Path) -> SimpleNamespace:
    """Return what the calls take."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"key": rng.integers(0, 3, 12), "v": rng.permutation(12) / 16})
    f = md.from_pandas(frame, chunk_size=5)
    x = mt.tensor(rng.permutation(12).reshape(3, 4) / 16 + 0.1, chunk_size=2)
    y = mt.tensor(rng.permutation(12) / 16 + 0.1, chunk_size=5)
    frame.to_csv(folder / "rows.csv", index=False)
    for form in ("parquet", "feather", "orc", "json", "pickle"):
        getattr(frame, f"to_{form}")(folder / f"rows.{form}")
    with closing(sqlite3.connect(folder / "rows.db")) as con:
        frame.to_sql("rows", con, index=False)
    return SimpleNamespace(
        **eager_rows.operands(frame),
        f=f,
        levels=f.assign(w=f.v).set_index(["key", "v"]),
        levels_w=f.assign(w=f.v).set_index(["key", "v"]).w,
        key=f.key,
        v=f.v,
        m=f.v > 0.3,
        c=f > 0.3,
        i=f.index,
        label=f.index[:1],
        labels_of_two=f.assign(w=f.v).set_index(["key", "v"]).index,
        g=md.from_pandas(pd.DataFrame({"key": [0, 1, 2], "w": [1.0, 2.0, 3.0]}), chunk_size=2),
        by=f.groupby("key"),
        w=f.rolling(3),
        s=md.Series(pd.Series(["a b", "c", "d"]), chunk_size=2),
        kinds=md.Series(pd.Series(["a", "b", "a"], dtype="category"), chunk_size=2),
        x=x,
        y=y,
        z=y * 2 + 1,
        large=x > 0.5,
        mean=y.mean(),
        mx=mt.ma.masked_greater(x, 0.5),
        my=mt.ma.masked_greater(y, 0.5),
        pandas=frame,
        dask=dd.from_pandas(frame, npartitions=2),
        delayed=[dask.delayed(frame.head)(3), dask.delayed(frame.tail)(3)],
        folder=folder,
    )


def _functions(module: Any, which: str, names: str, *args: Any) -> dict[str, Call]:
    """Return calls of the functions of a module with an operand."""
    title = module.__name__.rpartition(".")[2]

    def calling(name: str) -> Call:
        return lambda a: getattr(module, name)(getattr(a, which), *args)

    return {f"{title}.{name}": calling(name) for name in names.split()}


LABELLED = """abs all any bfill copy count cummax cummin cumprod cumsum diff drop_duplicates dropna
    ffill head interpolate isna isnull kurt kurtosis max mean median min notna notnull pct_change
    prod product quantile reset_index round sem shift skew sort_index squeeze std sum tail to_numpy
    to_pandas to_tensor var"""

#: Methods of operators.
OPERATORS = """add div divide eq floordiv ge gt le lt mod mul multiply ne pow radd rdiv rfloordiv
    rmod rmul rpow rsub rtruediv sub subtract truediv"""


def _both(owner: str, which: str) -> dict[str, Call]:
    """Return calls of the methods that frames and columns have, with arguments."""
    calls: dict[str, Callable[[Any], Any]] = {
        "apply": lambda rows: rows.apply(abs) if owner == "Series" else rows.apply(sum, axis=1),
        "combine_first": lambda rows: rows.combine_first(rows),
        "map": lambda rows: rows.map(abs),
        "pipe": lambda rows: rows.pipe(abs),
        "reindex": lambda rows: (
            rows.reindex([1, 2]) if owner == "Series" else rows.reindex(columns=["v", "u"])
        ),
        "rename_axis": lambda rows: rows.rename_axis("row"),
        "replace": lambda rows: rows.replace(0, 1),
        "sample": lambda rows: rows.sample(2, random_state=1),
        "set_axis": lambda rows: rows.set_axis(list(range(1, 13))),
        "take": lambda rows: rows.take([1, 3]),
        "transform": lambda rows: rows.transform(abs),
    }

    def bound(call: Callable[[Any], Any]) -> Call:
        return lambda a: call(getattr(a, which))

    def operator(name: str) -> Call:
        return lambda a: getattr(getattr(a, which), name)(2)

    named = {f"{owner}.{name}": operator(name) for name in OPERATORS.split()}
    return named | {f"{owner}.{name}": bound(call) for name, call in calls.items()}


FRAMES: dict[str, Call] = {
    **eager_rows.CALLS,
    **eager_rows.methods("DataFrame", "f", f"{LABELLED} corr cov"),
    **_both("DataFrame", "f"),
    **_both("Series", "v"),
    "DataFrame.eval": lambda a: a.f.eval("v + key"),
    "DataFrame.filter": lambda a: a.f.filter(items=["v"]),
    "DataFrame.get": lambda a: a.f.get("v"),
    "DataFrame.droplevel": lambda a: a.levels.droplevel(0),
    "DataFrame.explode": lambda a: a.f.explode("v"),
    "DataFrame.melt": lambda a: a.f.melt("key"),
    "DataFrame.reorder_levels": lambda a: a.levels.reorder_levels([1, 0]),
    "DataFrame.stack": lambda a: a.f.stack(),
    "DataFrame.swaplevel": lambda a: a.levels.swaplevel(),
    "Series.droplevel": lambda a: a.levels_w.droplevel(0),
    "Series.explode": lambda a: a.v.explode(),
    "Series.reorder_levels": lambda a: a.levels_w.reorder_levels([1, 0]),
    "Series.swaplevel": lambda a: a.levels_w.swaplevel(),
    "bdate_range": lambda a: md.bdate_range("2024", periods=3),
    "date_range": lambda a: md.date_range("2024", periods=3),
    "isna": lambda a: md.isna(a.f),
    "isnull": lambda a: md.isnull(a.f),
    "melt": lambda a: md.melt(a.f),
    "notna": lambda a: md.notna(a.f),
    "notnull": lambda a: md.notnull(a.f),
    "period_range": lambda a: md.period_range("2024", periods=3, freq="M"),
    "timedelta_range": lambda a: md.timedelta_range("1 day", periods=3),
    "to_timedelta": lambda a: md.to_timedelta(a.key),
    "DataFrame.insert": lambda a: a.f.insert(1, "u", 1),
    "DataFrame.pop": lambda a: a.f.pop("v"),
    "DataFrame.query": lambda a: a.f.query("v > 0.3"),
    "DataFrame.select_dtypes": lambda a: a.f.select_dtypes("float"),
    "Series.add_prefix": lambda a: a.v.add_prefix("p_"),
    "Series.add_suffix": lambda a: a.v.add_suffix("_s"),
    "Series.autocorr": lambda a: a.v.autocorr(),
    "Series.corr": lambda a: a.v.corr(a.key),
    "Series.cov": lambda a: a.v.cov(a.key),
    "Series.keys": lambda a: a.v.keys(),
    "cut": lambda a: md.cut(a.v, [0.0, 0.3, 1.0]),
    "from_dummies": lambda a: md.from_dummies(a.indicators),
    "get_dummies": lambda a: md.get_dummies(a.kinds),
    "to_datetime": lambda a: md.to_datetime(a.key),
    "to_numeric": lambda a: md.to_numeric(a.key),
    "DataFrame.add_prefix": lambda a: a.f.add_prefix("p_"),
    "DataFrame.add_suffix": lambda a: a.f.add_suffix("_s"),
    "DataFrame.assign": lambda a: a.f.assign(a=a.v, b=lambda f: f.a * 2, c=list(range(12))),
    "DataFrame.astype": lambda a: a.f.astype(str),
    "DataFrame.clip": lambda a: a.f.clip(0, 1),
    "DataFrame.drop": lambda a: a.f.drop(columns="v"),
    "DataFrame.fillna": lambda a: a.f.fillna(0),
    "DataFrame.isin": lambda a: a.f.isin([0, 1]),
    "DataFrame.mask": lambda a: a.f.mask(a.c, 0.0),
    "DataFrame.merge": lambda a: a.f.merge(a.g, on="key", how="left"),
    "DataFrame.rename": lambda a: a.f.rename(columns={"v": "u"}),
    "DataFrame.set_index": lambda a: a.f.set_index("v"),
    "DataFrame.sort_values": lambda a: a.f.sort_values("v", ignore_index=True),
    "DataFrame.to_parquet": lambda a: a.f.to_parquet(a.folder / "part-*.parquet"),
    "DataFrame.where": lambda a: a.f.where(a.c, 0.0),
    "DataFrame, one value of all": lambda a: [a.f.sum(axis=None)],
    "DataFrame, one value of all rows": lambda a: a.f.mean(axis=None),
    "DataFrame, distinct rows with numbers": lambda a: a.f.drop_duplicates(ignore_index=True),
    "DataFrame, a column by its name": lambda a: a.f.v,
    "DataFrame, rows by a list": lambda a: a.f[[True, False] * 6],
    "DataFrame, rows by a mask": lambda a: a.f[a.m],
    "DataFrame, rows and columns by position": lambda a: a.f.iloc[2:4, 1],
    "DataFrame, rows and columns by label": lambda a: a.f.loc[a.m, "v"],
    "DataFrame, a row": lambda a: a.f.iloc[3],
    "DataFrame, beside a tensor": lambda a: a.v + a.y,
    "DataFrame, an array less it": lambda a: np.ones((12, 2)) - a.f,
    "DataFrame, a ufunc": lambda a: np.sqrt(a.f),
    "DataFrame, a ufunc of two results": lambda a: np.modf(a.v),
    "DataFrame, a ufunc that accumulates": lambda a: np.add.accumulate(a.v),
    "DataFrame, an item assigned": lambda a: a.f.__setitem__("w", list(range(12))),
    "DataFrame, labels assigned": lambda a: setattr(a.f, "columns", ["p", "q"]),
    "DataFrame, groups by a column": lambda a: a.f.groupby(a.m).sum(),
    "DataFrame, its values": lambda a: a.f.values,
    "DataFrame, its labels": lambda a: a.f.index,
    **eager_rows.methods(
        "Series", "v", f"{LABELLED} argmax argmin nunique sort_values to_frame tolist to_list"
    ),
    "Series.astype": lambda a: a.v.astype(str),
    "Series.between": lambda a: a.v.between(0.1, 0.3),
    "Series.clip": lambda a: a.v.clip(0, 1),
    "Series.fillna": lambda a: a.v.fillna(0),
    "Series.isin": lambda a: a.v.isin([0, 1]),
    "Series.mask": lambda a: a.v.mask(a.m, 0.0),
    "Series.rename": lambda a: a.v.rename("u"),
    "Series.value_counts": lambda a: a.key.value_counts(normalize=True),
    "Series.where": lambda a: a.v.where(a.m, 0.0),
    "Series, missing values counted": lambda a: a.key.nunique(dropna=False),
    "Series, text": lambda a: a.s.str.upper(),
    "Series, a part of text": lambda a: a.s.str[0],
    **eager_rows.methods(
        "GroupBy",
        "by",
        "all any count first last max mean median min nunique prod size std sum var "
        "bfill cumcount cummax cummin cumprod cumsum describe diff ffill head idxmax idxmin kurt "
        "pct_change quantile rank sem shift skew tail value_counts",
    ),
    "GroupBy.apply": lambda a: a.by.apply(len),
    "GroupBy.filter": lambda a: a.by.filter(lambda rows: len(rows) > 1),
    "GroupBy.get_group": lambda a: a.by.get_group(1),
    "GroupBy.nlargest": lambda a: a.by.v.nlargest(1),
    "GroupBy.nsmallest": lambda a: a.by.v.nsmallest(1),
    "GroupBy.nth": lambda a: a.by.nth(0),
    "GroupBy.pipe": lambda a: a.by.pipe(lambda groups: groups.sum()),
    "GroupBy.transform": lambda a: a.by.transform("sum"),
    "GroupBy.agg": lambda a: a.by.agg({"v": ["sum", "mean"]}),
    "GroupBy.aggregate": lambda a: a.by.aggregate(total=("v", "sum")),
    "GroupBy, keys as columns": lambda a: a.f.groupby("key", as_index=False).size(),
    "GroupBy, of a column": lambda a: a.by.v.mean(),
    "Rolling, of a column": lambda a: a.w["v"].mean(),
    **eager_rows.methods(
        "Resampler",
        "bins",
        "asfreq bfill count ffill first interpolate last max mean median min nearest nunique ohlc "
        "prod quantile sem size std sum var",
    ),
    "Resampler.apply": lambda a: a.bins.apply("sum"),
    "Resampler.pipe": lambda a: a.bins.pipe(lambda bins: bins.sum()),
    "Resampler.transform": lambda a: a.bins.transform("sum"),
    "Resampler.agg": lambda a: a.bins.agg(["sum", "mean"]),
    "Resampler.aggregate": lambda a: a.bins.aggregate("sum"),
    **eager_rows.positions(),
    **{
        f"{title}.{name}": call
        for title in ("DataFrame", "Series")
        for name, call in {
            "clear_divisions": lambda a: a.v.clear_divisions(),
            "get_partition": lambda a: a.v.get_partition(1),
            "map_chunk": lambda a: a.v.map_chunk(len),
            "map_overlap": lambda a: a.v.map_overlap(abs, 1, 1),
            "map_partitions": lambda a: a.v.map_partitions(len),
            "repartition": lambda a: a.v.repartition(npartitions=2),
            "shuffle": lambda a: a.f.shuffle("key"),
        }.items()
    },
    **{
        f"{title}.{name}": call
        for title in ("DataFrame", "Series")
        for name, call in {
            "to_csv": lambda a: a.v.to_csv(a.folder / "v.csv"),
            "to_dict": lambda a: a.v.to_dict(),
            "to_feather": lambda a: a.f.to_feather(a.folder / "f"),
            "to_html": lambda a: a.f.to_html(),
            "to_json": lambda a: a.v.to_json(a.folder / "v.json"),
            "to_markdown": lambda a: a.v.to_dict(),  # pandas wants tabulate for it
            "to_orc": lambda a: a.f.to_orc(a.folder / "o"),
            "to_records": lambda a: a.f.to_records(),
            "to_sql": lambda a: a.v.to_sql("t", f"sqlite:///{a.folder}/x.db"),
            "to_string": lambda a: a.v.to_string(),
        }.items()
    },
    "read_feather": lambda a: md.read_feather(a.folder / "rows.feather"),
    "read_fwf": lambda a: md.read_fwf(a.folder / "rows.csv"),
    "read_json": lambda a: md.read_json(a.folder / "rows.json"),
    "read_orc": lambda a: md.read_orc(a.folder / "rows.orc"),
    "read_sql": lambda a: md.read_sql("rows", f"sqlite:///{a.folder}/rows.db"),
    "read_sql_query": lambda a: md.read_sql_query(
        "SELECT * FROM rows", f"sqlite:///{a.folder}/rows.db"
    ),
    "read_sql_table": lambda a: md.read_sql_table("rows", f"sqlite:///{a.folder}/rows.db"),
    "read_table": lambda a: md.read_table(a.folder / "rows.csv", ","),
    "from_array": lambda a: md.from_array(np.arange(3)),
    "from_dask_array": lambda a: md.from_dask_array(da.arange(3)),
    "from_dask_dataframe": lambda a: md.from_dask_dataframe(a.dask),
    "from_dict": lambda a: md.from_dict({"a": [1, 2]}),
    "from_records": lambda a: md.from_records([(1, 2)]),
    "eval": lambda a: md.eval("rows + 1", local_dict={"rows": a.v}),
    "from_map": lambda a: md.from_map(pd.Series, [[1], [2]]),
    "map_partitions": lambda a: md.map_partitions(len, a.f),
    "concat": lambda a: md.concat([a.f, a.f], ignore_index=True),
    "from_dask": lambda a: md.from_dask(a.dask),
    "from_delayed": lambda a: md.from_delayed(a.delayed, meta=a.pandas.iloc[:0]),
    "from_pandas": lambda a: md.from_pandas(a.pandas, chunk_size=4),
    "merge": lambda a: md.merge(a.f, a.g),
    "read_csv": lambda a: md.read_csv(a.folder / "rows.csv"),
    "read_parquet": lambda a: md.read_parquet(a.folder / "rows.parquet"),
    "DataFrame": lambda a: md.DataFrame(a.pandas),
    "DataFrame of a tensor": lambda a: md.DataFrame(a.x),
    "DataFrame of a column": lambda a: md.DataFrame(a.v),
    "Series": lambda a: md.Series(a.pandas.v),
    "Series of a tensor": lambda a: md.Series(a.y, name="y"),
    "Index": lambda a: md.Index([1, 2]),
}

#: What yields values one by one, hands the graph over, or waits for what is wanted.
NOT_EXECUTED = {
    "DataFrame": "ewm expanding groupby is_sparse issparse items iterbatch iterrows itertuples "
    "keys resample rolling to_bag to_dask to_dask_array to_dask_dataframe to_delayed",
    "Series": "ewm expanding groupby is_sparse issparse items iterbatch resample rolling to_bag "
    "to_dask to_dask_array to_dask_dataframe to_delayed",
    "Index": "is_sparse issparse iterbatch to_bag to_dask to_delayed",
}

#: Whose methods the table has, all of them.
CLASSES = {
    "DataFrame": md.DataFrame,
    "Series": md.Series,
    "Index": md.Index,
    "GroupBy": GroupBy,
    "Rolling": Rolling,
    "Expanding": Expanding,
    "Resampler": Resampler,
    "ExponentialMovingWindow": ExponentialMovingWindow,
}


def frame_names() -> set[str]:
    """Return the names of all functions of frames, and of the methods of their classes."""
    found = {name for name in md.__all__ if getattr(md, name) is not getattr(pd, name, None)}
    found -= {"ExecutableTuple", "CustomReduction"}  # classes that call nothing
    # What computes labels or distinct values first.
    looking = "crosstab factorize pivot pivot_table qcut Series.factorize Series.unstack "
    looking += "DataFrame.pivot DataFrame.pivot_table DataFrame.transpose DataFrame.unstack"
    looking += " wide_to_long Index.symmetric_difference Index.union Index.factorize"
    looking += " Index.asof Index.get_slice_bound Index.slice_locs Index.slice_indexer"
    looking += " Index.groupby Resampler.get_group"
    looking += " Index.get_indexer Index.get_indexer_for Index.get_indexer_non_unique Index.reindex"
    refused = {*looking.split()}
    refused |= {"Series.filter"}  # rows by label are for loc[]
    refused |= {"Index.is_"}  # which compares operations
    refused |= {"Series.pop", "Series.xs"}  # which counts them first
    refused |= {"GroupBy.sample"}  # which draws from the sizes of groups
    refused |= eager_rows.DRAWS | eager_rows.NEEDS_PACKAGES
    for title, cls in CLASSES.items():
        without = {*dir(Collection), *NOT_EXECUTED.get(title, "").split()}
        found |= {
            f"{title}.{name}"
            for name in dir(cls)
            if not name.startswith("_") and name not in without and callable(getattr(cls, name))
        }
    return found - refused


MASKED: dict[str, Call] = {
    **_functions(
        mt.ma,
        "mx",
        """argmax argmin array average compressed count cumprod cumsum empty_like filled
        fix_invalid getdata getmaskarray masked_array masked_invalid median nonzero ones_like
        sort zeros_like""",
    ),
    **_functions(
        mt.ma,
        "x",
        """masked_equal masked_greater masked_greater_equal masked_less masked_less_equal
        masked_not_equal masked_values""",
        0.5,
    ),
    "ma.concatenate": lambda a: mt.ma.concatenate([a.mx, a.mx]),
    "ma.dot": lambda a: mt.ma.dot(a.my, a.my),
    "ma.from_masked": lambda a: mt.ma.from_masked(np.ma.masked_equal([1, 2], 1)),
    "ma.masked_inside": lambda a: mt.ma.masked_inside(a.x, 0.2, 0.4),
    "ma.masked_outside": lambda a: mt.ma.masked_outside(a.x, 0.2, 0.4),
    "ma.masked_where": lambda a: mt.ma.masked_where(a.large, a.x),
    "ma.set_fill_value": lambda a: mt.ma.set_fill_value(a.mx, 7.0),
    "ma.stack": lambda a: mt.ma.stack([a.mx, a.mx]),
    "ma.tensordot": lambda a: mt.ma.tensordot(a.mx, a.mx),
    "ma.where": lambda a: mt.ma.where(a.mx, a.x, a.mx),
    "masked weights": lambda a: mt.ma.average(a.mx, axis=0, weights=a.x),
    **eager_rows.methods(
        "MaskedTensor",
        "mx",
        """all any argmax argmin compressed count cumprod cumsum diagonal filled flatten max mean
        min prod ravel std sum transpose var""",
    ),
    "MaskedTensor.astype": lambda a: a.mx.astype(int),
    "MaskedTensor.compress": lambda a: a.my.compress([True, False] * 6),
    "MaskedTensor.dot": lambda a: a.my.dot(a.my),
    "MaskedTensor.rechunk": lambda a: a.mx.rechunk(4),
    "MaskedTensor.repeat": lambda a: a.my.repeat(2),
    "MaskedTensor.reshape": lambda a: a.mx.reshape(4, 3),
    "MaskedTensor.sort": lambda a: a.my.sort(),
    "MaskedTensor.take": lambda a: a.my.take([1, 2]),
    "MaskedTensor, its mask": lambda a: a.mx.mask,
    "MaskedTensor, a part": lambda a: a.mx[1:, ::2],
    "MaskedTensor, an item assigned": lambda a: a.my.__setitem__(slice(2), np.ma.masked),
    "MaskedTensor, a sum of two": lambda a: a.mx + a.mx,
    "MaskedTensor, a ufunc": lambda a: np.sqrt(a.mx),
}

STATISTICS: dict[str, Call] = {
    **_functions(
        mt.stats,
        "y",
        """chisquare entropy kurtosis kurtosistest moment normaltest power_divergence rankdata skew
        skewtest""",
    ),
    "stats.f_oneway": lambda a: mt.stats.f_oneway(a.y, a.z),
    "stats.ks_1samp": lambda a: mt.stats.ks_1samp(a.y, special.ndtr),
    "stats.ks_2samp": lambda a: mt.stats.ks_2samp(a.y, a.z, method="asymp"),
    "stats.ttest_1samp": lambda a: mt.stats.ttest_1samp(a.y, 0.3),
    "stats.ttest_ind": lambda a: mt.stats.ttest_ind(a.y, a.z),
    "stats.ttest_ind_from_stats": lambda a: mt.stats.ttest_ind_from_stats(
        a.mean, a.mean, 12, 1.0, 2.0, 12
    ),
    "stats.ttest_rel": lambda a: mt.stats.ttest_rel(a.y, a.z),
    "exact": lambda a: mt.stats.ks_2samp(a.y, a.z),
}

TENSORS: dict[str, Call] = {
    **eager_rows.methods(
        "Tensor",
        "x",
        """all any argmax argmin argsort copy cumprod cumsum diagonal flatten max mean min prod
        ptp ravel round std sum trace transpose var""",
    ),
    **eager_rows.methods("Tensor of an axis", "y", "argsort nonzero sort"),
    "Tensor, a sum of two": lambda a: a.x + a.x,
    "Tensor, one added": lambda a: a.x.__iadd__(1),
    "Tensor, an item assigned": lambda a: a.x.__setitem__((0, 1), 5.0),
    "Tensor, filled": lambda a: a.x.fill(3.0),
    "Tensor, values put": lambda a: a.y.put([1, 2], 0.0),
    "Tensor, a frame": lambda a: a.x.to_dataframe(),
    "Tensor.moment": lambda a: a.x.moment(3),
    "Tensor.vindex": lambda a: a.x.vindex[[0, 1], [1, 2]],
}
