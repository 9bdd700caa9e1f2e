"""Requests, frames and settings that nobody should send, drawn from a seed."""

from __future__ import annotations

import base64
import json
import os
import pickle
import random
import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]

from marsdask.scheduler.web import join, legacy_api, nodes, sessions

ROUTES: Mapping[str, Mapping[str, Any]] = {
    **join.ROUTES,
    **nodes.ROUTES,
    **sessions.ROUTES,
    **legacy_api.ROUTES,
}

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")

#: Headers that servers act upon.
HEADERS = (
    "Host",
    "Authorization",
    "Cookie",
    "Origin",
    "Upgrade",
    "Connection",
    "Content-Length",
    "Transfer-Encoding",
    "Content-Type",
    "Content-Encoding",
    "Expect",
    "Range",
    "Accept",
    "If-None-Match",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Version",
    "X-Forwarded-For",
)

#: Values that parsers stumble over.
ODD = (
    *("", "0", "-1", "1e999", "nan", "null", "true", "9" * 400, "\u2603", "%00", "%ff", "../" * 9),
    *("a" * 9000, "{}", "[]", '{"a":', "[" * 3000, "<script>", "chunked", "websocket", "Bearer ,"),
    *("gzip", "100-continue", "bytes=0-", "evil.com", "[::1", "127.0.0.1:99999", "token=\x00"),
)


class Canary:
    """Its pickle writes a file wherever it is executed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT)


class Inputs:
    """Draws inputs."""

    def __init__(self, seed: str, canary: Path, token: str) -> None:
        self.draw = random.Random(seed)
        self._bomb = pickle.dumps(Canary(canary))
        self._token = token

    def _odd(self) -> str:
        draw = self.draw
        if draw.random() < 0.6:
            return draw.choice(ODD)
        return "".join(map(chr, draw.choices(range(1, 0x2FF), k=draw.randrange(40))))

    def _bytes(self) -> bytes:
        draw = self.draw
        chosen = draw.randrange(4)
        if chosen == 0:
            return self._bomb
        if chosen == 1:
            return draw.randbytes(draw.randrange(300))
        if chosen == 2:
            return json.dumps(self._value(3), default=str).encode(errors="replace")
        return self._odd().encode(errors="replace")

    def _value(self, depth: int) -> Any:
        draw = self.draw
        kind = draw.randrange(6 if depth else 4)
        if kind == 0:
            return draw.choice((None, True, 0, -1, 2**70, float("nan"), 1e308))
        if kind in (1, 2):
            return self._odd()
        if kind == 3:
            return base64.b64encode(self._bomb).decode()
        names = ("role", "request", "op", "action", "worker_num", "fuse", self._odd())
        if kind == 4:
            return {draw.choice(names): self._value(depth - 1) for _ in range(draw.randrange(4))}
        return [self._value(depth - 1) for _ in range(draw.randrange(4))]

    def _path(self) -> str:
        pattern = self.draw.choice([*ROUTES, r"/", r"/login", r"/health", r"/metrics", r"/status"])
        path = re.sub(r"\([^()]*\)", lambda _: self._odd(), pattern).replace("\\", "")
        if self.draw.random() < 0.4:
            path += "?" + "&".join(f"{self._odd()}={self._odd()}" for _ in range(3))
        return path.replace(" ", "%20").replace("\r", "").replace("\n", "")

    def request(self) -> bytes:
        """Return a request, which may be broken, with or without the token."""
        draw = self.draw
        body = self._bytes() if draw.random() < 0.5 else b""
        headers = {"Host": "localhost", "Content-Length": str(len(body)), "Connection": "close"}
        if draw.random() < 0.5:
            headers["Authorization"] = f"Bearer {self._token}"
        for _ in range(draw.randrange(4)):
            headers[draw.choice(HEADERS)] = self._odd()
        lines = [f"{draw.choice(METHODS)} {self._path()} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        text = "\r\n".join(lines).encode(errors="replace") + b"\r\n\r\n" + body
        return self._broken(text) if draw.random() < 0.3 else text

    def _broken(self, data: bytes) -> bytes:
        """Return bytes with some changed, left out or repeated."""
        draw, changed = self.draw, bytearray(data)
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(changed) + 1)
            kind = draw.randrange(3)
            if kind == 0:
                changed[at : at + 1] = draw.randbytes(1)
            elif kind == 1:
                del changed[at : at + draw.randrange(20)]
            else:
                changed[at:at] = changed[at : at + draw.randrange(20)]
        return bytes(changed)

    def upgrade(self, *, shown: bool) -> bytes:
        """Return the request for a websocket, with the token or without."""
        lines = [
            "GET / HTTP/1.1",
            "Host: localhost",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(self.draw.randbytes(16)).decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        if shown:
            lines.append(f"Authorization: Bearer {self._token}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    def frames(self, *, bombs: bool) -> bytes:
        """Return frames of a websocket: messages as distributed has them, and others.

        Without ``bombs`` they hold nothing that may be executed: who has the token may do that.
        """
        draw, found = self.draw, b""
        for _ in range(draw.randrange(1, 6)):
            content = self._bytes() if bombs else draw.randbytes(draw.randrange(300))
            if draw.random() < 0.5:
                value = {"op": draw.choice(("identity", "gather", self._odd())), "reply": True}
                content = msgpack.packb([value, draw.randrange(9)], unicode_errors="replace")
            first = draw.choice((0x82, 0x81, 0x02, 0x80, 0x88, 0x89, 0x8A, 0x83, 0xF2))
            mask = draw.randbytes(4)
            masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))
            size = len(content) if draw.random() < 0.8 else draw.choice((0, 1, 2**20, 2**63 - 1))
            found += struct.pack("!BBQ", first, 0x80 | 127, size) + mask + masked
        return self._broken(found) if draw.random() < 0.3 else found

    def settings(self) -> tuple[str, list[str], str]:
        """Return a configuration as text, defines, and a list of sizes or ports."""
        text = json.dumps(self._value(3), default=str)
        if self.draw.random() < 0.3:
            text = self._broken(text.encode()).decode(errors="replace")
        defines = [f"{self._odd()}={self._odd()}" for _ in range(self.draw.randrange(3))]
        return text, defines, self._odd()
