"""Every example runs to its end in an interpreter of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.source import ROOT

#: How to make each example small.
ARGUMENTS = {
    "quickstart": (
        "--size",
        "200",
        "--shrink",
        "8",
        "--rank",
        "5",
        "--scale",
        "0.01",
        "--rows",
        "2000",
    ),
    "mars_program": ("--points", "20000"),
    "old_mars_program": (),
    "dask_program": ("--rows", "1000"),
    "pipeline": ("--chunk-size", "150"),
}

#: Seconds after which an example counts as hung.
DEADLINE = 240


def run(name: str, *arguments: str) -> str:
    """Run an example to its end and return what it printed; nothing of it is left behind."""
    through = ("-m", "marsdask.compat") if name == "old_mars_program" else ()
    command = [sys.executable, *through, str(ROOT / "examples" / f"{name}.py"), *arguments]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as child:
        try:
            out, err = child.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    assert child.returncode == 0, err
    return out


def test_each_example_has_arguments() -> None:
    """The table names the examples that exist."""
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == ARGUMENTS.keys()


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name != "quickstart"])
def test_example_runs(name: str) -> None:
    """A small run ends well and says something."""
    assert run(name, *ARGUMENTS[name])


def test_quickstart_runs_and_writes_pictures(tmp_path) -> None:
    """All eight parts of the main job run, small, and the pictures are there."""
    out = run("quickstart", *ARGUMENTS["quickstart"], "--out", str(tmp_path))
    assert [
        line[0] for line in out.splitlines() if line[:1].isdigit() and line[1:3] == ". "
    ] == list("12345678")
    for name in ("china", "flower", "confusion"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
