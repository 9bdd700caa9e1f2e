"""``python -m marsdask.deploy...``: the commands under the names of Mars's modules."""

import runpy
import sys

import pytest

COMMANDS = {
    "kubernetes.scheduler": "mars-scheduler",
    "kubernetes.supervisor": "mars-supervisor",
    "kubernetes.web": "mars-web",
    "kubernetes.worker": "mars-worker",
    "oscar.supervisor": "mars-supervisor",
    "oscar.worker": "mars-worker",
}


@pytest.mark.parametrize("module", COMMANDS)
def test_a_module_is_a_command(module, monkeypatch, capsys):
    """Each reads the command line, as the command that it says it is."""
    monkeypatch.setattr(sys, "argv", [module, "--version"])
    # runpy warns of a module that another test has imported before.
    monkeypatch.delitem(sys.modules, f"marsdask.deploy.{module}", raising=False)
    with pytest.raises(SystemExit) as caught:
        runpy.run_module(f"marsdask.deploy.{module}", run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"{COMMANDS[module]} ")
