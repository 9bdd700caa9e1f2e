"""Breaks the product in one place at a time, and says which of its tests notice.

``python -m tests.chaos.mutants [NAME ...]`` changes a copy; each change must turn its tests red,
which are green without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.source import ROOT

#: What a copy needs.
_PARTS = ("marsdask", "scheduler", "tests", "examples", "pyproject.toml")


@dataclass(frozen=True)
class Mutant:
    """A text of a file of which there is one, what replaces it, and the tests that notice."""

    file: str
    old: str
    new: str
    tests: str
    environment: Mapping[str, str] = field(default_factory=dict)


MUTANTS = {
    "sessions never resume": Mutant(
        "scheduler/remote/reconnect.py",
        "            await self._go_on()\n",
        '            raise OSError("the session does not resume")\n',
        "tests/chaos/test_random_failures.py",
        {"CHAOS_SECONDS": "20", "CHAOS_FAULTS": "kill_supervisor"},
    ),
    "standbys take silence for consent": Mutant(
        "scheduler/supervisor/failover/epoch.py",
        "    return 2 * alive.count(Vote.SILENT) > len(alive) or not alive\n",
        "    return Vote.SERVED not in alive\n",
        "tests/cluster/failover/test_isolation.py",
    ),
    "results of any generation are adopted": Mutant(
        "scheduler/supervisor/failover/generations.py",
        "if key in (absent.held if self._known(key) else absent.lost)\n",
        "\n",
        "tests/scheduler/supervisor/failover/test_generations.py",
    ),
    "lost results without inputs are not computed again": Mutant(
        "scheduler/supervisor/lineage.py",
        "            ts.run_spec.recover(key)\n",
        "            str(key)\n",
        "tests/scheduler/supervisor/test_lineage.py",
        {"DASK_MARSDASK__NO_WORKERS_TIMEOUT": "5s"},
    ),
    "lost results are computed again with other decisions of fusion": Mutant(
        "marsdask/core/compilation/tiling.py",
        "        tasks, hints = lower_again(refs, self._made_by, held)\n",
        "        tasks, hints = (again := lowered(refs, held=held)).tasks, again.hints\n",
        "tests/core/compilation/test_batches.py",
    ),
    "nobody waits for workers in vain": Mutant(
        "scheduler/cluster/failures.py",
        '        value = dask.config.get(TIMEOUT, "30 minutes")\n',
        "        value = None\n",
        "tests/scheduler/cluster/test_failures.py",
    ),
    "workers share no memory": Mutant(
        "scheduler/worker/server.py",
        "        if pool.problem is not None or pool.limit < pool.share_from:\n",
        "        if pool is not None:\n",
        "tests/cluster/scheduling/test_shared_memory.py",
    ),
    "each batch has sources for all workers": Mutant(
        "scheduler/supervisor/affinity/affinities.py",
        "    return start, start + tasks / size\n",
        "    return 0.0, 1.0\n",
        "tests/scheduler/supervisor/affinity/test_affinities.py",
    ),
    "the nanny never kills": Mutant(
        "scheduler/worker/nanny.py",
        "        if nbytes > most and not (self.host is not None and self.host.within(HARD)):\n",
        "        if nbytes < 0:\n",
        "tests/scheduler/worker/test_nanny.py",
    ),
}


def mutated(folder: Path, mutant: Mutant | None) -> Path:
    """Return a copy of the project in a folder, with a change."""
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / part, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, folder / part)
    if mutant is not None:
        path = folder / mutant.file
        text = path.read_text()
        assert text.count(mutant.old) == 1, f"{mutant.file} has changed"
        path.write_text(text.replace(mutant.old, mutant.new))
    return folder


def notices(mutant: Mutant, *, changed: bool) -> bool:
    """Return whether the tests of a mutant fail, with its change or without."""
    with tempfile.TemporaryDirectory() as folder:
        place = mutated(Path(folder), mutant if changed else None)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", *mutant.tests.split()]
        environment = os.environ | {"PYTHONPATH": str(place)} | dict(mutant.environment)
        done = subprocess.run(
            command, cwd=place, env=environment, check=False, stdout=subprocess.PIPE, text=True
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout)
    print(done.stdout.splitlines()[-1])  # noqa: T201
    return done.returncode == 1


def main(names: Sequence[str]) -> int:
    """Try the mutants of these names, or all; return 1 if one is not noticed."""
    wrong = []
    for name in names or MUTANTS:
        print(name, flush=True)  # noqa: T201
        if notices(MUTANTS[name], changed=False) or not notices(MUTANTS[name], changed=True):
            wrong.append(name)
    print("not noticed, or red without it:", wrong or "none")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
