"""Keywords of frames that pandas has given up, or that are Mars's own."""

from __future__ import annotations

import inspect
from typing import Any, Final

import marsdask.dataframe as md
from marsdask.dataframe.keyed.groupby import GroupBy

from ..keywords import (
    Filled,
    Grouped,
    InSession,
    Keyword,
    LeftOut,
    Named,
    Only,
    Renamed,
    Typed,
    Waits,
    Way,
    taking,
)
from .calls import CALLS

_ANY: Final = (None, True, False, "raise", "ignore")
_ROWS: Final = LeftOut("transpose the frame", (0, None, "index"))
_REDUCTIONS = (
    "all", "any", "count", "kurt", "kurtosis", "max", "mean", "min", "prod", "product", "sem",
    "skew", "std", "sum", "var",
)  # fmt: skip

_ALIGNED: Final[dict[str, Keyword]] = {
    "method": LeftOut("fill afterwards, by ffill() or bfill()"),
    "limit": LeftOut("fill afterwards, by ffill(limit=)"),
    "fill_axis": LeftOut("fill afterwards", (0, None)),
    "broadcast_axis": LeftOut("use reindex()"),
}
_CHOICES: Final[dict[str, Keyword]] = {
    "errors": LeftOut("it had no effect", _ANY),
    "try_cast": LeftOut("it had no effect", _ANY),
}

#: What methods of frames and series took.
_FRAMES: Final[dict[str, dict[str, Keyword]]] = {
    **{name: {"level": Grouped()} for name in _REDUCTIONS},
    "align": _ALIGNED,
    "ffill": {"downcast": LeftOut("use astype()")},
    "bfill": {"downcast": LeftOut("use astype()")},
    "fillna": {"method": Filled(), "downcast": LeftOut("use astype()")},
    "where": _CHOICES,
    "mask": _CHOICES,
    "replace": {
        "method": LeftOut("use mask() and ffill()", (None, "pad")),
        "limit": LeftOut("use mask() and ffill(limit=)"),
    },
    "pct_change": {"limit": LeftOut("fill before, by ffill(limit=)")},
    "rolling": {"axis": _ROWS},
    "ewm": {"axis": _ROWS},
    "expanding": {"axis": _ROWS, "center": LeftOut("it had no effect", (None, False))},
    "set_axis": {"inplace": LeftOut("assign the result", (False, None))},
    "to_csv": {"line_terminator": Renamed("lineterminator")},
}

#: What pandas has given up, by class and method.
_REMOVED: Final[dict[type, dict[str, dict[str, Keyword]]]] = {
    md.DataFrame: _FRAMES,
    md.Series: {
        **_FRAMES,
        "apply": {"convert_dtype": LeftOut("use astype(object)", (True, None))},
        "transform": {"convert_dtype": LeftOut("use astype(object)", (True, None))},
        "map": {"arg": Renamed("func")},
        "rename_axis": {"columns": LeftOut("a series has no columns")},
    },
    md.Index: {"fillna": {"downcast": LeftOut("use astype()")}},
    GroupBy: {name: {"axis": _ROWS} for name in ("cummax", "cummin", "cumprod", "cumsum")},
}

_TREES: Final = Way(("auto", "tree", "shuffle", None))
_ANY_WAY: Final = Way()
_REDUCED: Final[dict[str, Keyword]] = {"combine_size": _ANY_WAY, "method": _TREES}
_MOMENTS: Final[dict[str, Keyword]] = {
    **_REDUCED,
    "bias": Only((False,), "use scipy.stats with bias=True"),
    "fisher": Only((True,), "add 3 to Fisher's kurtosis"),
}
_MEMORY: Final[dict[str, Keyword]] = {
    "gpu": Only((None, False), "frames are in memory of the CPU"),
    "sparse": Only((None, False), "use a sparse tensor"),
}
_IN_BATCHES: Final[dict[str, Keyword]] = {"batch_size": _ANY_WAY, "session": InSession()}
_SORTED: Final[dict[str, Keyword]] = {
    "parallel_kind": Way(("PSRS", "psrs", None)),
    "psrs_kinds": _ANY_WAY,
}
_FETCHED: Final[dict[str, Keyword]] = {
    "batch_size": _ANY_WAY,
    "wait": Waits(),
    "fetch_kwargs": _ANY_WAY,
}

#: How Mars joins; nothing of it changes the rows.
JOINS: Final[dict[str, Keyword]] = {
    "method": Way(("auto", "shuffle", "broadcast", None)),
    "auto_merge": Way(("both", "none", "before", "after")),
    "auto_merge_threshold": _ANY_WAY,
    "bloom_filter": Way((True, False, "auto")),
    "bloom_filter_options": _ANY_WAY,
}

#: What Mars's readers of files take.
READS: Final[dict[str, Keyword]] = {
    **dict.fromkeys(
        (
            *("head_bytes", "head_lines", "incremental_index", "memory_scale"),
            *("merge_small_files", "merge_small_file_options"),
        ),
        _ANY_WAY,
    ),
    "gpu": _MEMORY["gpu"],
}

#: What Mars's readers of queries take.
QUERIES: Final[dict[str, Keyword]] = {
    **dict.fromkeys(("test_rows", "chunk_size", "incremental_index"), _ANY_WAY),
    "engine_kwargs": Only((None, {}), "use an engine of sqlalchemy as con"),
}

#: What Mars's functions take.
FUNCTIONS: Final[dict[str, dict[str, Keyword]]] = {
    "from_records": _MEMORY,
    "merge": JOINS,
    "qcut": {"duplicate": Named("duplicates")},
    "unique": {"method": _TREES},
    "read_csv": READS,
    "read_parquet": READS,
    "read_sql": QUERIES,
    "read_sql_query": QUERIES,
    "read_sql_table": QUERIES,
}

#: What Mars's methods of frames and series take.
_MARS_FRAMES: Final[dict[str, dict[str, Keyword]]] = {
    **dict.fromkeys(_REDUCTIONS, _REDUCED),
    **dict.fromkeys(("kurt", "kurtosis", "skew"), _MOMENTS),
    "__init__": _MEMORY,
    "drop_duplicates": {"method": Way(("auto", "tree", "subset_tree", "shuffle", None))},
    "duplicated": {"method": Way(("auto", "tree", "subset_tree", "shuffle", None))},
    "items": _IN_BATCHES,
    "nunique": _REDUCED,
    "rebalance": {"reassign_worker": _ANY_WAY},
    "rechunk": {"reassign_worker": _ANY_WAY},
    "reindex": {"enable_sparse": Way((True, False, None))},
    "reset_index": {"incremental_index": _ANY_WAY},
    "sample": {"always_multinomial": _ANY_WAY},
    "sort_index": _SORTED,
    "sort_values": _SORTED,
    "fetch": _FETCHED,
    "to_pandas": _FETCHED | {"session": InSession()},
}

#: What is Mars's own, by class and method.
_MARS: Final[dict[type, dict[str, dict[str, Keyword]]]] = {
    md.DataFrame: {
        **_MARS_FRAMES,
        "iterrows": _IN_BATCHES,
        "itertuples": _IN_BATCHES,
        "join": JOINS,
        "merge": JOINS,
    },
    md.Series: {
        **_MARS_FRAMES,
        "map": {"memory_scale": _ANY_WAY},
        "median": {
            "out": Only((None,), "assign the result"),
            "overwrite_input": Way((True, False)),
            "keepdims": Only((False,), "use to_tensor().median()"),
        },
        "to_dict": _IN_BATCHES,
        "to_tensor": {"dtype": Typed()},
        "unique": {"method": _TREES},
        "value_counts": {"method": _TREES},
    },
    md.Index: {
        "__init__": {
            **_MEMORY,
            "names": Named("name"),
            "store_data": Way((True, False)),
        },
        "drop_duplicates": {"method": _TREES},
        "map": {"dtype": Typed(), "memory_scale": _ANY_WAY},
        "rechunk": {"reassign_worker": _ANY_WAY},
        "fetch": _FETCHED,
        "to_pandas": _FETCHED | {"session": InSession()},
        "to_tensor": {
            "dtype": Typed(),
            "extract_multi_index": Only((False,), "use to_frame().to_tensor()"),
        },
        "value_counts": {"method": _TREES},
    },
    GroupBy: {
        **dict.fromkeys(
            (*_REDUCTIONS, "agg", "aggregate", "first", "last", "nunique", "size"), _REDUCED
        ),
        "sample": {"errors": Way(("ignore", "raise"))},
        "transform": {"f": Named("func")},
    },
}

#: By class and method.
KEYWORDS: Final[dict[type, dict[str, dict[str, Keyword]]]] = {
    kind: {
        name: _REMOVED[kind].get(name, {}) | _MARS[kind].get(name, {})
        for name in (*_REMOVED[kind], *(key for key in _MARS[kind] if key not in _REMOVED[kind]))
    }
    for kind in (md.DataFrame, md.Series, md.Index, GroupBy)
}


_REPLACED: dict[tuple[type, str], Any] = {}


def offer() -> None:
    """Let the methods take what they took."""
    for kind in {**KEYWORDS, **CALLS}:
        methods, calls = KEYWORDS.get(kind, {}), CALLS.get(kind, {})
        for name in {**methods, **calls}:
            method = inspect.getattr_static(kind, name, None)
            if (kind, name) in _REPLACED or not inspect.isfunction(method):
                continue
            _REPLACED[kind, name] = vars(kind).get(name)
            if name in calls:
                method = calls[name](method)
            if name in methods:
                method = taking(method, f"{kind.__name__}.{name}", methods[name])
            setattr(kind, name, method)


def withdraw() -> None:
    """Give the classes their methods back."""
    for (kind, name), before in _REPLACED.items():
        if before is None:
            delattr(kind, name)
        else:
            setattr(kind, name, before)
    _REPLACED.clear()
