"""Fixtures that the tests beside this share: a service, a bucket, and a checkout to pack."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from apache_beam.options.pipeline_options_validator import PipelineOptionsValidator

from corpusmill.pipelines.run.engines import dataflow
from tests.pipelines.run.engines.dataflow_service import (
    DataflowService,
    dataflow_service,
    write_credentials,
)
from tests.storage.stores import Store, make_bucket, missing, running

ROOT = Path(__file__).parents[5]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataflowService]:
    folder = tmp_path_factory.mktemp("service")
    with dataflow_service() as server, pytest.MonkeyPatch.context() as patch:
        write_credentials(folder / "account.json", server)
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(folder / "account.json"))
        # Beam's own check knows no addresses with a port.
        patch.setattr(PipelineOptionsValidator, "validate_endpoint_url", lambda *_: True)
        yield server


@pytest.fixture(scope="module")
def bucket(service: DataflowService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    if missing("gs"):
        pytest.skip(f"not installed: {missing('gs')}")
    with running("gs", tmp_path_factory.mktemp("gs") / "log") as address:
        yield make_bucket("gs", address)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy, as setup.py leaves traces where it packs."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("setup.py", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / ".package", folder / ".package", symlinks=True)
    for name in ("pipelines", "transforms"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataflow, "CHECKOUT", folder)
        yield folder
