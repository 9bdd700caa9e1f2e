"""The options of each command, both generations in one table: what argparse and --help are told.

A value comes from the command line, else from the environment, else from the configuration file,
else it is the default that the help states; :func:`parse` leaves ``None`` where nobody said
anything.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn


@dataclass(frozen=True)
class Option:
    """One row: ``flags`` are shown by --help, ``hidden`` ones are understood as well."""

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
        """The attribute that the value ends up in: the first long flag."""
        names = [*self.flags.split(), *self.hidden.split()]
        long = next((name for name in names if name.startswith("--")), names[0])
        return long.lstrip("-").replace("-", "_")


COMMON = (
    Option("-H --host", "IP", "address to bind (default: 0.0.0.0)", "MARS_BIND_HOST"),
    Option(
        "-p --port --ports",
        "PORT",
        "port to listen on, or several with commas, one for each process (default: a free one)",
        "MARS_BIND_PORT",
    ),
    Option("-e --endpoint", "IP:PORT", "both of the above in one", "MARS_BIND_ENDPOINT"),
    Option(
        "-a --advertise",
        "IP",
        "address that others reach this process by, where it differs from the one bound "
        "(default: the one bound, or that of the default route)",
        "MARS_CONTAINER_IP",
    ),
    Option(
        "-s --supervisors --schedulers",
        "IP:PORT,...",
        "endpoints of the supervisors, the active one first",
    ),
    Option("-f --config-file", "YAML", "service configuration file"),
    Option("-c --config", "JSON", "service configuration, on top of that of -f"),
    Option("-D --define", "NAME=JSON", "set one name of the configuration", many="append"),
    Option("--load-modules", "MODULE", "modules to import first", "MARS_LOAD_MODULES", many="*"),
)

LOGGING = (
    Option("--log-level", "LEVEL", "debug, info, warning or error (default: info)", "", "--level"),
    Option(
        "--log-format",
        "FORMAT",
        "format of log records, as Python's logging has it",
        "",
        "--format",
    ),
    Option(
        "--log-conf",
        "FILE",
        "Python logging configuration file (default: logging.conf, if there is one here)",
        hidden="--log_conf",
    ),
    Option(
        "--use-uvloop",
        None,
        "whether to run on uvloop (default: auto, where it is installed)",
        choices=("auto", "yes", "no"),
    ),
)

SECURITY = (
    Option("--tls-ca-file", "PEM", "certificate of the authority that signed all others"),
    Option("--tls-cert", "PEM", "certificate of this process"),
    Option("--tls-key", "PEM", "private key of this process"),
    Option(
        "--require-secure",
        None,
        "refuse to listen beyond this host without TLS, or a token for the web (default: warn)",
        "MARS_REQUIRE_SECURE",
        many="store_true",
    ),
)

TOKEN = Option(
    "--web-token-file",
    "FILE",
    "file with the token that requests to the web service must bear "
    "(default: the token in MARS_WEB_TOKEN, or none)",
    "MARS_WEB_TOKEN_FILE",
)

SUPERVISOR = (
    Option(
        "-w --web-port", "PORT", "port of the web service, on all addresses (default: a free one)"
    ),
    TOKEN,
    Option("--n-process --nproc", "N", "accepted and not used: a supervisor is one process"),
    Option(
        "--disable-failover",
        None,
        "do not wait for the other supervisors of -s",
        "MARS_DISABLE_FAILOVER",
        many="store_true",
    ),
)

WEB = (Option("--ui-port", "PORT", "older name of -p", "MARS_UI_PORT"), TOKEN)

CPU = (
    Option(
        "--n-cpu --cpu-procs",
        "N",
        "CPU cores to use, and never more (default: all that are available)",
        "MARS_CPU_TOTAL",
    ),
    Option("--processes", "N", "worker processes to share them (default: one for each, up to 4)"),
    Option("--no-bind-cpu", None, "do not pin the processes to cores", many="store_true"),
    Option(
        "--n-io-process --net-procs",
        "N",
        "threads of each process that write results to disk and to shared memory (default: 4)",
        "",
        "--io-procs",
    ),
    Option("--cuda-devices", "I,J", "CUDA devices to use, '' for none (default: all)"),
    Option("--cuda-device", "I", "the CUDA device to use (default: none)"),
)

MEMORY = (
    Option(
        "--mem-bytes --phy-mem",
        "SIZE",
        "memory to use, as 4g or 80%% of the total (default: all that is available); from 75%% "
        "of it on no task is started, at 90%% a process is restarted",
        "MARS_MEMORY_TOTAL",
    ),
    Option(
        "--cache-mem",
        "SIZE",
        "part of it for results kept in memory, beyond which they spill "
        "(default: half of what is free)",
        "MARS_CACHE_MEM_SIZE",
    ),
    Option("--min-mem", "SIZE", "do not start with less free memory (default: 128m)"),
    Option(
        "--min-cache-mem", "SIZE", "do not start with a smaller cache", "MARS_MIN_CACHE_MEM_SIZE"
    ),
    Option("--ignore-avail-mem", None, "start however little memory is free", many="store_true"),
    Option(
        "--spill-dir --spill-dirs",
        "DIR:DIR",
        "directories to spill to (default: the one for temporary files)",
        "MARS_SPILL_DIRS",
    ),
    Option(
        "--io-parallel-num",
        "N",
        "files written at the same time in each spill directory (default: 1; without limit if "
        "MARS_LOCK_FREE_FILEIO is 1)",
        "MARS_IO_PARALLEL_NUM",
    ),
    Option(
        "--plasma-dir",
        "DIR",
        "directory of the files that shared memory consists of (default: none, no files)",
        "MARS_PLASMA_DIRS",
    ),
    Option(
        "--plasma-limit",
        "SIZE",
        "most that worker processes of a host may share (default: --cache-mem)",
        "MARS_PLASMA_LIMIT",
    ),
    Option("--disk-compression", "NAME", "compression of spilled data (default: none)"),
    Option("--transfer-compression", "NAME", "compression on the network (default: none)"),
    Option(
        "--write-shuffle-to-disk",
        None,
        "shuffle over the disk instead of in memory",
        "MARS_WRITE_SHUFFLE_TO_DISK",
        many="store_true",
    ),
    Option(
        "--disable-proc-recover",
        None,
        "do not restart a worker process that died",
        "MARS_DISABLE_PROC_RECOVER",
        many="store_true",
    ),
    Option("--death-timeout", "SECONDS", "give up when no supervisor is found (default: never)"),
)

#: Options of old that have no meaning here, and what to use instead.
GONE = (Option("-k --kv-store", "URL", "", hidden=""),)

_SHARED = {"options": COMMON, "security": SECURITY, "log": LOGGING}
COMMANDS: Mapping[str, Mapping[str, tuple[Option, ...]]] = {
    "supervisor": {**_SHARED, "supervisor": SUPERVISOR},
    "worker": {**_SHARED, "CPU": CPU, "memory": MEMORY},
    "web": {**_SHARED, "web": WEB},
}

DESCRIPTIONS = {
    "supervisor": "Start a supervisor, which plans and places the work, and its web service.",
    "worker": "Start the workers of this host, which do the work.",
    "web": "Start a web service in front of supervisors.",
}


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; a dozen lines of usage would hide it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def build_parser(command: str, prog: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    parser = _Parser(
        prog=prog,
        description=DESCRIPTIONS[command],
        epilog="Options in capitals can be given as environment variables instead.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    for title, options in COMMANDS[command].items():
        # argparse has a group of that name, with --help in it.
        group = parser if title == "options" else parser.add_argument_group(title)
        for option in options:
            _add(group, option)
    for option in GONE:
        parser.add_argument(*option.flags.split(), dest=option.dest, help=argparse.SUPPRESS)
    return parser


def _version() -> str:
    try:
        return version("marsdask")
    except PackageNotFoundError:
        return "(not installed)"


def _add(group: Any, option: Option) -> None:
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
    given = parser.parse_args(argv)
    if given.kv_store is not None:
        parser.error("there is no key-value store: name the supervisors with -s instead of -k")
    for options in COMMANDS[command].values():
        for option in options:
            text = environ.get(option.env, "") if option.env else ""
            if text and getattr(given, option.dest) is None:
                setattr(given, option.dest, _from_environment(option, text))
    return parser, given


def _from_environment(option: Option, text: str) -> Any:
    if option.many == "store_true":
        return text.strip().lower() in ("1", "true", "yes", "on")
    if option.many == "*":
        return text.split(",")
    return text
