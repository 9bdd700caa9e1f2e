"""Numbers in Mars's notation: ``4g``, ``80%``, ``auto``, ``a:b``, ``7003,7004``."""

from __future__ import annotations

import math
import os
import re


class ConfigError(ValueError):
    """A value on the command line, in the environment or in a file is invalid."""


_SIZE = re.compile(r"(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>[kmgtp]?)(i?b)?", re.IGNORECASE)
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")
_UNITS = {unit: 1024**power for power, unit in enumerate(["", "k", "m", "g", "t", "p"])}


def parse_size(text: str, total: int) -> int:
    """Return bytes: ``4g`` counts in powers of 1024, as Mars does, and ``80%`` is of ``total``."""
    text = text.strip()
    share = text.removesuffix("%")
    if share != text:
        try:
            percentage = float(share)
        except ValueError:
            raise ConfigError(f"invalid percentage: {text!r}; give for instance 80%") from None
        if not 0 <= percentage <= 100:
            raise ConfigError(f"invalid percentage: {text!r}; give 0% to 100%")
        return int(total * percentage / 100)
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ConfigError(f"invalid size: {text!r}; give bytes, 512m, 4g or 80%")
    nbytes = float(match["number"]) * _UNITS[match["unit"].lower()]
    if not math.isfinite(nbytes):
        raise ConfigError("invalid size: it is too large; give bytes, 512m, 4g or 80%")
    return int(nbytes)


def parse_number(name: str, text: str) -> float:
    """Return the value of an option or variable called ``name``: a number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ConfigError(f"invalid {name}: {text!r}; give a number of at least 0")
    return number


def parse_ports(text: str) -> list[int]:
    """Return the ports of a comma-separated list; 0 stands for any free port."""
    try:
        ports = [int(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"invalid port: {text!r}; write 7003 or 7003,7004") from None
    for port in ports:
        if not 0 <= port < 2**16:
            bounds = "begin at 0" if port < 0 else "end at 65535"
            raise ConfigError(f"invalid port: {port}; ports {bounds}")
    return ports


def parse_dirs(text: str) -> list[str]:
    """Return the directories of a list separated by ``:`` (on Windows ``;``) or ``,``."""
    parts = re.split(f"[,{re.escape(os.pathsep)}]", text)
    return list(dict.fromkeys(part for part in map(str.strip, parts) if part))


def parse_list(text: str) -> list[str]:
    """Return the distinct items of a comma-separated list."""
    return list(dict.fromkeys(part for part in map(str.strip, text.split(",")) if part))


def parse_switch(name: str, text: str) -> bool:
    """Return whether the text of an environment variable called ``name`` means yes."""
    word = text.strip().lower()
    if word not in (*_YES, *_NO):
        raise ConfigError(f"invalid {name}: {text!r}; give 1 or 0")
    return word in _YES
