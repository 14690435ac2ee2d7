"""A server that plays the Hugging Face hub, as far as uploads to one data set need it."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

TOKEN = "hf_of_the_tests"
LARGE = (".parquet", ".model")
"""Ends of the names of large files; the hub has longer files among them, too."""


class Commit(NamedTuple):
    """A commit of the data set."""

    sha: str
    title: str
    description: str
    places: list[str]


class Hub:
    """The data set "me/texts", and what happened to it."""

    repo = "me/texts"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {".gitattributes": b"*.parquet filter=lfs\n"}
        self.large: dict[str, bytes] = {}  # SHA-256 → content, in a commit or not yet
        self.commits = [Commit("0" * 40, "initial commit", "", [])]
        self.uploads: list[str] = []  # SHA-256 of each large file that came
        self.lock = threading.Lock()
        self.address = ""
        self.before_upload: Callable[[int], None] = lambda _: None
        """Called with the number of uploads before."""

        self.fails: dict[str, int] = {}
        """Part of an address → status to answer with."""

    @property
    def head(self) -> str:
        return self.commits[-1].sha

    def write_to(self, folder: Path) -> Path:
        """Writes the files of the newest commit, as a download does."""
        for place, data in self.files.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder

    def commit(self, lines: list[dict[str, Any]]) -> tuple[int, Any]:
        header = lines[0]["value"]
        if header.get("parentCommit", self.head) != self.head:
            return 412, {"error": "the branch has moved"}
        places = []
        for line in lines[1:]:
            value = line["value"]
            places.append(value["path"])
            if line["key"] == "lfsFile":
                if value["oid"] not in self.large:
                    return 400, {"error": f"{value['path']} was not uploaded"}
                self.files[value["path"]] = self.large[value["oid"]]
            else:
                self.files[value["path"]] = base64.b64decode(value["content"])
        sha = hashlib.sha1(repr((self.head, header, places)).encode()).hexdigest()
        self.commits.append(Commit(sha, header["summary"], header["description"], places))
        url = f"{self.address}/datasets/{self.repo}/commit/{sha}"
        return 200, {"commitUrl": url, "commitOid": sha, "pullRequestUrl": None}


def is_large(place: str) -> bool:
    return place.endswith(LARGE)


def entry_of(place: str, data: bytes) -> dict[str, Any]:
    """A file in the listing of a tree."""
    entry: dict[str, Any] = {"type": "file", "path": place, "size": len(data)}
    entry["oid"] = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    if is_large(place):
        oid = hashlib.sha256(data).hexdigest()
        entry["lfs"] = {"oid": oid, "size": len(data), "pointerSize": 1}
    return entry


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, status: int, content: Any, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def handle_one(self) -> None:
        hub, path, body = self.hub, unquote(urlsplit(self.path).path), self.body()
        for part, status in hub.fails.items():
            if part in path:
                return self.answer(status, {"error": "the tests want it"})
        if path.startswith("/upload/"):  # its address is the permission
            return self.upload(path.removeprefix("/upload/"), body)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"error": "Invalid username or password."})
        with hub.lock:
            return self.route(path, body)

    do_GET = do_HEAD = do_POST = do_PUT = handle_one  # noqa: N815

    def upload(self, oid: str, body: bytes) -> None:
        hub = self.hub
        with hub.lock:
            hub.before_upload(len(hub.uploads))
            hub.uploads.append(oid)
        if hashlib.sha256(body).hexdigest() != oid:
            return self.answer(400, {"error": "not the content of its name"})
        hub.large[oid] = body
        return self.answer(200, {})

    def route(self, path: str, body: bytes) -> None:
        hub = self.hub
        api = f"/api/datasets/{hub.repo}"
        if path == "/api/validate-yaml":
            assert json.loads(body)["content"].startswith("---\n")
            return self.answer(200, {"errors": [], "warnings": []})
        if path == api:
            return self.answer(200, {"id": hub.repo, "sha": hub.head, "siblings": []})
        if path.startswith(f"{api}/tree/"):
            return self.answer(200, [entry_of(*one) for one in sorted(hub.files.items())])
        if path.startswith(f"{api}/preupload/"):
            files = json.loads(body)["files"]
            return self.answer(200, {"files": [self.mode_of(one["path"]) for one in files]})
        if path == f"/datasets/{hub.repo}.git/info/lfs/objects/batch":
            objects = json.loads(body)["objects"]
            found = [self.action_of(one) for one in objects]
            return self.answer(200, {"transfer": "basic", "objects": found})
        if path.startswith(f"{api}/commit/"):
            return self.answer(*hub.commit([json.loads(line) for line in body.splitlines()]))
        if path.startswith(f"/datasets/{hub.repo}/resolve/"):
            return self.download(path.split("/", 6)[6])
        return self.answer(404, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")

    def mode_of(self, place: str) -> dict[str, Any]:
        known = (
            {"oid": entry_of(place, self.hub.files[place])["oid"]}
            if place in self.hub.files
            else {}
        )
        mode = "lfs" if is_large(place) else "regular"
        return {"path": place, "uploadMode": mode, "shouldIgnore": False, **known}

    def action_of(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if wanted["oid"] in self.hub.large:
            return wanted
        return wanted | {
            "actions": {"upload": {"href": f"{self.hub.address}/upload/{wanted['oid']}"}}
        }

    def download(self, place: str) -> None:
        data = self.hub.files[place]
        etag = f'"{entry_of(place, data)["oid"]}"'
        self.answer(200, data, ETag=etag, X_Repo_Commit=self.hub.head)


@contextmanager
def hub_server() -> Iterator[Hub]:
    """The hub, at work in a thread."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
