"""Patches of Beam's stores are needed: tests "…_needs_…" fail when Beam has its own way."""

import inspect
from typing import Any

import pytest
from apache_beam.io.filesystem import FileSystem
from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.engines.engine import set_file_options
from corpusmill.transforms.files.stores import client_of, put_empty
from tests.storage.stores import Store, make_bucket, read

pytestmark = pytest.mark.storage


@pytest.fixture
def s3(s3_address: str) -> Store:
    set_file_options([])
    return make_bucket("s3", s3_address)


def client_of_beam() -> Any:
    """As Beam makes it for a call."""
    from apache_beam.io.aws.s3io import S3IO

    return S3IO(options={}).client.client


def test_clients_are_kept(s3: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client_of_beam() is client_of_beam()
    kept = client_of_beam()
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert client_of_beam() is not kept


def test_beam_needs_kept_clients(s3: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3
    from apache_beam.io.aws.clients.s3 import boto3_client

    monkeypatch.setattr(boto3_client, "boto3", boto3)
    assert client_of_beam() is not client_of_beam()


def test_beam_needs_another_way_for_empty_objects(s3: Store) -> None:
    path = s3.path("empty")
    with pytest.raises(Exception, match="CompleteMultipartUpload"):
        FileSystems.create(path).close()
    assert not FileSystems.exists(path)
    put_empty(path)
    assert read(path) == b""


def test_beam_needs_a_client_for_conditions(store: Store) -> None:
    """It takes no conditions, and its file systems show no client that does."""
    taken = inspect.signature(FileSystems.create).parameters
    assert list(taken) == ["path", "mime_type", "compression_type"]
    file_system = FileSystems.get_filesystem(store.bucket)
    assert not [name for name in dir(file_system) if "client" in name.lower()]
    shown = {name for name in dir(file_system) if not name.startswith("_")}
    assert shown - set(dir(FileSystem)) <= {"CHUNK_SIZE", "GCS_PREFIX", "S3_PREFIX"}
    assert client_of(store.path("a"))[0] == store.scheme


def test_beam_needs_a_client_to_give_up_uploads(s3: Store) -> None:
    from apache_beam.io.aws.clients.s3.boto3_client import Client

    assert not [name for name in dir(Client) if "abort" in name or "list_multipart" in name]
