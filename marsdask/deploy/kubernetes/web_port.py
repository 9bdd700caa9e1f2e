"""Requests to the web port of a cluster, by its documented interface."""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, Final

from .client import KubernetesError

#: Seconds for an answer, and between two questions: initial and maximum value.
_PATIENCE: Final = 30.0
_PAUSES: Final = 0.1, 2.0


class WebPort:
    """The web service at ``endpoint``, whose certificate ``authority`` has signed."""

    def __init__(
        self,
        endpoint: str,
        token: str | None = None,
        authority: bytes | None = None,
        *,
        verify: bool = True,
    ) -> None:
        self.endpoint = endpoint.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._headers["Content-Type"] = "application/json"
        context = ssl.create_default_context(
            cadata=None if authority is None else authority.decode()
        )
        # An authority of one cluster only has signed nothing but its certificate.
        context.check_hostname = authority is None and verify
        if not verify:
            context.verify_mode = ssl.CERT_NONE
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request."""
        request = urllib.request.Request(  # noqa: S310 - the caller's cluster
            self.endpoint + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers=self._headers,
        )
        try:
            with self._opener.open(request, timeout=_PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            try:
                message = json.loads(content)["message"]
            except (ValueError, KeyError, TypeError):
                message = content.decode(errors="replace")
            raise KubernetesError(f"{self.endpoint} answers {error.code}: {message}") from None

    def count(self) -> int:
        """Return the number of workers."""
        count: int = self.ask("GET", "/api/worker?action=count")
        return count

    def wait_for(self, least: int, most: int | None = None, timeout: float | None = None) -> int:
        """Wait until there are at least, and at most, so many workers; return how many."""
        for _ in _rounds(timeout, f"{least} workers"):
            try:
                count = self.count()
            except OSError:  # the service, or what is in front of it, is not there yet
                continue
            if least <= count and (most is None or count <= most):
                return count
        raise AssertionError  # rounds end by an error

    def rescale(
        self, count: int, least: int | None = None, *, wait: bool = True, timeout: float | None
    ) -> int:
        """Change the number of workers."""
        body = {"new_scale": count, "min_workers": least}
        progress = self.ask("PATCH", "/api/worker?action=count", body)
        if wait:
            self._wait_change(f"the change to {count} workers", timeout, body)
            return self.wait_for(count if least is None else least, count, timeout)
        found: int = progress["count"]
        return found

    def vacate(self, hosts: Sequence[str], timeout: float | None = None) -> None:
        """Move the results of hosts that will end to others; none of ``hosts`` takes it back."""
        self.ask("PATCH", "/api/worker?action=vacate", {"hosts": list(hosts)})
        self._wait_change(f"results of {', '.join(hosts)} to be moved", timeout)

    def _wait_change(self, what: str, timeout: float | None, body: Any = None) -> None:
        """Wait for the end of a change; raise KubernetesError if it fails."""
        for _ in _rounds(timeout, what):
            progress = self.ask("GET", "/api/worker?action=scale")
            if progress["state"] == "idle" and body is not None:
                # Another supervisor has taken over, and knows nothing of it.
                progress = self.ask("PATCH", "/api/worker?action=count", body)
            if progress["state"] == "failed":
                raise KubernetesError(f"cannot rescale: {progress['error']}")
            if progress["state"] == "done":
                return
            if progress["state"] == "idle":
                raise KubernetesError("cannot rescale: another supervisor has taken over")


def _rounds(timeout: float | None, what: str) -> Any:
    """Yield, with growing pauses, until the timeout, which raises TimeoutError."""
    deadline = None if timeout is None else time.monotonic() + timeout
    pause, longest = _PAUSES
    while True:
        yield
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError(f"still waiting for {what} after {timeout} s")
        time.sleep(pause)
        pause = min(2 * pause, longest)
