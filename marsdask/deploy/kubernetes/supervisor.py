"""``mars-supervisor``, which scales its workers and writes events of pods where it may."""

import sys

from marsdask.scheduler.cli.supervisor import main

from .in_pod.events import PodEvents
from .in_pod.lease import LeaseArbiter
from .in_pod.scaler import PodScaler

if __name__ == "__main__":
    events = PodEvents.in_cluster()
    sys.exit(
        main(
            prog="mars-supervisor",
            scaler=PodScaler.in_cluster(),
            arbiter=LeaseArbiter.in_cluster,
            plugins=() if events is None else (events,),
        )
    )
