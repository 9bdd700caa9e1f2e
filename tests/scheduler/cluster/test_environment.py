"""The description of a process."""

import shlex
import threading

import numpy as np
import pytest

from marsdask.scheduler.cluster.environment import environment, installed, redacted, stacks


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "mars-web -p 80 --web-token-file /run/token",
            "mars-web -p 80 --web-token-file /run/token",
        ),
        ("x --token abc -p 1", "x --token ... -p 1"),
        ("mars-worker --join abc -p 1", "mars-worker --join ... -p 1"),
        ("x --web-token=abc y", "x --web-token=... y"),
        ("x --password 'a b' --flag", "x --password ... --flag"),
        ("x --api-key=k --secret -v", "x --api-key=... --secret -v"),
        ("x 'a b'", "x 'a b'"),
        ("""x -c '{"s3": {"secret_key": "k", "file": 1}}' -p 1""", "x -c ... -p 1"),
        ("""x --config='{"a": {"password": "k"}}'""", "x --config=..."),
        ("x --define=a.token=abc=d -p 1", "x --define=a.token=... -p 1"),
        ("x --define=a.b=1 -Da.token=abc", "x --define=a.b=1 -Da.token=..."),
        ("x -D a.token=abc", "x -D a.token=..."),
        ("""x -c '{"a": 1}'""", """x -c '{"a": 1}'"""),
    ],
)
def test_no_secrets_in_command_lines(line, shown):
    """Values of options that sound secret are dots; files that hold secrets are no secrets."""
    assert redacted(shlex.split(line)) == shown


def test_the_environment():
    """Versions are those of imported packages; variables are not reported."""
    told = environment()
    assert told["package_versions"]["numpy"] == np.__version__
    assert told["cpu_total"] >= 1
    assert told["memory_total"] > 2**20
    assert installed("no-such-package-anywhere") == "unknown"


def test_the_pod(monkeypatch):
    """A pod is named; the web token of the environment is not told."""
    monkeypatch.setenv("MARS_K8S_POD_NAME", "pod-1")
    monkeypatch.setenv("MARS_K8S_POD_UID", "u-1")
    monkeypatch.setenv("MARS_WEB_TOKEN", "hush-hush")
    told = environment()
    assert (told["k8s_pod_name"], told["k8s_pod_uid"]) == ("pod-1", "u-1")
    assert "hush-hush" not in str(told)


def test_stacks():
    """Every thread is there, this one in this test."""
    found = stacks()
    mine = next(lines for name, lines in found.items() if threading.current_thread().name in name)
    assert "test_stacks" in "".join(mine)
