"""CSV files are read as pandas does, wherever they are cut."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.io.csv import MISSING, _parse_by_arrow
from tests.dataframe.tables import equal

STEPS = [13, 150, 10**6]


@pytest.fixture
def path(tmp_path):
    """Return a file with quoted commas, quotes and line ends."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": np.arange(40),
            "b": np.where(rng.random(40) < 0.2, np.nan, rng.random(40)),
            "c": rng.choice(["x", 'y, "q"', "new\nline", ""], 40),
            "d": pd.date_range("2020", periods=40),
            "e": rng.random(40) < 0.5,
        }
    )
    frame.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path / "x.csv"


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"usecols": ["c", "b"]},
        {"parse_dates": ["d"]},
        {"index_col": "a", "parse_dates": ["d"]},
        {"index_col": "d", "parse_dates": ["d"]},
        {"parse_dates": [3]},
        {"names": list("vwxyz"), "header": 0},
        {"header": 1},
        {"header": None, "names": list("vwxyz"), "dtype": "str"},
        {"dtype": {"a": "float32"}},
        {"na_values": ["x"]},
        {"skiprows": [2]},
    ],
    ids=str,
)
def test_read(path, step, options):
    """Cut anywhere, with each option, the rows are pandas's."""
    equal(md.read_csv(path, chunk_bytes=step, **options), pd.read_csv(path, **options))


def test_files_behind_urls(path):
    """Whole, one chunk each."""
    frame = pd.read_csv(path)
    frame.to_csv("memory://csv/x.csv", index=False)
    frame.to_csv("memory://csv/y.csv.gz", index=False)
    both = pd.concat([frame, frame], ignore_index=True)
    equal(md.read_csv(["memory://csv/x.csv", "memory://csv/y.csv.gz"], blocksize=100), both)
    with pytest.raises(FileNotFoundError, match="nope"):
        md.read_csv("memory://csv/nope.csv")


@pytest.mark.parametrize("step", STEPS)
def test_computed(path, step):
    """Groups need no numbers of rows, filters and heads do."""
    lazy, frame = md.read_csv(path, chunk_bytes=step), pd.read_csv(path)
    equal(lazy[lazy.a > 5].groupby("c").b.sum(), frame[frame.a > 5].groupby("c").b.sum())
    equal(lazy[lazy.b > 0.5], frame[frame.b > 0.5])
    equal(lazy.head(3), frame.head(3))


@pytest.mark.parametrize("first", ["{}.5", "y{}"])
def test_each_text_that_is_missing(tmp_path, first):
    """Among numbers or texts, in quotes or not; a text that has such a text in it is none."""
    path = tmp_path / "x.csv"
    for text in MISSING:
        rows = [f"{first.format(x)},x{x}" for x in range(9)]
        rows[4:6] = [f"{text},{text}", f'"{text}","{text}"', f"1,{text}9"]
        path.write_text("\n".join(["a,b", *rows]) + "\n")
        wanted = pd.read_csv(path)
        assert wanted.isna().sum().tolist() == [2, 2]
        equal(md.read_csv(path, chunk_bytes=30), wanted)


@pytest.mark.parametrize("text", ["x", '"two\nlines"', "#"])
def test_arrow_parses(monkeypatch, text):
    """Also line ends in quotes at the ends of what it takes at a time: pandas is not needed."""
    monkeypatch.setattr("marsdask.dataframe.io.csv.ARROW_BLOCK", 100)
    lines = "".join(f"{x},{text}\n" for x in range(50))
    wanted = pd.read_csv(io.StringIO(lines), names=["a", "b"])
    found = _parse_by_arrow(lines.encode(), wanted.iloc[:0], ("a", "b"), {})
    pd.testing.assert_frame_equal(found, wanted)


def test_several_files(tmp_path):
    """Files follow each other in the order of their names."""
    for name in "ba":
        pd.DataFrame({"x": [name, name], "y": [1, 2]}).to_csv(tmp_path / f"{name}.csv", index=False)
    wanted = pd.DataFrame({"x": list("aabb"), "y": [1, 2, 1, 2]})
    equal(md.read_csv(tmp_path / "*.csv", chunk_bytes=5), wanted)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n", {}),
        ("a,b\n1,2", {}),
        ("a,b\r\n1,2\r\n3,4\r\n", {}),
        ("a,b\r1,2\r3,4\r", {}),
        ("a\tb\n1\t2\n", {"sep": "\t"}),
        (",a\n0,1\n1,2\n", {"index_col": 0}),
        ("a,b\n1,2,x\n3,4,y\n", {}),
    ],
)
def test_small_files(tmp_path, text, options):
    """No rows, no last line end, other line ends and separators, labels without a name."""
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    equal(md.read_csv(path, chunk_bytes=4, **options), pd.read_csv(path, **options))


def test_each_file_names_its_columns(tmp_path):
    """In another order they are found, and one that is missing has no values."""
    for name, text in {"a": "x,y\n1,2\n", "b": "y,x\n4,3\n", "c": "x\n5\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    equal(md.read_csv(tmp_path / "[ab].csv"), pd.DataFrame({"x": [1, 3], "y": [2, 4]}))
    lacking = pd.DataFrame({"x": [1, 3, 5], "y": [2, 4, None]})
    equal(md.read_csv(tmp_path / "*.csv"), lacking)
    lazy = md.read_csv(sorted(tmp_path.iterdir(), reverse=True))
    equal(lazy, lacking[::-1].reset_index(drop=True))


#: Rows of several files, of which pandas tells the types together.
FILES_OF_TYPES: dict[str, list[str]] = {
    "no rows first": ["", "1,x\n2,y\n"],
    "no rows": ["", ""],
    "no rows last": ["1.5,x\n", ""],
    "floats last": ["1,x\n", "2,y\n", "2.5,z\n"],
    "texts last": ["1,x\n", "q,y\n"],
    "numbers last": ["q,x\n", "1,y\n"],
    "flags and numbers": ["True,x\n", "1,y\n"],
    "flags and gaps": ["True,x\n", ",y\n", "False,z\n"],
    "gaps first, then texts": [",\n,\n", "q,w\n"],
    "gaps first, then flags": [",\n,\n", "True,False\n"],
    "gaps last": ["q,1\n", ",\n"],
    "large numbers": ["1,1\n", f"{2**63 + 5},2\n"],
    "quoted": ['1,"a\nb"\n', '2.5,"c,\nd"'],
}


@pytest.mark.parametrize("case", FILES_OF_TYPES)
@pytest.mark.parametrize("header", ["a,b\n", ""], ids=["named", "numbered"])
def test_types_come_from_all_files(tmp_path, case, header):
    """As if the rows were of one file: some have none, or only missing values of a column."""
    texts = FILES_OF_TYPES[case]
    if not (header or all(texts)):
        texts = [text or "," for text in texts]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.csv").write_text(header + text)
    options: dict[str, Any] = {} if header else {"header": None}
    rows = "\n".join(text.rstrip("\n") for text in texts if text)
    wanted = pd.read_csv(io.StringIO(header + rows), **options)
    lazy = md.read_csv(str(tmp_path / "*.csv"), **options)
    equal(lazy, wanted)
    equal(lazy.iloc[:, 0].nunique(), wanted.iloc[:, 0].nunique())


def test_lines_of_all_files_are_few(tmp_path, monkeypatch):
    """Of many files only the first lines show types, and of a longer one none."""
    monkeypatch.setattr("marsdask.dataframe.io.csv_files.columns.LINE_BYTES", 64 * 8)
    monkeypatch.setattr("marsdask.dataframe.io.csv_files.columns.TYPES_BYTES", 1)
    for number, text in enumerate(["a\n1\n", "a\n1\n1\n1.5\n", "a\n1\n111111111\n"]):
        (tmp_path / f"{number}.csv").write_text(text)
    lazy = md.read_csv(str(tmp_path / "*.csv"))
    assert lazy.a.dtype == "int64"
    equal(lazy, pd.DataFrame({"a": [1, 1, 1, 1.5, 1, 111111111]}))


def test_categories_behind_the_head(tmp_path, monkeypatch):
    """Those that are told are read, others are refused: the head does not show them all."""
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "x\n" * 9 + "y\n")
    equal(md.read_csv(path, dtype="category"), pd.read_csv(path, dtype="category"))
    monkeypatch.setattr("marsdask.dataframe.io.csv.HEAD_BYTES", 10)
    told = pd.CategoricalDtype(["x", "y"])
    equal(md.read_csv(path, dtype=told), pd.read_csv(path, dtype=told))
    with pytest.raises(NotImplementedError, match="CategoricalDtype"):
        md.read_csv(path, dtype={"a": "category"})


def test_text_among_dates(tmp_path, monkeypatch):
    """A later part whose dates are none is an error, not a column of text."""
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "2020-01-01\n" * 9 + "soon\n")
    monkeypatch.setattr("marsdask.dataframe.io.csv.HEAD_BYTES", 30)
    with pytest.raises(ValueError, match=r"no dates in columns \['a'\]"):
        md.read_csv(path, parse_dates=["a"]).compute()


@pytest.mark.parametrize(
    ("header", "line", "later"),
    [
        ("a", "{}", "1.5"),
        ("a", "{}", "NA"),
        ("a,b", "{},x", ""),
        ("a,b", '{},"x\ny"', "1e3"),
        ("a,b", "{},2020-01-01", "inf"),
    ],
)
def test_integers_are_followed_by_floats(tmp_path, monkeypatch, header, line, later):
    """Or by gaps: the column is what pandas makes of the whole file, wherever it is cut."""
    path = tmp_path / "x.csv"
    values = ["9007199254740993", *map(str, range(30)), later, "7"]
    path.write_text("\n".join([header, *map(line.format, values)]) + "\n")
    monkeypatch.setattr("marsdask.dataframe.io.csv.HEAD_BYTES", 60)
    wanted = pd.read_csv(path)
    assert wanted.a.dtype == "float64"
    for step in (20, 60, 10**6):
        lazy = md.read_csv(path, chunk_bytes=step)
        assert lazy.a.dtype == "int64"
        equal(lazy, wanted)
        equal(lazy.a.sum(), wanted.a.sum())
        equal(lazy.a.astype("str"), wanted.a.astype("str"))
        equal(lazy.execute().a * 2, wanted.a * 2)
        assert list(lazy.dtypes) == list(wanted.dtypes)


def test_integers_that_were_asked_for_stay_such(tmp_path, monkeypatch):
    """A later part in which they are none is an error, as in pandas."""
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "1\n" * 40 + "2.5\n")
    monkeypatch.setattr("marsdask.dataframe.io.csv.HEAD_BYTES", 20)
    for wish in ("int64", {"a": "int64"}):
        with pytest.raises(ValueError, match="later rows do not match"):
            md.read_csv(path, chunk_bytes=40, dtype=wish).compute()


def test_a_later_part_of_another_type_is_named(tmp_path, monkeypatch):
    """Where the head promised integers and text comes, the error says which file and what to do."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "oops,3\n")
    monkeypatch.setattr("marsdask.dataframe.io.csv.HEAD_BYTES", 100)
    with pytest.raises(ValueError, match=r"dtype=\{column: type\}"):
        md.read_csv(path, chunk_bytes=60).compute()
    equal(
        md.read_csv(path, chunk_bytes=60, dtype={"a": "str"}), pd.read_csv(path, dtype={"a": "str"})
    )


def test_arguments_of_dask(tmp_path):
    """Integers may be read as floats, the head may be short, and paths may be a column."""
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for at, path in enumerate(paths):
        pd.DataFrame({"n": range(at, 40), "m": 1, "s": "x"}).to_csv(path, index=False)
    frame = pd.concat([pd.read_csv(path, dtype={"n": float}) for path in paths], ignore_index=True)
    how: Any = {"blocksize": 90, "sample": 60, "assume_missing": True, "dtype": {"m": "int64"}}
    equal(md.read_csv(paths, **how), frame)
    lazy = md.read_csv(paths, **how, include_path_column=True)
    found = lazy.compute()
    assert found.path.astype(str).tolist() == [str(paths[0])] * 40 + [str(paths[1])] * 39
    assert found.path.dtype == lazy.path.dtype == pd.CategoricalDtype(list(map(str, paths)))
    equal(lazy[["n", "s"]], frame[["n", "s"]])
    whole = md.read_csv(paths, include_path_column="file", skiprows=[1])
    assert whole[whole.file == str(paths[1])].n.compute().tolist() == list(range(2, 40))
    with pytest.raises(ValueError, match="already contain"):
        md.read_csv(paths, include_path_column="n")


@pytest.mark.parametrize("step", [8, None])
@pytest.mark.parametrize(
    "text",
    [
        "a,b\nTrue,1\nFalse,2\n,3\n",
        "a\n1\n2\n99999999999999999999999\n",
        "a\nx\n   \ny\n\t\n",
        "a\r\n  \r\nx\r\ny\r\n  ",
    ],
    ids=["truth values", "large", "spaces", "spaces first"],
)
def test_objects_and_spaces(tmp_path, step, text):
    """Values stay truth values and integers beside missing ones; lines of spaces are no rows."""
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    equal(md.read_csv(path, blocksize=step), pd.read_csv(path))


def test_text_among_truth_values(tmp_path):
    """An error, since types are those of the first rows."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\nTrue,1\n,2\n" + "text,3\n" * 9)
    with pytest.raises(ValueError, match="use dtype="):
        md.read_csv(path, blocksize=8, sample=16).compute()


def test_footers(tmp_path):
    """Are no rows."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\ntotal\n")
    options: Any = {"skipfooter": 1, "engine": "python"}
    equal(md.read_csv(path, **options), pd.read_csv(path, **options))


#: Texts, and arguments that change what pandas reads of them.
ARGUMENTS: dict[str, tuple[str, Any]] = {
    "names and usecols": ("1,2,3\n4,5,6\n7,8,9\n", {"names": ["a", "b"], "usecols": [0, 2]}),
    "fewer names": ("1,2,3\n4,5,6\n7,8,9\n", {"names": ["a", "b"]}),
    "more names": ("1,2\n3,4\n5,6\n", {"names": ["a", "b", "c"]}),
    "labels without a name": ("p,q\nx,1,5\ny,2,6\nz,3,7\n", {}),
    "labels of engine c": ("p,q\nx,1,5\ny,2,6\nz,3,7\n", {"engine": "c"}),
    "labels of engine python": ("p,q\nx,1,5\ny,2,6\nz,3,7\n", {"engine": "python"}),
    "engine pyarrow": ("p,q\n1,5\n2,6\n", {"engine": "pyarrow"}),
    "usecols": ("a,b,c\n1,2,3\n4,5,6\n", {"usecols": ["c", "a"]}),
    "usecols by number": ("a,b,c\n1,2,3\n4,5,6\n", {"usecols": [2, 1]}),
    "usecols by function": ("a,b,c\n1,2,3\n4,5,6\n", {"usecols": lambda name: name != "b"}),
    "index_col": ("a,b\n3,1\n2,5\n", {"index_col": "a"}),
    "index_col by number": ("a,b\n3,1\n2,5\n", {"index_col": 1}),
    "index_col of two": ("a,b,c\n3,1,1\n2,5,2\n", {"index_col": ["a", "b"]}),
    "index_col False": ("a,b\n3,1,\n2,5,\n", {"index_col": False}),
    "sep": ("a;b\n1;2\n3;4\n", {"sep": ";"}),
    "delimiter": ("a|b\n1|2\n3|4\n", {"delimiter": "|"}),
    "sep of several": ("a::b\n1::2\n3::4\n", {"sep": "::", "engine": "python"}),
    "sep of spaces": ("a b\n1  2\n3 \t4\n", {"sep": r"\s+"}),
    "sniffed": ("a;b\n1;2\n3;4\n", {"sep": None, "engine": "python"}),
    "header": ("x\na,b\n1,2\n", {"header": 1}),
    "no header": ("1,2\n3,4\n", {"header": None}),
    "other names": ("a,b\n1,2\n3,4\n", {"header": 0, "names": ["x", "y"]}),
    "dtype": ("a,b\n1,2\n3,4\n", {"dtype": {"a": "float32"}}),
    "converters": ("a,b\n1,2\n3,4\n", {"converters": {"a": lambda text: text * 2}}),
    "true_values": ("a\nyes\nno\nyes\n", {"true_values": ["yes"], "false_values": ["no"]}),
    "skipinitialspace": ('a,b\n1, "x\ny"\n2, z\n', {"skipinitialspace": True}),
    "skiprows": ("a\n1\n2\n3\n", {"skiprows": [1]}),
    "skipfooter": ("a\n1\n2\n3\n", {"skipfooter": 1, "engine": "python"}),
    "nrows": ("a\n1\n2\n3\n", {"nrows": 2}),
    "na_values": ("a\n1\n-\n3\n", {"na_values": ["-"]}),
    "keep_default_na": ("a\nx\nNA\ny\n", {"keep_default_na": False}),
    "na_filter": ("a\nx\nNA\ny\n", {"na_filter": False}),
    "skip_blank_lines": ("a,b\n1,2\n\n3,4\n", {"skip_blank_lines": False}),
    "parse_dates": ("a\n2020-01-01\n2021-05-05\n", {"parse_dates": ["a"]}),
    "date_format": ("a\n01/02/2020\n03/04/2020\n", {"parse_dates": [0], "date_format": "%d/%m/%Y"}),
    "dayfirst": ("a\n01/02/2020\n03/04/2020\n", {"parse_dates": [0], "dayfirst": True}),
    "thousands": ("a;b\n1,000;2\n3;4\n", {"thousands": ",", "sep": ";"}),
    "decimal": ("a;b\n1,5;2\n3;4\n", {"decimal": ",", "sep": ";"}),
    "lineterminator": ("a|1|2|3|", {"lineterminator": "|"}),
    "quotechar": ("a,b\n'x\ny',1\n'z',2\n", {"quotechar": "'"}),
    "quoting": ('a,b\n"x,1\ny",2\n', {"quoting": 3}),
    "doublequote": ('a\n"x""y"\n"z"\n', {"doublequote": False, "escapechar": "\\"}),
    "escapechar": ("a,b\nx\\,y,1\nz,2\n", {"escapechar": "\\"}),
    "comment": ("a,b\n1,2\n#3,4\n5,6\n", {"comment": "#"}),
    "encoding": ("a\nä\nö\n", {"encoding": "latin-1"}),
    "on_bad_lines": ("a,b\n1,2\n3,4,5\n6,7\n", {"on_bad_lines": "skip"}),
    "dtype_backend": ("a\n1\n\n3\n", {"dtype_backend": "numpy_nullable"}),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(tmp_path, name):
    """Each argument has pandas's effect, whatever the size of a chunk."""
    text, options = ARGUMENTS[name]
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    wanted = pd.read_csv(path, **options)
    for step in (3, 8, None):
        equal(md.read_csv(path, chunk_bytes=step, **options), wanted)


@pytest.mark.parametrize("options", [{"chunksize": 2}, {"iterator": True}], ids=str)
def test_iterators_are_refused(tmp_path, options):
    """Readers of parts have another interface: the error names what works."""
    (tmp_path / "x.csv").write_text("a\n1\n2\n")
    with pytest.raises(NotImplementedError, match="chunk_bytes"):
        md.read_csv(tmp_path / "x.csv", **options)


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        (["a,b\n1,2\n", "a,b,c\n3,4,5\n"], {}),
        (["a\n1\n", "b,a\nx,2\n", "a\n3\n"], {}),
        (["1,2\n", "3,4,5\n"], {"header": None}),
        (["b;a\n1;2\n", "a;b;d\n3;4;5.5\n"], {"sep": ";"}),
    ],
    ids=str,
)
def test_columns_that_only_later_files_have(tmp_path, texts, options):
    """They are missing in the files before, as after pandas.concat."""
    paths = [tmp_path / f"{number}.csv" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    parts = [pd.read_csv(path, **options) for path in paths]
    for step in (3, None):
        lazy = md.read_csv(paths, chunk_bytes=step, **options)
        equal(lazy, pd.concat(parts, ignore_index=True))


#: Texts whose later lines or files are unlike the first ones, and options.
UNLIKE: dict[str, Any] = {
    "a line of more fields": (["a,b\n1,2\n3,4\n5,6,7\n8,9\n"], {}),
    "more fields without a header": (["1,2\n3,4\n5,6,7\n"], {"header": None}),
    "fewer fields without a header": (["1,x\n3\n5,4\n6\n"], {"header": None}),
    "fewer fields behind labels": (["1,x\n3\n5,4\n6\n"], {"header": None, "index_col": 0}),
    "other line ends": (["a,b\n1,2\n", "a,b\r5,6\r7,8\r"], {}),
    "lines before the header": (["a,b\n1,2\n", "\n \na,b\n5,6\n7,8\n"], {}),
    "a mark of bytes": (["a,b\n1,2\n", '\ufeff"a",b\n5,6\n7,8\n'], {}),
    "options that need whole files": (["a,b\n1,2\n", "c,b\n5,6\n"], {"comment": "#"}),
}


@pytest.mark.parametrize("sample", [9, None])
@pytest.mark.parametrize("case", UNLIKE)
def test_what_is_unlike_the_first_lines(tmp_path, case, sample):
    """It is read, or refused, as pandas does: no field and no row is lost without an error."""
    texts, options = UNLIKE[case]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.csv").write_bytes(text.encode())
    paths = sorted(tmp_path.iterdir())
    try:
        wanted = pd.concat([pd.read_csv(path, **options) for path in paths])
    except pd.errors.ParserError:
        wanted = None
    for step in (4, None):
        if wanted is None:
            with pytest.raises(pd.errors.ParserError, match=r"fields"):
                md.read_csv(paths, chunk_bytes=step, sample=sample, **options).compute()
        elif "c" in wanted:
            with pytest.raises(ValueError, match=r"1\.csv has no columns \['a'\].*concat"):
                md.read_csv(paths, chunk_bytes=step, **options).compute()
        else:
            found = md.read_csv(paths, chunk_bytes=step, sample=sample, **options)
            equal(found, wanted if "index_col" in options else wanted.reset_index(drop=True))


@pytest.mark.parametrize("kind", ["csv", "table", "fwf", "json", "parquet", "feather", "orc"])
def test_buffers(tmp_path, kind):
    """Each reader takes an open file, or what was in one."""
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    path = tmp_path / "x"
    write = {
        "table": lambda: frame.to_csv(path, sep="\t", index=False),
        "fwf": lambda: path.write_text(frame.to_string(index=False)),
        "csv": lambda: frame.to_csv(path, index=False),
    }
    write.get(kind, lambda: getattr(frame, f"to_{kind}")(path))()
    read = getattr(md, f"read_{kind}")
    equal(read(io.BytesIO(path.read_bytes())), frame)
    with open(path, "rb") as file:
        equal(read(file), frame)
    if kind in ("csv", "table", "fwf", "json"):
        equal(read(io.StringIO(path.read_text())), frame)


@pytest.mark.parametrize("usecols", [[], (), lambda name: False])
def test_no_columns(tmp_path, usecols):
    """Of no columns pandas reads no rows."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    equal(md.read_csv(path, usecols=usecols), pd.read_csv(path, usecols=usecols))
