"""``mars-supervisor --secure``: an authority and a token of its own, kept for the next start."""

from __future__ import annotations

import datetime as dt
import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from distributed.security import Security

from ..storage import private_folder
from .authority import Authority
from .join import JoinToken

logger: Final = logging.getLogger(__name__)

#: How long before its end an authority is warned of.
_SOON: Final = dt.timedelta(days=90)

#: The variable that names the folder.
FOLDER: Final = "MARS_SECURE_DIR"

_AUTHORITY, _AUTHORITY_KEY, _SECRET = "ca.pem", "ca.key", "token"
_CERTIFICATE, _KEY = "supervisor.pem", "supervisor.key"


@dataclass(frozen=True)
class SecureCluster:
    """What ``--secure`` has made: who signs, what the supervisor shows, and the secret."""

    authority: Authority
    security: Security
    secret: str = field(repr=False)

    def token(self, port: int) -> str:
        """Return the token for ``--join`` and for sessions, whose web port is at ``port``."""
        return str(JoinToken(self.secret, self.authority.fingerprint, port))

    def lines(self, host: str, port: int, web: int) -> list[str]:
        """Return how to reach the cluster from elsewhere."""
        token = self.token(web)
        return [
            f"  workers:  mars-worker -s {host}:{port} --join {token}",
            f'  sessions: marsdask.new_session("https://{host}:{web}", token="{token}")',
            f"  browsers: https://{host}:{web}/?token={self.secret}",
        ]


def folder(environ: Mapping[str, str]) -> Path:
    """Return where the files are: all supervisors of a cluster need the same."""
    if path := environ.get(FOLDER):
        return Path(path)
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home) / "marsdask" / "secure"


def prepare(place: Path) -> SecureCluster:
    """Read the authority and the secret, or make them; make a new certificate."""
    try:
        private_folder.create(str(place))
        _check_private(place)
        if not (place / _AUTHORITY_KEY).exists():
            new = Authority.new()
            _write(place / _AUTHORITY, new.certificate)
            _write(place / _AUTHORITY_KEY, new.key)
        if not (place / _SECRET).exists():
            # Digits: a token that begins with a dash would be an option of the command line.
            _write(place / _SECRET, secrets.token_hex(32).encode())
        for name in (_AUTHORITY_KEY, _SECRET):
            _check_private(place / name)
        authority = Authority(
            (place / _AUTHORITY).read_bytes(), (place / _AUTHORITY_KEY).read_bytes()
        )
        _check_end(authority, place)
        certificate, key = authority.issue("scheduler")
        _write(place / _CERTIFICATE, certificate)
        _write(place / _KEY, key)
        secret = (place / _SECRET).read_text().strip()
    except OSError as error:
        raise ValueError(f"--secure cannot use {place}: {error}") from None
    except ValueError as error:
        raise ValueError(f"--secure found an invalid file in {place}: {error}") from None
    files = {"cert": str(place / _CERTIFICATE), "key": str(place / _KEY)}
    roles = {
        f"tls_{role}_{kind}": path
        for role in ("scheduler", "worker", "client")
        for kind, path in files.items()
    }
    security = Security(require_encryption=True, tls_ca_file=str(place / _AUTHORITY), **roles)
    return SecureCluster(authority, security, secret)


def _check_end(authority: Authority, place: Path) -> None:
    """Refuse an authority whose certificate has expired, and warn before that."""
    validity, day = authority.end - dt.datetime.now(dt.UTC), authority.end.date()
    if validity <= dt.timedelta():
        raise ValueError(f"the authority has expired on {day}: delete {place} for a new one")
    if validity < _SOON:
        logger.warning("the authority in %s expires on %s", place, day)


def _check_private(path: Path) -> None:
    """Refuse what other users may read, or have made."""
    if os.name == "nt":
        return
    status = path.lstat()
    if status.st_uid != os.geteuid():
        raise ValueError(f"{path} belongs to another user (uid {status.st_uid})")
    if status.st_mode & 0o077:
        raise ValueError(f"{path} may be read by other users: chmod go= {path}")


def _write(path: Path, content: bytes) -> None:
    """Replace a file by one that only this user may read, at once."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    os.replace(aside, path)
