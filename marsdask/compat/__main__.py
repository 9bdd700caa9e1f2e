"""Run a program that was written for Mars: ``python -m marsdask.compat program.py args``."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from .alias import MarsInstalled, install


def main(argv: Sequence[str] | None = None) -> None:
    """Install the alias and run the program as ``__main__``."""
    parser = argparse.ArgumentParser("python -m marsdask.compat", description=__doc__)
    parser.add_argument("--replace", action="store_true", help="hide an installed pymars")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    values = parser.parse_args(argv)
    try:
        install(replace=values.replace)
    except MarsInstalled as error:
        parser.exit(2, f"{error}\n")
    sys.argv = [values.program, *values.args]
    if values.module:
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(values.program, run_name="__main__", alter_sys=True)
    else:
        _run(Path(values.program))


def _run(path: Path) -> None:
    """Run a file as Python does: its names stay while functions of it are still called."""
    sys.path.insert(0, str(path.resolve().parent))
    module = ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    exec(compile(path.read_bytes(), str(path), "exec"), vars(module))  # noqa: S102 - the program


if __name__ == "__main__":
    main()
