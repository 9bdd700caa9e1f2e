"""Calls of what columns and frames hand out: accessors, groups and windows; and of frames.

A call takes a column of :mod:`.chunk_calls`, and a value that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tests.conformance.chunk_calls import COLUMNS, Call

KEYS = [0, 1, 0, 1, 1, 0]
OTHERS = [1.5, None, 2, None, 3, 4]
TEXTS = ("texts", "strings", "object texts", "objects", "categories")
TIMES = ("times", "zoned", "durations", "periods")
NUMBERS = (
    *("ints", "small ints", "floats", "short floats", "bools", "object numbers"),
    *("masked ints", "masked floats"),
)


class MethodTable(NamedTuple):
    """What is handed out, the kinds of columns that have it, and arguments of its methods."""

    part: Callable[[Any], Any]
    kinds: tuple[str, ...]
    methods: dict[str, tuple[Any, ...]]


def _names(text: str) -> dict[str, tuple[Any, ...]]:
    return dict.fromkeys(text.split(), ())


def frame(s: Any) -> Any:
    """Return a frame of a column, of keys, and of numbers with gaps."""
    return s.to_frame("n").assign(m=OTHERS, k=KEYS)


STATISTICS = "sum mean min max var std count median skew kurt sem rank first last nunique"
OF_GROUPS = {
    **_names(
        "all any bfill count cumcount cummax cummin cumprod cumsum describe diff ffill first head "
        "idxmax idxmin last max mean median min ngroup nlargest nsmallest nunique pct_change prod "
        "rank sem shift size std sum tail unique value_counts var"
    )
}
OF_ALL_GROUPS = {
    name: args for name, args in OF_GROUPS.items() if name not in {"nlargest", "nsmallest"}
}
PARTS: dict[str, MethodTable] = {
    "str": MethodTable(
        lambda s: s.str,
        TEXTS,
        {
            **_names(
                "capitalize casefold isalnum isalpha isascii isdecimal isdigit islower isnumeric "
                "isspace istitle isupper len lower lstrip rstrip strip swapcase title upper split "
                "rsplit get_dummies cat"
            ),
            **dict.fromkeys(
                (
                    *("contains", "count", "endswith", "startswith", "find", "rfind", "findall"),
                    *("fullmatch", "match", "partition", "rpartition", "removeprefix"),
                    *("removesuffix", "join"),
                ),
                ("b",),
            ),
            **dict.fromkeys(("pad", "center", "ljust", "rjust", "zfill", "repeat", "wrap"), (3,)),
            "get": (0,),
            "replace": ("b", "x"),
            "slice": (0, 1),
            "slice_replace": (0, 1, "z"),
            "normalize": ("NFC",),
            "encode": ("utf8",),
            "translate": ({98: "q"},),
            "extract": ("(b)",),
            "extractall": ("(b)",),
            "index": ("",),
            "rindex": ("",),
        },
    ),
    "dt": MethodTable(
        lambda s: s.dt,
        TIMES,
        {
            **_names(
                "year month day hour minute second dayofweek dayofyear quarter is_leap_year date "
                "is_month_end time timetz days_in_month microsecond nanosecond day_name month_name "
                "normalize isocalendar total_seconds days seconds components to_pytimedelta "
                "start_time end_time qyear to_timestamp"
            ),
            "floor": ("D",),
            "ceil": ("D",),
            "round": ("h",),
            "strftime": ("%Y",),
            "to_period": ("M",),
            "tz_localize": ("UTC",),
            "tz_convert": ("UTC",),
            "as_unit": ("s",),
            "asfreq": ("D",),
        },
    ),
    "cat": MethodTable(
        lambda s: s.cat,
        ("categories", "ordered"),
        {
            **_names("codes categories ordered as_ordered as_unordered remove_unused_categories"),
            "add_categories": ("z",),
            "remove_categories": ("b",),
            "rename_categories": ({"a": "q"},),
            "reorder_categories": (["a", "b", "c"],),
            "set_categories": (["b", "x"],),
        },
    ),
    "rolling": MethodTable(lambda s: s.rolling(3, min_periods=1), NUMBERS, _names(STATISTICS)),
    "centered": MethodTable(lambda s: s.rolling(3, center=True), NUMBERS, _names(STATISTICS)),
    "expanding": MethodTable(lambda s: s.expanding(), NUMBERS, _names(STATISTICS)),
    "ewm": MethodTable(lambda s: s.ewm(com=1), NUMBERS, _names("mean var std sum")),
    "groups of a column": MethodTable(lambda s: s.groupby(KEYS), (*COLUMNS,), OF_GROUPS),
    "groups": MethodTable(lambda s: frame(s).groupby("k"), (*COLUMNS,), OF_ALL_GROUPS),
    "groups by it": MethodTable(
        lambda s: frame(s).groupby("n", observed=True).m, (*COLUMNS,), OF_GROUPS
    ),
    "frame": MethodTable(
        frame,
        (*COLUMNS,),
        {
            **_names(
                "count nunique mode isna idxmax drop_duplicates duplicated stack reset_index min "
                "max describe sum mean cumsum cummax ffill bfill diff rank transpose dropna any "
                "all convert_dtypes infer_objects first_valid_index last_valid_index abs round"
            ),
            "shift": (1,),
            "fillna": (0,),
            "nlargest": (2, "m"),
            "sort_values": ("m",),
            "set_index": ("n",),
            "explode": ("n",),
            "astype": (str,),
            "melt": ("k",),
            "isin": ([1],),
            "replace": (1, 2),
            "reindex": (["p", "none"],),
            "map": (lambda x: x,),
            "pivot_table": ("m", "n"),
            "agg": (["min", "max"],),
        },
    ),
    "two frames": MethodTable(
        lambda s: (frame(s), frame(s).shift(1), frame(s).iloc[2:4]),
        (*COLUMNS,),
        _names("merge outer compare combine_first"),
    ),
}
#: Calls that differ from pandas in one chunk too, and how.
NOT_PANDAS: dict[tuple[str, str], str] = {
    ("groups of a column", "skew"): "objects are refused",
    ("groups", "skew"): "objects are refused",
    ("frame", "agg"): "types of several statistics",
}
OF_TWO: dict[str, Call] = {
    "merge": lambda two, _: two[0].merge(two[0], on="n", how="left"),
    "outer": lambda two, _: two[0].merge(two[2], on="n", how="outer"),
    "compare": lambda two, _: two[0].compare(two[1], keep_shape=True),
    "combine_first": lambda two, _: two[0].combine_first(two[0]),
}


def call_of(of: str, name: str) -> Call:
    """Return the call of a method of a part."""
    return partial(_called, of, name)


def _called(of: str, name: str, s: Any, v: Any) -> Any:
    part = PARTS[of].part(s)
    if name in OF_TWO and of == "two frames":
        return OF_TWO[name](part, v)
    found = getattr(part, name)
    return found(*PARTS[of].methods[name]) if callable(found) else found
