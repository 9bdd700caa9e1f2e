"""The nanny, without a worker process."""

import asyncio
import os

import pytest

from marsdask.scheduler.worker import MarsNanny
from marsdask.scheduler.worker.host import Host


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_it_keeps_nothing_open():
    """A command that goes on with another supervisor starts new ones each time."""
    host = Host(1, 1000)

    async def main():
        nanny = MarsNanny("tcp://127.0.0.1:1", nthreads=1, ledger=(host.path, 0))
        share, record = nanny._ledger, nanny._record
        assert share is not None
        assert record is not None
        opened = [share._descriptor, record._descriptor]
        await nanny.close()
        for descriptor in opened:
            with pytest.raises(OSError, match="descriptor"):
                os.fstat(descriptor)

    asyncio.run(main())
    host.close()
