"""What a pod is to a process of it: one address, the cluster's names, and the image's own modules.

It is imported by each Python process of a pod. "All addresses" and "this host" are the pod's
address, so that several pods of one machine listen on equal ports.
"""

import errno
import json
import os
import site
import socket

_ADDRESS = os.environ.get("POD_ADDRESS")
_NAMES = os.environ.get("POD_NAMES", "")
_CUT = os.environ.get("POD_CUT", "")
_ANY = ("", "0.0.0.0", "::")
_LOCAL = ("127.0.0.1", "localhost", "::1")


def _moved(address, words):
    if isinstance(address, tuple) and address[0] in words:
        return (_ADDRESS, *address[1:2])
    return address


def _check_network(self):
    """Raise OSError while the pod is cut off from all others."""
    if _CUT and self.family == socket.AF_INET and os.path.exists(_CUT):
        raise OSError(errno.ENETUNREACH, "the pod is cut off")


def _bind(self, address, _bind=socket.socket.bind):
    return _bind(self, _moved(address, _ANY + _LOCAL) if self.family == socket.AF_INET else address)


def _connect(self, address, _connect=socket.socket.connect):
    _check_network(self)
    return _connect(self, _moved(address, _LOCAL))


def _connect_ex(self, address, _connect=socket.socket.connect_ex):
    _check_network(self)
    return _connect(self, _moved(address, _LOCAL))


def _accept(self, _accept=socket.socket.accept):
    accepted, address = _accept(self)
    try:
        _check_network(self)
    except OSError as error:
        accepted.close()
        raise ConnectionAbortedError(errno.ECONNABORTED, "cut off") from error
    return accepted, address


def _getaddrinfo(host, *args, _getaddrinfo=socket.getaddrinfo, **options):
    name = host.decode() if isinstance(host, bytes) else host
    if name in _LOCAL or name in ("", None):
        return _getaddrinfo(_ADDRESS if name else host, *args, **options)
    with open(_NAMES, encoding="utf-8") as file:
        names = json.load(file)
    return _getaddrinfo(names.get(name.rstrip("."), host), *args, **options)


if _ADDRESS:
    site.addsitedir(os.environ["POD_SITE"])
    for _function in (_bind, _connect, _connect_ex, _accept):
        setattr(socket.socket, _function.__name__[1:], _function)
    socket.getaddrinfo = _getaddrinfo
    # Addresses of the kind "::" are another host's here.
    socket.has_ipv6 = False
    socket.has_dualstack_ipv6 = lambda: False
