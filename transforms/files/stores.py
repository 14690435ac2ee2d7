"""Provides operations on object stores that Beam lacks.

These are atomic writes, conditional writes, the removal of folders, and short error messages.

Patches of Beam's file systems for object stores, each with its reason.

The patches are written for Beam 2.77. Each has a test that fails when Beam no longer needs it
(tests/storage/test_beam_stores.py). Patches of Beam's runners are in pipelines/run/engines/beam_patches.py.
"""

import contextlib
import functools
import glob
import hashlib
import io
import os
import pathlib
import shutil
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from . import errors

# Reuse of S3 clients.

_lock = threading.Lock()  # threads may share clients, but must not create them at the same time


def keep_clients() -> None:
    """Makes Beam's S3 file system reuse one client per process. Does nothing if boto3 is not installed.

    Without the patch, Beam creates a client for every call, which takes a third of a second. No Beam issue
    describes this.
    """
    try:
        import boto3
        from apache_beam.io.aws.clients.s3 import boto3_client
        from botocore.exceptions import NoCredentialsError
    except ImportError:
        return

    @functools.lru_cache(maxsize=8)
    def kept(environment: frozenset[tuple[str, str]], process: int, **settings: Any) -> Any:
        session = boto3.session.Session()
        # Without credentials, Beam would retry for ten minutes.
        if not settings.get("aws_access_key_id") and not session.get_credentials():
            raise NoCredentialsError
        return session.client(**settings)

    class KeptSession:
        """Replacement for a boto3 session that reuses clients. It has only the method that Beam calls."""

        def client(self, **settings: Any) -> Any:
            environment = {one for one in os.environ.items() if one[0].startswith("AWS_")}
            with _lock:
                return kept(frozenset(environment), os.getpid(), **settings)

    boto3_client.boto3 = types.SimpleNamespace(session=types.SimpleNamespace(Session=KeptSession))


keep_clients()  # every process that uses a store imports this module


# Requests that Beam does not offer.


def client_of(path: str) -> tuple[str, Any, dict[str, str]]:
    """Returns (scheme of a path, storage client, arguments that name the object).

    The client is Beam's own S3 client for s3://, the bucket for gs://, and None for other schemes. The
    arguments are the bucket and key in the form of S3 calls. This function is needed because Beam's file
    systems have no conditional writes, and do not expose their clients. No Beam issue describes this.
    """
    scheme, _, place = path.partition("://")
    bucket, _, name = place.partition("/")
    file_system: Any = FileSystems.get_filesystem(path)
    client: Any = None
    if scheme == "gs":
        client = file_system._gcsIO().client.bucket(bucket)
    elif scheme == "s3":
        from apache_beam.io.aws.s3io import S3IO

        client = S3IO(options=file_system._options).client.client
    return scheme, client, {"Bucket": bucket, "Key": name}


def put_empty(path: str) -> None:
    """Writes an empty object to S3.

    Beam uploads objects in parts, and S3 refuses an upload without parts (apache/beam#21369).
    """
    _, client, place = client_of(path)
    client.put_object(**place, Body=b"")


def drop_uploads(path: str) -> None:
    """Aborts the unfinished uploads of killed processes to S3 paths that begin with `path`.

    S3 stores and bills the uploaded parts, but does not list them as objects. Beam has no call that aborts
    uploads.
    """
    scheme, client, place = client_of(path)
    if scheme != "s3":
        return
    bucket = place["Bucket"]
    pages = client.get_paginator("list_multipart_uploads")
    for page in pages.paginate(Bucket=bucket, Prefix=place["Key"]):
        for upload in page.get("Uploads", ()):
            client.abort_multipart_upload(
                Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
            )


COPIED_BYTES = 1 << 23  # bytes copied in one request; stores require at least 5 MiB
CONDITIONAL = ("gs", "s3")
"""The stores with conditional writes, which compare the version and write in one step."""

NOT_WRITTEN = "cannot be written"
_NOT_ALLOWED = (401, 403)
_NOT_FOUND = 404
_CHANGED = (409, 412)  # 409: S3, if the object was removed at the same time


class StoreError(OSError):
    """Raised if an operation of an object store or a disk fails. The message names the path."""

    def __init__(self, path: str, message: str):
        super().__init__(f"{path}: {message}")
        self.path, self.message = path, message

    def __reduce__(self) -> tuple[object, ...]:
        return StoreError, (self.path, self.message)


class Seen(NamedTuple):
    """The content of an object and its version, as read at one moment."""

    content: bytes
    version: str  # gs: the generation, s3: the ETag, otherwise the SHA-256


def is_local(path: str) -> bool:
    """Returns True if a path is on a disk of this machine."""
    return isinstance(FileSystems.get_filesystem(path), LocalFileSystem)


def match_files(pattern: str, path: str, refuse: Callable[[str, str], Exception]) -> list[Any]:
    """Returns Beam's metadata of the files that match a pattern.

    If a store fails, raises what `refuse` makes of `path` and a message. Raises BeamIOError if a local folder
    cannot be listed.
    """
    try:
        (match,) = FileSystems.match([pattern])
    except BeamIOError as error:
        if is_local(path):
            raise
        raise refuse(path, refusal_of(error)) from error
    return list(match.metadata_list)


def is_folder(path: str) -> bool:
    """Returns True if a path is a folder; on an object store, if there are objects below it.

    Raises StoreError if the store fails.
    """
    if "://" not in path:
        return path != "" and pathlib.Path(path).is_dir()
    try:
        (match,) = FileSystems.match([f"{glob.escape(path.rstrip('/'))}/**"], [1])
    except BeamIOError as error:
        raise StoreError(path, refusal_of(error)) from error
    return bool(match.metadata_list)


def free_bytes(folder: str) -> int | None:
    """Returns the free space of a folder's disk in bytes, or None if the folder is not on a local disk.

    The folder need not exist.
    """
    if not is_local(folder):
        return None
    place = pathlib.Path(folder).absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def not_written(path: str | pathlib.Path, error: OSError) -> StoreError:
    """Returns a StoreError for a failed write. Its message names the path.

    Python's OSErrors name a file only if opening it failed.
    """
    advice = "; free some space, then start the same command again"
    why = f"{error.strerror or error}{advice if error.errno in errors.NUMBERS else ''}"
    return StoreError(str(path), f"{NOT_WRITTEN}: {why}")


@contextlib.contextmanager
def named_in_errors(path: str | pathlib.Path) -> Iterator[None]:
    """Replaces OSErrors that are raised in a `with` block by StoreErrors that name the path.

    FileNotFoundError is raised unchanged: it shows that the folder was removed because the build has ended.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise not_written(path, error) from error


def refusal_of(error: BaseException) -> str:
    """Returns the reason why a store refused a request, in one line.

    The error may be of any type that the storage libraries raise.
    """
    cause = _innermost(error)
    status = _status_of(cause)
    said = " ".join(str(cause).split()) or type(cause).__name__
    if status == _NOT_FOUND:
        return "no such file or bucket"
    return f"access is denied: {said}" if status in _NOT_ALLOWED else f"the store fails: {said}"


def _innermost(error: BaseException) -> BaseException:
    """Returns the original error that Beam has wrapped."""
    if isinstance(error, BeamIOError) and error.exception_details:
        for detail in error.exception_details.values():
            if isinstance(detail, BaseException):
                return _innermost(detail)
    return error


def _status_of(error: BaseException) -> int | None:
    """Returns the HTTP status of an error, or None if the store did not respond."""
    if isinstance(error, FileNotFoundError):
        return _NOT_FOUND
    for holder, name in ((error, "code"), (getattr(error, "response", None), "status_code")):
        status = getattr(holder, name, None)
        if isinstance(status, int):
            return int(status)
    answer = getattr(error, "response", None)  # set by errors of boto3
    return answer["ResponseMetadata"].get("HTTPStatusCode") if isinstance(answer, dict) else None


def write_object(path: str, content: BinaryIO, size: int) -> None:
    """Writes an object atomically. Raises StoreError if the store fails.

    Args:
      path: path of the object.
      content: stream that is at its start.
      size: size of the content in bytes.
    """
    try:
        if not size and path.startswith("s3://"):
            put_empty(path)
        else:
            with FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
                shutil.copyfileobj(content, stream, COPIED_BYTES)
        # A broken upload that was closed normally would leave a part of the content.
        written = FileSystems.get_filesystem(path).metadata(path).size_in_bytes
    except Exception as error:
        raise StoreError(path, refusal_of(error)) from error
    if written != size:
        raise StoreError(path, f"only {written} of {size} bytes were written")


def read_object(path: str) -> Seen | None:
    """Reads a small object. Returns None if it does not exist. Raises StoreError if the store fails."""
    try:
        scheme, client, place = client_of(path)
        if scheme == "gs":
            blob = client.get_blob(place["Key"])
            # read before the content, because the download may not include the version
            version = blob and str(blob.generation)
            return blob and Seen(blob.download_as_bytes(), version)
        if scheme == "s3":
            answer = client.get_object(**place)
            return Seen(answer["Body"].read(), answer["ETag"])
        if not FileSystems.exists(path):
            return None
        with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
            content = stream.read()
        return Seen(content, hashlib.sha256(content).hexdigest())
    except Exception as error:
        if _status_of(_innermost(error)) == _NOT_FOUND:
            return None
        raise StoreError(path, refusal_of(error)) from error


def put_if(path: str, content: bytes, seen: str | None) -> str | None:
    """Writes an object if its version is still `seen`. Raises StoreError if the store fails.

    Stores in CONDITIONAL compare the version and write in one step, so exactly one of several concurrent
    writers succeeds. On other stores, and on S3 servers without conditional writes, the version is only
    compared before the write.

    Args:
      path: path of the object.
      content: new content. It must differ from every earlier content of the object, because equal contents
        have equal ETags.
      seen: version of the object to replace; None if the object must not exist.

    Returns:
      The new version, or None if the version was not `seen`.
    """
    found = read_object(path)
    if (found.version if found else None) != seen:
        return None
    try:
        scheme, client, place = client_of(path)
        if scheme == "gs":
            blob = client.blob(place["Key"])
            blob.upload_from_string(content, if_generation_match=int(seen or 0))
            return str(blob.generation)
        if scheme == "s3":
            condition = {"IfMatch": seen} if seen else {"IfNoneMatch": "*"}
            return str(client.put_object(**place, Body=content, **condition)["ETag"])
    except Exception as error:
        status = _status_of(error)
        if status in _CHANGED or (seen and status == _NOT_FOUND):
            return None
        raise StoreError(path, refusal_of(error)) from error
    write_object(path, io.BytesIO(content), len(content))
    return hashlib.sha256(content).hexdigest()


def remove_if(path: str, seen: str) -> None:
    """Removes an object if its version is still `seen`. Raises StoreError if the store fails.

    On gs:// the comparison and the removal are one step; S3 has no conditional removal.
    """
    found = read_object(path)
    if not found or found.version != seen:
        return
    try:
        scheme, client, place = client_of(path)
        if scheme == "gs":
            client.blob(place["Key"]).delete(if_generation_match=int(seen))
        else:
            FileSystems.delete([path])
    except Exception as error:
        if _status_of(error) not in (*_CHANGED, _NOT_FOUND):
            raise StoreError(path, refusal_of(error)) from error


def list_below(folder: str) -> dict[str, tuple[int, float]]:
    """Lists the objects below a folder of a store.

    Returns relative path → (size in bytes, Unix time of the last change). Raises StoreError if the store
    fails.
    """
    start = len(folder.rstrip("/")) + 1
    return {
        metadata.path[start:]: (metadata.size_in_bytes, metadata.last_updated_in_seconds)
        for metadata in match_files(f"{glob.escape(folder.rstrip('/'))}/**", folder, StoreError)
    }


def remove_below(folder: str) -> None:
    """Removes all objects below a folder of a store. Raises StoreError if an object could not be removed."""
    try:
        FileSystems.delete([folder.rstrip("/") + "/"])
    except BeamIOError as error:
        raise StoreError(folder, refusal_of(error)) from error
    if left := list_below(folder):
        raise StoreError(folder, f"{len(left)} files could not be removed, among them {min(left)}")
