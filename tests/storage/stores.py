"""Object stores of this machine: servers from the extra "storage" that speak as the real ones do."""

import contextlib
import functools
import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from tests.storage.credentials import write_credentials

START_SECONDS = 60.0
THREADS = 8
NEEDED = {
    "gs": ("google.cloud.storage", "gcp_storage_emulator"),
    "s3": ("boto3", "moto", "flask"),
}


class Store(NamedTuple):
    """A server that runs."""

    scheme: str  # "gs"
    bucket: str  # "gs://…", its own of every test module

    def path(self, *names: str) -> str:
        """Of an object."""
        return "/".join([self.bucket, *names])


def missing(scheme: str) -> str:
    """Returns the packages of a store that are not installed; "" if all are."""
    absent = [name for name in NEEDED[scheme] if not _is_installed(name)]
    return ", ".join(absent)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@contextlib.contextmanager
def running(scheme: str, log: Path) -> Iterator[str]:
    """Runs the server of a store; gives its address. What clients need to find it is in the environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.storage.server", scheme, str(port)],
            cwd=Path(__file__).parents[2],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    try:
        _wait_for(address, process, log)
        with _environment(_variables(scheme, address, log.parent)):
            yield address
    finally:
        process.kill()
        process.wait()


def _variables(scheme: str, address: str, folder: Path) -> dict[str, str]:
    if scheme == "gs":
        credentials = write_credentials(folder / "credentials.json")
        return {
            "STORAGE_EMULATOR_HOST": address,
            "GOOGLE_APPLICATION_CREDENTIALS": str(credentials),
        }
    return {
        "AWS_ENDPOINT_URL_S3": address,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def _wait_for(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the server does not start: {log.read_text('utf-8', 'replace')[-2000:]}")


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def make_bucket(scheme: str, address: str) -> Store:
    """A new one."""
    name = f"corpusmill-{uuid.uuid4().hex[:8]}"
    if scheme == "gs":
        _gs_client(address).create_bucket(name, project="corpusmill")
    else:
        _s3_client(address).create_bucket(Bucket=name)
    return Store(scheme, f"{scheme}://{name}")


def write(path: str, content: bytes) -> None:
    """Writes an object, by the client of its store: in one request, where Beam makes several."""
    scheme, _, place = path.partition("://")
    bucket, _, name = place.partition("/")
    if scheme == "gs":
        blob = _gs_client(os.environ["STORAGE_EMULATOR_HOST"]).bucket(bucket).blob(name)
        blob.upload_from_string(content)
    else:
        client = _s3_client(os.environ["AWS_ENDPOINT_URL_S3"])
        client.put_object(Bucket=bucket, Key=name, Body=content)


@functools.cache
def _gs_client(address: str) -> Any:
    from google.cloud import storage

    return storage.Client.create_anonymous_client()


@functools.cache
def _s3_client(address: str) -> Any:
    import boto3

    return boto3.client("s3", endpoint_url=address)


def read(path: str) -> bytes:
    """The content of an object."""
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
        content: bytes = stream.read()
    return content


def is_read_by_builds(file: Path) -> bool:
    """Not what samples were made from, nor what only others read."""
    return "texts" not in file.parts and file.suffix != ".wikitext" and ".tfrecord" not in file.name


def upload(folder: Path, path: str, is_wanted: Callable[[Path], bool] = lambda _: True) -> None:
    """Copies the files below a folder."""
    files = [file for file in folder.rglob("*") if file.is_file() and is_wanted(file)]
    names = [file.relative_to(folder).as_posix() for file in files]
    with ThreadPoolExecutor(THREADS) as threads:
        contents = (file.read_bytes() for file in files)
        list(threads.map(write, [f"{path}/{name}" for name in names], contents))


def names_below(path: str) -> list[str]:
    """The names of all objects below a path, sorted."""
    (match,) = FileSystems.match([f"{path}/**"])
    return sorted(one.path.removeprefix(f"{path}/") for one in match.metadata_list)


def names_beside(target: str) -> list[str]:
    """The names in the folder that a folder lies in, but for its own."""
    parent, _, name = target.rpartition("/")
    return sorted({one.partition("/")[0] for one in names_below(parent)} - {name})


def tree_of(path: str) -> dict[str, bytes]:
    """Name → bytes of every object below a path."""
    names = names_below(path)
    with ThreadPoolExecutor(THREADS) as threads:
        return dict(
            zip(names, threads.map(read, [f"{path}/{name}" for name in names]), strict=True)
        )
