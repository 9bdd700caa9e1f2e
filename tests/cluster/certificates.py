"""Certificates of an authority of the test's own, made by the ``openssl`` command."""

import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest
from distributed.security import Security

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="certificates are made by the openssl command"
)


@dataclass(frozen=True)
class Certificates:
    """Paths of an authority's certificate, and of one that it signed, with its key."""

    authority: str
    certificate: str
    key: str

    @property
    def flags(self):
        """The options of a command."""
        return f"--tls-ca-file {self.authority} --tls-cert {self.certificate} --tls-key {self.key}"

    @property
    def security(self):
        """The Security object of distributed."""
        options: dict[str, Any] = {"tls_ca_file": self.authority, "require_encryption": True}
        for role in ("scheduler", "worker", "client"):
            options |= {f"tls_{role}_cert": self.certificate, f"tls_{role}_key": self.key}
        return Security(**options)

    @property
    def config(self):
        """Dask's configuration for a client."""
        client = {"cert": self.certificate, "key": self.key}
        tls = {"ca-file": self.authority, "client": client}
        return {f"distributed.comm.tls.{name}": value for name, value in tls.items()}


def make(folder):
    """Make an authority and a certificate for the loopback addresses."""
    made = Certificates(*(str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem")))
    new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    authority_key = str(folder / "ca-key.pem")
    _openssl(
        *new,
        *("-subj", "/CN=tests", "-keyout", authority_key, "-out", made.authority),
        *("-addext", "keyUsage=critical,keyCertSign"),  # asked for by Python 3.13 and later
    )
    _openssl(
        *new,
        *("-subj", "/CN=localhost", "-keyout", made.key, "-out", made.certificate),
        *("-CA", made.authority, "-CAkey", authority_key),
        *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:127.0.0.10"),
        *("-addext", "basicConstraints=critical,CA:FALSE"),
    )
    return made


def _openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
