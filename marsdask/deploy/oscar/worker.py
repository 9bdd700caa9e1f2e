"""``mars-worker``."""

import sys

from marsdask.scheduler.cli.worker import main

if __name__ == "__main__":
    sys.exit(main(prog="mars-worker"))
