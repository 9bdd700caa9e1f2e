"""The settings of a command: options, environment and files as one validated value."""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import ipaddress
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import dask.config
from distributed.security import Security

from ..cluster.join import JoinToken
from ..cluster.leader import scheme
from ..cluster.secure_directory import SecureCluster, folder, prepare
from ..storage.private_folder import others_read
from ..web.authentication import (
    FILE_VARIABLE,
    LEAST,
    VARIABLE,
    Token,
    forget_token,
    read_token,
)
from ..web.host_header import allowed_names
from ..web.tls import has_certificate
from . import configfile, discovery, logs, sizes
from .options import parse
from .sizes import ConfigError

logger: Final = logging.getLogger(__name__)

#: All addresses of a host. The first is Mars's documented default; a warning goes with it.
ANYWHERE, ANYWHERE_V6 = "0.0.0.0", "[::]"  # noqa: S104

#: The variable that asks for the stacks of a process that crashes.
_CRASHES: Final = "MARS_ENABLE_FAULTHANDLER"


@dataclass
class Settings:
    """The settings that all commands share; ``given`` holds the others as they were given."""

    host: str
    ports: list[int]
    advertise: str | None
    supervisors: list[str]
    security: Security
    given: argparse.Namespace = field(repr=False)
    token: Token | None = None
    secure: SecureCluster | None = field(default=None, repr=False)
    """The authority of ``--secure``."""
    join: JoinToken | None = None
    """The token of ``--join``; the process gets its certificate when it starts."""

    @property
    def port(self) -> int:
        """The port of the endpoint."""
        return self.ports[0]

    def tell_spare_ports(self, processes: int) -> None:
        """Warn if there are more ports than processes to listen on them, or fewer."""
        spare = ", ".join(map(str, self.ports[processes:]))
        if spare:
            noun = "one process" if processes == 1 else f"{processes} processes"
            logger.warning("unused ports: %s; this command starts %s", spare, noun)
        elif any(self.ports) and len(self.ports) < processes:
            logger.warning(
                "%d of %d processes listen on free ports: give as many with -p",
                processes - len(self.ports),
                processes,
            )

    @property
    def web_host(self) -> str:
        """The address of a supervisor's web service."""
        if host := getattr(self.given, "web_host", None):
            return _bracketed(str(host))
        return self.host if is_loopback(self.host) else _anywhere(self.host)

    @property
    def scheme(self) -> str:
        """The protocol of the endpoint."""
        return scheme(self.security) if self.join is None else "tls"


def read(
    command: str,
    prog: str,
    argv: Sequence[str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Return the settings of a command; invalid ones end the process with status 2.

    Sets up logging and Dask's configuration, too.
    """
    parser, values = parse(command, prog, argv, environ)

    def fail(error: Exception) -> NoReturn:
        parser.error(str(error))

    try:
        logs.configure(values.log_level, values.log_format, values.log_conf)
        _configure(command, values, environ)
        settings = _common(command, values, environ)
        _check_certificates(command, settings.security)
        _require_secure(command, settings)
        _warn_of_readers(values, settings.security, environ)
        crashes = sizes.parse_switch(_CRASHES, environ.get(_CRASHES, ""))
        for name in values.load_modules or ():
            _load(name)
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if crashes:
        faulthandler.enable()
        os.environ["PYTHONFAULTHANDLER"] = "1"  # for worker processes
    return settings


def _load(module: str) -> None:
    if module.startswith("."):
        raise ConfigError(f"invalid --load-modules: {module!r}; give absolute names")
    importlib.import_module(module)


def _configure(command: str, given: argparse.Namespace, environ: Mapping[str, str]) -> None:
    options, settings = configfile.read(
        given.config_file, given.config, given.define or (), environ
    )
    if command == "web" and given.endpoint is None:
        # mars-web has one port, the web port.
        for name in ("host", "port"):
            if f"web_{name}" in options:
                options[name] = options[f"web_{name}"]
    for name, value in options.items():
        if getattr(given, name, None) is None:
            setattr(given, name, value)
    settings["distributed.admin.event-loop"] = _event_loop(given.use_uvloop)
    dask.config.set(settings)
    allowed_names()


def _event_loop(wish: str | None) -> str:
    if wish == "no":
        return "asyncio"
    try:
        importlib.import_module("uvloop")
    except ImportError:
        if wish == "yes":
            raise ConfigError("--use-uvloop yes: uvloop is not installed") from None
        return "asyncio"
    return "uvloop"


def _common(command: str, given: argparse.Namespace, environ: Mapping[str, str]) -> Settings:
    host, ports = given.host, given.port
    if given.endpoint is not None:
        if given.host is not None:
            raise ConfigError("-H is not allowed with -e, which includes the address")
        host, _, ports = given.endpoint.rpartition(":")
        if not host:
            raise ConfigError(f"invalid -e: {given.endpoint!r}; give IP:PORT")
    host = _bracketed(host) if host else None
    ports = getattr(given, "ui_port", None) or ports
    advertise = _bracketed(given.advertise) if given.advertise else None
    if advertise is None and host and not _is_wildcard(host):
        advertise = host
    join = JoinToken.read(given.join) if getattr(given, "join", None) else None
    secure = _secure(given, environ)
    token = _token(command, given, environ)
    if (own := join or secure) is not None:
        token = Token(own.secret)
    if token is not None and token.is_short:
        raise ConfigError(
            f"the web token can be guessed: give at least {LEAST} characters, such as those of "
            "openssl rand -hex 32"
        )
    return Settings(
        host=host or _anywhere(advertise or ""),
        ports=sizes.parse_ports(ports or "0"),
        advertise=advertise,
        supervisors=_supervisors(command, given.supervisors, environ),
        security=_security(given) if secure is None else secure.security,
        token=token,
        secure=secure,
        join=join,
        given=given,
    )


def _secure(given: argparse.Namespace, environ: Mapping[str, str]) -> SecureCluster | None:
    """Return the authority of ``--secure``; refuse what contradicts it."""
    flags = {"--secure": getattr(given, "secure", None), "--join": getattr(given, "join", None)}
    flag_name = next((flag for flag, value in flags.items() if value), None)
    options = ("tls_ca_file", "tls_cert", "tls_key", "web_token_file")
    arguments = [getattr(given, name, None) for name in options]
    if flag_name and any([*arguments, environ.get(VARIABLE)]):
        raise ConfigError(f"{flag_name} makes certificates and a token: give no others")
    return prepare(folder(environ)) if flag_name == "--secure" else None


def _supervisors(command: str, given: str | None, environ: Mapping[str, str]) -> list[str]:
    if command == "supervisor":  # Dask's variable names no supervisor of the same cluster
        environ = {name: environ[name] for name in environ if name != discovery.DASK_ADDRESS}
    endpoints = sizes.parse_list(given) if given else discovery.from_environment(environ)
    for endpoint in endpoints:
        if endpoint.startswith(("http://", "https://")):
            raise ConfigError(
                f"invalid supervisor: {endpoint!r}; give IP:PORT with the port of its -p, not the "
                "web service"
            )
        host, _, port = endpoint.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
            raise ConfigError(f"invalid supervisor: {endpoint!r}; give IP:PORT or IP:PORT,IP:PORT")
        if ":" in (bare := host.rpartition("://")[2]) and not bare.startswith("["):
            raise ConfigError(f"invalid supervisor: {endpoint!r}; write IPv6 as [::1]:7001")
    return endpoints


def _security(given: argparse.Namespace) -> Security:
    paths = {"tls_ca_file": given.tls_ca_file, "cert": given.tls_cert, "key": given.tls_key}
    for path in filter(None, paths.values()):
        if not os.path.isfile(path):
            raise ConfigError(f"no such file: {path}")
    files: dict[str, Any] = {}
    if given.tls_ca_file:
        files["tls_ca_file"] = given.tls_ca_file
    for role in ("scheduler", "worker", "client"):
        if given.tls_cert:
            files[f"tls_{role}_cert"] = given.tls_cert
        if given.tls_key:
            files[f"tls_{role}_key"] = given.tls_key
    if files and len([path for path in paths.values() if path]) < 3:
        raise ConfigError("TLS needs all of --tls-ca-file, --tls-cert and --tls-key")
    return Security(require_encryption=True, **files) if files else Security()


def _check_certificates(command: str, security: Any) -> None:
    """Refuse incomplete TLS settings, which Dask's configuration may contain."""
    # mars-web is a client of supervisors; the encryption of its own port is separate.
    role = {"supervisor": "scheduler", "web": "client"}.get(command, command)
    if security.tls_ca_file and not getattr(security, f"tls_{role}_cert"):
        raise ConfigError(
            "TLS needs the certificate of this process too: give --tls-cert and --tls-key, "
            f"or distributed.comm.tls.{role}.cert and .key in Dask's configuration"
        )


def _token(command: str, given: argparse.Namespace, environ: Mapping[str, str]) -> Token | None:
    path = getattr(given, "web_token_file", None)
    try:
        token = read_token(environ, path)
    except OSError as error:
        if command == "worker" and path == environ.get(FILE_VARIABLE):
            # Pods have the same variables, but perhaps not the same files.
            logger.warning(
                "cannot read the token in %s (%s): the HTTP ports of workers need none",
                error.filename,
                error.strerror,
            )
            forget_token(environ)
            return None
        raise ConfigError(f"cannot read the token in {error.filename}: {error.strerror}") from None
    return token


def _warn_of_readers(given: argparse.Namespace, security: Any, environ: Mapping[str, str]) -> None:
    """Warn of files with secrets that other users of this host may read."""
    token = getattr(given, "web_token_file", None) or environ.get(FILE_VARIABLE)
    keys = [getattr(security, f"tls_{role}_key") for role in ("scheduler", "worker", "client")]
    for path in sorted({path for path in (token, getattr(given, "join", None), *keys) if path}):
        if os.path.isfile(path) and others_read(path):
            logger.warning("other users may read the secret in %s: chmod go= %s", path, path)


def _bracketed(host: str) -> str:
    """Return an address in the form to which a port is appended."""
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    if host.startswith("[") != host.endswith("]"):
        raise ConfigError(f"invalid address: {host!r}; write IPv6 as ::1 or [::1]")
    return host


def _anywhere(host: str) -> str:
    """Return all addresses of the same kind as this one."""
    return ANYWHERE_V6 if host.startswith("[") else ANYWHERE


def _is_wildcard(host: str) -> bool:
    return host in ("", ANYWHERE, "::", "[::]")


def is_loopback(host: str) -> bool:
    """Return whether only this host can reach ``host``."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _open_web(settings: Settings, *, tls: bool) -> str | None:
    """Return what a web port without TLS lacks, ``None`` if it is closed to others."""
    if tls:
        return None
    if settings.token is None:
        return " or a token (see --web-token-file)"
    if settings.given.require_secure and not getattr(settings.given, "behind_tls_proxy", None):
        return ", so that others can read its token (see --behind-tls-proxy)"
    return None


def _require_secure(command: str, settings: Settings) -> None:
    """Refuse, or warn about, ports that anyone on other hosts can use."""
    beyond: list[str] = []
    alone: list[str] = []
    encrypted = settings.scheme == "tls"
    # mars-web listens only on its web port.
    if command != "web" and not encrypted and not is_loopback(settings.host):
        beyond.append(f"{settings.host} without TLS (see --tls-ca-file)")
        alone.append("-H 127.0.0.1")
    ways = "--tls-ca-file, --tls-cert and --tls-key"
    web_host = settings.host if command == "web" else settings.web_host
    certified = settings.join is not None or has_certificate(settings.security)
    open_web = _open_web(settings, tls=encrypted and certified)
    if command != "worker" and not is_loopback(web_host) and open_web:
        # A token protects only the web port, and travels as plain text without TLS.
        ways += "" if beyond else ", or --web-token-file with --behind-tls-proxy"
        beyond.append(f"{web_host}, for the web service, without TLS{open_web}")
        of_web = getattr(settings.given, "web_host", None) and command != "web"
        way = "-D 'web.host=\"127.0.0.1\"'" if of_web else "-H 127.0.0.1"
        alone += [] if way in alone else [way]
    if not beyond:
        return
    where = " and on ".join(beyond)
    if settings.given.require_secure:
        raise ConfigError(
            f"--require-secure refuses to listen on {where}: "
            f"give {ways}, or listen on this host only with {' and '.join(alone)}"
        )
    logger.warning(
        "listening on %s: anyone who reaches the port can run code here; see --require-secure",
        where,
    )
