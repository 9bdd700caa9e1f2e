"""Run the calls in an interpreter of Mars and write what they gave to ``facts.json``.

``PYTHON tests/mars/record.py`` with Python 3.9, pymars 0.10.0, numpy<1.24 and pandas<1.5. Only needed
after calls have come or gone.
"""

import json
import signal
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import mars  # noqa: E402
import mars.remote as mr  # noqa: E402
import mars.tensor as mt  # noqa: E402
import mars.tensor.spatial  # noqa: E402
import mars.tensor.special  # noqa: E402
import mars.tensor.stats  # noqa: E402
from calls import CALLS, namespace  # noqa: E402
from facts import fact_of  # noqa: E402


#: Seconds after which a call counts as one that never ends: Mars has some.
PATIENCE = 20


class NeverEnds(Exception):
    """A call did not end in time."""


def main() -> None:
    """Write the facts of all calls."""
    signal.signal(signal.SIGALRM, _give_up)
    mars.new_session(n_worker=1, n_cpu=2, web=False)
    found = {}
    for family, lines in CALLS.items():
        for line in lines.strip().splitlines():
            found[line] = _fact(line)
        print(family, len(found), flush=True)
    (HERE / "facts.json").write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    mars.stop_server()


def _fact(line: str) -> Any:
    signal.alarm(PATIENCE)
    found = fact_of(line, namespace(mars, mt, mr))
    signal.alarm(0)
    if "NeverEnds" in found.get("error", ()):
        print("never ends:", line, flush=True)
        mars.stop_server()
        mars.new_session(n_worker=1, n_cpu=2, web=False)
    return found


def _give_up(*_: object) -> None:
    raise NeverEnds


if __name__ == "__main__":
    main()
