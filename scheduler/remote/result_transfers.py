"""Transfers of results to a client: from the workers, or in parts through the supervisor.

A worker is asked for its id first. A client behind a tunnel may reach another process at the
address of a worker.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from distributed.comm import CommClosedError
from distributed.core import send_recv
from distributed.utils_comm import retry_operation

from ..base import Key
from ..worker.connections import NAME, introduction
from ..worker.shared_transfers import claim

logger: Final = logging.getLogger(__name__)

#: Maximum bytes of one answer, unless a single result has more.
PART = 32 << 20

#: Number of keys whose holders are requested at a time.
_SLICE = 5000

#: Number of workers that are asked for their ids, and for results, at a time.
_PROBES, _SENDERS = 64, 8

#: Timeout for a worker's id, and time until a worker without an answer is asked again, in seconds.
_REACH, _AGAIN = 3.0, 60.0

#: Number of workers that are asked while none has answered, and the longest time, in seconds, until
#: one is asked again: the time is doubled after each question without an answer.
_FEW, _RARELY = 8, 3600.0

#: Minimum bytes that a worker sends a second.
_RATE: Final = 1e6

#: Pause before a busy worker is asked again, in seconds.
_BUSY = 0.1

#: Prefixes of addresses of a web port, whose clients may not reach workers.
_WEB = ("ws://", "wss://")


class ResultTransfers:
    """Fetches the results of one client of a supervisor."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._found: dict[str, tuple[str, bool]] = {}
        """The workers that have answered: their ids, and whether they send shared memory."""
        self._silent: dict[str, tuple[float, float]] = {}
        """Workers without an answer: the time at which each is asked again, and the pause."""
        self._senders = asyncio.Semaphore(_SENDERS)
        self._probes = asyncio.Semaphore(_PROBES)

    async def gather(self, keys: Sequence[Key]) -> dict[str, Any]:
        """Return the values in the format of the scheduler's answer to ``gather``."""
        values: dict[Key, Any] = {}
        failures: list[Key] = []
        for start in range(0, len(keys), _SLICE):
            part = keys[start : start + _SLICE]
            told = await retry_operation(self._client.scheduler.mars_holders, keys=part)
            sizes: Mapping[Key, int] = told["sizes"] if told else {}
            if told and self._is_direct():  # an older supervisor says nothing
                await self._from_workers(told["holders"], sizes, told["ids"], values)
            remainder = [key for key in part if key not in values]
            for keys_part in parts(remainder, sizes):
                answer = await retry_operation(self._client.scheduler.gather, keys=keys_part)
                if answer["status"] == "OK":
                    values.update(answer["data"])
                else:
                    failures.extend(answer["keys"])
        return (
            {"status": "error", "keys": failures} if failures else {"status": "OK", "data": values}
        )

    def _is_direct(self) -> bool:
        direct: bool | None = self._client.direct_to_workers
        return direct is not False and not self._client.scheduler.address.startswith(_WEB)

    async def _from_workers(
        self,
        holders: Mapping[Key, Collection[str]],
        sizes: Mapping[Key, int],
        ids: Mapping[str, str],
        values: dict[Key, Any],
    ) -> None:
        """Add the values that workers send."""
        addresses_near = await self._reached(ids)
        sources: dict[str, list[Key]] = {}
        load: Counter[str] = Counter()
        for key, addresses in holders.items():
            able = [address for address in addresses if address in addresses_near]
            if able:
                address = min(able, key=load.__getitem__)
                load[address] += sizes[key]
                sources.setdefault(address, []).append(key)
        requests = (self._from_worker(*source, sizes, values) for source in sources.items())
        await asyncio.gather(*requests)

    async def _reached(self, ids: Mapping[str, str]) -> set[str]:
        """Return the addresses at which these workers answer.

        Few are asked while none answers: a client outside of the cluster reaches none of them.
        """
        now = time.monotonic()
        ends = {address: end for address, (end, _) in self._silent.items()}
        for address in [name for name, end in ends.items() if end + _RARELY < now]:
            del self._silent[address]
        paused = {address for address, end in ends.items() if now < end}
        due = [name for name in ids if not self._knows(name, ids[name]) and name not in paused]
        due.sort(key=self._silent.__contains__)
        few = len(due) if self._found else max(0, _FEW - len(paused))
        await self._probe(due[:few], ids)
        if self._found:
            await self._probe(due[few:], ids)
        return {address for address in ids if self._knows(address, ids[address])}

    def _knows(self, address: str, worker: str) -> bool:
        return self._found.get(address, ("",))[0] == worker

    async def _probe(self, addresses: Sequence[str], ids: Mapping[str, str]) -> None:
        """Find out which of these workers answer, and for how long not to ask the others again."""
        pauses = {address: pause for address, (_, pause) in self._silent.items()}
        await asyncio.gather(*(self._reach(address, ids[address]) for address in addresses))
        longest = 0.0 if self._found else max(pauses.values(), default=0.0)
        for address in addresses:
            if not self._knows(address, ids[address]):
                pause = min(max(_AGAIN, 2 * max(longest, pauses.get(address, 0.0))), _RARELY)
                self._silent[address] = time.monotonic() + pause, pause

    async def _reach(self, address: str, worker: str) -> None:
        """Ask this worker for its id, and note what it says."""
        identity: Mapping[str, Any] = {}
        with suppress(Exception):  # another server may send any answer
            async with self._probes, asyncio.timeout(_REACH):
                identity = await self._client.rpc(address).identity()
        if identity.get("id") != worker:
            logger.info("%s does not answer as %s: using the supervisor", address, worker)
            return
        if not self._found:
            self._silent.clear()  # the way to the others may be open now, too
        self._silent.pop(address, None)
        self._found[address] = worker, NAME in identity

    async def _from_worker(
        self, address: str, keys: Sequence[Key], sizes: Mapping[Key, int], values: dict[Key, Any]
    ) -> None:
        """Add the values that one worker sends; the others are requested from the supervisor."""
        _, shares = self._found.get(address, ("", False))  # given up in another gather, maybe
        async with self._senders:
            try:
                for part in parts(keys, sizes):
                    nbytes = sum(sizes.get(key, 0) for key in part)
                    async with asyncio.timeout(_AGAIN + nbytes / _RATE):  # it may be frozen
                        values.update(await self._request(address, part, shares))
            except Exception as error:  # noqa: BLE001 - unpickling may raise any exception
                # The supervisor sends the same value, or knows another holder.
                logger.info("%s sends no more results: %r", address, error)
                self._found.pop(address, None)

    async def _request(self, address: str, keys: Sequence[Key], shares: bool) -> Mapping[Key, Any]:
        message: dict[str, Any] = {"op": "get_data", "who": None}
        if shares:  # it can send handles of shared memory
            message = {"op": "mars_results", "client": self._client.id, "place": introduction()}
        while True:
            comm = await self._client.rpc.connect(address)
            try:
                answer = await send_recv(comm, keys=keys, **message)
                if answer["status"] == "OK":
                    await comm.write("OK")
            except BaseException:
                comm.abort()  # the worker waits for the end of this transfer
                raise
            finally:
                self._client.rpc.reuse(address, comm)
            if answer["status"] == "OK":
                data: Mapping[Key, Any] = answer["data"]
                for value in data.values():
                    claim(value)  # a worker in this process would take it for a later value
                return data
            if answer["status"] != "busy":
                raise CommClosedError(f"unexpected answer: {answer}")
            await asyncio.sleep(_BUSY)


def parts(keys: Sequence[Key], sizes: Mapping[Key, int]) -> Iterator[list[Key]]:
    """Yield the keys in lists of at most ``PART`` bytes, or of one key."""
    part: list[Key] = []
    nbytes = 0
    for key in keys:
        size = sizes.get(key, 0)
        if part and nbytes + size > PART:
            yield part
            part, nbytes = [], 0
        part.append(key)
        nbytes += size
    if part:
        yield part
