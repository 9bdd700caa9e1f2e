"""Steps of random programs that pandas nodes run, between those of an engine, and further ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: A step is given the module of the frame, pandas's or ours, and the frame.
Step = Callable[[Any, Any], Any]

COLUMNS = ("k", "small", "f", "g", "s", "b", "u", "t", "d")

#: The columns without those that are melted.
OTHERS = [one for one in COLUMNS if one not in {"f", "g"}]


def groups(d: Any, by: Any, **options: Any) -> Any:
    """Return groups in pandas's words."""
    return d.groupby(by, **options)


def some(d: Any, name: str) -> Any:
    """Return a few distinct rows of a column and a value, under names of their own."""
    return d[[name, "u"]].drop_duplicates(name).head(4).rename(columns={"u": "z"})


#: Steps from a frame of the columns above to one of the same columns.
STEPS: dict[str, Step] = {
    "where of columns": lambda xd, d: d.assign(f=d.f.where(d.b, d.u / 4), k=d.k.mask(d.b, d.u)),
    "where of others": lambda xd, d: d.assign(f=d.f.where(d.b, d.g), k=d.k.mask(d.b, d.u)),
    "clip by columns": lambda xd, d: d.assign(f=d.f.clip(-1, 1), u=d.u.clip(2, 30)),
    "rank": lambda xd, d: d.assign(f=d.f.rank()),
    "dense rank": lambda xd, d: d.assign(g=d.u.rank(method="dense", ascending=False)),
    "rank of text": lambda xd, d: d.assign(f=d.s.rank(method="min", na_option="bottom")),
    "shift": lambda xd, d: d.assign(f=d.f.shift(1), t=d.t.shift(-2), s=d.s.shift(3)),
    "shift and fill": lambda xd, d: d.assign(k=d.k.shift(2, fill_value=0)),
    "difference": lambda xd, d: d.assign(f=d.f.diff(), g=d.u.diff(-1)),
    "running sum": lambda xd, d: d.assign(k=d.k.cumsum(), f=d.f.cumsum()),
    "running largest": lambda xd, d: d.assign(u=d.u.cummax(), f=d.f.cummin()),
    "not repeated": lambda xd, d: d[~d.duplicated(["k", "s"])],
    "repeated": lambda xd, d: d[d.g.duplicated(keep=False)],
    "last of the repeated": lambda xd, d: d[~d.t.duplicated(keep="last")],
    "outer": lambda xd, d: d.merge(some(d, "u"), on="u", how="outer").drop(columns="z"),
    "right": lambda xd, d: d.merge(some(d, "k"), on="k", how="right").drop(columns="z"),
    "left by text": lambda xd, d: d.merge(some(d, "s"), on="s", how="left").drop(columns="z"),
    "left by times": lambda xd, d: d.merge(some(d, "t"), on="t", how="left").drop(columns="z"),
    "left by floats": lambda xd, d: d.merge(some(d, "g"), on="g", how="left").drop(columns="z"),
    "inner by two": lambda xd, d: d.merge(
        d[["k", "s"]].drop_duplicates().head(5), on=["k", "s"], how="inner"
    ),
    "merge with groups": lambda xd, d: (
        d.merge(d.groupby("k").agg(z=("f", "mean")), left_on="k", right_index=True, how="left")
        .assign(f=lambda d: d.z)
        .drop(columns="z")
    ),
    "concat": lambda xd, d: xd.concat([d, d.head(3)]),
    "concat anew": lambda xd, d: xd.concat([d[d.f > 0], d[d.b]], ignore_index=True),
    "melt": lambda xd, d: (
        d.melt(id_vars=OTHERS, value_vars=["f", "g"], value_name="f")
        .assign(g=lambda d: d.f)
        .drop(columns="variable")[list(COLUMNS)]
    ),
    "label and back": lambda xd, d: d.set_index("u").reset_index()[list(COLUMNS)],
    "labels sorted": lambda xd, d: (
        d.set_index("u").sort_index(kind="stable").reset_index()[list(COLUMNS)]
    ),
    "labels of two": lambda xd, d: d.set_index(["k", "u"]).reset_index()[list(COLUMNS)],
    "numbers as labels": lambda xd, d: d.reset_index().drop(columns="index", errors="ignore"),
    "new labels": lambda xd, d: d.reset_index(drop=True).rename(index={0: 99}),
    "sorted by labels": lambda xd, d: d.sort_index(kind="stable"),
    "replace": lambda xd, d: d.assign(s=d.s.replace("a", "z"), k=d.k.replace({1: 5})),
    "round": lambda xd, d: d.assign(f=d.f.round(1), g=d.g.round()),
    "map": lambda xd, d: d.assign(f=d.k.map({0: 1.5, 1: -2.0})),
    "query": lambda xd, d: d.query("f > 0 or k == 1"),
    "eval": lambda xd, d: d.eval("f = f * 2 + k"),
    "forward": lambda xd, d: d.assign(f=d.f.ffill(), s=d.s.bfill(), t=d.t.ffill(limit=1)),
    "interpolate": lambda xd, d: d.assign(f=d.f.interpolate()),
    "rolling": lambda xd, d: d.assign(f=d.f.rolling(3, min_periods=1).max()),
    "expanding": lambda xd, d: d.assign(f=d.f.expanding().count()),
    "drop missing": lambda xd, d: d.dropna(subset=["f", "s"]),
    "some rows": lambda xd, d: d.iloc[2:30:3],
    "last rows": lambda xd, d: d.tail(20),
    "largest rows": lambda xd, d: d.nlargest(12, "u"),
    "smallest rows": lambda xd, d: d.nsmallest(12, ["u", "f"]),
    "upper text": lambda xd, d: d.assign(s=d.s.str.upper()),
    "text joined": lambda xd, d: d.assign(s=d.s + "-" + d.s),
    "months": lambda xd, d: d.assign(k=d.d.dt.month, f=d.t.dt.day),
    "mean of groups": lambda xd, d: d.assign(f=groups(d, "s").f.transform("mean")),
    "sums in groups": lambda xd, d: d.assign(f=groups(d, "k").f.cumsum()),
    "numbers in groups": lambda xd, d: d.assign(u=groups(d, "s", dropna=False).cumcount()),
    "ranks in groups": lambda xd, d: d.assign(f=groups(d, "k").u.rank(ascending=False)),
    "shift in groups": lambda xd, d: d.assign(f=groups(d, "b").f.shift(1)),
    "first of groups": lambda xd, d: groups(d, "k").head(3),
    "nullable": lambda xd, d: d.assign(k=d.k.astype("Int64")),
    "set": lambda xd, d: d.assign(f=0.25, b=d.u > 5),
}

#: What is made of the rows in the end.
ENDS: dict[str, Step] = {
    "counts of values": lambda xd, d: d.k.value_counts(),
    "shares of text": lambda xd, d: d.s.value_counts(normalize=True, dropna=False),
    "distinct values": lambda xd, d: d.s.nunique(),
    "distinct of all": lambda xd, d: d[["k", "f", "s", "t"]].nunique(),
    "description": lambda xd, d: d[["k", "f"]].describe(),
    "median": lambda xd, d: d.f.median(),
    "quantiles": lambda xd, d: d[["f", "u"]].quantile([0.1, 0.75]),
    "modes": lambda xd, d: d.k.mode(),
    "variance": lambda xd, d: d[["k", "f"]].var(),
    "correlations": lambda xd, d: d[["k", "f", "u"]].corr(),
    "missing": lambda xd, d: d.isna().sum(),
    "any": lambda xd, d: d[["b", "k"]].any(),
    "place of the largest": lambda xd, d: d.reset_index(drop=True).u.idxmax(),
    "pivot": lambda xd, d: d.pivot_table("f", index="k", columns="b", aggfunc="sum"),
    "groups of labels": lambda xd, d: d.set_index("k").groupby(level=0).f.sum(),
    "groups of an expression": lambda xd, d: d.groupby(d.k % 2).u.max(),
    "groups of times": lambda xd, d: d.groupby("t").agg({"u": ["min", "max"], "f": "mean"}),
    "quantiles of groups": lambda xd, d: d.groupby("k").f.quantile(0.25),
    "distinct in groups": lambda xd, d: d.groupby("k").agg(z=("s", "nunique"), n=("g", "nunique")),
    "all of groups": lambda xd, d: d.groupby("s").b.all(),
    "second of groups": lambda xd, d: d.groupby("k").nth(1),
    "texts": lambda xd, d: d.s.str.len(),
    "columns side by side": lambda xd, d: xd.concat([d.f, d.u], axis=1),
    "dummies": lambda xd, d: d.b.astype("int64").rename("n").to_frame(),
    "longer": lambda xd, d: d[["k", "f"]].melt(),
    "product": lambda xd, d: d.b.sum() * d.k.max(),
}
