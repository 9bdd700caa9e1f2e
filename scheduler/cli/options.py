"""The options of each command, for both generations of Mars, with their --help texts.

The command line takes precedence over the environment, which takes precedence over the
configuration file. :func:`parse` leaves missing values ``None``.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from ..cluster.join import JOIN_VARIABLE
from ..errors import did_you_mean
from .sizes import ConfigError, parse_switch


@dataclass(frozen=True)
class CommandOption:
    """One option: --help shows its ``flags``; its ``hidden`` flags work too."""

    flags: str
    metavar: str | None
    help: str
    env: str = ""
    hidden: str = ""
    choices: tuple[str, ...] | None = None
    many: str | None = None
    """How several values are given: argparse's ``"append"`` or ``"*"``."""

    @property
    def dest(self) -> str:
        """The name of the attribute: the first long flag."""
        names = [*self.flags.split(), *self.hidden.split()]
        long = next((name for name in names if name.startswith("--")), names[0])
        return long.lstrip("-").replace("-", "_")


COMMON = (
    CommandOption("-H --host", "IP", "address to bind (default: 0.0.0.0)", "MARS_BIND_HOST"),
    CommandOption(
        "-p --port --ports",
        "PORT",
        "port to listen on (default: a free port); mars-worker accepts a comma-separated list, one "
        "port for each process",
        "MARS_BIND_PORT",
    ),
    CommandOption(
        "-e --endpoint", "IP:PORT", "address and port, instead of -H and -p", "MARS_BIND_ENDPOINT"
    ),
    CommandOption(
        "-a --advertise",
        "IP",
        "address that other hosts use for this process (default: the address of -H; for 0.0.0.0, "
        "the address of the default route)",
        "MARS_CONTAINER_IP",
    ),
    CommandOption("-f --config-file", "YAML", "configuration file of Mars's services"),
    CommandOption("-c --config", "JSON", "configuration that takes precedence over the file"),
    CommandOption(
        "-D --define",
        "NAME=JSON",
        "one configuration value, which takes precedence over -c and -f, for example "
        "web.host='\"127.0.0.1\"'; may be repeated",
        many="append",
    ),
    CommandOption(
        "--load-modules",
        "MODULE",
        "Python modules to import at startup",
        "MARS_LOAD_MODULES",
        many="*",
    ),
)


def _supervisors(text: str) -> CommandOption:
    return CommandOption("-s --supervisors --schedulers", "IP:PORT,...", text)


_FOUND = (
    "endpoints of the cluster's supervisors (default: those in the variables of KubeDL or in "
    "DASK_SCHEDULER_ADDRESS, else your supervisor on this host"
)

LOGGING = (
    CommandOption(
        "--log-level",
        "LEVEL",
        "debug, info, warning, error or critical (default: info)",
        "",
        "--level",
    ),
    CommandOption(
        "--log-format",
        "FORMAT",
        "format string of Python's logging, or json for a line of JSON for each message",
        "MARS_LOG_FORMAT",
        "--format",
    ),
    CommandOption(
        "--log-conf",
        "FILE",
        "configuration file of Python's logging; takes precedence over the level and the format "
        "(default: logging.conf in the working directory, if only this user or root can write it)",
        hidden="--log_conf",
    ),
    CommandOption(
        "--use-uvloop",
        None,
        "whether to use uvloop (default: auto, which uses it if it is installed)",
        choices=("auto", "yes", "no"),
    ),
)

SECURITY = (
    CommandOption(
        "--tls-ca-file",
        "PEM",
        "certificate of the authority that signed the certificates of all processes and clients; "
        "encryption needs all three options",
    ),
    CommandOption("--tls-cert", "PEM", "certificate of this process"),
    CommandOption("--tls-key", "PEM", "private key of this process"),
    CommandOption(
        "--require-secure",
        None,
        "refuse to listen on an address of other hosts without TLS (for the web service: or a "
        "token) (default: warn)",
        "MARS_REQUIRE_SECURE",
        many="store_true",
    ),
)

TOKEN = CommandOption(
    "--web-token-file",
    "FILE",
    "file with the token that requests to the web service need "
    "(default: the token in MARS_WEB_TOKEN, or none)",
    "MARS_WEB_TOKEN_FILE",
)

PROXY = CommandOption(
    "--behind-tls-proxy",
    None,
    "allow a token without TLS with --require-secure: a proxy in front of the web service encrypts",
    "MARS_BEHIND_TLS_PROXY",
    many="store_true",
)

SECURE = CommandOption(
    "--secure",
    None,
    "make an authority and a token, or use those of an earlier start, in ~/.config/marsdask/secure "
    "or the directory MARS_SECURE_DIR; encrypt all ports, and print how to join",
    "MARS_SECURE",
    many="store_true",
)

JOIN = CommandOption(
    "--join",
    "TOKEN",
    "join a cluster that was started with --secure: its token, or a file with it",
    JOIN_VARIABLE,
)

SUPERVISOR = (
    CommandOption(
        "-w --web-port",
        "PORT",
        "port of the web service (pages, REST interface and sessions), bound on all addresses "
        "unless -H is a loopback address (default: a free port)",
    ),
    TOKEN,
    PROXY,
    SECURE,
    _supervisors(
        "endpoints of all supervisors of the cluster, including this one; one is active, the "
        "others take over in this order (default: only this one)"
    ),
    CommandOption("--n-process --nproc", "N", "ignored: a supervisor is one process"),
    CommandOption(
        "--disable-failover",
        None,
        "become active at once, without waiting for other supervisors of -s",
        "MARS_DISABLE_FAILOVER",
        many="store_true",
    ),
)

WEB = (
    _supervisors(f"{_FOUND})"),
    CommandOption("--ui-port", "PORT", "old name of -p", "MARS_UI_PORT"),
    TOKEN,
    PROXY,
    JOIN,
)

WORKER = (
    _supervisors(f"{_FOUND}, or a later one if that has ended)"),
    TOKEN,
    JOIN,
    CommandOption(
        "--death-timeout",
        "SECONDS",
        "exit if no supervisor is found within this time (default: never)",
    ),
    CommandOption(
        "--disable-proc-recover",
        None,
        "do not restart worker processes that die",
        "MARS_DISABLE_PROC_RECOVER",
        many="store_true",
    ),
)

CPU = (
    CommandOption(
        "--n-cpu --cpu-procs",
        "N",
        "maximum number of cores to use (default: all available cores)",
        "MARS_CPU_TOTAL",
    ),
    CommandOption(
        "--processes",
        "N",
        "number of worker processes, which share the cores (default: one for each of up to 4 "
        "cores, else at least the square root of the cores)",
    ),
    CommandOption("--no-bind-cpu", None, "do not pin the processes to cores", many="store_true"),
    CommandOption(
        "--n-io-process --net-procs",
        "N",
        "number of threads of each process for writing to disk and shared memory (default: 4)",
        "",
        "--io-procs",
    ),
    CommandOption("--cuda-devices", "I,J", "CUDA devices to use, '' for none (default: all)"),
    CommandOption("--cuda-device", "I", "old name of --cuda-devices"),
)

MEMORY = (
    CommandOption(
        "--mem-bytes --phy-mem",
        "SIZE",
        "memory limit, such as 4g or 80%% (default: the total memory); above 75%% of it no task "
        "starts, above 90%% a worker process is restarted",
        "MARS_MEMORY_TOTAL",
    ),
    CommandOption(
        "--cache-mem",
        "SIZE",
        "memory for results before they spill to disk (default: half of the free memory)",
        "MARS_CACHE_MEM_SIZE",
    ),
    CommandOption("--min-mem", "SIZE", "minimum free memory to start (default: 128m)"),
    CommandOption(
        "--min-cache-mem",
        "SIZE",
        "minimum memory for results to start",
        "MARS_MIN_CACHE_MEM_SIZE",
    ),
    CommandOption(
        "--ignore-avail-mem", None, "start regardless of the free memory", many="store_true"
    ),
    CommandOption(
        "--spill-dir --spill-dirs",
        "DIR:DIR",
        "directories to spill to, used in turn (default: the directory for temporary files)",
        "MARS_SPILL_DIRS",
    ),
    CommandOption(
        "--io-parallel-num",
        "N",
        "number of files written at the same time in each spill directory (default: 1; unlimited "
        "if MARS_LOCK_FREE_FILEIO is 1)",
        "MARS_IO_PARALLEL_NUM",
    ),
    CommandOption(
        "--plasma-dir",
        "DIR",
        "directory for shared memory in files, which is not counted as used memory (default: "
        "none; shared memory without files is counted)",
        "MARS_PLASMA_DIRS",
    ),
    CommandOption(
        "--plasma-limit",
        "SIZE",
        "maximum size of the shared memory (default: the value of --cache-mem)",
        "MARS_PLASMA_LIMIT",
    ),
    CommandOption("--disk-compression", "NAME", "compression of spilled results (default: none)"),
    CommandOption(
        "--transfer-compression",
        "NAME",
        "compression of transfers between hosts (default: none)",
    ),
    CommandOption(
        "--write-shuffle-to-disk",
        None,
        "let Dask's peer-to-peer shuffles use the disk (default: they do); other shuffles use it "
        "when memory is short",
        "MARS_WRITE_SHUFFLE_TO_DISK",
        many="store_true",
    ),
)

#: Removed options, with their replacement.
REMOVED = (CommandOption("-k --kv-store", "URL", "", hidden=""),)

_LAST = {"security": SECURITY, "logging": LOGGING}
COMMANDS: Mapping[str, Mapping[str, tuple[CommandOption, ...]]] = {
    "supervisor": {"options": COMMON, "supervisor": SUPERVISOR, **_LAST},
    "worker": {"options": COMMON, "worker": WORKER, "CPU": CPU, "memory": MEMORY, **_LAST},
    "web": {"options": COMMON, "web": WEB, **_LAST},
}

#: A description of each command, and an example.
DESCRIPTIONS = {
    "supervisor": (
        "Start a supervisor, which plans the tasks of a cluster, and its web service.",
        "%(prog)s -H 192.168.1.10 -p 7001 -w 7005",
    ),
    "worker": (
        "Start the worker processes of this host, which run the tasks of a cluster.",
        "%(prog)s -H 192.168.1.20 -s 192.168.1.10:7001",
    ),
    "web": (
        "Start a web service in front of supervisors, for their pages and for sessions.",
        "%(prog)s -p 7005 -s 192.168.1.10:7001,192.168.1.11:7001",
    ),
}


class _Parser(argparse.ArgumentParser):
    """Reports errors in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def build_parser(command: str, prog: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    description, example = DESCRIPTIONS[command]
    parser = _Parser(
        prog=prog,
        description=f"{description}\n\n  $ {example}",
        epilog="If an option is not given, the environment variable in brackets is used,\n"
        "then the configuration.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    for title, options in COMMANDS[command].items():
        # argparse has a group of that name, with --help in it.
        group = parser if title == "options" else parser.add_argument_group(title)
        for option in options:
            _add(group, option)
    for option in REMOVED:
        parser.add_argument(*option.flags.split(), dest=option.dest, help=argparse.SUPPRESS)
    return parser


def _version() -> str:
    try:
        return version("marsdask")
    except PackageNotFoundError:
        return "(not installed)"


def _add(group: Any, option: CommandOption) -> None:
    settings: dict[str, Any] = {"dest": option.dest, "default": None}
    if option.many == "store_true":
        settings["action"] = "store_true"
    else:
        settings["metavar"] = option.metavar
        settings |= {"action": "append"} if option.many == "append" else {}
        settings |= {"nargs": "*"} if option.many == "*" else {}
        settings |= {"choices": option.choices} if option.choices else {}
    text = f"{option.help} [{option.env}]" if option.env else option.help
    group.add_argument(*option.flags.split(), help=text, **settings)
    if option.hidden:
        group.add_argument(*option.hidden.split(), help=argparse.SUPPRESS, **settings)


def parse(
    command: str, prog: str, argv: Sequence[str] | None, environ: Mapping[str, str]
) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """Return the parser, for its ``error``, and the values of the command line or environment."""
    parser = build_parser(command, prog)
    values, extra = parser.parse_known_args(argv)
    if extra:
        parser.error(f"unrecognized arguments: {' '.join(extra)}{_suggestion(command, extra)}")
    if values.kv_store is not None:
        parser.error("-k is not supported: give the supervisors with -s")
    _bind(values, environ)
    for options in COMMANDS[command].values():
        for option in options:
            text = environ.get(option.env, "") if option.env else ""
            if text and getattr(values, option.dest) is None and option.dest not in _PLACES:
                try:
                    setattr(values, option.dest, _from_environment(option, text))
                except ConfigError as error:
                    parser.error(str(error))
    return parser, values


def _suggestion(command: str, unknown: Sequence[str]) -> str:
    flags = [
        flag
        for options in COMMANDS[command].values()
        for option in options
        for flag in option.flags.split()
    ]
    hints = (did_you_mean(text.partition("=")[0], flags) for text in unknown)
    return next(filter(None, hints), "")


#: The options that set the address: an endpoint consists of a host and a port.
_BINDS = ("host", "port", "endpoint")
_PLACES = (*_BINDS, "ui_port")

#: The options of what an operator requests for a container.
_REQUESTS = ("n_cpu", "mem_bytes")


def _bind(given: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Read the variables of the address unless the command line sets it, in any form."""
    host, port, endpoint = (environ.get(f"MARS_BIND_{name.upper()}") or None for name in _BINDS)
    if "ui_port" in given and given.port is None and given.endpoint is None:
        given.ui_port = given.ui_port or environ.get("MARS_UI_PORT") or None
    if given.endpoint is not None:
        return
    if endpoint is not None and given.host is None and given.port is None:
        given.host, given.endpoint = host, endpoint
        return
    within = (endpoint or "").rpartition(":")
    given.host = given.host or host or within[0] or None
    given.port = given.port or port or within[2] or None


def _from_environment(option: CommandOption, text: str) -> Any:
    if option.many == "store_true":
        return parse_switch(option.env, text)
    if option.many == "*":
        return text.split(",")
    # KubeDL passes 0 where nothing was requested.
    return None if text == "0" and option.dest in _REQUESTS else text
