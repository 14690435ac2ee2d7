"""Patches of Beam's file systems for object stores, each with its reason.

The patches are written for Beam 2.77. Each has a test that fails when Beam no longer needs it
(tests/storage/test_beam_stores.py). Patches of Beam's runners are in pipelines/run/engines/beam_patches.py.
"""

import functools
import os
import threading
import types
from typing import Any

from apache_beam.io.filesystems import FileSystems

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
