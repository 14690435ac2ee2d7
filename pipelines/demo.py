"""The bundled samples: inputs of our own writing, small and whole, for every corpus."""

import pathlib
from collections.abc import Iterator

from apache_beam.io.filesystems import FileSystems

from pipelines.entities import Entities, EntitiesConfig
from pipelines.launch import Corpus
from pipelines.lm1b import Lm1b, Lm1bConfig
from pipelines.wiki40b import Wiki40b, Wiki40bConfig
from pipelines.wiki40b_multilingual import MultilingualConfig, Wiki40bMultilingual

SAMPLES = pathlib.Path(__file__).parent / "samples"
WIKI40B_LANGUAGES = ("en", "ja", "uk")
MULTILINGUAL_SIZE = 64_000  # more than the samples give


def sample_builds(output: str) -> Iterator[Corpus]:
    """All builds that the samples allow, each to be built in `output` before the next is asked for."""
    entities = Entities(EntitiesConfig(dump=[sample_entities()]))
    yield entities
    for language in WIKI40B_LANGUAGES:
        yield Wiki40b(sample_config(language, FileSystems.join(output, *entities.path)))
    corpora = [FileSystems.join(output, "wiki40b", language) for language in WIKI40B_LANGUAGES]
    yield Wiki40bMultilingual(MultilingualConfig(corpora, vocabulary_sizes=[MULTILINGUAL_SIZE]))
    yield Lm1b(sample_news())


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


def sample_config(language: str, entities: str = "") -> Wiki40bConfig:
    """The settings that build the sample of one language, with an entity table."""
    wiki = SAMPLES / "wikipedia" / f"{language}wiki"
    return Wiki40bConfig(
        language=language,
        dump=[str(wiki / f"{language}wiki-20260101-pages-articles-multistream.xml.bz2")],
        page_props=[str(wiki / f"{language}wiki-20260101-page_props.sql.gz")],
        entities=entities,
    )
