"""``mars.config``: marsdask's options, Mars's validators, and sets of options of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import marsdask.config as ours
from marsdask.config import OptionError

#: Tells whether a value is valid.
Validator = Callable[[Any], bool]

_REDIRECTED = "Option {source} has been replaced by {target} and might be removed."


def _is_instance(kinds: type | tuple[type, ...], value: Any) -> bool:
    return isinstance(value, kinds)


is_null: Validator = partial(_is_instance, type(None))
is_bool: Validator = partial(_is_instance, bool)
is_integer: Validator = partial(_is_instance, int)
is_float: Validator = partial(_is_instance, float)
is_numeric: Validator = partial(_is_instance, (float, int))
is_string: Validator = partial(_is_instance, str)
is_dict: Validator = partial(_is_instance, dict)
is_list: Validator = partial(_is_instance, list)


@dataclass(frozen=True)
class Validators:
    """Several validators as one: any of them, or all, have to accept a value."""

    validators: tuple[Validator, ...]
    every: bool

    def __call__(self, value: Any) -> bool:
        accepted = (validator(value) for validator in self.validators)
        return all(accepted) if self.every else any(accepted)


def any_validator(*validators: Validator) -> Validator:
    """Return a validator of values that one of several accepts."""
    return Validators(validators, every=False)


def all_validator(*validators: Validator) -> Validator:
    """Return a validator of values that all of several accept."""
    return Validators(validators, every=True)


def is_in(vals: Any) -> Validator:
    """Return a validator of some values."""
    return partial(_is_among, vals)


def _is_among(values: Any, value: Any) -> bool:
    return value in values


class OptionGroup:
    """The options of a ``Config`` whose names begin alike, as attributes."""

    def __init__(self, config: Config, prefix: str) -> None:
        vars(self).update(_config=config, _prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        full = f"{self._prefix}{name}"
        if any(option.startswith(f"{full}.") for option in self._config._names()):
            return OptionGroup(self._config, f"{full}.")
        return self._config._read(full)

    def __setattr__(self, name: str, value: Any) -> None:
        self._config._write(f"{self._prefix}{name}", value)

    def __dir__(self) -> list[str]:
        start = len(self._prefix)
        names = [name for name in self._config._names() if name.startswith(self._prefix)]
        return sorted({name[start:].partition(".")[0] for name in names})


class Config(OptionGroup):
    """Options that are apart from those of marsdask, and are copied and pickled.

    Parameters
    ----------
    config : mapping, optional
        Their values by their names; dots make groups.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__(self, "")
        vars(self).update(_values={}, _validators={}, _targets={}, _sent=[])
        self.update(config or {})

    def __reduce__(self) -> Any:
        state = {name: vars(self)[name] for name in ("_values", "_validators", "_targets", "_sent")}
        return type(self), (), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _names(self) -> list[str]:
        return [*self._values, *self._targets]

    def _target(self, option: str) -> str:
        """Return the name that an option has today."""
        if option not in self._targets:
            return option
        target, words = self._targets[option]
        if words:
            warnings.warn(words, UserWarning, stacklevel=5)
        return str(target)

    def _read(self, option: str) -> Any:
        option = self._target(option)
        if option not in self._values:
            raise OptionError(f"no such option: {option!r}")
        return self._values[option]

    def _write(self, option: str, value: Any) -> None:
        option = self._target(option)
        validator = self._validators.get(option)
        if validator is not None and not validator(value):
            raise ValueError(f"Cannot set value `{value}`")
        self._values[option] = value

    def register_option(
        self,
        option: str,
        value: Any,
        validator: Validator | tuple[Validator, ...] | None = None,
        serialize: bool = False,
    ) -> None:
        """Add an option, with what tells whether a value is valid."""
        self._check_new(option)
        self._values[option] = value
        if isinstance(validator, tuple):
            validator = any_validator(*validator)
        self._validators[option] = validator
        if serialize:
            self._sent.append(option)

    def _check_new(self, option: str) -> None:
        if option in self._names():
            raise OptionError(f"Fail to set option: {option}, option has been set")

    def redirect_option(self, option: str, target: str, warn: str = _REDIRECTED) -> None:
        """Let a name mean another option."""
        self._check_new(option)
        self._read(target)
        self._targets[option] = target, warn.format(source=option, target=target)

    def unregister_option(self, option: str) -> None:
        """Remove an option."""
        if option not in self._names():
            raise OptionError(f"Option {option} not configured, thus failed to unregister.")
        for mapping in (self._values, self._validators, self._targets):
            mapping.pop(option, None)

    def update(self, new_config: Mapping[str, Any] | Config) -> None:
        """Set several options; those that are not there are added."""
        values = new_config.to_dict() if isinstance(new_config, Config) else new_config
        for option, value in values.items():
            self._write(option, value)

    def copy(self) -> Self:
        """Return other options of equal names and values."""
        return deepcopy(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the values by their names."""
        return dict(self._values)

    def get_serializable(self) -> dict[str, Any]:
        """Return the values of the options that are sent to workers."""
        return {option: self._values[option] for option in self._sent}

    def fill_serialized(self, d: Mapping[str, Any]) -> None:
        """Set what was sent."""
        self.update(d)


__all__ = [
    "Config",
    "all_validator",
    "any_validator",
    "is_bool",
    "is_dict",
    "is_float",
    "is_in",
    "is_integer",
    "is_list",
    "is_null",
    "is_numeric",
    "is_string",
]
__all__ += [name for name in ours.__all__ if name not in __all__]


def __getattr__(name: str) -> Any:
    """Return all other names from ``marsdask.config``."""
    return getattr(ours, name)
