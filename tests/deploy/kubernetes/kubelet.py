"""A node: it runs the containers of pods as processes of this machine, probes and ends them."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from marsdask.deploy.kubernetes.spec import millicores
from tests.cluster.commands import BOUND
from tests.deploy.kubernetes.store import Denied, Object
from tests.source import ROOT

#: Seconds between two looks at a process that starts, or serves, and for one to end.
_LOOK, _RARE, _END = 0.2, 1.0, 20.0

#: What the image has beside Python's packages: the alias of Mars's name.
SITE = ROOT / "docker" / "site"

#: Paths of the image that are elsewhere here. Its shell becomes a single command, for signals.
PATHS = {"/bin/sh": "/bin/bash", "/srv/entrypoint.sh": str(ROOT / "docker" / "entrypoint.sh")}

#: An image that this node is still pulling.
SLOW = "slow-image"

IMAGES = ("marsdask/marsdask:latest", "mars-image")


class Kubelet:
    """The only node, at an address of the loopback network."""

    def __init__(self, server: Any, folder: Path, **environment: str) -> None:
        self.server, self.store = server, server.store
        self.folder = folder
        self.environment = environment
        self._network = server.host.rpartition(".")[0].rpartition(".")[0]
        self._numbers = iter(range(2, 60_000))
        self.idle: Callable[[str], bool] = lambda name: False
        """Whether a pod runs nothing, and is ready."""
        self.names = folder / "names.json"
        self.names.write_text("{}")
        self.pods: dict[str, RunningPod] = {}
        self.stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        server.log, server.address = self.log, self.address

    def _run(self) -> None:
        while not self.stopped.is_set():
            version = self.store.version
            found = {pod["metadata"]["uid"]: pod for pod in self.store.list("pods")}
            # A server deletes pods of no node at once, without a time of deletion.
            for uid in self.pods.keys() - found.keys():
                self.pods[uid].ending.set()
            for uid, pod in found.items():
                if uid not in self.pods:
                    self.pods[uid] = RunningPod(self, pod, self._address())
                elif "deletionTimestamp" in pod["metadata"]:
                    self.pods[uid].ending.set()
            self._resolve()
            self.store.wait_beyond(version, 1.0)

    def _address(self) -> str:
        high, low = divmod(next(self._numbers), 250)
        return f"{self._network}.{high + 1}.{low + 1}"

    def _resolve(self) -> None:
        """Write the addresses of pods by the names that services give them."""
        names = {}
        for pod in self.pods.values():
            for service in self.store.list("services", pod.namespace):
                wanted = service["spec"].get("selector") or {}
                if not pod.ended.is_set() and wanted.items() <= pod.labels.items():
                    title = service["metadata"]["name"]
                    for first in (f"{pod.name}.{title}", title):
                        for tail in ("", f".{pod.namespace}", f".{pod.namespace}.svc"):
                            names[first + tail] = pod.address
        text = json.dumps(names)
        if text != self.names.read_text():
            new = self.names.with_suffix(".new")
            new.write_text(text)
            new.replace(self.names)

    def run_in_cluster(self, program: str) -> None:
        """Run a program of a user whose machine has the names of the cluster."""
        environment = os.environ | {
            "PYTHONPATH": f"{Path(__file__).parent / 'pod'}:{ROOT}",
            "POD_SITE": str(SITE),
            "POD_ADDRESS": self._address(),
            "POD_NAMES": str(self.names),
        }
        done = subprocess.run(
            [*BOUND, sys.executable, "-c", program],
            env=environment,
            cwd=self.folder,
            timeout=120,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr

    def log(self, namespace: str, name: str, previous: bool) -> str:
        """Return what a container has written."""
        log_file = self._pod(namespace, name).log_file
        return log_file.read_text(errors="replace") if log_file.exists() else ""

    def address(self, namespace: str, name: str) -> str:
        """Return the address of a pod."""
        return self._pod(namespace, name).address

    def _pod(self, namespace: str, name: str) -> RunningPod:
        for pod in reversed(self.pods.values()):  # an older one may have had the same name
            if (pod.namespace, pod.name) == (namespace, name):
                return pod
        raise Denied(404, f'pods "{name}" not found')

    def close(self) -> None:
        self.stopped.set()
        for pod in self.pods.values():
            pod.ending.set()
        for pod in self.pods.values():
            pod.thread.join(_END)
        with self.store.changed:
            self.store.version += 1
            self.store.changed.notify_all()
        self._thread.join()


class RunningPod:
    """One pod: its volumes, its process, its probes, and its state as the server has it."""

    def __init__(self, kubelet: Kubelet, pod: Object, address: str) -> None:
        self.kubelet, self.store = kubelet, kubelet.store
        self.pod, self.address = pod, address
        self.name: str = pod["metadata"]["name"]
        self.namespace: str = pod["metadata"]["namespace"]
        self.labels = pod["metadata"].get("labels") or {}
        (self.container,) = pod["spec"]["containers"]
        self.folder = kubelet.folder / f"{self.name}-{uuid.uuid4().hex[:6]}"
        self.log_file, self.cut = self.folder / "log", self.folder / "cut"
        self.ending, self.ended = threading.Event(), threading.Event()
        self.restarts = 0
        self.codes: list[int] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            try:
                self._with_server(self._mount)
            except Denied:
                return  # its namespace ends already
            if self.kubelet.idle(self.name):
                self._report(phase="Running", running=True, ready=True)
                self.ending.wait()
            elif self.container["image"] in IMAGES:
                self._live()
            elif self.container["image"] == SLOW:
                self._report(waiting={"reason": "ContainerCreating"})
                self.ending.wait()
            else:
                reason = {
                    "reason": "ImagePullBackOff",
                    "message": f"no image {self.container['image']}",
                }
                self._report(waiting=reason)
                self.store.event(self.pod, "Failed", "Error: ErrImagePull")
                self.ending.wait()
        finally:
            self.ended.set()
            with contextlib.suppress(Denied):
                self._with_server(self._delete)

    def _with_server(self, action: Callable[[], object]) -> None:
        """Do what needs the server, again and again while that is away."""
        while True:
            try:
                action()
            except Denied as error:
                if error.status != 503 or self.kubelet.stopped.wait(_RARE):
                    raise
            else:
                return

    def _delete(self) -> None:
        found = self.store.current("pods", self.namespace, self.name)
        if found["metadata"]["uid"] == self.pod["metadata"]["uid"]:  # not a later one of that name
            self.store.delete("pods", self.namespace, self.name, now=True)

    def _mount(self) -> None:
        """Make volumes, and remember the paths that stand for others."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._paths: dict[str, str] = dict(PATHS)
        sources = {one["name"]: one for one in self.pod["spec"].get("volumes") or ()}
        for mount in self.container.get("volumeMounts") or ():
            path = self.folder / "volumes" / mount["name"]
            path.mkdir(parents=True, exist_ok=True)
            secret = sources.get(mount["name"], {}).get("secret")
            if secret is not None:
                data = self.store.get("secrets", self.namespace, secret["secretName"])["data"]
                for name, text in data.items():
                    (path / name).write_bytes(base64.b64decode(text))
            self._paths[mount["mountPath"]] = str(path)
        account = self.folder / "account"
        account.mkdir(exist_ok=True)
        owner = self.pod["spec"].get("serviceAccountName", "default")
        (account / "token").write_text(self.kubelet.server.account_token(self.namespace, owner))
        authority = Path(self.kubelet.server.authority).read_bytes()
        (account / "ca.crt").write_bytes(authority)

    def _moved(self, text: str) -> str:
        """Return a text with paths of this machine; /tmp is where TMPDIR says."""
        for path, real in self._paths.items():
            if text == path or text.startswith(f"{path}/"):
                return real + text[len(path) :]
        return text

    def _environment(self) -> dict[str, str]:
        python = Path(sys.executable).parent
        temporary = self._paths.get("/tmp", str(self.folder))
        found = {
            "PATH": f"{python}:{os.environ.get('PATH', '')}",
            "PYTHONPATH": f"{Path(__file__).parent / 'pod'}:{ROOT}",
            "POD_SITE": str(SITE),
            "TMPDIR": temporary,
            "POD_ADDRESS": self.address,
            "POD_NAMES": str(self.kubelet.names),
            "POD_CUT": str(self.cut),
            "KUBERNETES_SERVICE_HOST": self.kubelet.server.host,
            "KUBERNETES_SERVICE_PORT": str(self.kubelet.server.port),
            "PYTHONUNBUFFERED": "1",
        }
        if self.pod["spec"].get("automountServiceAccountToken", True):
            found["MARS_K8S_SERVICE_ACCOUNT"] = str(self.folder / "account")
        for one in self.container.get("env") or ():
            if "valueFrom" in one:
                found[one["name"]] = self._known(one["valueFrom"])
            else:  # an empty value is no value to the server
                parts = re.split("([:,])", one.get("value", ""))
                found[one["name"]] = "".join(map(self._moved, parts))
        return found | self.kubelet.environment

    def _known(self, source: Object) -> str:
        """Return the value of a field, or the whole cores that the container requests."""
        if "resourceFieldRef" in source:
            assert source["resourceFieldRef"]["resource"] == "requests.cpu"
            cpu = self.container["resources"]["requests"]["cpu"]
            return str(math.ceil(millicores("cpu", cpu) / 1000))
        fields: dict[str, str] = {
            "metadata.name": self.name,
            "metadata.namespace": self.namespace,
            "metadata.uid": self.pod["metadata"]["uid"],
            "status.podIP": self.address,
        }
        return fields[source["fieldRef"]["fieldPath"]]

    def _live(self) -> None:
        """Run the container until the pod ends, again and again where its policy wants that."""
        policy = self.pod["spec"].get("restartPolicy", "Always")
        while not self.ending.is_set():
            code = self._run_once()
            self.codes.append(code)
            if self.ending.is_set():
                return
            if policy == "Never" or (policy == "OnFailure" and code == 0):
                terminated = {"exitCode": code}
                self._report(phase="Failed" if code else "Succeeded", terminated=terminated)
                self.ending.wait()
                return
            self.restarts += 1
            self._report(waiting={"reason": "CrashLoopBackOff"}, last=code)

    def _run_once(self) -> int:
        command = [*self.container["command"], *self.container.get("args", [])]
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                [*BOUND, *map(self._moved, command)],
                env=self._environment(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._report(phase="Running", running=True, ready=not self._probe())
        ready = False
        living = LivenessCheck(self.container.get("livenessProbe"))
        while self.process.poll() is None:
            if self.ending.wait(_RARE if ready else _LOOK):
                return self._end()
            ready = self.process.poll() is None and self._is_ready()
            self._report(phase="Running", running=True, ready=ready)
            if living.is_over(self._answers, started=ready):
                self.kill()
        self._reap(())
        return self.process.returncode

    def tree(self) -> list[psutil.Process]:
        """Return the container's processes."""
        assert self.process is not None
        try:
            first = psutil.Process(self.process.pid)
            return [first, *first.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        """End the container's processes at once, as for want of memory."""
        process = self.process  # the pod's thread starts another one
        assert process is not None
        first, *children = self.tree()
        first.kill()
        self._reap(children)
        process.wait()

    def freeze(self) -> list[psutil.Process]:
        """Stop the container's processes, which may be resumed, and return them."""
        found = []
        for process in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended since
                process.suspend()
                found.append(process)
        return found

    def _end(self) -> int:
        """Run the hook of the end, then end the process with all of its children."""
        assert self.process is not None
        self._report(phase="Running", running=True, ready=False)
        hook = self.container.get("lifecycle", {}).get("preStop")
        if hook is not None:
            with self.log_file.open("ab") as log, contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    [*map(self._moved, hook["exec"]["command"])],
                    env=self._environment(),
                    cwd=self.folder,
                    timeout=_END,
                    check=False,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reap(children)
        return self.process.returncode

    def _reap(self, children: Any) -> None:
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(list(children), _END)

    def _probe(self) -> Object | None:
        probe: Object | None = self.container.get("readinessProbe")
        return probe

    def _is_ready(self) -> bool:
        """Ask the container as its probe says; without one it is ready."""
        probe = self._probe()
        return probe is None or self._answers(probe)

    def _answers(self, probe: Object) -> bool:
        """Return whether what a probe asks for is there."""
        action = probe.get("httpGet") or probe["tcpSocket"]
        numbers = {one.get("name"): one["containerPort"] for one in self.container["ports"]}
        port = numbers.get(action["port"], action["port"])
        if "path" not in action:
            try:
                socket.create_connection((self.address, port), 5).close()
            except OSError:
                return False
            return True
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        url = f"{action.get('scheme', 'HTTP').lower()}://{self.address}:{port}{action['path']}"
        try:
            urllib.request.urlopen(url, timeout=5, context=context).close()
        except OSError:
            return False
        return True

    def _report(
        self,
        *,
        phase: str = "Pending",
        ready: bool = False,
        waiting: Object | None = None,
        terminated: Object | None = None,
        running: bool = False,
        last: int | None = None,
    ) -> None:
        state = {"waiting": waiting, "terminated": terminated, "running": {} if running else None}
        container: Object = {
            "name": self.container["name"],
            "image": self.container["image"],
            "ready": ready,
            "restartCount": self.restarts,
            "state": {name: one for name, one in state.items() if one is not None},
        }
        if last is not None:
            container["lastState"] = {"terminated": {"exitCode": last}}
        status = {
            "phase": phase,
            "podIP": self.address,
            "hostIP": self.kubelet.server.host,
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [container],
        }
        with contextlib.suppress(Denied):
            self.store.patch("pods", self.namespace, self.name, {"status": status}, "status")


class LivenessCheck:
    """Counts the failures of a probe, one a period, from when a container has been ready."""

    def __init__(self, probe: Object | None) -> None:
        self.probe = probe
        self.failures = 0
        self._started = False
        self._next = 0.0

    def is_over(self, answers: Callable[[Object], bool], *, started: bool) -> bool:
        """Return whether the container must end; ask only when that is due."""
        self._started = self._started or started
        now = time.monotonic()
        if self.probe is None or not self._started or now < self._next:
            return False
        self._next = now + self.probe.get("periodSeconds", 10)
        self.failures = 0 if answers(self.probe) else self.failures + 1
        most: int = self.probe.get("failureThreshold", 3)
        return self.failures >= most


def wait_until(condition: Any, store: Any, seconds: float) -> None:
    """Wait until a condition holds, checking it at each change of a store."""
    deadline = time.monotonic() + seconds
    while not condition():
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("it did not happen")
        store.wait_beyond(store.version, min(left, 1.0))
