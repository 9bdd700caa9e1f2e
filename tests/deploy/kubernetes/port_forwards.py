"""Connections to ports of pods, in messages of a websocket."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any

_KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

_PROTOCOL = "v4.channel.k8s.io"

#: Opcodes of messages.
_BINARY, _CLOSE = 2, 8


def forward(handler: BaseHTTPRequestHandler, host: str, port: int) -> None:
    """Answer a request with a connection to a port, until one of both ends."""
    accepted = hashlib.sha1(
        f"{handler.headers['Sec-WebSocket-Key']}{_KEY}".encode(), usedforsecurity=False
    )
    handler.send_response(101)
    for name, value in {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Accept": base64.b64encode(accepted.digest()).decode(),
        "Sec-WebSocket-Protocol": _PROTOCOL,
    }.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.close_connection = True
    out: Any = handler.wfile
    for channel in (0, 1):
        out.write(_message(bytes([channel]) + struct.pack("<H", port)))
    try:
        pod = socket.create_connection((host, port), 5)
    except OSError as error:
        out.write(_message(b"\1" + str(error).encode()))
        out.write(_message(b"", _CLOSE))
        return
    with pod:
        pod.settimeout(None)
        thread = threading.Thread(target=_receive, args=(handler.rfile, pod), daemon=True)
        thread.start()
        with contextlib.suppress(OSError):
            while block := pod.recv(65536):
                out.write(_message(b"\0" + block))
            out.write(_message(b"", _CLOSE))
        with contextlib.suppress(OSError):
            handler.connection.shutdown(socket.SHUT_RDWR)
        thread.join()


def _receive(stream: Any, pod: socket.socket) -> None:
    """Send what the messages of a client contain, until they end."""
    with contextlib.suppress(OSError):
        while (content := _next_message(stream)) is not None:
            pod.sendall(content[1:])
    with contextlib.suppress(OSError):
        pod.shutdown(socket.SHUT_RDWR)


def _next_message(stream: Any) -> bytes | None:
    """Return the content of a message, `None` after the last one."""
    head = stream.read(2)
    if len(head) < 2 or head[0] & 15 == _CLOSE:
        return None
    length = head[1] & 127
    if length > 125:
        kind = ">H" if length == 126 else ">Q"
        (length,) = struct.unpack(kind, stream.read(struct.calcsize(kind)))
    mask = stream.read(4)
    content = stream.read(length)
    repeated = (mask * (length // 4 + 1))[:length]
    number = int.from_bytes(content, "big") ^ int.from_bytes(repeated, "big")
    return number.to_bytes(length, "big")


def _message(content: bytes, opcode: int = _BINARY) -> bytes:
    length = len(content)
    if length < 126:
        head = struct.pack(">BB", 128 | opcode, length)
    elif length < 1 << 16:
        head = struct.pack(">BBH", 128 | opcode, 126, length)
    else:
        head = struct.pack(">BBQ", 128 | opcode, 127, length)
    return head + content
