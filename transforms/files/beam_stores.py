"""All that reaches into Beam's file systems of object stores: each part with its reason.

Written for Beam 2.77. For each there is a test that fails when Beam does not need it any more
(tests/storage/test_beam_stores.py). What reaches into Beam's runners is in pipelines/engines/beam_patches.py.
"""

import functools
import os
import threading
import types
from typing import Any

from apache_beam.io.filesystems import FileSystems

# Clients of S3 are kept.

_lock = threading.Lock()  # clients may be shared by threads, but not made by several at once


def keep_clients() -> None:
    """Lets Beam's file system of S3 make one client a process. Does nothing where boto3 is not installed.

    Beam makes a client for every call, which takes a third of a second. No issue of Beam was found.
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
        # Beam would ask again and again for ten minutes.
        if not settings.get("aws_access_key_id") and not session.get_credentials():
            raise NoCredentialsError
        return session.client(**settings)

    class KeptSession:
        """A session with the one method that Beam calls, which makes clients."""

        def client(self, **settings: Any) -> Any:
            environment = {one for one in os.environ.items() if one[0].startswith("AWS_")}
            with _lock:
                return kept(frozenset(environment), os.getpid(), **settings)

    boto3_client.boto3 = types.SimpleNamespace(session=types.SimpleNamespace(Session=KeptSession))


keep_clients()  # in every process: all that touch a store import this module


# Requests that Beam does not make.


def client_of(path: str) -> tuple[str, Any, dict[str, str]]:
    """The scheme, what Beam itself would ask there (gs: the bucket), and the place in S3's words.

    Beam's file systems write without a condition, and do not show their clients. No issue of Beam was found.
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
    """Writes an object of S3 without bytes.

    Beam uploads objects in parts, and S3 refuses an upload without parts (apache/beam#21369).
    """
    _, client, place = client_of(path)
    client.put_object(**place, Body=b"")


def drop_uploads(path: str) -> None:
    """Gives up uploads to S3, begun and not ended by processes that were killed, to all paths that begin so.

    S3 keeps their parts, which no list of objects shows and which are paid for. Beam has no such call.
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
