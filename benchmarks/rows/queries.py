"""Q01 to Q22: TPC-H as a pandas user writes it, on Parquet files with floats and timestamps."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.rows import Workload
from benchmarks.systems import System

Data = tuple[Any, ...]


def tables(*names: str) -> Any:
    """Return a setup that names the folders of tables."""

    def setup(s: System) -> Data:
        return tuple(s.files(name) for name in names)

    return setup


def day(text: str) -> pd.Timestamp:
    """Return a date as pandas compares it."""
    return pd.Timestamp(text)


def with_revenue(frame: Any) -> Any:
    """Add the price after the discount."""
    return frame.assign(revenue=frame.l_extendedprice * (1 - frame.l_discount))


def q01(s: System, lineitem: str) -> Data:
    """Pricing summary report."""
    rows = s.read(lineitem)
    rows = with_revenue(rows[rows.l_shipdate <= day("1998-09-02")])
    rows = rows.assign(charge=rows.revenue * (1 + rows.l_tax))
    found = rows.groupby(["l_returnflag", "l_linestatus"]).agg(
        sum_qty=("l_quantity", "sum"),
        sum_base_price=("l_extendedprice", "sum"),
        sum_disc_price=("revenue", "sum"),
        sum_charge=("charge", "sum"),
        avg_qty=("l_quantity", "mean"),
        avg_price=("l_extendedprice", "mean"),
        avg_disc=("l_discount", "mean"),
        count_order=("l_orderkey", "count"),
    )
    return (found.reset_index(),)


def q02(s: System, part: str, supplier: str, partsupp: str, nation: str, region: str) -> Data:
    """Minimum cost supplier."""
    parts, regions = s.read(part), s.read(region)
    parts = parts[(parts.p_size == 15) & parts.p_type.str.endswith("BRASS")]
    nations = s.read(nation).merge(
        regions[regions.r_name == "EUROPE"], left_on="n_regionkey", right_on="r_regionkey"
    )
    suppliers = s.read(supplier).merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    rows = parts.merge(s.read(partsupp), left_on="p_partkey", right_on="ps_partkey").merge(
        suppliers, left_on="ps_suppkey", right_on="s_suppkey"
    )
    least = rows.groupby("p_partkey").agg(least=("ps_supplycost", "min")).reset_index()
    rows = rows.merge(least, on="p_partkey")
    rows = rows[rows.ps_supplycost == rows.least]
    columns = ["s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_phone"]
    order = ["s_acctbal", "n_name", "s_name", "p_partkey"]
    return (rows[columns].sort_values(order, ascending=[False, True, True, True]).head(100),)


def q03(s: System, customer: str, orders: str, lineitem: str) -> Data:
    """Shipping priority."""
    people, orders_, rows = s.read(customer), s.read(orders), s.read(lineitem)
    people = people[people.c_mktsegment == "BUILDING"]
    orders_ = orders_[orders_.o_orderdate < day("1995-03-15")]
    rows = with_revenue(rows[rows.l_shipdate > day("1995-03-15")])
    joined = people.merge(orders_, left_on="c_custkey", right_on="o_custkey").merge(
        rows, left_on="o_orderkey", right_on="l_orderkey"
    )
    found = joined.groupby(["l_orderkey", "o_orderdate", "o_shippriority"]).agg(
        revenue=("revenue", "sum")
    )
    order = ["revenue", "o_orderdate"]
    return (found.reset_index().sort_values(order, ascending=[False, True]).head(10),)


def q04(s: System, orders: str, lineitem: str) -> Data:
    """Order priority checking."""
    orders_, rows = s.read(orders), s.read(lineitem)
    late = rows[rows.l_commitdate < rows.l_receiptdate][["l_orderkey"]].drop_duplicates()
    recent = (orders_.o_orderdate >= day("1993-07-01")) & (orders_.o_orderdate < day("1993-10-01"))
    joined = orders_[recent].merge(late, left_on="o_orderkey", right_on="l_orderkey")
    found = joined.groupby("o_orderpriority").agg(order_count=("o_orderkey", "count"))
    return (found.reset_index(),)


def q05(
    s: System, customer: str, orders: str, lineitem: str, supplier: str, nation: str, region: str
) -> Data:
    """Local supplier volume."""
    orders_, regions = s.read(orders), s.read(region)
    year = (orders_.o_orderdate >= day("1994-01-01")) & (orders_.o_orderdate < day("1995-01-01"))
    nations = s.read(nation).merge(
        regions[regions.r_name == "ASIA"], left_on="n_regionkey", right_on="r_regionkey"
    )
    joined = (
        s.read(customer)
        .merge(orders_[year], left_on="c_custkey", right_on="o_custkey")
        .merge(s.read(lineitem), left_on="o_orderkey", right_on="l_orderkey")
        .merge(
            s.read(supplier).merge(nations, left_on="s_nationkey", right_on="n_nationkey"),
            left_on=["l_suppkey", "c_nationkey"],
            right_on=["s_suppkey", "s_nationkey"],
        )
    )
    found = with_revenue(joined).groupby("n_name").agg(revenue=("revenue", "sum"))
    return (found.reset_index().sort_values("revenue", ascending=False),)


def q06(s: System, lineitem: str) -> Data:
    """Forecasting revenue change."""
    rows = s.read(lineitem)
    rows = rows[
        (rows.l_shipdate >= day("1994-01-01"))
        & (rows.l_shipdate < day("1995-01-01"))
        & rows.l_discount.between(0.05, 0.07)
        & (rows.l_quantity < 24)
    ]
    return ((rows.l_extendedprice * rows.l_discount).sum(),)


def q07(s: System, supplier: str, lineitem: str, orders: str, customer: str, nation: str) -> Data:
    """Volume shipping."""
    rows, nations = s.read(lineitem), s.read(nation)
    nations = nations[nations.n_name.isin(["FRANCE", "GERMANY"])][["n_nationkey", "n_name"]]
    sellers = s.read(supplier).merge(
        nations.rename(columns={"n_name": "supp_nation"}),
        left_on="s_nationkey",
        right_on="n_nationkey",
    )
    buyers = s.read(customer).merge(
        nations.rename(columns={"n_name": "cust_nation"}),
        left_on="c_nationkey",
        right_on="n_nationkey",
    )
    shipped = (rows.l_shipdate >= day("1995-01-01")) & (rows.l_shipdate <= day("1996-12-31"))
    joined = (
        with_revenue(rows[shipped])
        .merge(sellers[["s_suppkey", "supp_nation"]], left_on="l_suppkey", right_on="s_suppkey")
        .merge(s.read(orders), left_on="l_orderkey", right_on="o_orderkey")
        .merge(buyers[["c_custkey", "cust_nation"]], left_on="o_custkey", right_on="c_custkey")
    )
    joined = joined[joined.supp_nation != joined.cust_nation]
    joined = joined.assign(l_year=joined.l_shipdate.dt.year)
    found = joined.groupby(["supp_nation", "cust_nation", "l_year"]).agg(revenue=("revenue", "sum"))
    return (found.reset_index(),)


def q08(
    s: System,
    part: str,
    supplier: str,
    lineitem: str,
    orders: str,
    customer: str,
    nation: str,
    region: str,
) -> Data:
    """National market share."""
    parts, orders_ = s.read(part), s.read(orders)
    nations, regions = s.read(nation), s.read(region)
    parts = parts[parts.p_type == "ECONOMY ANODIZED STEEL"]
    years = (orders_.o_orderdate >= day("1995-01-01")) & (orders_.o_orderdate <= day("1996-12-31"))
    america = nations.merge(
        regions[regions.r_name == "AMERICA"], left_on="n_regionkey", right_on="r_regionkey"
    )[["n_nationkey"]]
    buyers = s.read(customer).merge(america, left_on="c_nationkey", right_on="n_nationkey")
    sellers = s.read(supplier).merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    joined = (
        parts.merge(s.read(lineitem), left_on="p_partkey", right_on="l_partkey")
        .merge(orders_[years], left_on="l_orderkey", right_on="o_orderkey")
        .merge(buyers[["c_custkey"]], left_on="o_custkey", right_on="c_custkey")
        .merge(sellers[["s_suppkey", "n_name"]], left_on="l_suppkey", right_on="s_suppkey")
    )
    joined = with_revenue(joined)
    joined = joined.assign(
        o_year=joined.o_orderdate.dt.year, brazil=joined.revenue * (joined.n_name == "BRAZIL")
    )
    found = joined.groupby("o_year").agg(brazil=("brazil", "sum"), all=("revenue", "sum"))
    found = found.reset_index()
    return (found.assign(mkt_share=found.brazil / found["all"])[["o_year", "mkt_share"]],)


def q09(
    s: System, part: str, supplier: str, lineitem: str, partsupp: str, orders: str, nation: str
) -> Data:
    """Product type profit measure."""
    parts = s.read(part)
    parts = parts[parts.p_name.str.contains("green")]
    joined = (
        parts.merge(s.read(partsupp), left_on="p_partkey", right_on="ps_partkey")
        .merge(s.read(supplier), left_on="ps_suppkey", right_on="s_suppkey")
        .merge(
            s.read(lineitem),
            left_on=["ps_partkey", "ps_suppkey"],
            right_on=["l_partkey", "l_suppkey"],
        )
        .merge(s.read(orders), left_on="l_orderkey", right_on="o_orderkey")
        .merge(s.read(nation), left_on="s_nationkey", right_on="n_nationkey")
    )
    joined = with_revenue(joined)
    joined = joined.assign(
        o_year=joined.o_orderdate.dt.year,
        amount=joined.revenue - joined.ps_supplycost * joined.l_quantity,
    )
    found = joined.groupby(["n_name", "o_year"]).agg(sum_profit=("amount", "sum"))
    return (found.reset_index().sort_values(["n_name", "o_year"], ascending=[True, False]),)


def q10(s: System, customer: str, orders: str, lineitem: str, nation: str) -> Data:
    """Report returned items."""
    orders_, rows = s.read(orders), s.read(lineitem)
    quarter = (orders_.o_orderdate >= day("1993-10-01")) & (orders_.o_orderdate < day("1994-01-01"))
    joined = (
        s.read(customer)
        .merge(orders_[quarter], left_on="c_custkey", right_on="o_custkey")
        .merge(rows[rows.l_returnflag == "R"], left_on="o_orderkey", right_on="l_orderkey")
        .merge(s.read(nation), left_on="c_nationkey", right_on="n_nationkey")
    )
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    found = with_revenue(joined).groupby(keys).agg(revenue=("revenue", "sum")).reset_index()
    return (found.sort_values("revenue", ascending=False).head(20),)


def q11(s: System, partsupp: str, supplier: str, nation: str) -> Data:
    """Identify important stock."""
    nations = s.read(nation)
    suppliers = s.read(supplier).merge(
        nations[nations.n_name == "GERMANY"], left_on="s_nationkey", right_on="n_nationkey"
    )
    rows = s.read(partsupp).merge(suppliers, left_on="ps_suppkey", right_on="s_suppkey")
    rows = rows.assign(value=rows.ps_supplycost * rows.ps_availqty)
    least = rows["value"].sum() * 0.0001
    found = rows.groupby("ps_partkey").agg(value=("value", "sum")).reset_index()
    return (found[found["value"] > least].sort_values("value", ascending=False),)


def q12(s: System, orders: str, lineitem: str) -> Data:
    """Shipping modes and order priority."""
    rows = s.read(lineitem)
    rows = rows[
        rows.l_shipmode.isin(["MAIL", "SHIP"])
        & (rows.l_commitdate < rows.l_receiptdate)
        & (rows.l_shipdate < rows.l_commitdate)
        & (rows.l_receiptdate >= day("1994-01-01"))
        & (rows.l_receiptdate < day("1995-01-01"))
    ]
    joined = s.read(orders).merge(rows, left_on="o_orderkey", right_on="l_orderkey")
    joined = joined.assign(high=joined.o_orderpriority.isin(["1-URGENT", "2-HIGH"]))
    joined = joined.assign(low=~joined.high)
    found = joined.groupby("l_shipmode").agg(
        high_line_count=("high", "sum"), low_line_count=("low", "sum")
    )
    return (found.reset_index(),)


def q13(s: System, customer: str, orders: str) -> Data:
    """Distribute customers by their orders."""
    orders_ = s.read(orders)
    orders_ = orders_[~orders_.o_comment.str.contains("special.*requests")]
    joined = s.read(customer).merge(orders_, left_on="c_custkey", right_on="o_custkey", how="left")
    counts = joined.groupby("c_custkey").agg(c_count=("o_orderkey", "count")).reset_index()
    found = counts.groupby("c_count").agg(custdist=("c_custkey", "count")).reset_index()
    return (found.sort_values(["custdist", "c_count"], ascending=[False, False]),)


def q14(s: System, lineitem: str, part: str) -> Data:
    """Promotion effect."""
    rows = s.read(lineitem)
    month = (rows.l_shipdate >= day("1995-09-01")) & (rows.l_shipdate < day("1995-10-01"))
    joined = with_revenue(
        rows[month].merge(s.read(part), left_on="l_partkey", right_on="p_partkey")
    )
    promo = (joined.revenue * joined.p_type.str.startswith("PROMO")).sum()
    return (100.0 * promo / joined.revenue.sum(),)


def q15(s: System, supplier: str, lineitem: str) -> Data:
    """Top supplier."""
    rows = s.read(lineitem)
    quarter = (rows.l_shipdate >= day("1996-01-01")) & (rows.l_shipdate < day("1996-04-01"))
    sold = with_revenue(rows[quarter]).groupby("l_suppkey").agg(total_revenue=("revenue", "sum"))
    sold = sold.reset_index()
    best = sold[sold.total_revenue == sold.total_revenue.max()]
    found = s.read(supplier).merge(best, left_on="s_suppkey", right_on="l_suppkey")
    return (found[["s_suppkey", "s_name", "s_address", "s_phone", "total_revenue"]],)


def q16(s: System, partsupp: str, part: str, supplier: str) -> Data:
    """Parts and supplier relationship."""
    parts, suppliers = s.read(part), s.read(supplier)
    parts = parts[
        (parts.p_brand != "Brand#45")
        & ~parts.p_type.str.startswith("MEDIUM POLISHED")
        & parts.p_size.isin([49, 14, 23, 45, 19, 3, 36, 9])
    ]
    good = suppliers[~suppliers.s_comment.str.contains("Customer.*Complaints")][["s_suppkey"]]
    joined = parts.merge(s.read(partsupp), left_on="p_partkey", right_on="ps_partkey").merge(
        good, left_on="ps_suppkey", right_on="s_suppkey"
    )
    keys = ["p_brand", "p_type", "p_size"]
    found = joined.groupby(keys).agg(supplier_cnt=("ps_suppkey", "nunique")).reset_index()
    order = ["supplier_cnt", *keys]
    return (found.sort_values(order, ascending=[False, True, True, True]),)


def q17(s: System, lineitem: str, part: str) -> Data:
    """Small-quantity-order revenue."""
    parts = s.read(part)
    parts = parts[(parts.p_brand == "Brand#23") & (parts.p_container == "MED BOX")]
    joined = s.read(lineitem).merge(parts, left_on="l_partkey", right_on="p_partkey")
    means = joined.groupby("l_partkey").agg(mean=("l_quantity", "mean")).reset_index()
    joined = joined.merge(means, on="l_partkey")
    return (joined[joined.l_quantity < 0.2 * joined["mean"]].l_extendedprice.sum() / 7.0,)


def q18(s: System, customer: str, orders: str, lineitem: str) -> Data:
    """Large volume customer."""
    large = s.read(lineitem).groupby("l_orderkey").agg(sum_qty=("l_quantity", "sum"))
    large = large.reset_index()
    joined = (
        s.read(orders)
        .merge(large[large.sum_qty > 300], left_on="o_orderkey", right_on="l_orderkey")
        .merge(s.read(customer), left_on="o_custkey", right_on="c_custkey")
    )
    columns = ["c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "sum_qty"]
    order = ["o_totalprice", "o_orderdate"]
    return (joined[columns].sort_values(order, ascending=[False, True]).head(100),)


def q19(s: System, lineitem: str, part: str) -> Data:
    """Discounted revenue."""
    rows = s.read(lineitem)
    rows = rows[
        rows.l_shipmode.isin(["AIR", "AIR REG"]) & (rows.l_shipinstruct == "DELIVER IN PERSON")
    ]
    joined = rows.merge(s.read(part), left_on="l_partkey", right_on="p_partkey")
    chosen = None
    for brand, container, quantity, size in (
        ("Brand#12", "SM", 1, 5),
        ("Brand#23", "MED", 10, 10),
        ("Brand#34", "LG", 20, 15),
    ):
        endings = {"SM": "CASE BOX PACK PKG", "MED": "BAG BOX PKG PACK", "LG": "CASE BOX PACK PKG"}
        mask = (
            (joined.p_brand == brand)
            & joined.p_container.isin([f"{container} {end}" for end in endings[container].split()])
            & joined.l_quantity.between(quantity, quantity + 10)
            & joined.p_size.between(1, size)
        )
        chosen = mask if chosen is None else chosen | mask
    return (with_revenue(joined[chosen]).revenue.sum(),)


def q20(s: System, supplier: str, nation: str, partsupp: str, part: str, lineitem: str) -> Data:
    """Potential part promotion."""
    parts, rows, nations = s.read(part), s.read(lineitem), s.read(nation)
    parts = parts[parts.p_name.str.startswith("forest")][["p_partkey"]]
    year = (rows.l_shipdate >= day("1994-01-01")) & (rows.l_shipdate < day("1995-01-01"))
    sold = rows[year].groupby(["l_partkey", "l_suppkey"]).agg(quantity=("l_quantity", "sum"))
    stock = (
        s.read(partsupp)
        .merge(parts, left_on="ps_partkey", right_on="p_partkey")
        .merge(
            sold.reset_index(),
            left_on=["ps_partkey", "ps_suppkey"],
            right_on=["l_partkey", "l_suppkey"],
        )
    )
    stock = stock[stock.ps_availqty > 0.5 * stock.quantity][["ps_suppkey"]].drop_duplicates()
    found = (
        s.read(supplier)
        .merge(nations[nations.n_name == "CANADA"], left_on="s_nationkey", right_on="n_nationkey")
        .merge(stock, left_on="s_suppkey", right_on="ps_suppkey")
    )
    return (found[["s_name", "s_address"]].sort_values("s_name"),)


def q21(s: System, supplier: str, lineitem: str, orders: str, nation: str) -> Data:
    """Suppliers who kept orders waiting."""
    rows, orders_, nations = s.read(lineitem), s.read(orders), s.read(nation)
    late = rows[rows.l_receiptdate > rows.l_commitdate][["l_orderkey", "l_suppkey"]]
    several = rows.groupby("l_orderkey").agg(suppliers=("l_suppkey", "nunique")).reset_index()
    alone = late.groupby("l_orderkey").agg(late=("l_suppkey", "nunique")).reset_index()
    joined = (
        late.merge(several[several.suppliers > 1], on="l_orderkey")
        .merge(alone[alone.late == 1], on="l_orderkey")
        .merge(s.read(supplier), left_on="l_suppkey", right_on="s_suppkey")
        .merge(orders_[orders_.o_orderstatus == "F"], left_on="l_orderkey", right_on="o_orderkey")
        .merge(
            nations[nations.n_name == "SAUDI ARABIA"],
            left_on="s_nationkey",
            right_on="n_nationkey",
        )
    )
    found = joined.groupby("s_name").agg(numwait=("l_orderkey", "count")).reset_index()
    return (found.sort_values(["numwait", "s_name"], ascending=[False, True]).head(100),)


def q22(s: System, customer: str, orders: str) -> Data:
    """Global sales opportunity."""
    people = s.read(customer)
    people = people.assign(cntrycode=people.c_phone.str.slice(0, 2))
    people = people[people.cntrycode.isin(["13", "31", "23", "29", "30", "18", "17"])]
    people = people[people.c_acctbal > people[people.c_acctbal > 0].c_acctbal.mean()]
    buyers = s.read(orders)[["o_custkey"]].drop_duplicates()
    joined = people.merge(buyers, left_on="c_custkey", right_on="o_custkey", how="left")
    joined = joined[joined.o_custkey.isna()]
    found = joined.groupby("cntrycode").agg(
        numcust=("c_acctbal", "count"), totacctbal=("c_acctbal", "sum")
    )
    return (found.reset_index(),)


#: The tables of each query, in the order of its arguments.
TABLES = {
    "q01": "lineitem",
    "q02": "part supplier partsupp nation region",
    "q03": "customer orders lineitem",
    "q04": "orders lineitem",
    "q05": "customer orders lineitem supplier nation region",
    "q06": "lineitem",
    "q07": "supplier lineitem orders customer nation",
    "q08": "part supplier lineitem orders customer nation region",
    "q09": "part supplier lineitem partsupp orders nation",
    "q10": "customer orders lineitem nation",
    "q11": "partsupp supplier nation",
    "q12": "orders lineitem",
    "q13": "customer orders",
    "q14": "lineitem part",
    "q15": "supplier lineitem",
    "q16": "partsupp part supplier",
    "q17": "lineitem part",
    "q18": "customer orders lineitem",
    "q19": "lineitem part",
    "q20": "supplier nation partsupp part lineitem",
    "q21": "supplier lineitem orders nation",
    "q22": "customer orders",
}
QUERIES = (
    *(q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11),
    *(q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22),
)

ROWS = tuple(
    Workload(one.__name__.upper(), tables(*TABLES[one.__name__].split()), one, unordered=True)
    for one in QUERIES
)
