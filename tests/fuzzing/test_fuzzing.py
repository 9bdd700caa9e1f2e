"""Inputs that nobody should send: no server crashes or hangs, and nothing is executed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import time

import dask.config
import pytest

from marsdask.scheduler.cli import configfile, sizes
from marsdask.scheduler.cluster.authority import Authority
from marsdask.scheduler.supervisor import Supervisor
from marsdask.scheduler.web.authentication import Token
from tests.cluster.loop import HOST
from tests.fuzzing.inputs import Inputs

#: ``make fuzz`` sets them; here a few inputs that are always the same.
SEED = os.environ.get("FUZZ_SEED", "1")
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
FEW = 150

TOKEN = "hush-hush-hush-hush"  # noqa: S105

#: Seconds for an answer, and for one to a request that the server waits for the rest of.
DEADLINE, PATIENCE = 30, 0.05

#: Inputs between two looks at whether the server still answers.
BETWEEN = 50


class Errors(logging.Handler):
    """Collects exceptions that reached the log: nobody had expected them."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.found = []

    def emit(self, record):
        if record.exc_info and record.exc_info[0] is not None:
            self.found.append(record)


async def send(port, *parts, patience=PATIENCE):
    """Send bytes, and read what comes until the server closes or waits."""
    reader, writer = await asyncio.open_connection(HOST, port)
    found = b""
    with contextlib.suppress(OSError):
        for part in parts:
            writer.write(part)
            await writer.drain()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(patience):
            while part := await reader.read(1 << 16):
                found += part
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return found


async def alive(port):
    """Fail unless the server answers."""
    request = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    answer = await send(port, request, patience=DEADLINE)
    assert answer.startswith(b"HTTP/1.1 200"), answer


def numbers():
    """Count until the time is over."""
    end = time.monotonic() + SECONDS
    number = 0
    while number < FEW or time.monotonic() < end:
        yield number
        number += 1


def test_the_web_port(tmp_path):
    """Requests, headers and frames; with the token only what can execute nothing."""
    canary = tmp_path / "executed"
    errors = Errors()

    async def main():
        server = Supervisor(host=HOST, web=(HOST, 0), token=Token(TOKEN), authority=Authority.new())
        async with server:
            port = server.http_server.port
            for number in numbers():
                inputs = Inputs(f"{SEED}:{number}", canary, TOKEN)
                kind = number % 3
                if kind == 0:
                    await send(port, inputs.request())
                else:
                    shown = kind == 1
                    upgrade = inputs.upgrade(shown=shown)
                    await send(port, upgrade, inputs.frames(bombs=not shown))
                assert not canary.exists(), f"seed {SEED}:{number} executed something"
                said = [one.getMessage() for one in errors.found if not expected(one)]
                assert not said, f"seed {SEED}:{number}: {said}"
                errors.found.clear()
                if number % BETWEEN == 0:
                    await alive(port)
            await alive(port)

    logging.getLogger().addHandler(errors)
    try:
        asyncio.run(main())
    finally:
        logging.getLogger().removeHandler(errors)


def expected(record):
    """Return whether an error is one of a connection, as distributed logs all of them."""
    kind = record.exc_info[0]
    return issubclass(kind, OSError | EOFError) or record.name.startswith("distributed")


def test_settings(tmp_path):
    """A configuration is read or refused by a ValueError."""
    for number in numbers():
        text, defines, size = Inputs(f"{SEED}:{number}", tmp_path / "executed", TOKEN).settings()
        for read in (
            lambda: configfile.translate(configfile.gather(None, text, defines)),  # noqa: B023
            lambda: sizes.parse_ports(size),  # noqa: B023
            lambda: sizes.parse_size(size, 2**30),  # noqa: B023
        ):
            with contextlib.suppress(ValueError), dask.config.set({}):
                read()
    assert not (tmp_path / "executed").exists()


def test_it_would_notice(tmp_path):
    """The bombs go off where they are unpickled, and the seed alone decides."""
    canary = tmp_path / "executed"
    inputs = Inputs("1", canary, TOKEN)
    descriptor = pickle.loads(inputs._bomb)
    os.close(descriptor)
    assert canary.exists()
    again = [Inputs("7", canary, TOKEN).request() for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(AssertionError):
        asyncio.run(_closed())


async def _closed():
    server = await asyncio.start_server(lambda reader, writer: writer.close(), HOST, 0)
    async with server:
        await alive(server.sockets[0].getsockname()[1])
