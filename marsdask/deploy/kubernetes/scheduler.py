"""``mars-scheduler``."""

import sys

from marsdask.scheduler.cli.supervisor import main

if __name__ == "__main__":
    sys.exit(main(prog="mars-scheduler"))
