"""Has the settings of a build of every corpus from the bundled samples: small inputs that were written
for this project.
"""

import pathlib
from collections.abc import Iterator
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.corpora import load, rows
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.editions import choose_builds

from .entities import Entities
from .entities_settings import EntitiesConfig
from .flores101_settings import PAPER_DOMAINS, Flores101Config
from .lm1b_settings import Lm1bConfig
from .ngrams_settings import NgramsConfig
from .pg19_settings import Pg19Config
from .simplebooks_settings import SimpleBooksConfig
from .subwords_settings import SubwordsConfig
from .tokens_settings import TokensConfig
from .wiki40b_settings import Wiki40bConfig

SAMPLES = pathlib.Path(__file__).parent / "samples"
WIKI40B_LANGUAGES = ("en", "ja", "uk")
SUBWORDS = 8_000


def sample_builds(output: str) -> Iterator[CorpusBuild]:
    """Yields a build of every corpus from the samples.

    The caller must run each build, with the same `output`, before it requests the next one.
    """
    for row in rows().values():
        build, _ = row.classes()
        yield from map(build, load(row.samples)(output))


def entities(_: str) -> Iterator[EntitiesConfig]:
    """Yields the settings of the entity table from the sample of Wikidata."""
    yield EntitiesConfig(dump=[sample_entities()])


def wiki40b(output: str) -> Iterator[Wiki40bConfig]:
    """Yields the settings of Wiki-40B in three languages, which use the entity table."""
    (table,) = map(Entities, entities(output))
    for language in WIKI40B_LANGUAGES:
        yield sample_config(language, FileSystems.join(output, *table.path))


def lm1b(_: str) -> Iterator[Lm1bConfig]:
    """Yields the settings of One Billion Word from English news."""
    yield sample_news()


def pg19(_: str) -> Iterator[Pg19Config]:
    """Yields the settings of PG-19 from a few books."""
    yield sample_pg19()


def simplebooks(_: str) -> Iterator[SimpleBooksConfig]:
    """Yields the settings of SimpleBooks from the same books as PG-19."""
    yield sample_simplebooks()


def tokenize(output: str) -> Iterator[TokensConfig]:
    """Yields the settings of token files from the Ukrainian Wiki-40B, with the vocabulary of that build."""
    (build,) = choose_builds([FileSystems.join(output, "wiki40b", "uk")])
    yield TokensConfig(build.folder)


def ngrams(output: str) -> Iterator[NgramsConfig]:
    """Yields the settings of a small n-gram model from the sample of One Billion Word."""
    (build,) = choose_builds([FileSystems.join(output, "lm1b")])
    yield NgramsConfig(build.folder, order=3, prune=(0, 1))


def flores101(_: str) -> Iterator[Flores101Config]:
    """Yields the settings of FLORES-101 source sentences."""
    yield sample_flores101()


def subwords(output: str) -> Iterator[SubwordsConfig]:
    """Yields the settings of a vocabulary from all corpora in `output`, and of the Wiki-40B paper's."""
    yield SubwordsConfig([output], size=SUBWORDS)
    yield SubwordsConfig([FileSystems.join(output, "wiki40b")], articles=10_000, size=64_000)


def sample_entities() -> str:
    """Returns the path of the sample of a Wikidata dump."""
    return str(SAMPLES / "wikidata" / "wikidata-20260101-all.json.gz")


def sample_news() -> Lm1bConfig:
    """Returns settings for the news sample. It has few sentences, so there are few shards."""
    news = SAMPLES / "news"
    return Lm1bConfig(
        input=[str(news / "news.20??.en.shuffled*"), str(news / "training-monolingual.tgz")],
        dump_date="2007-2011",
        shards=10,
        heldout_shards=5,
    )


def sample_pg19() -> Pg19Config:
    """Returns settings for PG-19 from the sample of books.

    The splits are chosen by a hash, because the sample books are not in the released corpus.
    """
    return Pg19Config(
        **_sample_books(),
        metadata=[str(SAMPLES / "gutenberg" / "metadata.csv")],
        members="hash",
        mask_words=[str(SAMPLES / "gutenberg" / "offensive-words.txt")],
    )


def sample_simplebooks() -> SimpleBooksConfig:
    """Returns settings for SimpleBooks from the sample of books.

    The least ratio, the sizes of the splits and of the small corpus are suitable for a few short books.
    """
    return SimpleBooksConfig(**_sample_books(), min_ratio="0.3", heldout_books=2, small_tokens=5000)


def sample_flores101() -> Flores101Config:
    """Returns settings for FLORES-101 from the samples of three sites, with few sentences."""
    sites = {site: [sample_dump("wikimedia", f"en{site}")] for site in PAPER_DOMAINS}
    return Flores101Config(**sites, sentences=150)  # type: ignore[arg-type]


def sample_dump(folder: str, wiki: str) -> str:
    """Returns the path of the dump of a sample wiki.

    Args:
      folder: "wikipedia", or "wikimedia" for other projects.
      wiki: The name of the wiki, such as "ukwiki".
    """
    return str(SAMPLES / folder / wiki / f"{wiki}-20260101-pages-articles-multistream.xml.bz2")


def _sample_books() -> dict[str, Any]:
    books = SAMPLES / "gutenberg"
    return {
        "books": [str(books / "library")],
        "catalog": [str(books / "pg_catalog.csv"), str(books / "rdf-files.tar.bz2")],
        "dump_date": "20260101",
    }


def sample_config(language: str, entities: str = "") -> Wiki40bConfig:
    """Returns settings for the sample of one language of Wiki-40B.

    Args:
      language: "en", "ja" or "uk".
      entities: The folder of an entity table; "" for none.
    """
    wiki = SAMPLES / "wikipedia" / f"{language}wiki"
    return Wiki40bConfig(
        language=language,
        dump=[sample_dump("wikipedia", wiki.name)],
        page_props=[str(wiki / f"{language}wiki-20260101-page_props.sql.gz")],
        entities=entities,
    )
