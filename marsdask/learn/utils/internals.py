"""Functions that Mars uses inside, which say what to use."""

from __future__ import annotations

from marsdask.learn.unsupported import refused

collect_ports = refused(
    "collect_ports",
    __name__,
    "what starts servers on workers finds its ports itself",
    "marsdask.remote.run_script() starts a script on workers and tells it MASTER_ADDR and "
    "MASTER_PORT",
)

concat_chunks = refused(
    "concat_chunks",
    __name__,
    "chunks are not objects of their own",
    "rechunk(-1) of a tensor, or repartition(npartitions=1) of a frame, makes one chunk of all",
)
