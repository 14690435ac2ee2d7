"""The bundled samples: inputs of our own writing, small and whole, for every corpus."""

import pathlib
from collections.abc import Iterator
from typing import Any

from apache_beam.io.filesystems import FileSystems

from pipelines.builds.launch import Corpus
from pipelines.corpora import load, rows
from pipelines.entities import Entities
from pipelines.flores101 import Flores101
from pipelines.lm1b import Lm1b
from pipelines.ngrams import Ngrams
from pipelines.pg19 import Pg19
from pipelines.settings.entities_settings import EntitiesConfig
from pipelines.settings.flores101_settings import PAPER_DOMAINS, Flores101Config
from pipelines.settings.lm1b_settings import Lm1bConfig
from pipelines.settings.ngrams_settings import NgramsConfig
from pipelines.settings.pg19_settings import Pg19Config
from pipelines.settings.simplebooks_settings import SimpleBooksConfig
from pipelines.settings.subwords_settings import SubwordsConfig
from pipelines.settings.tokens_settings import TokensConfig
from pipelines.settings.wiki40b_multilingual_settings import MultilingualConfig
from pipelines.settings.wiki40b_settings import Wiki40bConfig
from pipelines.simplebooks import SimpleBooks
from pipelines.subwords import Subwords
from pipelines.tokens import Tokens, newest_of_editions
from pipelines.wiki40b import Wiki40b
from pipelines.wiki40b_multilingual import Wiki40bMultilingual

SAMPLES = pathlib.Path(__file__).parent
WIKI40B_LANGUAGES = ("en", "ja", "uk")
MULTILINGUAL_SIZE = 64_000  # more than the samples give
SUBWORDS = 8_000


def sample_builds(output: str) -> Iterator[Corpus]:
    """All builds that the samples allow, each to be built in `output` before the next is asked for."""
    for row in rows().values():
        yield from load(row.samples)(output)


def entities(_: str) -> Iterator[Corpus]:
    """The entity table, as all functions here that a row names."""
    yield Entities(EntitiesConfig(dump=[sample_entities()]))


def wiki40b(output: str) -> Iterator[Corpus]:
    """Three languages."""
    (table,) = entities(output)
    for language in WIKI40B_LANGUAGES:
        yield Wiki40b(sample_config(language, FileSystems.join(output, *table.path)))


def multilingual(output: str) -> Iterator[Corpus]:
    """A vocabulary over them."""
    corpora = [FileSystems.join(output, "wiki40b", language) for language in WIKI40B_LANGUAGES]
    yield Wiki40bMultilingual(MultilingualConfig(corpora, vocabulary_sizes=[MULTILINGUAL_SIZE]))


def lm1b(_: str) -> Iterator[Corpus]:
    """English news."""
    yield Lm1b(sample_news())


def pg19(_: str) -> Iterator[Corpus]:
    """A few books."""
    yield Pg19(sample_pg19())


def simplebooks(_: str) -> Iterator[Corpus]:
    """The same books."""
    yield SimpleBooks(sample_simplebooks())


def tokenize(output: str) -> Iterator[Corpus]:
    """Tokens of one language, by the vocabulary of its build."""
    (folder,) = newest_of_editions([FileSystems.join(output, "wiki40b", "uk")])
    yield Tokens(TokensConfig(folder))


def ngrams(output: str) -> Iterator[Corpus]:
    """A small model of the news."""
    (folder,) = newest_of_editions([FileSystems.join(output, "lm1b")])
    yield Ngrams(NgramsConfig(folder, order=3, prune=(0, 1)))


def flores101(_: str) -> Iterator[Corpus]:
    """Source sentences."""
    yield Flores101(sample_flores101())


def subwords(output: str) -> Iterator[Corpus]:
    """A vocabulary over all that was built before."""
    yield Subwords(SubwordsConfig([output], size=SUBWORDS))


def sample_entities() -> str:
    """The sample of Wikidata's dump."""
    return str(SAMPLES / "wikidata" / "wikidata-20260101-all.json.gz")


def sample_news() -> Lm1bConfig:
    """The settings that build the sample of news: in few shards, it has few sentences."""
    news = SAMPLES / "news"
    return Lm1bConfig(
        input=[str(news / "news.20??.en.shuffled*"), str(news / "training-monolingual.tgz")],
        dump_date="2007-2011",
        shards=10,
        heldout_shards=5,
    )


def sample_pg19() -> Pg19Config:
    """The settings that build PG-19 of the sample of books: all of them, as none was released."""
    return Pg19Config(
        **_sample_books(),
        metadata=[str(SAMPLES / "gutenberg" / "metadata.csv")],
        members="hash",
        mask_words=[str(SAMPLES / "gutenberg" / "offensive-words.txt")],
    )


def sample_simplebooks() -> SimpleBooksConfig:
    """The settings that build SimpleBooks of the sample of books, which are few and short."""
    return SimpleBooksConfig(**_sample_books(), heldout_books=2, small_tokens=5000)


def sample_flores101() -> Flores101Config:
    """The settings that draw source sentences from the samples of three sites, which have few articles."""
    sites = {site: [sample_dump("wikimedia", f"en{site}")] for site in PAPER_DOMAINS}
    return Flores101Config(**sites, sentences=150)  # type: ignore[arg-type]


def sample_dump(folder: str, wiki: str) -> str:
    """The dump of a sample: of "wikipedia" or "wikimedia"."""
    name = f"{wiki}-20260101-pages-articles-multistream.xml.bz2"
    return str(SAMPLES / folder / wiki / name)


def _sample_books() -> dict[str, Any]:
    books = SAMPLES / "gutenberg"
    return {
        "books": [str(books / "library")],
        "catalog": [str(books / "pg_catalog.csv"), str(books / "rdf-files.tar.bz2")],
        "dump_date": "20260101",
    }


def sample_config(language: str, entities: str = "") -> Wiki40bConfig:
    """The settings that build the sample of one language, with an entity table."""
    wiki = SAMPLES / "wikipedia" / f"{language}wiki"
    return Wiki40bConfig(
        language=language,
        dump=[sample_dump("wikipedia", wiki.name)],
        page_props=[str(wiki / f"{language}wiki-20260101-page_props.sql.gz")],
        entities=entities,
    )
