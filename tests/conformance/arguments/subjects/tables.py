"""Functions of frames, and readers of files."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

import marsdask.dataframe as md
from tests.conformance.arguments.case import Case
from tests.conformance.arguments.subjects.frames import FRAME
from tests.conformance.arguments.subjects.tensors import common

LEFT = pd.DataFrame({"k": [1, 2, 4, 4], "a": [1.0, 2.0, 3.0, 4.0], "j": list("xyxy")})
RIGHT = pd.DataFrame({"k": [1, 4, 5], "a": [7.0, 8.0, 9.0], "j": list("yxx")})
WIDE = pd.DataFrame({"A1970": [1, 2], "A1980": [3, 4], "X": [0.5, 1.5], "id": [0, 1]})
LONG = pd.DataFrame(
    {"r": list("xxyy"), "c": list("abab"), "v": [1.0, 2.0, 3.0, None], "w": range(4)}
)
KINDS = pd.DataFrame(
    {"k": pd.Categorical(["u", None, "v"], list("uvw")), "s": list("xyx"), "n": [1, 2, 3]}
)

#: The arguments that functions need.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "array": ([1, 2],),
    "bdate_range": ("2024-01-01", "2024-01-10"),
    "date_range": ("2024-01-01", "2024-01-04"),
    "concat": ([LEFT, RIGHT],),
    "crosstab": (LONG["r"], LONG["c"]),
    "cut": (LEFT["a"], 2),
    "qcut": (LEFT["a"], 2),
    "eval": ("1 + 2",),
    "factorize": (LEFT["j"],),
    "from_dummies": (pd.DataFrame({"x_a": [1, 0], "x_b": [0, 1], "y_c": [1, 1]}),),
    "get_dummies": (KINDS,),
    "infer_freq": (pd.date_range("2024-01-01", periods=4),),
    "interval_range": (0, 4),
    "isna": (FRAME,),
    "isnull": (FRAME,),
    "notna": (FRAME,),
    "notnull": (FRAME,),
    "json_normalize": ([{"a": 1, "b": {"c": 2, "d": {"e": 3}}}],),
    "lreshape": (WIDE, {"A": ["A1970", "A1980"]}),
    "melt": (LEFT,),
    "merge": (LEFT, RIGHT),
    "merge_asof": (LEFT, RIGHT),
    "merge_ordered": (LEFT, RIGHT),
    "period_range": ("2024-01", "2024-04"),
    "pivot": (LONG,),
    "pivot_table": (LONG,),
    "timedelta_range": ("1 day", "4 days"),
    "to_datetime": (pd.Series(["2024-03-01", "2024-02-01", None]),),
    "to_numeric": (pd.Series(["1", "2.5", None]),),
    "to_timedelta": (pd.Series([1, 2]),),
    "unique": (LEFT["j"],),
    "wide_to_long": (WIDE, "A", "id", "year"),
}
KEYWORDS: dict[str, dict[str, Any]] = {
    "from_dummies": {"sep": "_"},
    "date_range": {"freq": "D"},
    "bdate_range": {"freq": "B"},
    "merge": {"on": "k"},
    "merge_asof": {"on": "k"},
    "merge_ordered": {"on": "k"},
    "pivot": {"index": "r", "columns": "c", "values": "w"},
    "pivot_table": {"index": "r", "columns": "c", "values": "v"},
}
LEFT_OUT = {
    *("describe_option", "get_option", "option_context", "reset_option", "set_option"),
    *("read_clipboard", "read_excel", "read_hdf", "read_html", "read_pickle", "read_sas"),
    *("read_spss", "read_stata", "read_xml", "array"),
}
FROM_FILES = {
    *("read_csv", "read_table", "read_fwf", "read_json", "read_parquet", "read_orc"),
    *("read_feather", "read_sql", "read_sql_query", "read_sql_table"),
}
TEXT = 'a,b,when,a.1\n1,x,2024-02-01,1.5\n2,NA,2024-01-03,\n3,z,2024-03-01,"1,000"\n'
ROWS = pd.DataFrame({"a": [1, 2, 3], "b": [1.5, None, 2.5], "s": ["x", "y", None]})


def _made_lazy(value: Any) -> Any:
    if isinstance(value, pd.DataFrame):
        return md.DataFrame(value)
    if isinstance(value, pd.Series):
        return md.Series(value)
    return [_made_lazy(item) for item in value] if isinstance(value, list) else value


def functions() -> list[Case]:
    """Return the functions of frames that pandas has."""
    cases: list[Case] = []
    for name in common(pd, md, LEFT_OUT | FROM_FILES):
        ours = getattr(md, name)

        def own(*args: Any, ours: Any = ours, **how: Any) -> Any:
            return ours(*map(_made_lazy, args), **how)

        theirs = getattr(pd, name)
        args, needed = FUNCTIONS.get(name, ()), KEYWORDS.get(name, {})
        cases.append(Case(f"pd.{name}", theirs, own, theirs, args, needed))
    return cases


@functools.cache
def _folder() -> Path:
    """Return a folder of files, which is there as long as the process is."""
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    path = Path(folder.name)
    (path / "rows.csv").write_text(TEXT)
    (path / "rows.tsv").write_text(TEXT.replace("1,000", "1 000").replace(",", "\t"))
    (path / "rows.fwf").write_text("a   b    s\n1   1.5  x\n22  NA   y\n3   2.5  z\n")
    ROWS.to_json(path / "rows.json", orient="records", lines=True)
    ROWS.to_parquet(path / "rows.parquet")
    ROWS.to_feather(path / "rows.feather")
    ROWS.to_orc(path / "rows.orc")
    return path


_KEPT: list[Any] = []


def readers() -> list[Case]:
    """Return the readers of files."""
    files = {
        "read_csv": ("rows.csv", {}),
        "read_table": ("rows.tsv", {}),
        "read_fwf": ("rows.fwf", {}),
        "read_json": ("rows.json", {"lines": True}),
        "read_parquet": ("rows.parquet", {}),
        "read_orc": ("rows.orc", {}),
        "read_feather": ("rows.feather", {}),
    }
    folder = _folder()
    return [
        Case(
            f"pd.{name}",
            getattr(pd, name),
            getattr(md, name),
            getattr(pd, name),
            (str(folder / file),),
            needed,
        )
        for name, (file, needed) in files.items()
    ]
