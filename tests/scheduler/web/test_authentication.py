"""The token: where it comes from, who shows it, and what those are told who do not."""

import asyncio
import hmac
import json
import os
import time
from types import SimpleNamespace
from typing import Any

import pytest
from tornado import httpserver, httputil, netutil, web
from tornado.httpclient import AsyncHTTPClient

from marsdask.scheduler.web.authentication import Token, client_token, protect, read_token

SHOWN = "hush"

#: A time that has not come.
LATE = 2**40


def request(path="/status", **headers):
    """Return a request as tornado has it."""
    start: Any = httputil.RequestStartLine("GET", path, "HTTP/1.1")
    connection: Any = SimpleNamespace(context=None)
    found = httputil.HTTPHeaders({"Host": "here", **headers})
    return httputil.HTTPServerRequest(headers=found, connection=connection, start_line=start)


@pytest.mark.parametrize(
    ("headers", "right"),
    [
        ({}, False),
        ({"Authorization": f"Bearer {SHOWN}"}, True),
        ({"Authorization": f"bearer  {SHOWN} "}, True),
        ({"Authorization": f"Basic {SHOWN}"}, False),
        ({"Authorization": "Bearer hus"}, False),
        ({"Authorization": "Bearer hushx"}, False),
        ({"Authorization": "Bearer \xfc"}, False),
        ({"Cookie": f"marsdask-web={Token(SHOWN).cookie(LATE)}"}, True),
        ({"Cookie": f"marsdask-web={Token(SHOWN).cookie(1)}"}, False),
        ({"Cookie": f"marsdask-web={LATE}{Token(SHOWN).cookie(1)[1:]}"}, False),
        ({"Cookie": "marsdask-web=" + "9" * 5000}, False),
        ({"Cookie": f"marsdask-web={SHOWN}"}, False),
    ],
)
def test_who_is_allowed(headers, right):
    """Whoever shows the token in a header, or the cookie that is made of it; nobody else."""
    assert Token(SHOWN).allows(request(**headers)) is right


def test_it_does_not_show():
    """No representation holds the secret, and neither does the cookie."""
    token = Token(SHOWN)
    assert SHOWN not in f"{token} {token!r} {token.cookie(LATE)}"


@pytest.mark.parametrize("secret", ["", "a b", "a\nb", "\xfc"])
def test_what_is_no_token(secret):
    """What no header can hold is refused when it is read."""
    with pytest.raises(ValueError, match="token"):
        Token(secret)


def test_where_it_is_read(tmp_path):
    """A file goes before the environment, and none is none."""
    path = tmp_path / "token"
    path.write_text(f"{SHOWN}\n")
    assert read_token({}) is None
    of_variable = read_token({"MARS_WEB_TOKEN": "other"})
    of_file = read_token({"MARS_WEB_TOKEN": "other"}, str(path))
    of_named = read_token({"MARS_WEB_TOKEN_FILE": str(path)})
    assert of_variable is not None
    assert of_variable.header == "Bearer other"
    for token in (of_file, of_named):
        assert token is not None
        assert token.header == f"Bearer {SHOWN}"
    path.write_text("\n")
    with pytest.raises(ValueError, match="no token"):
        read_token({}, str(path))


def test_a_server_forgets_the_variable(monkeypatch):
    """What a process inherits or shows later has no token; a client leaves its own alone."""
    monkeypatch.setenv("MARS_WEB_TOKEN", SHOWN)
    shown = client_token(None)
    assert shown is not None
    assert shown.header == f"Bearer {SHOWN}"
    given = client_token("other")
    assert given is not None
    assert given.header == "Bearer other"
    assert read_token(os.environ) is not None
    assert "MARS_WEB_TOKEN" not in os.environ


class ProtectedPage(web.RequestHandler):
    """Anything worth protecting."""

    def get(self):
        self.write("inside")

    post = get


async def visits(*asked, token=SHOWN, application=None):
    """Fetch paths of a protected server; return (status, headers, body) of each."""
    if application is None:
        application = web.Application([(r"/health", ProtectedPage), (r"/.*", ProtectedPage)])
    server = httpserver.HTTPServer(application)
    protect(application, token and Token(token), server)
    application.add_handlers(r".*", [(r"/later", ProtectedPage)])
    sockets = netutil.bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    base = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    client = AsyncHTTPClient(force_instance=True)
    found = []
    try:
        for path, options in asked:
            answer = await client.fetch(
                base + path, raise_error=False, follow_redirects=False, **options
            )
            found.append((answer.code, answer.headers, answer.body.decode()))
    finally:
        client.close()
        server.stop()
        await server.close_all_connections()
    return found


def test_everything_is_behind_it():
    """Pages of any time are; the probe of Kubernetes is not."""
    right = {"headers": {"Authorization": f"Bearer {SHOWN}"}}
    paths = ("/status", "/later", "/api/x", "/")
    found = asyncio.run(
        visits(*((path, {}) for path in paths), *((path, right) for path in paths), ("/health", {}))
    )
    assert [code for code, _, _ in found] == [401] * 4 + [200] * 5
    told = json.loads(found[0][2])
    assert told["type"] == "Unauthorized"
    assert "Bearer" in told["message"]
    assert found[0][1]["WWW-Authenticate"].startswith("Bearer")


def test_without_a_token_all_is_open():
    """No token, no door."""
    assert [one[0] for one in asyncio.run(visits(("/status", {}), token=None))] == [200]


def test_people_are_shown_a_form_and_get_a_cookie():
    """The form's way is relative to the page, the cookie strict; a wrong token gets nothing."""
    html = {"headers": {"Accept": "text/html"}}
    wrong = {"method": "POST", "body": "token=no"}
    right = {"method": "POST", "body": f"token={SHOWN}"}
    cookie = {"headers": {"Cookie": f"marsdask-web={Token(SHOWN).cookie(LATE)}"}}
    root, page, deep, api, form, refused, entered, inside = asyncio.run(
        visits(
            ("/", html),
            ("/status", html),
            ("/info/main/workers.html", html),
            ("/api/session", html),
            ("/login", {}),
            ("/login", wrong),
            ("/login", right),
            ("/status", cookie),
        )
    )
    assert page[0] == 401
    assert 'action="login"' in page[2]
    # Below a prefix without its last slash that would lead to somebody else's, with the token.
    assert "location.replace" in root[2]
    assert "location.replace" not in page[2] + deep[2]
    assert 'action="../../login"' in deep[2]
    assert json.loads(api[2])["traceback"] is None
    assert form[0] == 200
    assert refused[0] == 401
    assert "Set-Cookie" not in refused[1]
    assert entered[0] == 303
    assert entered[1]["Location"] == "./"
    assert "HttpOnly" in entered[1]["Set-Cookie"]
    assert "SameSite=Strict" in entered[1]["Set-Cookie"]
    # Without a path it is good below the prefix of whatever proxy is in front.
    assert "Path" not in entered[1]["Set-Cookie"]
    assert inside[2] == "inside"


def test_a_cookie_ends():
    """A browser forgets it, and it is not accepted later."""
    entered = asyncio.run(visits(("/login", {"method": "POST", "body": f"token={SHOWN}"})))[0]
    assert "Max-Age=43200" in entered[1]["Set-Cookie"]
    until = int(entered[1]["Set-Cookie"].partition("=")[2].partition(".")[0])
    assert 43_000 < until - time.time() <= 43_200


def test_the_token_in_an_address():
    """A link with the token sets the cookie, and leads to the page without it."""
    (right, deep, wrong) = asyncio.run(
        visits((f"/?token={SHOWN}", {}), (f"/a/b?x=1&token={SHOWN}", {}), ("/?token=no", {}))
    )
    assert (right[0], right[1]["Location"]) == (303, "./")
    assert "HttpOnly" in right[1]["Set-Cookie"]
    assert deep[1]["Location"] == "b?x=1"
    assert wrong[0] == 401
    assert "Set-Cookie" not in wrong[1]


def test_guessing_is_slow():
    """After ten wrong tokens of a minute the form compares none; who has the token goes on."""
    wrong = ("/login", {"method": "POST", "body": "token=no"})
    bearer = ("/status", {"headers": {"Authorization": "Bearer no"}})
    right = ("/login", {"method": "POST", "body": f"token={SHOWN}"})
    shown = ("/status", {"headers": {"Authorization": f"Bearer {SHOWN}"}})
    found = asyncio.run(visits(*[wrong] * 5, *[bearer] * 5, wrong, right, shown))
    assert [code for code, _, _ in found] == [401] * 10 + [429, 429, 200]
    assert 0 < int(found[-2][1]["Retry-After"]) <= 61
    assert "Set-Cookie" not in found[-2][1]


def test_short_tokens():
    """Those of less than sixteen characters can be guessed."""
    assert Token("x" * 15).is_short
    assert not Token("x" * 16).is_short


def test_the_comparison_takes_the_same_time(monkeypatch):
    """Tokens are compared by the function that is made for it."""
    seen = []

    def compared(*pair):
        seen.append(pair)
        return False

    monkeypatch.setattr(hmac, "compare_digest", compared)
    assert not Token(SHOWN).is_right(SHOWN)
    assert seen == [(SHOWN.encode(), SHOWN.encode())]
