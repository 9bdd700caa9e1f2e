"""Requests to Kubernetes from inside a pod, with the rights of its service account."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..client import raise_for

#: Where Kubernetes mounts the token of a pod's account; the variable is for tests.
_FOLDER: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_FOLDER_VARIABLE: Final = "MARS_K8S_SERVICE_ACCOUNT"

#: The kind of a change that is merged.
_MERGE: Final = "application/merge-patch+json"

#: Seconds for an answer.
_PATIENCE: Final = 30.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an error: urllib would send the token to any host."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class PodAccount:
    """The account of this process's pod: ``OSError`` if Kubernetes does not answer."""

    namespace: str
    server: str
    pod: str = ""
    folder: str = _FOLDER

    @classmethod
    def in_cluster(cls, environ: Mapping[str, str] = os.environ) -> PodAccount | None:
        """Return the account of this pod, ``None`` outside of a cluster."""
        host = environ.get("KUBERNETES_SERVICE_HOST")
        if not host:
            return None
        host = f"[{host}]" if ":" in host else host
        port = environ.get("KUBERNETES_SERVICE_PORT", "443")
        return cls(
            namespace=environ.get("MARS_K8S_POD_NAMESPACE", "default"),
            server=f"https://{host}:{port}",
            pod=environ.get("MARS_K8S_POD_NAME", ""),
            folder=environ.get(_FOLDER_VARIABLE, _FOLDER),
        )

    def request(
        self,
        method: str,
        path: str,
        change: dict[str, Any] | None = None,
        patience: float = _PATIENCE,
    ) -> Any:
        """Send a request, which may create or change an object, and return the answer."""
        with open(f"{self.folder}/token", encoding="utf-8") as file:  # it is renewed now and then
            token = file.read().strip()
        request = urllib.request.Request(  # noqa: S310 - https
            self.server + path,
            data=None if change is None else json.dumps(change).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json" if method == "POST" else _MERGE,
            },
        )
        context = ssl.create_default_context(cafile=f"{self.folder}/ca.crt")
        handlers: list[urllib.request.BaseHandler] = [
            urllib.request.ProxyHandler({}),  # inside the cluster
            urllib.request.HTTPSHandler(context=context),
            _NoRedirects(),
        ]
        try:
            opener = urllib.request.build_opener(*handlers)
            with opener.open(request, timeout=patience) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise_for(error.code, error.read(), method, path, None)
        except (http.client.HTTPException, json.JSONDecodeError) as error:
            raise OSError(f"the answer of {self.server} broke off: {error!r}") from error
