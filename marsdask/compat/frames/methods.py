"""Methods and functions of Mars's frames that neither pandas nor marsdask has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import marsdask.dataframe as md
from marsdask.core.arguments import with_values
from marsdask.dataframe.accessors.accessor import Accessor
from marsdask.dataframe.keyed.groupby import GroupBy
from marsdask.dataframe.whole.origin import Origin, origin_of
from marsdask.session import ensure_session

from .calls import cartesian_chunk

_VINEYARD: Final = "vineyard is not supported; use to_parquet() and read_parquet()"
_RAY: Final = "Ray is not supported; use to_parquet() and read_parquet()"


def dataframe_from_tensor(
    tensor: Any, index: Any = None, columns: Any = None, gpu: Any = None, sparse: bool = False
) -> md.DataFrame:
    """Return a frame of a tensor of one or two axes."""
    _check_memory(gpu, sparse)
    return md.DataFrame(tensor, index=index, columns=columns)


def series_from_tensor(
    tensor: Any,
    index: Any = None,
    name: Any = None,
    dtype: Any = None,
    gpu: Any = None,
    sparse: bool = False,
) -> md.Series:
    """Return a series of a tensor of one axis."""
    _check_memory(gpu, sparse)
    return md.Series(tensor, index=index, name=name, dtype=dtype)


def series_from_index(ind: Any, index: Any = None, name: Any = None) -> md.Series:
    """Return the labels as a series, of themselves or of ``index``."""
    series: md.Series = ind.to_series(index=index, name=name)
    return series


def _check_memory(gpu: Any, sparse: bool) -> None:
    if gpu or sparse:
        raise NotImplementedError("frames in a GPU or sparse are not supported; leave it out")


def from_vineyard(*args: Any, **options: Any) -> NoReturn:
    """Raise: vineyard is not supported."""
    raise NotImplementedError(_VINEYARD)


def to_vineyard(*args: Any, **options: Any) -> NoReturn:
    """Raise: vineyard is not supported."""
    raise NotImplementedError(_VINEYARD)


def read_ray_dataset(*args: Any, **options: Any) -> NoReturn:
    """Raise: Ray is not supported."""
    raise NotImplementedError(_RAY)


read_raydataset = read_ray_mldataset = to_ray_dataset = to_ray_mldataset = read_ray_dataset


def to_gpu(*args: Any, **options: Any) -> NoReturn:
    """Raise: there are no frames in a GPU."""
    raise NotImplementedError("frames in a GPU are not supported; use to_cudf of a Dask frame")


def fetch_log(*args: Any, **options: Any) -> NoReturn:
    """Raise: frames run in tasks, whose output is that of their process."""
    raise NotImplementedError(
        "frames have no log: what tasks print goes to the output of the process that runs them; "
        "logs are kept of functions of marsdask.remote"
    )


def fetch_infos(frame: Any, fields: Any = None, session: Any = None, **_: Any) -> dict[str, Any]:
    """Return facts about the chunks of an executed frame."""
    infos: list[dict[str, Any]] = ensure_session(session or frame._session).fetch_infos(
        frame, fields=fields
    )
    return infos[0]


def check_monotonic(values: Any, decreasing: bool = False, strict: bool = False) -> Any:
    """Return whether values never fall (or never rise); ``strict``, whether none repeats."""
    is_monotonic = values.is_monotonic_decreasing if decreasing else values.is_monotonic_increasing
    return is_monotonic & values.is_unique if strict else is_monotonic


def aggregate_index(index: Any, func: Any = None, axis: Any = 0, **options: Any) -> Any:
    """Aggregate labels as a series of them."""
    return index.to_series().agg(func, axis=axis, **options)


def _frame_from_tensor(frame: Any, in_tensor: Any, index: Any = None, columns: Any = None) -> Any:
    return type(frame)(in_tensor, index=index, columns=columns)


def _series_from_tensor(series: Any, in_tensor: Any, index: Any = None, name: Any = None) -> Any:
    return type(series)(in_tensor, index=index, name=name)


def text_of_groups(groups: Any) -> str:
    """Return what groups are of, and by what."""
    kind = "DataFrame" if isinstance(groups._source, md.DataFrame) else "Series"
    return f"{kind}GroupBy <by=[{', '.join(map(repr, groups._names))}]>"


def execute_groups(groups: Any, session: Any = None, **options: Any) -> Any:
    """Execute the rows that are grouped, and return the groups."""
    del options
    origin = origin_of(groups)
    if origin is None:
        raise NotImplementedError("execute() of these groups is not supported; execute the rows")
    origin.source.execute(session)
    return groups


def fetch_groups(groups: Any, session: Any = None, **options: Any) -> Any:
    """Return the groups of pandas, with all rows."""
    del options
    origin = origin_of(execute_groups(groups, session))
    assert origin is not None
    source, accesses = with_values(origin)
    return Origin(source, accesses).result()


def join_texts(
    accessor: Any, others: Any = None, sep: Any = None, na_rep: Any = None, join: str = "left"
) -> Any:
    """Return the texts of rows behind each other, lazily where that is one text."""
    found = accessor._attribute("cat")(others, sep=sep, na_rep=na_rep, join=join)
    return md.Series([found]).iloc[0] if isinstance(found, str) else found


def _kurtosis(groups: Any, **options: Any) -> Any:
    return groups.kurt(**options)


_COMMON: Final[dict[str, Callable[..., Any]]] = {
    "cartesian_chunk": cartesian_chunk,
    "fetch_log": fetch_log,
    "fetch_infos": fetch_infos,
    "to_gpu": to_gpu,
}

#: By class: the methods that frames get while the alias is installed.
METHODS: Final[dict[type, dict[str, Callable[..., Any]]]] = {
    md.DataFrame: _COMMON | {"from_tensor": _frame_from_tensor, "to_vineyard": to_vineyard},
    md.Series: _COMMON | {"from_tensor": _series_from_tensor, "check_monotonic": check_monotonic},
    md.Index: {
        "agg": aggregate_index,
        "aggregate": aggregate_index,
        "check_monotonic": check_monotonic,
        "fetch_log": fetch_log,
    },
    Accessor: {"cat": join_texts},
    GroupBy: {
        "__repr__": text_of_groups,
        "execute": execute_groups,
        "fetch": fetch_groups,
        "kurtosis": _kurtosis,
    },
}


def offer() -> None:
    """Give the classes what they lack."""
    for kind, methods in METHODS.items():
        for name, method in methods.items():
            if name not in vars(kind):
                setattr(kind, name, method)


def withdraw() -> None:
    """Take it from the classes again."""
    for kind, methods in METHODS.items():
        for name, method in methods.items():
            if vars(kind).get(name) is method:
                delattr(kind, name)
