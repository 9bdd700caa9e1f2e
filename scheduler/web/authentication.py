"""Access control of the web port: requests show its token in a header or a cookie.

The token is read from a file or the environment, never from a command line, which every user of the
host can read. A browser shows a login form and gets a cookie with a digest of the token.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import os
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from tornado import httputil, routing, web

from ..cluster.join import JOIN_VARIABLE, JoinToken
from .host_header import check_hosts
from .login_limit import LoginLimit
from .websocket import limit

#: The variables for the token: its value, or the name of its file.
VARIABLE, FILE_VARIABLE = "MARS_WEB_TOKEN", "MARS_WEB_TOKEN_FILE"

#: The public paths: Kubernetes's, whose answer is only "ok", and a certificate.
OPEN = ("/health", "/ca.pem")

_COOKIE = "marsdask-web"

#: Seconds after which a browser must show the token again.
_EXPIRES: Final = 12 * 3600

#: Minimum number of characters of a server's token.
LEAST: Final = 16

#: A proxy may serve the form at ``/prefix`` without a final slash. The form would then send the
#: token to ``/login`` of the proxy.
_SLASH = """
<script>if (!location.pathname.endsWith("/")) location.replace(location.pathname + "/")</script>"""

_FORM = """<!doctype html><meta charset="utf-8"><title>marsdask</title>{script}
<body style="font: 16px sans-serif; margin: 4em"><p>{message}</p>
<form method="post" action="{action}"><label>Token
<input name="token" type="password" autofocus autocomplete="current-password"></label>
<button>Enter</button></form>"""


class Token:
    """A secret that requests must show; its representation hides it."""

    def __init__(self, secret: str) -> None:
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise ValueError("invalid web token: give printable ASCII characters without spaces")
        self._secret = secret

    @property
    def join(self) -> JoinToken | None:
        """Its parts, if it is a token of ``mars-supervisor --secure``."""
        return JoinToken.parse(self._secret)

    @property
    def is_short(self) -> bool:
        """Whether it could be guessed."""
        return len(self._secret) < LEAST

    def cookie(self, end: float) -> str:
        """Return a cookie that is valid until this time; it holds a digest of the token only."""
        until = str(int(end))
        message = f"marsdask web {until}".encode()
        return f"{until}.{hmac.new(self._secret.encode(), message, hashlib.sha256).hexdigest()}"

    def _is_cookie(self, shown: str) -> bool:
        until, _, _ = shown.partition(".")
        if not until.isdecimal() or len(until) > len(str(2**53)):
            return False
        return int(until) > time.time() and _same(shown, self.cookie(int(until)))

    def __repr__(self) -> str:
        return "<Token>"

    @property
    def header(self) -> str:
        """The expected ``Authorization`` header."""
        return f"Bearer {self._secret}"

    def is_right(self, secret: str) -> bool:
        """Return whether ``secret`` is the token, in constant time."""
        return _same(secret, self._secret)

    def allows(self, request: httputil.HTTPServerRequest) -> bool:
        """Return whether a request shows the token."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_right(secret.strip()):
            return True
        cookie = request.cookies.get(_COOKIE)
        return cookie is not None and self._is_cookie(cookie.value)


def _same(shown: str, right: str) -> bool:
    return hmac.compare_digest(shown.encode(errors="replace"), right.encode())


def read_token(environ: Mapping[str, str], path: str | None = None) -> Token | None:
    """Return the token of a file, else of the environment, which it is removed from."""
    token = _read(environ, path)
    forget_token(environ)
    return token


def forget_token(environ: Mapping[str, str]) -> None:
    """Remove tokens from the environment, so that child processes do not inherit them.

    On Linux ``/proc`` still shows the initial environment to the process's owner.
    """
    if environ is os.environ:
        for name in (VARIABLE, JOIN_VARIABLE):
            os.environ.pop(name, None)


def client_token(secret: str | None) -> Token | None:
    """Return the token of a session: the given one, else that of its environment."""
    return Token(secret) if secret else _read(os.environ, None)


def _read(environ: Mapping[str, str], path: str | None) -> Token | None:
    secret = environ.get(VARIABLE, "")
    path = path or environ.get(FILE_VARIABLE) or None
    if path is not None:
        with open(path, encoding="utf-8") as file:
            secret = file.read().strip()
        if not secret:
            raise ValueError(f"no token in {path}")
    return Token(secret) if secret else None


class _TokenMissing(routing.Matcher):
    """Matches requests that need a token and show none."""

    def __init__(self, token: Token) -> None:
        self._token = token

    def match(self, request: httputil.HTTPServerRequest) -> dict[str, Any] | None:
        if request.path in OPEN or self._token.allows(request):
            return None
        return {}


class _Entrance(web.RequestHandler):
    """Compares tokens, but not those of an address that has shown too many wrong ones."""

    def initialize(self, token: Token, limit: LoginLimit) -> None:
        self._token = token
        self._limit = limit

    def _enter(self, shown: str, where: str) -> bool:
        """Set the cookie and lead to a page if the token is right; else answer why not."""
        address = self.request.remote_ip or ""
        if wait := self._limit.wait(address):
            self.set_status(429)
            self.set_header("Retry-After", str(int(wait) + 1))
            self.finish(_form(self.request.path, "Too many invalid tokens. Try again later."))
            return False
        if not self._token.is_right(shown):
            self._limit.failed(address)
            self.set_status(401)
            self.finish(_form(self.request.path, "Invalid token."))
            return False
        # Without a path the browser uses its own, which contains a proxy's prefix.
        self.set_cookie(
            _COOKIE,
            self._token.cookie(time.time() + _EXPIRES),
            path="",
            max_age=_EXPIRES,
            httponly=True,
            samesite="Strict",
            secure=self.request.protocol == "https",
        )
        self.set_status(303)
        self.set_header("Location", where)
        return True


class _Refusal(_Entrance):
    """Asks for a token: with a form for people, with JSON for programs."""

    def prepare(self) -> None:
        """Answer, whatever the method; the token may be in the address of a page."""
        tokens = self.get_query_arguments("token")
        if tokens and self.request.method == "GET":
            arguments = {
                name: values
                for name, values in self.request.query_arguments.items()
                if name != "token"
            }
            query = urlencode(arguments, doseq=True)
            name = self.request.path.rpartition("/")[2] or "./"
            if self._enter(tokens[-1], name + (f"?{query}" if query else "")):
                self.finish()
            return
        if "Authorization" in self.request.headers:
            self._limit.failed(self.request.remote_ip or "")
        self.set_status(401)
        self.set_header("WWW-Authenticate", 'Bearer realm="marsdask"')
        self.set_header("Cache-Control", "no-store")
        message = "This web service requires its token."
        accepts = self.request.headers.get("Accept", "")
        if "text/html" in accepts and not self.request.path.startswith("/api"):
            self.finish(_form(self.request.path, message))
        else:
            message = f"{message} Send it as 'Authorization: Bearer TOKEN'."
            self.finish({"type": "Unauthorized", "message": message, "traceback": None})


class _Login(_Entrance):
    """Serves the login form, and sets the cookie."""

    def get(self) -> None:
        """Show the form."""
        self.finish(_form(self.request.path, "This web service requires its token."))

    def post(self) -> None:
        """Set the cookie if the token is right."""
        if self._enter(self.get_body_argument("token", ""), "./"):
            self.finish()


def _form(path: str, message: str) -> str:
    """Return a page whose form leads to the login, with a relative address."""
    action = "../" * (path.count("/") - 1) + "login"
    script = _SLASH if path.endswith("/") else ""
    return _FORM.format(message=html.escape(message), action=action, script=script)


def protect(application: web.Application, token: Token | None, server: Any) -> None:
    """Protect an application and its HTTP server with the token, websockets included.

    A browser keeps the token for one name; without a token, requests for names of other sites are
    refused. Nobody may send much, or slowly: requests without the token are read too.
    """
    limit(server)
    if token is None:
        check_hosts(application)
        return
    settings = {"token": token, "limit": LoginLimit()}
    rules = [
        routing.Rule(routing.PathMatches(r"/login"), _Login, settings),
        routing.Rule(_TokenMissing(token), _Refusal, settings),
    ]
    application.default_router.rules[:0] = rules  # before all others, those added later too
