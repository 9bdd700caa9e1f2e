"""Run the calls in an interpreter of Mars and write what they gave to ``facts.json``.

``PYTHON tests/mars/record.py`` with Python 3.9, pymars 0.10.0, numpy<1.24 and pandas<1.5. Only
needed after calls have come or gone.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

#: Seconds after which a call counts as one that never ends: Mars has some.
PATIENCE = 20


class NeverEnds(Exception):
    """A call did not end in time."""


class MarsRecorder:
    """A session of Mars, and what calls give in it."""

    def __init__(self) -> None:
        sys.path.insert(0, str(HERE))  # not as a package: nothing else here runs on Python 3.9
        self._calls, self._facts = map(importlib.import_module, ("calls", "facts"))
        self._mars = importlib.import_module("mars")
        for name in ("remote", "tensor.spatial", "tensor.special", "tensor.stats"):
            importlib.import_module(f"mars.{name}")
        signal.signal(signal.SIGALRM, _give_up)
        self._start()

    def _start(self) -> None:
        self._mars.new_session(n_worker=1, n_cpu=2, web=False)

    def stop(self) -> None:
        """End the session."""
        self._mars.stop_server()

    def fact(self, line: str) -> Any:
        """Return what a call gives."""
        mars = self._mars
        signal.alarm(PATIENCE)
        found = self._facts.fact_of(line, self._calls.namespace(mars, mars.tensor, mars.remote))
        signal.alarm(0)
        if "NeverEnds" in found.get("error", ()):
            self.stop()
            self._start()
        return found

    def all(self) -> dict[str, Any]:
        """Return what all calls give."""
        families = self._calls.CALLS.values()
        return {line: self.fact(line) for family in families for line in family}


def _give_up(*_: object) -> None:
    raise NeverEnds


def main() -> None:
    """Write the facts of all calls."""
    recorder = MarsRecorder()
    facts = sorted(recorder.all().items())
    lines = [f"{json.dumps(line)}: {json.dumps(fact, sort_keys=True)}" for line, fact in facts]
    (HERE / "facts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    recorder.stop()


if __name__ == "__main__":
    main()
