"""The options of each command, both generations in one table: what argparse and --help are told.

A value comes from the command line, else from the environment, else from the configuration file,
else it is the default that the help states; :func:`parse` leaves ``None`` where nobody said
anything.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn


@dataclass(frozen=True)
class CommandOption:
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
    CommandOption("-H --host", "IP", "address to bind (default: 0.0.0.0)", "MARS_BIND_HOST"),
    CommandOption(
        "-p --port --ports",
        "PORT",
        "port to listen on (default: a free one); mars-worker takes several with commas, one for "
        "each of its processes",
        "MARS_BIND_PORT",
    ),
    CommandOption("-e --endpoint", "IP:PORT", "-H and -p in one", "MARS_BIND_ENDPOINT"),
    CommandOption(
        "-a --advertise",
        "IP",
        "address that others reach this process by, if that is not the one it binds (default: the "
        "one it binds; of all addresses, that of the default route)",
        "MARS_CONTAINER_IP",
    ),
    CommandOption("-f --config-file", "YAML", "file with the configuration of Mars's services"),
    CommandOption("-c --config", "JSON", "configuration that goes before that of the file"),
    CommandOption(
        "-D --define",
        "NAME=JSON",
        "one value of the configuration, which goes before both, such as web.host='\"127.0.0.1\"'; "
        "may be given several times",
        many="append",
    ),
    CommandOption(
        "--load-modules",
        "MODULE",
        "Python modules to import at the start",
        "MARS_LOAD_MODULES",
        many="*",
    ),
)


def _supervisors(text: str) -> CommandOption:
    return CommandOption("-s --supervisors --schedulers", "IP:PORT,...", text)


_FOUND = (
    "endpoints of the cluster's supervisors (default: those that KubeDL or DASK_SCHEDULER_ADDRESS "
    "names, else the one that you run on this host"
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
        "format of log records, in the words of Python's logging",
        "",
        "--format",
    ),
    CommandOption(
        "--log-conf",
        "FILE",
        "configuration file of Python's logging, which goes before the level and the format "
        "(default: logging.conf in the working directory, if there is one)",
        hidden="--log_conf",
    ),
    CommandOption(
        "--use-uvloop",
        None,
        "whether to run on uvloop (default: auto, which means where it is installed)",
        choices=("auto", "yes", "no"),
    ),
)

SECURITY = (
    CommandOption(
        "--tls-ca-file",
        "PEM",
        "certificate of the authority that signed those of all processes and clients; it takes all "
        "three of these options to encrypt",
    ),
    CommandOption("--tls-cert", "PEM", "certificate of this process"),
    CommandOption("--tls-key", "PEM", "private key of this process"),
    CommandOption(
        "--require-secure",
        None,
        "refuse to listen where other hosts reach it without TLS, or, for the web service, a token "
        "(default: warn)",
        "MARS_REQUIRE_SECURE",
        many="store_true",
    ),
)

TOKEN = CommandOption(
    "--web-token-file",
    "FILE",
    "file with the token that requests to the web service must bear "
    "(default: the token in MARS_WEB_TOKEN, or none)",
    "MARS_WEB_TOKEN_FILE",
)

SUPERVISOR = (
    CommandOption(
        "-w --web-port",
        "PORT",
        "port of the web service, which has pages, the REST interface and the door for sessions, "
        "and is bound on all addresses (default: a free one)",
    ),
    TOKEN,
    _supervisors(
        "endpoints of all supervisors of the cluster, this one's among them: one is active, the "
        "others take over in this order (default: this one alone)"
    ),
    CommandOption(
        "--n-process --nproc", "N", "accepted, and without effect: a supervisor is one process"
    ),
    CommandOption(
        "--disable-failover",
        None,
        "be active at once, whatever other supervisors -s names",
        "MARS_DISABLE_FAILOVER",
        many="store_true",
    ),
)

WEB = (
    _supervisors(f"{_FOUND})"),
    CommandOption("--ui-port", "PORT", "older name of -p", "MARS_UI_PORT"),
    TOKEN,
)

WORKER = (
    _supervisors(f"{_FOUND}, or when that is gone the one begun then)"),
    CommandOption(
        "--death-timeout",
        "SECONDS",
        "end when no supervisor has been found for so long (default: never)",
    ),
    CommandOption(
        "--disable-proc-recover",
        None,
        "do not restart a worker process that died",
        "MARS_DISABLE_PROC_RECOVER",
        many="store_true",
    ),
)

CPU = (
    CommandOption(
        "--n-cpu --cpu-procs",
        "N",
        "number of cores to use, and never more (default: all that are available)",
        "MARS_CPU_TOTAL",
    ),
    CommandOption(
        "--processes",
        "N",
        "number of worker processes that share the cores (default: one for each of up to 4, of "
        "more at least their square root)",
    ),
    CommandOption("--no-bind-cpu", None, "do not pin the processes to cores", many="store_true"),
    CommandOption(
        "--n-io-process --net-procs",
        "N",
        "threads of each process that write results to disk and to shared memory (default: 4)",
        "",
        "--io-procs",
    ),
    CommandOption("--cuda-devices", "I,J", "CUDA devices to use, '' is none (default: all)"),
    CommandOption("--cuda-device", "I", "older name of --cuda-devices"),
)

MEMORY = (
    CommandOption(
        "--mem-bytes --phy-mem",
        "SIZE",
        "memory to use, such as 4g or 80%% of the total (default: the total); beyond 75%% of it no "
        "task is started, beyond 90%% a worker process is restarted",
        "MARS_MEMORY_TOTAL",
    ),
    CommandOption(
        "--cache-mem",
        "SIZE",
        "how much of it results may take until they spill to disk (default: half of what is free)",
        "MARS_CACHE_MEM_SIZE",
    ),
    CommandOption("--min-mem", "SIZE", "refuse to start with less memory free (default: 128m)"),
    CommandOption(
        "--min-cache-mem",
        "SIZE",
        "refuse to start with less for results",
        "MARS_MIN_CACHE_MEM_SIZE",
    ),
    CommandOption(
        "--ignore-avail-mem", None, "start however little memory is free", many="store_true"
    ),
    CommandOption(
        "--spill-dir --spill-dirs",
        "DIR:DIR",
        "directories to spill to, used in turn (default: that for temporary files)",
        "MARS_SPILL_DIRS",
    ),
    CommandOption(
        "--io-parallel-num",
        "N",
        "number of files written at the same time in each spill directory (default: 1; any number "
        "if MARS_LOCK_FREE_FILEIO is 1)",
        "MARS_IO_PARALLEL_NUM",
    ),
    CommandOption(
        "--plasma-dir",
        "DIR",
        "directory for shared memory in files, which does not count as memory in use (default: "
        "none; it is no file and counts)",
        "MARS_PLASMA_DIRS",
    ),
    CommandOption(
        "--plasma-limit",
        "SIZE",
        "most memory that the worker processes may share (default: that of --cache-mem)",
        "MARS_PLASMA_LIMIT",
    ),
    CommandOption("--disk-compression", "NAME", "compression of what is spilled (default: none)"),
    CommandOption(
        "--transfer-compression",
        "NAME",
        "compression of what hosts send each other (default: none)",
    ),
    CommandOption(
        "--write-shuffle-to-disk",
        None,
        "have Dask's peer-to-peer shuffles go over the disk (default: they do); others do where "
        "memory is short",
        "MARS_WRITE_SHUFFLE_TO_DISK",
        many="store_true",
    ),
)

#: Options of old that have no meaning here, and what to use instead.
GONE = (CommandOption("-k --kv-store", "URL", "", hidden=""),)

_LAST = {"security": SECURITY, "logging": LOGGING}
COMMANDS: Mapping[str, Mapping[str, tuple[CommandOption, ...]]] = {
    "supervisor": {"options": COMMON, "supervisor": SUPERVISOR, **_LAST},
    "worker": {"options": COMMON, "worker": WORKER, "CPU": CPU, "memory": MEMORY, **_LAST},
    "web": {"options": COMMON, "web": WEB, **_LAST},
}

#: What each command does, and a line that does it.
DESCRIPTIONS = {
    "supervisor": (
        "Start a supervisor, which plans the work of a cluster, and its web service.",
        "%(prog)s -H 192.168.1.10 -p 7001 -w 7005",
    ),
    "worker": (
        "Start the worker processes of this host, which do the work of a cluster.",
        "%(prog)s -H 192.168.1.20 -s 192.168.1.10:7001",
    ),
    "web": (
        "Start a web service in front of supervisors, for their pages and for sessions.",
        "%(prog)s -p 7005 -s 192.168.1.10:7001,192.168.1.11:7001",
    ),
}


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; a dozen lines of usage would hide it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def build_parser(command: str, prog: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    description, example = DESCRIPTIONS[command]
    parser = _Parser(
        prog=prog,
        description=f"{description}\n\n  $ {example}",
        epilog="Where an option is not given, the environment variable in brackets is read,\n"
        "and then the configuration.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    given, unknown = parser.parse_known_args(argv)
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{_suggestion(command, unknown)}")
    if given.kv_store is not None:
        parser.error("-k is not supported: give the supervisors with -s")
    _bind(given, environ)
    for options in COMMANDS[command].values():
        for option in options:
            text = environ.get(option.env, "") if option.env else ""
            if text and getattr(given, option.dest) is None and option.dest not in _PLACES:
                setattr(given, option.dest, _from_environment(option, text))
    return parser, given


def _suggestion(command: str, unknown: Sequence[str]) -> str:
    known = [
        flag
        for options in COMMANDS[command].values()
        for option in options
        for flag in option.flags.split()
    ]
    for text in unknown:
        for close in difflib.get_close_matches(text.partition("=")[0], known, n=1):
            return f"; did you mean {close}?"
    return ""


#: What says where to listen: an endpoint is a host and a port in one.
_BINDS = ("host", "port", "endpoint")
_PLACES = (*_BINDS, "ui_port")


def _bind(given: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Read the variables of what the command line does not say, in whichever form it says it."""
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
        return text.strip().lower() in ("1", "true", "yes", "on")
    if option.many == "*":
        return text.split(",")
    return text
