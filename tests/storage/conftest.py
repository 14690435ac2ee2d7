"""Object stores for the tests beside this; each is started once a session."""

from collections.abc import Iterator

import pytest

from corpusmill.pipelines.run.engines.engine import set_file_options
from tests.storage.stores import Store, make_bucket, missing, running

SCHEMES = ("gs", "s3")


def address_of(scheme: str, factory: pytest.TempPathFactory) -> Iterator[str]:
    absent = missing(scheme)
    if absent:
        pytest.skip(f'not installed: {absent}; they come with the extra "storage"')
    with running(scheme, factory.mktemp(scheme) / "log") as address:
        yield address


@pytest.fixture(scope="session")
def gs_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from address_of("gs", tmp_path_factory)


@pytest.fixture(scope="session")
def s3_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from address_of("s3", tmp_path_factory)


@pytest.fixture(scope="module", params=SCHEMES)
def store(request: pytest.FixtureRequest) -> Store:
    """A new bucket of each kind of store."""
    set_file_options([])
    return make_bucket(request.param, request.getfixturevalue(f"{request.param}_address"))
