"""Options: Mars's names, and Dask's for equal options."""

from __future__ import annotations

import ast
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Final, NoReturn

from dask.utils import parse_bytes

from marsdask.scheduler.errors import MarsdaskError, did_you_mean


class OptionError(MarsdaskError, AttributeError, KeyError):
    """No option has the name; the message suggests similar ones."""

    __str__ = Exception.__str__


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its default, its valid values, and what it does."""

    default: Any
    accepts: Callable[[Any], bool]
    wants: str
    about: str


#: The least bytes of a limit of memory or disk: below it no plan could hold a block.
LEAST = 2**12


def _one_of(*values: Any) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        return any(type(value) is type(item) and value == item for item in values)

    return accepts


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) > 0


def _is_count_or_none(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and value > 0 and math.isfinite(value)


def _is_limit(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value is None or (_is_bytes(value) and parse_bytes(value) >= LEAST)
    return _is_number(value) and value >= LEAST and value == int(value)


def _is_memory(value: Any) -> bool:
    return _is_limit(value) or (isinstance(value, float) and 0 < value <= 1)


def _is_dirs(value: Any) -> bool:
    several = value if isinstance(value, list | tuple) else [value]
    return value is None or all(map(_is_dir, several))


def _is_dir(value: Any) -> bool:
    if not isinstance(value, str | os.PathLike) or not str(value):
        return False
    return os.path.isdir(value) or not os.path.exists(value)


def _is_bytes(value: str) -> bool:
    try:  # a unit without a number is one of it for Dask
        return any(map(str.isdigit, value)) and int(parse_bytes(value)) > 0
    except (ValueError, OverflowError):
        return False


def _is_chunk_size(value: Any) -> bool:
    """Validate chunks for all tensors; those that depend on a shape are checked later."""
    if isinstance(value, Mapping | tuple | list):
        items = value.values() if isinstance(value, Mapping) else value
        return len(items) > 0 and all(map(_is_chunk_size, items))
    if isinstance(value, str) and value != "auto":
        return _is_bytes(value)
    if value is None or isinstance(value, str):
        return True
    # NumPy's integers are not instances of int.
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    return is_integer and (value > 0 or value == -1)


_OPTIONS: dict[str, Option] = {
    "chunk_size": Option(
        None,
        _is_chunk_size,
        "an int, a tuple of ints, '16MiB', 'auto' or -1",
        "The length of chunks where a call does not say it.",
    ),
    "chunk_store_limit": Option(
        128 * 2**20,
        _is_number,
        "a number of bytes",
        "The bytes of a chunk whose length nothing else tells.",
    ),
    "coalesce": Option(
        True, _is_bool, "a bool", "Whether small chunks are merged, so that fewer tasks run."
    ),
    "split_every": Option(
        8, _is_count, "a positive int", "How many partial results one task of a reduction combines."
    ),
    "eager_mode": Option(
        False, _is_bool, "a bool", "Whether what a call returns is executed at once."
    ),
    "memory_limit": Option(
        None,
        _is_memory,
        "a number of bytes, a share such as 0.5, a string such as '4GiB', or None",
        "The memory of new sessions; by default 60 % of the container's limit or of the RAM.",
    ),
    "learn.assume_finite": Option(
        None,
        lambda value: value is None or _is_bool(value),
        "a bool or None",
        "Whether assert_all_finite() looks at no values.",
    ),
    "mars_results": Option(
        False,
        _is_bool,
        "a bool",
        "Whether estimators give executed tensors as Mars does, for arrays in memory, too.",
    ),
    "python_scalars": Option(
        False,
        _is_bool,
        "a bool",
        "Whether values without axes are Python's numbers, as Mars's, and not NumPy's.",
    ),
    "show_progress": Option(
        "auto",
        _one_of(True, False, "auto"),
        "True, False or 'auto'",
        "Whether progress is shown: 'auto' in terminals and notebooks.",
    ),
    "progress_update_interval": Option(
        1.0, _is_number, "seconds", "The seconds between two updates of the progress."
    ),
    "spill_dirs": Option(
        None,
        _is_dirs,
        "a directory, a list of them, or None",
        "Where results go that exceed memory; by default the system's temporary directory.",
    ),
    "spill_limit": Option(
        None,
        _is_limit,
        "a number of bytes, a string such as '10GiB', or None",
        "The disk space for spilled results; a tenth of each disk stays free.",
    ),
    "n_workers": Option(
        None,
        _is_count_or_none,
        "a positive int",
        "The threads or processes of new sessions; by default as many as cores.",
    ),
    "rechunk.threshold": Option(
        4,
        _is_number,
        "a number",
        "How many times as many pieces as chunks let rechunk() take a step between.",
    ),
    "dataframe.kernels": Option(
        "auto",
        _one_of("auto", "pandas", "polars", "duckdb"),
        "'auto', 'pandas', 'polars' or 'duckdb'",
        "What runs operations of frames: 'auto' chooses by size.",
    ),
    "dataframe.whole": Option(
        "warn",
        _one_of("warn", "allow", "error"),
        "'warn', 'allow' or 'error'",
        "Whether pandas computes from all rows at once what has no way by chunks.",
    ),
    "dataframe.use_arrow_dtype": Option(
        None,
        _one_of(True, False, None),
        "True, False or None",
        "Whether texts of files have Arrow's type in programs of Mars (see marsdask.compat).",
    ),
    "verify": Option(
        False,
        _is_bool,
        "a bool",
        "Whether graphs are checked before they run, for developers of marsdask.",
    ),
}

#: Options of Mars that have no effect here, and their defaults: to set one warns.
_OF_MARS: dict[str, Any] = {
    "bincount.chunk_size_limit": 10**8,
    "check_interval": 20,
    "client.serial_type": "arrow",
    "custom_log_dir": None,
    "dataframe.arrow_array.pandas_only": None,
    "dataframe.mode.use_inf_as_na": False,
    "deploy.open_browser": True,
    "kv_store": ":inproc:",
    "learn.working_memory": None,
    "optimize.head_optimize_threshold": 1000,
    "optimize_tileable_graph": True,
    "rechunk.chunk_size_limit": 10**8,
    "serialize_method": "pickle",
    "tcp_timeout": 30,
    "verbose": False,
    "vineyard.enabled": False,
    "vineyard.socket": None,
    "warn_duplicated_execution": False,
}

#: Other names of the same options.
_ALIASES = {
    "combine_size": "split_every",
    "tensor.chunk_size": "chunk_size",
    "tensor.chunk_store_limit": "chunk_store_limit",
    "tensor.combine_size": "split_every",
    "tensor.rechunk.chunk_size_limit": "rechunk.chunk_size_limit",
    "tensor.rechunk.threshold": "rechunk.threshold",
    "array.chunk_size": "chunk_store_limit",
}


def _at_start(name: str, option: Option) -> Any:
    """Return the value of an option that the environment sets, else its default."""
    variable = f"MARSDASK_{name.upper().replace('.', '__')}"
    text = os.environ.get(variable)
    if not text:
        return option.default
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        value = text
    if isinstance(option.default, bool):
        value = {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), value)
    if not option.accepts(value):
        raise ValueError(f"invalid value for {variable}: {text!r}; give {option.wants}")
    return value


_defaults: dict[str, Any] = {name: _at_start(name, _OPTIONS[name]) for name in _OPTIONS} | _OF_MARS
_overrides: ContextVar[Mapping[str, Any]] = ContextVar(
    "marsdask_options", default=MappingProxyType({})
)


def _canonical(name: str) -> str:
    name = _ALIASES.get(name, name)
    if name not in _defaults:
        raise OptionError(f"no such option: {name!r}{did_you_mean(name, [*_OPTIONS, *_ALIASES])}")
    return name


def _checked(name: str, value: Any) -> Any:
    if name in _OF_MARS:
        words = f"options.{name} has no effect: it is an option of Mars"
        warnings.warn(words, DeprecationWarning, stacklevel=4)
        return value
    option = _OPTIONS[name]
    if not option.accepts(value):
        raise ValueError(f"invalid value for option {name}: {value!r}; give {option.wants}")
    return value


def _by_canonical_name(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(_canonical(name), value) for name, value in values.items()]


def get_option(name: str) -> Any:
    """Return the current value of an option.

    Parameters
    ----------
    name : str
        The name, or Mars's name of it: ``"chunk_size"`` or ``"tensor.chunk_size"``.

    Returns
    -------
    object
        The value of the innermost :func:`option_context`, else the global value.

    Raises
    ------
    OptionError
        If there is no such option; the message suggests similar names.

    Examples
    --------
    >>> import marsdask
    >>> marsdask.get_option("coalesce")
    True
    """
    name = _canonical(name)
    overrides = _overrides.get()
    return overrides[name] if name in overrides else _defaults[name]


def set_option(name: str, value: Any) -> None:
    """Set an option globally, for every thread.

    Parameters
    ----------
    name : str
        The name of the option.
    value : object
        The new value.

    Raises
    ------
    OptionError
        If there is no such option; the message suggests similar names.
    ValueError
        If the option does not accept the value.

    Examples
    --------
    >>> import marsdask
    >>> marsdask.set_option("coalesce", True)
    """
    name = _canonical(name)
    _defaults[name] = _checked(name, value)


def describe_option(pat: str = "", _print_desc: bool = True) -> str | None:
    """Print what the options do whose names contain a text.

    Parameters
    ----------
    pat : str
        A part of the names, by default of all.
    _print_desc : bool
        Whether to print the text rather than return it, as in pandas.

    Returns
    -------
    str, optional
        The text with ``_print_desc=False``.

    Raises
    ------
    OptionError
        If no name contains the text.

    Examples
    --------
    >>> import marsdask
    >>> marsdask.describe_option("coalesce")
    coalesce : a bool
        Whether small chunks are merged, so that fewer tasks run.
        [default: True] [currently: True]
    """
    names = [name for name in _OPTIONS if pat in name] or [_canonical(pat)]
    text = "\n".join(map(_description, names))
    if not _print_desc:
        return text
    print(text)  # noqa: T201 - that is what it does
    return None


def _description(name: str) -> str:
    if name in _OF_MARS:
        return f"{name}\n    An option of Mars without effect."
    option = _OPTIONS[name]
    values = f"[default: {option.default!r}] [currently: {get_option(name)!r}]"
    return f"{name} : {option.wants}\n    {option.about}\n    {values}"


class Options:
    """Attribute access to the options, such as ``options.chunk_size = 1000``.

    Dotted names work too: ``options.rechunk.threshold``.

    Parameters
    ----------
    prefix : str
        The beginning of the dotted names, with the dot.

    Examples
    --------
    >>> import marsdask
    >>> marsdask.options.rechunk.threshold
    4
    """

    __slots__ = ("_prefix",)

    def __init__(self, prefix: str = "") -> None:
        object.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        full = self._prefix + name
        if full in _defaults or full in _ALIASES:
            return get_option(full)
        if any(option.startswith(f"{full}.") for option in (*_defaults, *_ALIASES)):
            return type(self)(f"{full}.")
        return get_option(full)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._prefix,)

    def __setattr__(self, name: str, value: Any) -> None:
        set_option(self._prefix + name, value)

    def __repr__(self) -> str:
        names = [name for name in _OPTIONS if name.startswith(self._prefix)]
        width = max(map(len, names), default=0)
        return "\n".join(f"{name:{width}}  {get_option(name)!r}" for name in names)

    def __dir__(self) -> list[str]:
        names = [name for name in _OPTIONS if name.startswith(self._prefix)]
        return sorted({name[len(self._prefix) :].partition(".")[0] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Return the current values of all options.

        Returns
        -------
        dict
            The values by the options' names.

        Examples
        --------
        >>> marsdask.options.to_dict()["eager_mode"]
        False
        """
        return {name: get_option(name) for name in _OPTIONS}

    def update(self, new_config: Mapping[str, Any] | Options) -> None:
        """Set several options globally.

        Parameters
        ----------
        new_config : mapping or Options
            The new values by the options' names.

        Raises
        ------
        OptionError
            If there is no such option; none is set then.
        ValueError
            If an option does not accept its value.

        Examples
        --------
        >>> marsdask.options.update({"eager_mode": False})
        """
        values = new_config.to_dict() if isinstance(new_config, Options) else new_config
        settings = {name: _checked(name, value) for name, value in _by_canonical_name(values)}
        _defaults.update(settings)

    def copy(self) -> NoReturn:
        """Raise: there is one set of options; ``to_dict()`` has their values.

        Raises
        ------
        NotImplementedError
            Always.

        Examples
        --------
        >>> saved = marsdask.options.to_dict()  # instead
        """
        raise NotImplementedError(
            "options cannot be copied: use options.to_dict(), and option_context(values)"
        )

    def register_option(
        self, option: str, value: Any, validator: Callable[[Any], bool] | None = None, **_: Any
    ) -> None:
        """Add an option of your own.

        Parameters
        ----------
        option : str
            Its name; dots make groups.
        value : object
            The default.
        validator : callable, optional
            Tells whether a value is valid.

        Raises
        ------
        OptionError
            If there is such an option.

        Examples
        --------
        >>> marsdask.options.register_option("mine.depth", 3)
        >>> marsdask.options.mine.depth
        3
        >>> marsdask.options.unregister_option("mine.depth")
        """
        if option in _defaults or option in _ALIASES:
            raise OptionError(f"there is an option {option!r} already")
        wants, about = "what its validator accepts", "An option of the program."
        _OPTIONS[option] = Option(value, validator or (lambda _: True), wants, about)
        _defaults[option] = _checked(option, value)
        _registered.add(option)

    def unregister_option(self, option: str) -> None:
        """Remove an option that ``register_option`` or ``redirect_option`` has added.

        Parameters
        ----------
        option : str
            Its name.

        Raises
        ------
        OptionError
            If there is no such option of your own.

        Examples
        --------
        >>> marsdask.options.register_option("mine.depth", 3)
        >>> marsdask.options.unregister_option("mine.depth")
        """
        if option not in _registered:
            raise OptionError(f"no such option of your own: {option!r}")
        _registered.discard(option)
        for names in (_OPTIONS, _defaults, _ALIASES):
            names.pop(option, None)

    def redirect_option(self, option: str, target: str, **_: Any) -> None:
        """Let a name mean another option.

        Parameters
        ----------
        option : str
            The new name.
        target : str
            The name of the option.

        Raises
        ------
        OptionError
            If there is an option of the new name, or none of the other.

        Examples
        --------
        >>> marsdask.options.redirect_option("eager", "eager_mode")
        >>> marsdask.options.eager
        False
        >>> marsdask.options.unregister_option("eager")
        """
        if option in _defaults or option in _ALIASES:
            raise OptionError(f"there is an option {option!r} already")
        _ALIASES[option] = _canonical(target)
        _registered.add(option)

    #: Options are sent to workers as they are.
    get_serializable = to_dict
    fill_serialized = update


class ContextOptions(Options):
    """The options in the block of an ``option_context``: what is set is so until its end.

    Parameters
    ----------
    prefix : str
        The beginning of the dotted names, with the dot.

    Examples
    --------
    >>> import marsdask
    >>> with marsdask.option_context() as context:
    ...     context.chunk_size = 1000
    >>> marsdask.options.chunk_size
    """

    __slots__ = ("_added",)

    def __init__(self, prefix: str = "") -> None:
        super().__init__(prefix)
        object.__setattr__(self, "_added", set())

    def __setattr__(self, name: str, value: Any) -> None:
        self.update({self._prefix + name: value})

    def update(self, new_config: Mapping[str, Any] | Options) -> None:
        """Set several options until the end of the block; see :meth:`Options.update`."""
        values = new_config.to_dict() if isinstance(new_config, Options) else new_config
        settings = {name: _checked(name, value) for name, value in _by_canonical_name(values)}
        _overrides.set({**_overrides.get(), **settings})

    def register_option(self, option: str, value: Any, *args: Any, **kwargs: Any) -> None:
        """Add an option until the end of the block; see :meth:`Options.register_option`."""
        super().register_option(option, value, *args, **kwargs)
        self._added.add(option)

    def end(self) -> None:
        """Remove the options that were added."""
        for name in self._added & _registered:
            self.unregister_option(name)


#: The options that programs have added.
_registered: set[str] = set()

options: Final = Options()


@contextmanager
def option_context(
    values: Mapping[str, Any] | str | None = None, *others: Any
) -> Iterator[Options]:
    """Set options for a block, only in this thread and its context variables.

    Parameters
    ----------
    values : mapping or str, optional
        The new values by the options' names; or the first name.
    *others : object
        As in pandas: the value of the first name, and more names and values in turn.

    Yields
    ------
    Options
        The options. What is set by them, or registered, is so until the end of the block.

    Raises
    ------
    OptionError
        If there is no such option; the message suggests similar names.
    ValueError
        If an option does not accept its value.

    Examples
    --------
    >>> import marsdask
    >>> with marsdask.option_context({"chunk_size": 1000}) as options:
    ...     print(options.chunk_size)
    1000
    """
    if isinstance(values, str):
        names, new = (values, *others[1::2]), others[::2]
        if len(names) != len(new):
            raise ValueError("Provide an even amount of arguments as name, value, name, value...")
        values = dict(zip(names, new, strict=True))
    elif others:
        raise TypeError("option_context() takes a mapping, or names and values in turn")
    context = ContextOptions()
    reset = _overrides.set(_overrides.get())
    try:
        context.update(values or {})
        yield context
    finally:
        _overrides.reset(reset)
        context.end()
