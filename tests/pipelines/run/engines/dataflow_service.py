"""A local server that speaks as Dataflow does, as far as starting a job and asking for it."""

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT, REGION = "corpora-project", "us-central1"


class DataflowService:
    """A stand-in for Dataflow: it records requests, and gives the answers that are set."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, Any]]] = []  # paths with their bodies
        self.state = "JOB_STATE_DONE"  # of every job
        self.messages: list[dict[str, str]] = []  # of every job
        self.active: list[dict[str, str]] = []  # jobs that run already
        self.address = ""

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """Jobs that were started, as they were asked for."""
        return [body for method, path, body in self.requests if _makes_job(method, path)]

    def answer(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        if path == "/token":
            return {"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"}
        self.requests.append((method, path, body))
        if _makes_job(method, path):
            return {**body, "id": f"job-{len(self.jobs)}", "currentState": self.state}
        if path.endswith("/messages"):
            return {"jobMessages": self.messages}
        if path.endswith("/jobs"):
            return {"jobs": self.active}
        return {"id": path.rpartition("/")[2], "currentState": self.state}


def _makes_job(method: str, path: str) -> bool:
    return method == "POST" and path.endswith("/jobs")


@contextlib.contextmanager
def dataflow_service() -> Iterator[DataflowService]:
    """Runs it on a port of its own."""
    service = DataflowService()

    class Handler(http.server.BaseHTTPRequestHandler):
        def _handle(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            body = json.loads(data) if data[:1] == b"{" else {}
            answer = json.dumps(service.answer(self.command, path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = _handle  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        # Beam speaks plain HTTP with what calls itself a sandbox.
        service.address = f"http://127.0.0.1:{server.server_port}/sandbox"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield service
        server.shutdown()


def write_credentials(path: Path, service: DataflowService) -> None:
    """A service account whose tokens come from the server."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": "a-key",
        "private_key": key.decode(),
        "client_email": f"builder@{PROJECT}.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": f"{service.address.removesuffix('/sandbox')}/token",
    }
    path.write_text(json.dumps(account), "utf-8")


def flags_for(service: DataflowService, bucket: str, *more: str) -> list[str]:
    return [
        f"--project={PROJECT}",
        f"--region={REGION}",
        f"--temp_location={bucket}/temp",
        f"--dataflow_endpoint={service.address}",
        # It would list what is installed here, which takes a second a job.
        "--experiments=disable_logging_submission_environment",
        *more,
    ]


def failing_after_the_start(service: DataflowService) -> Any:
    """An `answer` of a service whose jobs run, and fail when they are asked for again."""
    answer = service.answer

    def failing(method: str, path: str, body: dict[str, Any]) -> Any:
        found = answer(method, path, body)
        if service.jobs:
            service.state = "JOB_STATE_FAILED"
        return found

    return failing
