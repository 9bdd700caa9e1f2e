"""Programs that read and write files."""

from __future__ import annotations

#: Files as pandas writes them: categories that differ, and texts.
START = """
def written(name, text):
    with open(here(name), "w") as file:
        file.write(text)
    return here(name)

import os

def parquet(name, *frames):
    os.makedirs(here(name))
    for i, frame in enumerate(frames):
        frame.to_parquet(os.path.join(here(name), f"{i}.parquet"))
    return here(name)

def categories(name="d"):
    ranges = (range(0, 6), range(3, 9), range(6, 12))
    columns = [pd.Categorical([f"k{j}" for j in r][::-1]) for r in ranges]
    frames = [pd.DataFrame({"a": column, "v": 1}) for column in columns]
    return md.read_parquet(parquet(name, *frames))

def ordered():
    dtype = pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    frame = pd.DataFrame({"c": pd.Series(["lo", "hi", "mid", "hi"], dtype=dtype), "n": range(4)})
    return md.read_parquet(parquet("o", frame[:2], frame[2:]))
"""

EXPRESSIONS: dict[str, str] = {
    "codes": "categories().a.cat.codes",
    "sum of codes": "categories().a.cat.codes.sum()",
    "as_ordered": "categories().a.cat.as_ordered()",
    "largest as_ordered": "categories().a.cat.as_ordered().max()",
    "reorder_categories": "categories().a.cat.reorder_categories([f'k{i}' for i in range(12)])",
    "remove_categories": "categories().a.cat.remove_categories(['k3', 'k7'])",
    "add_categories": "categories().a.cat.add_categories(['z'])",
    "remove_unused_categories": """
f = categories()
f[f.a.isin(['k3', 'k8'])].a.cat.remove_unused_categories()""",
    "categories": "categories().a.cat.categories",
    "groupby codes": "f = categories()\nf.v.groupby(f.a.cat.codes).sum()",
    "groupby categories": "categories().groupby('a', observed=False).v.sum()",
    "value_counts of categories": "categories().a.value_counts().sort_index()",
    "sorted categories": "categories().sort_values('a', kind='stable')",
    **{
        f"categories {call}": f"categories().a.{call}"
        for call in (
            *("cat.rename_categories(str.upper)", "cat.set_categories(['k1', 'k0'])", "nunique()"),
            *("str.upper()", "factorize()[0]", "map({'k1': 5, 'k7': 6})", "describe()", "mode()"),
        )
    },
    **{
        f"ordered {call}": f"ordered().c.{call}"
        for call in ("min()", "clip('lo', 'mid')", "rank()", "cat.codes", "isin(['hi'])")
    },
    "isin of categories": "categories().a.isin(['k3', 'k9'])",
    "concat of categories": "md.concat([categories('p').a, categories('q').a])",
    "concat of other categories": """
one = md.read_parquet(parquet("p", pd.DataFrame({"a": pd.Categorical(["x", "y"])})))
two = md.read_parquet(parquet("q", pd.DataFrame({"a": pd.Categorical(["y", "z"])})))
md.concat([one.a, two.a])""",
    "ordered greater": "r = ordered()\nr[r.c > 'lo']",
    "ordered between": "ordered().c.between('lo', 'mid')",
    "ordered query": "ordered().query(\"c >= 'mid'\")",
    "ordered largest": "ordered().c.max()",
    "ordered equal": "ordered().c == 'hi'",
    "ordered sorted": "ordered().sort_values(['c', 'n'])",
    "names and usecols": """
p = written("u.csv", "1,2,3\\n4,5,6\\n7,8,9\\n")
read_csv(p, names=["a", "b"], usecols=[0, 2], header=None)""",
    "names and usecols, loc": """
p = written("u.csv", "1,2,3\\n4,5,6\\n7,8,9\\n")
read_csv(p, names=["a", "b"], usecols=[0, 2], header=None).loc[2]""",
    "names and usecols, one": """
p = written("u.csv", "1,2,3\\n4,5,6\\n7,8,9\\n")
read_csv(p, names=["b"], usecols=[1], header=None)""",
    "names that are more": """
read_csv(written("n.csv", "1,2\\n3,4\\n5,6\\n"), names=["a", "b", "c"])""",
    "names that are fewer": "read_csv(written('n.csv', '1,2\\n3,4\\n5,6\\n'), names=['a'])",
    "stray quotes": """
read_csv(written("q.csv", 'a,b\\n5" pipe,1\\n"x\\ny",2\\n7,3\\n"p\\nq",5\\n'))""",
    "stray quotes twice": """
read_csv(written("q.csv", 'a,b\\n5"x6",1\\n7",2\\n"p\\n\\nq",5\\n8",1\\n'))""",
    **{
        f"labels with engine {engine}": f"""
read_csv(written("e.csv", "p,q\\nx,1,5\\ny,2,6\\n"), engine="{engine}")"""
        for engine in ("c", "python")
    },
    "labels without an engine": "read_csv(written('e.csv', 'p,q\\nx,1,5\\ny,2,6\\n'))",
    "engine pyarrow": "read_csv(written('y.csv', 'a,b\\n1,x\\n2,y\\n3,z\\n'), engine='pyarrow')",
    "engine pyarrow, usecols": """
read_csv(written("y.csv", "a,b\\n1,x\\n2,y\\n3,z\\n"), engine="pyarrow", usecols=["b"])""",
    "StringIO": "import io\nmd.read_csv(io.StringIO('a,b\\n1,x\\n2,y\\n'))",
    "BytesIO": "import io\nmd.read_csv(io.BytesIO(b'a,b\\n1,x\\n2,y\\n'))",
    "parquet of BytesIO": """
import io
b = io.BytesIO()
pd.DataFrame({"a": [1, 2]}).to_parquet(b)
b.seek(0)
md.read_parquet(b)""",
    "names that are numbers": """
lazy(pd.DataFrame({0: [1, 2], 1: [3, 4]})).to_parquet(here("i"))
md.read_parquet(here("i"))""",
    "names that are numbers, by pandas": """
md.read_parquet(parquet("i", pd.DataFrame({0: [1, 2], 1: [3, 4]})))[1]""",
    "names of two levels": """
f = pd.DataFrame([[1, 2], [3, 4]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
md.read_parquet(parquet("i", f))""",
    "names of two levels, one": """
f = pd.DataFrame([[1, 2], [3, 4]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")]))
md.read_parquet(parquet("i", f))["b"]""",
    "parquet over a file": """
written("f", "")
lazy(pd.DataFrame({"a": [1, 2, 3]})).to_parquet(here("f"))
md.read_parquet(here("f"))""",
}

PROGRAMS = {name: f"{START}\n{text.strip()}" for name, text in EXPRESSIONS.items()}

#: What has no program in pandas.
LITERALS = {
    "later column": (
        """
a, b = written("1.csv", "a,b\\n1,2\\n"), written("2.csv", "a,b,c\\n3,4,5\\n")
md.read_csv([a, b])""",
        "pd.DataFrame({'a': [1, 3], 'b': [2, 4], 'c': [np.nan, 5.0]})",
    ),
    "from_map of a partial function": (
        """
f = lambda k, i: pd.DataFrame({"s": ["x"], "i": [i + k]})
md.from_map(functools.partial(f, "bad"), [1, 2], meta=f(1, 1))""",
        "1 + 'bad'",
    ),
    "from_map of a callable object": (
        """
class Reader:
    def __call__(self, i):
        return pd.DataFrame({"i": [i + "x"]})
md.from_map(Reader(), [1, 2], meta=pd.DataFrame({"i": [1]}))""",
        "1 + 'bad'",
    ),
    "map_partitions of a partial function": (
        """
f = lambda rows, k: rows + k
add = functools.partial(f, k="x")
lazy(pd.DataFrame({"i": [1, 2, 3]})).map_partitions(add, meta={"i": int})""",
        "1 + 'bad'",
    ),
    "remove_unused_categories of from_map": (
        """
fm = md.from_map(lambda k: pd.DataFrame({"p": pd.Categorical(["a", "b"], ["a", "b", "z"])}), [0, 1])
fm.p.cat.remove_unused_categories()""",
        "pd.Series(pd.Categorical(['a', 'b'] * 2), index=[0, 1, 0, 1], name='p')",
    ),
    "codes of from_map": (
        """
fm = md.from_map(lambda k: pd.DataFrame({"p": pd.Categorical(["a", f"b{k}"])}), [0, 1])
fm.p.cat.codes""",
        "pd.Series([0, 1, 0, 2], index=[0, 1, 0, 1], dtype='int8')",
    ),
    "texts after nothing in parquet": (
        """
frames = [pd.DataFrame({"s": values}) for values in ([None, None], ["x", "y"])]
md.read_parquet(parquet("d", *frames))""",
        "pd.DataFrame({'s': pd.Series([None, None, 'x', 'y'], dtype='str')})",
    ),
    "larger numbers in parquet": (
        """
frames = [pd.DataFrame({"n": np.array([v], t)}) for v, t in ((1, "int32"), (2**40, "int64"))]
md.read_parquet(parquet("d", *frames))""",
        "pd.DataFrame({'n': [1, 2**40]})",
    ),
    "floats after integers in parquet": (
        """
md.read_parquet(parquet("d", pd.DataFrame({"n": [1]}), pd.DataFrame({"n": [0.5]})))""",
        "pd.DataFrame({'n': [1.0, 0.5]})",
    ),
    "finer times in parquet": (
        """
frames = [pd.DataFrame({"t": np.array(["2024-01-01"], f"M8[{u}]")}) for u in ("us", "ns")]
md.read_parquet(parquet("d", *frames))""",
        "pd.DataFrame({'t': np.array(['2024-01-01'] * 2, 'M8[ns]')})",
    ),
}
LITERALS = {name: (f"{START}\n{text.strip()}", want) for name, (text, want) in LITERALS.items()}

#: Files that change between reading and computing: an error says so.
CHANGED = {
    "csv": """
m = md.read_csv(written("c.csv", "a\\n1\\n2\\n3\\n"))
written("c.csv", "a\\n10\\n20\\n30\\n40\\n")
m.a.sum()""",
    "parquet": """
pd.DataFrame({"a": [1, 2, 3]}).to_parquet(here("c.parquet"))
m = md.read_parquet(here("c.parquet"))
pd.DataFrame({"a": range(1000), "b": "x"}).to_parquet(here("c.parquet"))
m.a.sum()""",
    "json": """
m = md.read_json(written("c.json", '{"a": 1}\\n{"a": 2}\\n'), lines=True)
written("c.json", '{"a": 10}\\n{"a": 20}\\n{"a": 30}\\n')
m.a.sum()""",
}
CHANGES = {
    f"changed {name}": (f"{START}\n{text.strip()}", "changed since")
    for name, text in CHANGED.items()
}
