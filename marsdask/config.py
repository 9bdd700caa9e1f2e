"""Mars's options and Dask's configuration in one module: they have no name in common."""

from dask.config import (
    canonical_name,
    collect,
    config,
    ensure_file,
    expand_environment_variables,
    get,
    merge,
    paths,
    pop,
    refresh,
    rename,
    set,
    update,
    update_defaults,
)

from .core.config import (
    OptionError,
    Options,
    describe_option,
    get_option,
    option_context,
    options,
    set_option,
)

#: What Mars calls the class of the options.
Config = Options

__all__ = [
    "Config",
    "OptionError",
    "Options",
    "canonical_name",
    "collect",
    "config",
    "describe_option",
    "ensure_file",
    "expand_environment_variables",
    "get",
    "get_option",
    "merge",
    "option_context",
    "options",
    "paths",
    "pop",
    "refresh",
    "rename",
    "set",
    "set_option",
    "update",
    "update_defaults",
]
