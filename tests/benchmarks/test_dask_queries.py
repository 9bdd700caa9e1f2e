"""Queries of TPC-H as Dask's users write them: they run with either library, and are equal."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context

#: Dask's arguments about how to group.
WIDE: dict[str, Any] = {"split_out": True, "split_every": 4}


class Tables:
    """Reads tables of a folder with a library."""

    def __init__(self, library: Any, folder: Path) -> None:
        self.library = library
        self.folder = folder

    def __getattr__(self, name: str) -> Any:
        path = str(self.folder / name)
        return self.library.read_parquet(path, filesystem=None, split_row_groups="infer")


def semi(t: Tables) -> Any:
    """Count the orders that have a late line, by priority."""
    orders, lines = t.orders, t.lineitem
    late = lines[lines.l_commitdate < lines.l_receiptdate]
    since = datetime(1994, 1, 1)
    found = orders[(orders.o_orderdate >= since) & (orders.o_orderdate < datetime(1995, 1, 1))]
    found = found.merge(late, how="leftsemi", left_on="o_orderkey", right_on="l_orderkey")
    counts = found.groupby("o_orderpriority").size().to_frame("orders").reset_index()
    return counts.sort_values(["o_orderpriority"])


def columns_are_set(t: Tables) -> Any:
    """Set columns of a filtered frame, aggregate each in its own way, rename by position."""
    lines = t.lineitem
    chosen = lines[lines.l_shipdate <= datetime(1998, 9, 2)]
    chosen["price"] = chosen.l_extendedprice * (1 - chosen.l_discount)
    chosen["rows"] = chosen.l_orderkey
    how = {"price": "sum", "l_tax": "mean", "rows": "size"}
    total = chosen.groupby(["l_returnflag", "l_linestatus"]).agg(how, **WIDE).reset_index()
    total.columns = ["flag", "status", "price", "tax", "rows"]
    return total.sort_values(["flag", "status"])


def several_levels(t: Tables) -> Any:
    """Aggregate one column in two ways, and take the last level of the labels."""
    customers = t.customer
    customers["code"] = customers["c_phone"].str.strip().str.slice(0, 2)
    rich = customers[customers["c_acctbal"] > customers["c_acctbal"].mean()]
    rich = rich.merge(t.orders, left_on="c_custkey", right_on="o_custkey", how="left")
    rich = rich[rich["o_custkey"].isnull()].groupby("code").agg({"c_acctbal": ["size", "sum"]})
    rich.columns = rich.columns.get_level_values(-1)
    return rich.rename(columns={"size": "count"}).reset_index().sort_values("code")


def threshold(t: Tables) -> Any:
    """Filter groups by what a reduction gives, which stays lazy."""
    stock = t.partsupp
    value = stock.ps_supplycost * stock.ps_availqty
    stock["value"] = value
    found = stock.groupby("ps_partkey")["value"].sum(**WIDE)
    found = found[found > value.mean() * 6].round(2).reset_index()
    return found.sort_values(by="value", ascending=False)


def beside_labels(t: Tables) -> Any:
    """Merge a column with the labels of a group-by, and reduce to one row."""
    lines, parts = t.lineitem, t.part
    mean = lines.groupby("l_partkey").l_quantity.mean(split_out=True).to_frame()
    mean = mean.rename(columns={"l_quantity": "mean"})
    found = lines.merge(parts, left_on="l_partkey", right_on="p_partkey", how="inner")
    found = found.merge(mean, left_on="l_partkey", right_index=True, how="left")
    found = found[(found.p_brand == "Brand#23") & (found.l_quantity < 0.4 * found["mean"])]
    return (found.l_extendedprice.to_frame().sum() / 7.0).round(2).to_frame("yearly")


def share(t: Tables) -> Any:
    """Divide one sum by another, both of one row."""
    lines = t.lineitem.merge(t.part, left_on="l_partkey", right_on="p_partkey")
    lines["promo"] = lines.l_extendedprice.where(lines.p_type.str.match("PROMO*"), 0.0)
    promo = lines.promo.to_frame().sum().reset_index(drop=True)
    whole = lines.l_extendedprice.to_frame().sum().reset_index(drop=True)
    return (100.0 * promo / whole).round(2).to_frame("share")


def largest(t: Tables) -> Any:
    """Return the first rows in an order, lazily, and their columns in another."""
    lines = t.lineitem
    big = lines.groupby("l_orderkey").l_quantity.sum(**WIDE).reset_index()
    big = big[big.l_quantity > 200]
    lines = lines.merge(big, on="l_orderkey", how="leftsemi")
    found = t.customer.merge(t.orders, left_on="c_custkey", right_on="o_custkey")
    found = found.merge(lines, left_on="o_orderkey", right_on="l_orderkey", how="inner")
    total = found.groupby(["c_name", "o_orderkey", "o_totalprice"]).l_quantity.sum()
    order = ["o_totalprice", "o_orderkey"]
    rows = total.reset_index().sort_values(order, ascending=[False, True])
    return rows.head(20, compute=False)[["o_orderkey", "c_name", "l_quantity", "o_totalprice"]]


def counted_counts(t: Tables) -> Any:
    """Count how many customers have how many orders: a group-by of a group-by."""
    orders = t.orders
    orders = orders[~orders.o_comment.str.contains("special.*requests")]
    both = t.customer.merge(orders, left_on="c_custkey", right_on="o_custkey", how="left")
    each = both.groupby("c_custkey").o_orderkey.count(**WIDE).to_frame().reset_index()
    counts = each.groupby("o_orderkey").size().to_frame().rename(columns={0: "customers"})
    return counts.reset_index().sort_values(["customers", "o_orderkey"], ascending=[False, True])


def both_ways(t: Tables) -> Any:
    """Concatenate two merges of the same tables, and look at dates."""
    nations, lines = t.nation, t.lineitem
    lines["year"] = lines["l_shipdate"].dt.year
    sides = []
    for name in ("FRANCE", "GERMANY"):
        chosen = nations[nations["n_name"] == name]
        one = t.supplier.merge(chosen, left_on="s_nationkey", right_on="n_nationkey")
        one = one.drop(columns=["s_nationkey", "n_nationkey"]).rename(columns={"n_name": "name"})
        sides.append(one.merge(lines, left_on="s_suppkey", right_on="l_suppkey"))
    total = t.library.concat(sides).groupby(["name", "year"]).l_extendedprice.agg("sum")
    return total.reset_index().sort_values(by=["name", "year"], ascending=[True, False])


QUERIES = (
    *(semi, columns_are_set, several_levels, threshold, beside_labels, share, largest),
    *(counted_counts, both_ways),
)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # which Dask still uses
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.__name__)
def test_a_query_equals_dask(folder: Path, query: Any) -> None:
    """Values and types but that text is pandas's; Dask's labels are those of each partition."""
    wanted = query(Tables(dd, folder)).compute(scheduler="sync")
    text = [name for name, dtype in wanted.dtypes.items() if isinstance(dtype, pd.StringDtype)]
    wanted = wanted.astype(dict.fromkeys(text, "str")).reset_index(drop=True)
    assert len(wanted)
    for kernels in ("polars", "pandas"):
        with option_context({"dataframe.kernels": kernels}):
            found = query(Tables(md, folder)).compute()
        pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted, check_exact=False)
