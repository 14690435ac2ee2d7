"""Builds with inputs and outputs on object stores: the bytes of the golden tree.

Every corpus is built on one store. On both, test_refresh builds wiki40b.
"""

from collections.abc import Callable, Iterator

import pytest

from corpusmill.pipelines import sample_builds as demo
from corpusmill.pipelines.cli import main
from corpusmill.pipelines.entities import Entities
from corpusmill.pipelines.entities_settings import VERSION, EntitiesConfig
from corpusmill.pipelines.flores101 import Flores101
from corpusmill.pipelines.lm1b import Lm1b
from corpusmill.pipelines.pg19 import Pg19
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.simplebooks import SimpleBooks
from corpusmill.pipelines.subwords import Subwords
from corpusmill.pipelines.subwords_settings import SubwordsConfig
from corpusmill.pipelines.wiki40b import Wiki40b
from tests.storage.stores import Store, is_read_by_builds, names_below, tree_of, upload
from tests.tools.golden_tree import GOLDEN, check_golden

pytestmark = pytest.mark.storage

TABLE = f"entities/wikidata/20260101-{VERSION}"

CORPORA: dict[str, Callable[[str], CorpusBuild]] = {  # name → (folder of finished builds) → corpus
    "entities": lambda _: Entities(EntitiesConfig(dump=[demo.sample_entities()])),
    "wiki40b": lambda built: Wiki40b(demo.sample_config("uk", f"{built}/{TABLE}")),
    "lm1b": lambda _: Lm1b(demo.sample_news()),
    "pg19": lambda _: Pg19(demo.sample_pg19()),
    "simplebooks": lambda _: SimpleBooks(demo.sample_simplebooks()),
    "flores101": lambda _: Flores101(demo.sample_flores101()),
    "subwords": lambda built: Subwords(SubwordsConfig([built], size=demo.SUBWORDS)),
}
BUILT = {  # store → name → workers
    "gs": {"wiki40b": 2, "lm1b": 1, "pg19": 1},
    "s3": {"entities": 2, "simplebooks": 1, "flores101": 1, "subwords": 1},
}


class StoreFolder:
    """A folder of a store, as far as the samples need one in place of a path."""

    def __init__(self, path: str):
        self._path = path

    def __truediv__(self, name: str) -> "StoreFolder":
        return StoreFolder(f"{self._path}/{name}")

    def __str__(self) -> str:
        return self._path

    @property
    def name(self) -> str:
        return self._path.rpartition("/")[2]


@pytest.fixture(scope="module")
def samples(store: Store) -> Iterator[Store]:
    """A store with the samples, in which demo looks for them, and the finished builds below `built`."""
    upload(demo.SAMPLES, store.path("samples"), is_read_by_builds)
    for folder in GOLDEN.iterdir():
        if folder.name == "wiki40b":  # verify reads all of it
            upload(folder, store.path("built", folder.name))
        elif folder.name != "subwords":
            upload(folder, store.path("built", folder.name), is_read_by_builds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "SAMPLES", StoreFolder(store.path("samples")))
        yield store


def test_every_corpus_is_built_on_a_store() -> None:
    assert BUILT["gs"].keys() | BUILT["s3"].keys() == CORPORA.keys()


@pytest.mark.parametrize("name", CORPORA)
def test_a_build_equals_the_golden_one(samples: Store, name: str) -> None:
    if name not in BUILT[samples.scheme]:
        pytest.skip("built on the other store")
    corpus = CORPORA[name](samples.path("built"))
    launch(corpus, samples.path("output"), workers=BUILT[samples.scheme][name])
    place = "/".join(corpus.path)
    check_golden(tree_of(samples.path("output", place)), place)
    assert {name for name in names_below(samples.path("output")) if "/." in f"/{name}"} == set()


def test_finished_builds_are_read(samples: Store) -> None:
    command = "verify" if samples.scheme == "s3" else "report"
    assert main([command, samples.path("built", "wiki40b", "uk")]) == 0
