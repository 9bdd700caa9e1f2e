"""Programs of frames: labels, assignments and what raises."""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "assign lists, square": """
m = lazy(pd.DataFrame({"A": [1, 2, 3], "B": [4, 5, 6]}))
m[["B", "C", "D"]] = [[7, 8, 9], [10, 11, 12], [13, 14, 15]]
m""",
    "assign lists, two columns": """
m = lazy(pd.DataFrame({"A": [1, 2, 3], "B": [4, 5, 6]}))
m[["A", "C"]] = [[7, 8], [10, 11], [13, 14]]
m""",
    "assign an array": """
m = lazy(pd.DataFrame({"A": [1, 2, 3], "B": [4, 5, 6]}))
m[["B", "C", "D"]] = np.array([[7, 8, 9], [10, 11, 12], [13, 14, 15]])
m""",
    "assign columns for all": """
m = lazy(pd.DataFrame({"A": [1, 2, 3]}))
m[["B", "C"]] = [7, 8]
m""",
    "reindex by other names": """
mi = pd.MultiIndex.from_product([[1, 2], ["p", "q"]], names=["k", "m"])
lazy(pd.DataFrame({"v": [5, 6, 7, 8]}, index=mi)).reindex(
    pd.MultiIndex.from_product([[2, 1], ["q", "p"]]))""",
    "reindex by other names, series": """
mi = pd.MultiIndex.from_product([[1, 2], ["p", "q"]], names=["k", "m"])
target = pd.MultiIndex.from_product([[2, 1], ["q", "z"]])
lazy(pd.Series([5, 6, 7, 8], index=mi)).reindex(target)""",
    "reindex by levels": """
f = pd.DataFrame({"v": [1, 2]}, index=pd.Index([10, 20], name="a"))
lazy(f).reindex(pd.MultiIndex.from_product([[20, 10], ["p", "q"]], names=["a", "b"]))""",
    "reindex by levels, series": """
f = pd.Series([1, 2], index=pd.Index([10, 20], name="a"))
lazy(f).reindex(pd.MultiIndex.from_product([[20, 10], ["p", "q"]], names=["a", "b"]))""",
    "select by an iterator": "lazy(pd.DataFrame({'p': [1], 'q': [2]}))[iter(['p', 'q'])]",
    "loc by an iterator": "lazy(pd.DataFrame({'p': [1], 'q': [2]})).loc[:, iter(['q'])]",
    "drop by an iterator": "lazy(pd.DataFrame({'p': [1], 'q': [2]})).drop(columns=iter(['q']))",
    "loc writes gaps": """
x = lazy(pd.DataFrame({"A": ["u", "v", "z"]}))
x.loc[:, "A"] = ["p", np.nan, np.nan]
[x, x.isna()]""",
    "loc writes None": """
x = lazy(pd.DataFrame({"A": ["u", "v", "z"]}))
x.loc[:, "A"] = ["p", None, "q"]
[x, x.isna()]""",
    "assign gaps": """
x = lazy(pd.DataFrame({"A": ["u", "v", "z"]}))
x["A"] = ["p", np.nan, np.nan]
[x, x.isna()]""",
    "a slice is a copy": """
t = lazy(pd.DataFrame({"p": [1, 2]}))
v = t[:]
t["p"] = 0
[t, v]""",
    "a slice of a series is a copy": """
t = lazy(pd.Series([1, 2]))
v = t[:]
t[0] = 9
[t, v]""",
    "a slice before update": """
t = lazy(pd.DataFrame({"p": [1., 2.]}))
v = t[:]
t.update(lazy(pd.DataFrame({"p": [7., np.nan]})))
[t, v]""",
    "loc of all is a copy": """
t = lazy(pd.DataFrame({"p": [1, 2]}))
v, w = t.loc[:], t.iloc[:]
t["p"] = 0
[v, w]""",
    **{
        f"xs {arguments}": f"""
i = pd.MultiIndex.from_product([["a", "b"], ["u", "v"]], names=["L", "M"])
lazy(pd.DataFrame({{"v": range(4)}}, index=i)).xs({arguments})"""
        for arguments in (
            *("'a', drop_level=False", "('a', 'u'), drop_level=False", "'a'", "('a', 'u')"),
            *("'u', level='M', drop_level=False", "'u', level=1"),
        )
    },
    "xs of columns": """
c = pd.MultiIndex.from_product([["a", "b"], ["u", "v"]], names=["L", "M"])
lazy(pd.DataFrame([[1, 2, 3, 4]], columns=c)).xs("a", axis=1, drop_level=False)""",
    "xs of a series": """
i = pd.MultiIndex.from_product([["a", "b"], ["u", "v"]], names=["L", "M"])
lazy(pd.Series(range(4), index=i)).xs("a", drop_level=False)""",
    "a tuple of a slice": "lazy(pd.Series([1, 2, 3, 4]))[(slice(2),)]",
    "a tuple of a slice, texts": "lazy(pd.Series([1, 2, 3], index=list('abc')))[(slice(2),)]",
    "loc of a tuple's column": """
x = pd.DataFrame("a", index=range(2), columns=pd.MultiIndex.from_product([range(2)] * 2))
m = lazy(x)
m.loc[0, [(0, 1)]] = m.loc[0, [(0, 1)]]
m""",
    "loc of two tuples' columns": """
x = pd.DataFrame("a", index=range(2), columns=pd.MultiIndex.from_product([range(2)] * 2))
m = lazy(x)
m.loc[1, [(0, 1), (1, 1)]] = ["p", "q"]
m""",
    "rename_axis None": "lazy(pd.Series([1], index=pd.Index([1], name='k'))).rename_axis(None)",
    "rename_axis None, frame": """
lazy(pd.DataFrame({"a": [1]}, index=pd.Index([1], name="k"))).rename_axis(None)""",
    "rename_axis None, columns": """
lazy(pd.DataFrame([[1]], columns=pd.Index(["a"], name="k"))).rename_axis(None, axis=1)""",
    "reindex both": "lazy(pd.DataFrame({'a': [1, 2]})).reindex(index=[0, 1], columns=['a', 'z'])",
    "reindex both, missing row": """
lazy(pd.DataFrame({"a": [1, 2], "b": [1, 2]})).reindex(index=[0, 5], columns=["a", "z"])""",
    "reindex both, fill": """
f = pd.DataFrame({"a": np.array([1, 2], "uint8")})
lazy(f).reindex(index=[0, 5], columns=["a", "z"], fill_value=3)""",
    "reindex both, categories": """
f = pd.DataFrame({"a": [1, 2]}, index=pd.CategoricalIndex(["x", "y"]))
lazy(f).reindex(index=["y", "x"], columns=["a"])""",
    "names of an index": """
i = pd.MultiIndex.from_product([[1], [2]], names=["a", "b"])
n = lazy(pd.Series([1], index=i)).index.names
[n == ["a", "b"], n == ("a", "b"), list(n)]""",
    "diff by a fraction": "lazy(pd.Series([1, 2, 3])).diff(1.5)",
    "diff of a frame by a fraction": "lazy(pd.DataFrame({'a': [1, 2, 3]})).diff(1.5)",
    "sort_index by nothing": "lazy(pd.Series([1, 2, 3])).sort_index(ascending=None)",
    "sort_values by nothing": "lazy(pd.DataFrame({'a': [1, 2]})).sort_values('a', ascending=None)",
    "drop_duplicates, no truth": "lazy(pd.DataFrame({'a': [1]})).drop_duplicates(ignore_index=3)",
    "a name of an accessor": "s = lazy(pd.Series(['a']))\ns.str.xlabel = 3\ns",
    "a name of times' accessor": """
s = lazy(pd.Series(pd.to_datetime(["2020"])))
s.dt.xlabel = 3
s""",
    "iterating texts": "list(lazy(pd.Series(['a'])).str)",
    "apply of a method's name by rows": """
lazy(pd.DataFrame({"a": [1., 2.], "b": [2., 5.]})).apply("pct_change", axis=1)""",
    **{
        f"of values: {call}": f"md.{call}"
        for call in (
            *("to_datetime(['2020-01-01', '2021-05-05'])", "to_datetime('2020-01-01')"),
            *("to_datetime(np.array(['2020-01-01']))", "to_numeric(['1', '2.5'])"),
            *("to_numeric('7')", "to_timedelta(['1D', '2h'])", "to_timedelta('1D')"),
            *("cut([1, 5, 9], 2)", "cut(np.array([1, 5, 9]), [0, 5, 10])", "isna([1, None])"),
            *("qcut([1, 2, 3, 4], 2)", "crosstab([1, 1, 2], ['a', 'b', 'a'])", "isna(np.nan)"),
            *("factorize(['b', 'a', 'b'])", "unique(np.array([2, 1, 2]))", "notna('x')"),
        )
    },
    "write an index": "f = lazy(pd.DataFrame({'a': [1, 2]}))\nf.index = ['x', 'y']\nf",
    "write an index of a series": "f = lazy(pd.Series([1, 2]))\nf.index = ['x', 'y']\nf",
    "write an index, length": "f = lazy(pd.DataFrame({'a': [1, 2]}))\nf.index = ['x']\nf",
    "write a name": "f = lazy(pd.Series([1, 2]))\nf.name = 'v'\nf",
    "write an index's name": "f = lazy(pd.DataFrame({'a': [1, 2]}))\nf.index.name = 'k'\nf",
    "write an index's names": """
f = lazy(pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_product([[1], [2]])))
f.index.names = ["k", "m"]
f""",
    "write columns": "f = lazy(pd.DataFrame({'a': [1, 2]}))\nf.columns = ['z']\nf",
    "isna of a lazy value": """
m = lazy(pd.DataFrame({"b": [1., np.nan]}, index=["a", "c"]))
[bool(md.isna(m.loc["a", "b"])), bool(md.isna(m.loc["c", "b"]))]""",
    "ellipsis of a series": "lazy(pd.Series([1, 2]))[...]",
    "ellipsis of loc": "lazy(pd.DataFrame({'a': [1, 2]})).loc[...]",
    "kendall": "lazy(pd.DataFrame({'a': [1, 2, 4], 'b': [3, 1, 2]})).corr('kendall')",
    "partition_cols": """
rows = lazy(pd.DataFrame({"k": [1, 2, 1], "v": [1, 2, 3]}))
rows.to_parquet(here("p"), partition_cols=["k"])
pd.read_parquet(here("p")).sort_values("v", ignore_index=True)""",
    "ellipsis of iloc": "lazy(pd.Series([1, 2])).iloc[...]",
}

#: What is refused, and words of the alternative.
REFUSALS: dict[str, tuple[str, str]] = {
    "same labels: melt": (
        "lazy(pd.DataFrame([[1, 2]], columns=['a', 'a'])).melt()",
        "use set_axis(axis=1)",
    ),
    "same labels: agg": (
        "lazy(pd.DataFrame([[1, 2]], columns=['a', 'a'])).agg(['sum', 'max'])",
        "use set_axis(labels, axis=1)",
    ),
    "counts of rows with categories": (
        "lazy(pd.DataFrame({'a': pd.Categorical(['x', 'y'])})).value_counts()",
        "use groupby(columns, sort=False).size()",
    ),
    "indicators of labels": (
        "md.get_dummies(lazy(pd.Series([1, 2])).index)",
        "use a Series",
    ),
    "search in categories": (
        "lazy(pd.Series(['a', 'b'], dtype='category')).searchsorted('b')",
        "use (series < value).sum()",
    ),
}
