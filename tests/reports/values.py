"""Programs of frames: values, types and names of what comes."""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    **{
        f"{name} of short floats": f"""
q = lazy(pd.DataFrame({{"g": [1, 1, 2, 2], "u": np.array([.1, .2, .3, 16777217], "float32")}}))
q.groupby("g").u.{name}()"""
        for name in ("mean", "sum", "var", "std", "median", "prod")
    },
    **{
        f"type of {name} of {dtype}": f"""
q = lazy(pd.DataFrame({{"g": [1, 1, 2, 2], "u": np.array([.1, .2, .3, .5], "{dtype}")}}))
q.groupby("g").u.{name}().dtype"""
        for name, dtype in (("mean", "float32"), ("mean", "float16"), ("std", "float16"))
    },
    **{
        f"no name: {call}": f"s = lazy(pd.Series([1., 2., 3.]))\ns.groupby(s % 2).{call}"
        for call in (
            *("sum()", "mean()", "first()", "nunique()", "quantile(0.5)", "transform('sum')"),
            *("cumsum()", "apply(lambda rows: rows.max())", "agg('sum')", "rolling(2).sum()"),
            *("idxmax()", "value_counts()", "nlargest(1)", "sum().reset_index()", "head(1)"),
            *("sum().to_frame()", "shift()", "rank()", "agg(['sum', 'max'])", "size()"),
            *("agg(x='sum')", "transform(lambda rows: rows - rows.mean())", "nth(0)"),
            *("ewm(alpha=0.5).mean()", "describe()", "quantile([0.1, 0.5])", "sem()", "ngroup()"),
        )
    },
    "no name: by a list": "lazy(pd.Series([1., 2.])).groupby([0, 0]).mean()",
    "no name: concat": """
s = lazy(pd.Series([1, 2, 3]))
md.concat([s.groupby(s % 2).sum(), s.groupby(s % 2).max()], axis=1)""",
    "no name: resample": """
lazy(pd.Series([1, 2, 3], pd.date_range("2020-01-01", periods=3))).resample("2D").mean()""",
    **{
        f"{how} merge of zones": f"""
t = pd.DatetimeIndex(["2024-03-10 10:00", "2024-03-11"], tz="UTC")
u = pd.DatetimeIndex(["2024-03-10 11:00", "2024-03-11"], tz="Europe/Berlin")
a, b = pd.DataFrame({{"t": t, "a": [1, 2]}}), pd.DataFrame({{"t": u, "b": [1, 2]}})
r = lazy(a).merge(lazy(b), on="t", how="{how}")
[r, r.dtypes]"""
        for how in ("right", "left", "inner", "outer")
    },
    "concat of masked numbers and lengths": """
x, n = lazy(pd.Series(["a", "bb"])), lazy(pd.Series([1, None], dtype="Int64"))
md.concat([n, x.str.len()])""",
    "concat of lengths and numbers": """
x, n = lazy(pd.Series(["a", "bb"])), lazy(pd.Series([1, 2]))
md.concat([x.str.len(), n])""",
    **{
        f"objects: {call}": f"""
lazy(pd.Series([1, 2, None, "a", "b", None, np.nan, 2.5, 3], dtype=object)).str.{call}"""
        for call in (
            *("upper()", "len()", "strip()", "contains('a')", "slice(0, 1)", "find('a')"),
            *("split('a')", "startswith('a')", "isdigit()", "extract('(a)')", "get(0)"),
            *("encode('utf8')", "repeat(2)", "cat(sep='-')"),
        )
    },
    "objects: a chunk of numbers": "lazy(pd.Series([1, 2, 'a', 'b'], dtype=object)).str.len()",
    "objects: mixed": "lazy(pd.Series(['a', 'b', 'c', 1, 2.5, 3], dtype=object)).str.upper()",
    "objects: missing values": """
lazy(pd.Series(['a', None, np.nan, None], dtype=object)).str.lower()""",
    "same labels: drop_duplicates": """
lazy(pd.DataFrame([[0, 1, 2], [3, 4, 5], [0, 1, 2]], columns=["a", "b", "b"])).drop_duplicates()""",
    "same labels: duplicated": """
lazy(pd.DataFrame([[0, 1, 2], [3, 4, 5], [0, 1, 2]], columns=["a", "b", "b"])).duplicated()""",
    "same labels: sum": """
lazy(pd.DataFrame([[0, 1, 2], [3, 4, 5], [0, 1, 2]], columns=["a", "b", "b"])).sum()""",
    "categories: map by a method": """
lazy(pd.Series(['a', 'b', 'a'], dtype='category')).map(str.upper)""",
    "categories: map by a function": """
lazy(pd.Series(["a", "b", "a"], dtype="category")).map(lambda q: q + "!")""",
    "categories of numbers: map": """
lazy(pd.Series([1, 2, 1], dtype='category')).map(lambda q: q * 10)""",
    **{
        f"agg of a list: {arguments}": f"""
m = lazy(pd.DataFrame({{"f": [True, False, True], "n": [1., 4., 9.]}}))
m.agg({arguments})"""
        for arguments in (
            *("['var'], ddof=0", "[np.std], ddof=1", "['std', 'var'], ddof=0"),
            *("['sum'], numeric_only=True", "['any', 'all'], bool_only=True"),
            *("{'n': ['var']}, ddof=0", "['sum', 'max'], axis=0"),
        )
    },
    "agg of a list: texts left out": """
f = lazy(pd.DataFrame({"f": [True, False], "n": [1, 2], "s": ["x", "y"]}))
f.agg(["sum"], numeric_only=True)""",
    "agg of a list: truths only": """
f = lazy(pd.DataFrame({"f": [True, False], "n": [1, 2], "s": ["x", "y"]}))
f.agg(["any", "all"], bool_only=True)""",
    "agg of a list: series": "lazy(pd.Series([1., 4., 9.])).agg(['var', 'std'], ddof=0)",
    **{
        f"query: {query}": f"""
lazy(pd.DataFrame({{"a": [1, 2, 3], "b": [1, 7, 3], "c": [9, 7, 0]}})).query("{query}")"""
        for query in ("b in (a, c)", "b in (a, 7)", "b in [1, 7]", "b not in (a, c)", "b == [1, 3]")
    },
    "isin of an iterator": "lazy(pd.Series([10, 20, 30])).isin(v for v in (10, 30))",
    "isin of an iterator, frame": """
lazy(pd.DataFrame({'a': [10, 20, 30]})).isin(v for v in (10, 30))""",
    "isin of a lazy value": """
m = lazy(pd.Series(pd.date_range("2021-03-01", periods=4)))
m.isin([m[1]])""",
    "isin of a lazy largest": "m = lazy(pd.Series([3, 1, 2]))\nm.isin([m.max(), 1])",
    "groupby of a list with a gap": """
lazy(pd.Series([10., 20., 30., 40.])).groupby(["u", "v", "u", np.nan]).mean()""",
    "groupby of a list with a gap, kept": """
lazy(pd.Series([10., 20., 30., 40.])).groupby(["u", "v", "u", np.nan], dropna=False).mean()""",
    "groupby of a list with None": """
lazy(pd.DataFrame({"x": [10., 20., 30., 40.]})).groupby(["u", None, "u", "v"]).sum()""",
    "equals: an array in a cell": """
d = pd.DataFrame({"x": ["a"]}, dtype=object)
e = d.copy()
e["x"] = [np.array(["a"], dtype=object)]
lazy(d).equals(lazy(e))""",
    "unstack with gaps": """
i = pd.MultiIndex.from_arrays([[1, np.nan, 1, 2], ["b", "a", None, "a"]])
lazy(pd.Series([1, 2, 3, 4], index=i)).unstack()""",
    "partition of nothing": "lazy(pd.Series([], dtype=object)).str.partition('_')",
    "partition of gaps": "lazy(pd.Series([np.nan, np.nan], dtype=object)).str.partition('_')",
    "partition of texts": "lazy(pd.Series(['a_b', 'c'])).str.partition('_')",
    "number columns: agg": """
lazy(pd.DataFrame([[1, 2, 3], [1, 4, 5]])).groupby(0).agg("sum").columns""",
    "number columns: any": "lazy(pd.DataFrame([[1, 2, 3], [1, 4, 5]])).groupby(0).any().columns",
    "number columns: sorted": """
lazy(pd.DataFrame([[3, 2], [1, 4]])).sort_values(0, key=lambda v: -v).columns""",
    "unique of categories": "lazy(pd.Series(['b', 'a', 'b'], dtype='category')).unique()",
    "values of categories": "lazy(pd.Series(['b', 'a', 'b'], dtype='category')).values",
    "values of times with a zone": """
lazy(pd.Series(pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin"))).values""",
    "quantile of masked keys": """
q = pd.DataFrame({"k": pd.array([1, 2, 1], dtype="Int64"), "v": [1., 2., 3.]})
lazy(q).groupby("k").quantile(0.5)""",
    "iterated groups of a level": """
f = pd.DataFrame({"v": range(4)}, index=pd.MultiIndex.from_product([["a", "b"], [1, 2]]))
[name for name, _ in lazy(f).groupby(level=[0])]""",
    "explode of two columns": """
lazy(pd.DataFrame({"a": [["x", "y"], ["z"]], "b": [[1, 2], [3]]})).explode(["a", "b"])""",
    "clip by NA": "lazy(pd.Series([1, 2, 3])).clip(lower=pd.NA)",
    "clip by nan": "lazy(pd.Series([1, 2, 3])).clip(upper=np.nan)",
    "find in gaps": "lazy(pd.Series([np.nan, np.nan], dtype=object)).str.find('a')",
    "ufunc with out": """
f = lazy(pd.DataFrame({"a": [1, 2, 3]}))
out = np.empty((3, 1), dtype=int)
type(np.add(f, 1, out=out)).__name__, out.tolist()""",
    "expanding of objects": "lazy(pd.Series([1, 2, 3], dtype=object)).expanding().mean()",
    **{
        f"declared: {text}": f"""
f = lazy(pd.DataFrame({{"a": ["x", "y", "z"], "n": [1, 2, 3]}}))
o = lazy(pd.Series([1, "a", None], dtype=object))
r = {text}
[r, r.dtypes]"""
        for text in (
            *(
                "o.map(lambda v: v)",
                "f.a.replace({'x': 1, 'y': 2, 'z': 3})",
            ),
            *("f[f[['n']] > 5]", "f.a.astype(bytes)"),
            "lazy(pd.Series([1], pd.array([1], dtype='Int64'))).rename(lambda i: i + 1)",
        )
    },
}

#: Three million rows, of which none may be lost.
BIG = """
n = 3_000_000
s = pd.Series(np.ones(n), index=pd.date_range("2020-01-01", periods=n, freq="1min"))
s = md.Series(s, chunk_size=n // 6) if hasattr(md, "from_map") else s
[s.resample("2W").sum(), s.groupby(pd.Grouper(freq="2ME")).sum(), len(s)]"""
