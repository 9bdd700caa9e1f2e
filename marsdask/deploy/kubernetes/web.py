"""``mars-web``."""

import sys

from marsdask.scheduler.cli.web import main

if __name__ == "__main__":
    sys.exit(main(prog="mars-web"))
