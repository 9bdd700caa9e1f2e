"""Configuration files (``-f``) of Mars's services, and the meaning of their keys.

A file is YAML. ``"@inherits"`` names its base file (relative to its own folder), and
``"@overriding_fields"`` the keys whose values replace the inherited ones instead of joining them.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import yaml
from dask import config
from dask.utils import parse_timedelta

from ..errors import did_you_mean
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: Keys that are options of the command line: {key: attribute}.
OPTIONS = {
    "web.host": "web_host",
    "web.port": "web_port",
    "storage.disk.root_dirs": "spill_dir",
    "storage.filesystem.root_dirs": "spill_dir",
    "storage.plasma.store_memory": "cache_mem",
    "storage.shared_memory.store_memory": "cache_mem",
    "storage.plasma.plasma_directory": "plasma_dir",
}

#: Keys that distributed has too: {key: key of distributed's configuration}.
DASK: dict[str, str] = {
    "cluster.node_timeout": "distributed.scheduler.worker-ttl",
    **{
        f"scheduling.autoscale.{name}": f"marsdask.autoscale.{name.replace('_', '-')}"
        for name in (
            "enabled",
            "min_workers",
            "max_workers",
            "scheduler_backlog_timeout",
            "worker_idle_timeout",
        )
    },
}

#: Options that may be lists, and keys that are times.
_SEVERAL = ("spill_dir", "plasma_dir")
_TIMES = ("cluster.node_timeout", "distributed.scheduler.worker-ttl")

#: Keys of Mars that are read and have no effect here, with all below them.
WITHOUT_MEANING = (
    "services",
    "cluster.backend",
    "cluster.node_check_interval",
    "cluster.lookup_address",
    "meta.store",
    "metrics.backend",
    "metrics.port",
    "metrics.prometheus",
    "scheduling.mem_hard_limit",
    "scheduling.speculation",
    "scheduling.subtask_cancel_timeout",
    "scheduling.subtask_max_reschedules",
    "scheduling.subtask_max_retries",
    "session.custom_log_dir",
    "storage.backends",
    "storage.cuda",
    "storage.default_config",
    "storage.disk.level",
    "storage.filesystem.fs",
    "storage.filesystem.level",
    "storage.plasma.check_dir_size",
    "storage.ray",
    "storage.vineyard",
    "task.default_config",
    "task.execution_config",
    "task.task_options",
    "task.task_preprocessor_cls",
    "task.task_processor_cls",
    "web.extra_discovery_modules",
    "web.web_handlers",
)

_KNOWN = (*OPTIONS, *DASK, *WITHOUT_MEANING)

#: The variable by which Dask hands its whole configuration to child processes.
_INHERITED: Final = "DASK_INTERNAL_INHERIT_CONFIG"

#: Names of files that Mars ships; they contain no defaults that apply here.
_BUILT_IN = ("@default", "@mars", "base_config.yml")

#: How often mappings and lists may be nested: no key is read so deep down.
_DEEPEST = 50

#: Prefixes of Dask's keys, and of marsdask's keys in Dask's configuration.
_OWN = ("distributed.", "dask.", "marsdask.")


def load(path: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read a file and those it inherits from."""
    path = os.path.abspath(path)
    if path in seen:
        raise ConfigError(f"configuration file {path} inherits from itself")
    try:
        with open(path, encoding="utf-8") as file:
            content = yaml.safe_load(file) or {}
        _check_depth(content)
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read the configuration file {path}: {error}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"invalid configuration file {path}: it must hold a mapping")
    base = content.pop("@inherits", None)
    fields = content.pop("@overriding_fields", ())
    if base is None or base in _BUILT_IN:
        return content
    if not isinstance(base, str):
        raise ConfigError(f'invalid "@inherits" in {path}: {base!r}; give a file')
    if not isinstance(fields, list | tuple) or not all(isinstance(key, str) for key in fields):
        raise ConfigError(f'invalid "@overriding_fields" in {path}: {fields!r}; give a list')
    inherited = load(os.path.join(os.path.dirname(path), base), (*seen, path))
    return merge(inherited, content, fields)


def merge(
    below: Mapping[str, Any], above: Mapping[str, Any], replaced: Iterable[str] = ()
) -> dict[str, Any]:
    """Return ``below`` updated with ``above``: mappings are merged, lists are concatenated."""
    content = dict(below)
    for key, value in above.items():
        inner = [name.partition(".")[2] for name in replaced if name.startswith(f"{key}.")]
        old = content.get(key)
        if key in replaced or old is None:
            content[key] = value
        elif isinstance(old, Mapping) and isinstance(value, Mapping):
            content[key] = merge(old, value, inner)
        elif isinstance(old, list) and isinstance(value, list):
            content[key] = [*old, *(item for item in value if item not in old)]
        else:
            content[key] = value
    return content


def gather(path: str | None, text: str | None, defines: Iterable[str]) -> dict[str, Any]:
    """Return the configuration of ``-f``, ``-c`` and each ``-D``; later ones take precedence."""
    content = load(path) if path else {}
    if text:
        above = _json("-c", text)
        if not isinstance(above, dict):
            raise ConfigError(f"invalid -c: {text!r}; give a JSON object")
        content = merge(content, above)
    for define in defines:
        name, sign, value = define.partition("=")
        if not sign:
            raise ConfigError(f"invalid -D: {define!r}; give NAME=JSON")
        nested: Any = _json(f"-D {name}", value)
        if name.count(".") > _DEEPEST:
            raise ConfigError(f"invalid -D: {name!r} has too many parts")
        for part in reversed(name.split(".")):
            nested = {part: nested}
        content = merge(content, nested)
    return content


def _json(where: str, text: str) -> Any:
    try:
        content = json.loads(text)
        _check_depth(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"invalid {where}: {text!r} is not JSON ({error})") from None
    return content


def _check_depth(content: Any) -> None:
    """Raise ``ValueError`` for what is nested too deeply to be read."""
    level = [content]
    for _ in range(_DEEPEST):
        inner = itertools.chain.from_iterable(map(_parts, level))
        level = list({id(part): part for part in inner}.values())  # YAML may repeat the same one
    if any(map(_parts, level)):
        raise ValueError(f"it is nested more than {_DEEPEST} times")


def _parts(content: Any) -> list[Any]:
    if isinstance(content, Mapping):
        return list(content.values())
    return content if isinstance(content, list) else []


def read(
    path: str | None, text: str | None, defines: Sequence[str], environ: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options and the Dask configuration of ``-f``, ``-c`` and each ``-D``.

    Dask's own variables take precedence over the file.
    """
    options, settings = translate(gather(path, text, defines))
    arguments = {DASK.get(key) or key for key, _ in _leaves(gather(None, text, defines))}
    variables = {name: value for name, value in environ.items() if name != _INHERITED}
    above, default = config.collect_env(variables), object()
    for key in settings.keys() - arguments:
        if config.get(key, default, config=above) is not default:
            del settings[key]
    return options, settings


def translate(content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the command line options and the Dask configuration that the keys stand for.

    Unknown keys cause a warning: they may be misspelt, or belong to a newer Mars.
    """
    options: dict[str, Any] = {}
    dask: dict[str, Any] = {}
    for key, value in _leaves(content):
        if key.startswith(_OWN):
            dask[key] = _checked(key, value)
        elif not _is_known(key) and not (_is_section(key) and value in (None, {})):
            hint = did_you_mean(key, _KNOWN)
            logger.warning("ignoring the unknown configuration key %s", f"{key}{hint}")
        elif value is None:
            continue  # Mars's keys without a value have their default
        elif key in OPTIONS:
            options[OPTIONS[key]] = _option(key, value)
        elif target := DASK.get(key):
            dask[target] = _checked(key, value)
    return options, dask


def _option(key: str, value: Any) -> str | list[str]:
    """Return the value of an option: one, or several directories."""
    if not isinstance(value, list):
        return str(value)
    if OPTIONS[key] not in _SEVERAL or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"invalid {key}: {value!r}")
    return value


def _checked(key: str, value: Any) -> Any:
    """Return a value for Dask's configuration; refuse those that stop a command at its start."""
    if isinstance(config.get(key, None), Mapping) and not isinstance(value, Mapping):
        raise ConfigError(f"invalid {key}: {value!r}; it is a group of settings")
    if key in _TIMES:
        try:
            parse_timedelta(value)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ConfigError(f"invalid {key}: {value!r}; give seconds, 30s or 5m") from None
    return value


def _leaves(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in content.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{key}.")
        else:
            yield key, value


def _is_known(key: str) -> bool:
    meaningless = any(key.startswith(f"{name}.") for name in WITHOUT_MEANING)
    return meaningless or key in _KNOWN


def _is_section(key: str) -> bool:
    return any(name.startswith(f"{key}.") for name in _KNOWN)
