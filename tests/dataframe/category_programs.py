"""Programs that depend on which categories a column has, for sources that tell them late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

import marsdask.dataframe as md


def parts(ordered: bool = False) -> list[pd.DataFrame]:
    """Return frames whose categories differ, as files have them."""
    sets = (["k2", "k0", "x"], ["k3", "k2"], ["k0", "k5", "k3"], ["a"])
    rows: Any = (["k0", "k2", None, "k2"], ["k3", "k3", "k2"], ["k5", "k0"], ["a", "a", None])
    first = 0
    frames = []
    for names, values in zip(sets, rows, strict=True):
        codes = pd.Categorical(values, names, ordered=ordered)
        numbers = range(first, first + len(values))
        frames.append(pd.DataFrame({"c": codes, "v": numbers}, index=pd.RangeIndex(len(values))))
        first += len(values)
    return frames


#: A program of a library (pandas or ours) and a frame with columns ``c`` and ``v``.
Program = Callable[[Any, Any], Any]

#: Programs of any categories.
PROGRAMS: dict[str, Program] = {
    "itself": lambda lib, f: f,
    "column": lambda lib, f: f.c,
    "codes": lambda lib, f: f.c.cat.codes,
    "codes sum": lambda lib, f: f.c.cat.codes.sum(),
    "categories": lambda lib, f: f.c.cat.categories,
    "dtype": lambda lib, f: f.c.cat.as_ordered().cat.as_unordered(),
    "as_ordered": lambda lib, f: f.c.cat.as_ordered(),
    "as_ordered max": lambda lib, f: f.c.cat.as_ordered().max(),
    "as_ordered min": lambda lib, f: f.c.cat.as_ordered().min(),
    "as_ordered compared": lambda lib, f: f.c.cat.as_ordered() > "k0",
    "as_ordered between": lambda lib, f: f.c.cat.as_ordered().between("k2", "k3"),
    "as_ordered sorted": lambda lib, f: f.assign(c=f.c.cat.as_ordered()).sort_values(["c", "v"]),
    "add": lambda lib, f: f.c.cat.add_categories(["new"]),
    "remove": lambda lib, f: f.c.cat.remove_categories(["k3"]),
    "remove unused": lambda lib, f: f.c.cat.remove_unused_categories(),
    "rename": lambda lib, f: f.c.cat.rename_categories(str.upper),
    "rename mapping": lambda lib, f: f.c.cat.rename_categories({"k0": "zero"}),
    "reorder": lambda lib, f: f.c.cat.reorder_categories(["a", "k0", "k2", "k3", "k5", "x"]),
    "set": lambda lib, f: f.c.cat.set_categories(["k5", "k0"], ordered=True),
    "equal": lambda lib, f: f.c == "k2",
    "unequal": lambda lib, f: f.c != "a",
    "equal to none of them": lambda lib, f: f.c == "nope",
    "isin": lambda lib, f: f.c.isin(["k5", "a"]),
    "filter": lambda lib, f: f[f.c == "k3"],
    "query": lambda lib, f: f.query("c == 'k5'"),
    "fillna": lambda lib, f: f.c.fillna("k5"),
    "map": lambda lib, f: f.c.map(str.upper),
    "map mapping": lambda lib, f: f.c.map({"k0": 1, "k5": 2}),
    "astype": lambda lib, f: f.c.astype(str),
    "astype object": lambda lib, f: f.c.astype(object),
    "upper": lambda lib, f: f.c.str.upper(),
    "value_counts": lambda lib, f: f.c.value_counts().sort_index(),
    "value_counts unused": lambda lib, f: f.c.value_counts(sort=False).sort_index(),
    "unique": lambda lib, f: f.c.drop_duplicates(),
    "nunique": lambda lib, f: f.c.nunique(),
    "mode": lambda lib, f: f.c.mode(),
    "count": lambda lib, f: f.c.count(),
    "describe": lambda lib, f: f.c.describe(),
    "sorted": lambda lib, f: f.sort_values(["c", "v"]),
    "grouped": lambda lib, f: f.groupby("c", observed=True).v.sum(),
    "grouped by all": lambda lib, f: f.groupby("c", observed=False).v.sum(),
    "grouped by codes": lambda lib, f: f.groupby(f.c.cat.codes).v.sum(),
    "grouped first": lambda lib, f: f.groupby("v").c.first(),
    "grouped transform": lambda lib, f: f.groupby("c", observed=True).v.transform("sum"),
    "dummies": lambda lib, f: lib.get_dummies(f.c),
    "dummies of a frame": lambda lib, f: lib.get_dummies(f),
    "pivot": lambda lib, f: f.assign(w=f.v % 2).pivot_table(
        index="c", values="v", aggfunc="sum", observed=True, columns="w"
    ),
    "pivot of columns": lambda lib, f: f.assign(w=f.v % 2).pivot_table(
        index="w", values="v", aggfunc="sum", observed=True, columns="c"
    ),
    "crosstab": lambda lib, f: lib.crosstab(f.c, f.v % 2),
    "concat": lambda lib, f: lib.concat([f, f]),
    "concat column": lambda lib, f: lib.concat([f.c, f.c.iloc[:2]]),
    "merge": lambda lib, f: f.merge(f, on="c").sort_values(["v_x", "v_y"], ignore_index=True),
    "merge left": lambda lib, f: f.merge(f[f.v > 5], on="c", how="left").sort_values(
        ["v_x", "v_y"], ignore_index=True
    ),
    "set_index": lambda lib, f: f.set_index("c"),
    "where": lambda lib, f: f.c.where(f.v > 3, "k5"),
    "shift": lambda lib, f: f.c.shift(1),
    "ffill": lambda lib, f: f.c.ffill(),
    "replace": lambda lib, f: f.c.astype(str).replace("k0", "none"),
    "head": lambda lib, f: f.head(6),
    "tail": lambda lib, f: f.tail(4),
    "iloc": lambda lib, f: f.iloc[2:8],
    "memory": lambda lib, f: f.c.isna(),
    "rank": lambda lib, f: f.c.cat.as_ordered().rank(),
    "factorize": lambda lib, f: f.c.astype(object).fillna("").drop_duplicates(),
    "apply": lambda lib, f: f.c.apply(str),
}

#: Programs of categories that have an order.
ORDERED: dict[str, Program] = {
    "itself": lambda lib, f: f,
    "above": lambda lib, f: f[f.c > "k0"],
    "at most": lambda lib, f: f[f.c <= "k3"],
    "method": lambda lib, f: f.c.ge("k3"),
    "reflected": lambda lib, f: f.c > "k3",
    "between": lambda lib, f: f.c.between("k0", "k5"),
    "query": lambda lib, f: f.query("c >= 'k3'"),
    "eval": lambda lib, f: f.eval("d = c < 'k3'"),
    "two columns": lambda lib, f: f.c <= f.c,
    "max": lambda lib, f: f.c.max(),
    "min": lambda lib, f: f.c.min(),
    "sorted": lambda lib, f: f.sort_values(["c", "v"]),
    "descending": lambda lib, f: f.sort_values(["c", "v"], ascending=False),
    "grouped max": lambda lib, f: f.groupby(f.v % 3).c.max(),
    "grouped min": lambda lib, f: f.groupby(f.v % 3).c.min(),
    "grouped": lambda lib, f: f.groupby("c", observed=False).v.sum(),
    "rank": lambda lib, f: f.c.rank(),
    "codes": lambda lib, f: f.c.cat.codes,
    "unordered": lambda lib, f: f.c.cat.as_unordered(),
    "remove unused": lambda lib, f: f.c.cat.remove_unused_categories(),
    "value_counts": lambda lib, f: f.c.value_counts().sort_index(),
    "describe": lambda lib, f: f.c.describe(),
    "nlargest": lambda lib, f: f.assign(n=f.c.cat.codes).nlargest(3, "n"),
    "where": lambda lib, f: f.c.where(f.c > "k0"),
    "concat": lambda lib, f: lib.concat([f, f]),
    "concat columns": lambda lib, f: lib.concat([f.c, f.c]),
    "fillna": lambda lib, f: f.c.fillna("k5"),
    "idxmax": lambda lib, f: f.c.cat.codes.idxmax(),
    "isin": lambda lib, f: f[f.c.isin(["k3"])],
    "drop_duplicates": lambda lib, f: f.drop_duplicates("c"),
    "cummax": lambda lib, f: f.c.cat.codes.cummax(),
    "quantile": lambda lib, f: f.c.mode(),
}


def outcome(program: Program, lib: Any, frame: Any) -> Any:
    """Return what a program gives, computed; its error's class if it raises."""
    try:
        found = program(lib, frame)
        return found.compute() if lib is md and hasattr(found, "compute") else found
    except (AttributeError, TypeError, ValueError, NotImplementedError) as error:
        return error


def check(program: Program, lazy: Any, frame: Any) -> None:
    """Check that a program gives what it gives in pandas: values, types, categories."""
    wanted = outcome(program, pd, frame)
    found = outcome(program, md, lazy)
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted)), found
        return
    if isinstance(found, Exception):
        raise found
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted)
    elif isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted)
    elif isinstance(wanted, pd.Index):
        pd.testing.assert_index_equal(found, wanted)
    else:
        assert found == wanted
