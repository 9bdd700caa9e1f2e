"""``mars-supervisor``, which changes the number of its workers where it may."""

import sys

from marsdask.scheduler.cli.supervisor import main

from .in_pod.lease import LeaseArbiter
from .in_pod.scaler import PodScaler

if __name__ == "__main__":
    sys.exit(
        main(
            prog="mars-supervisor",
            scaler=PodScaler.in_cluster(),
            arbiter=LeaseArbiter.in_cluster,
        )
    )
