"""The bundled samples: inputs of our own writing, small and whole, for every corpus."""

import pathlib
from collections.abc import Iterator

from pipelines.wiki40b import Wiki40b, Wiki40bConfig

SAMPLES = pathlib.Path(__file__).parent / "samples"
WIKI40B_LANGUAGES = ("en", "ja", "uk")


def sample_builds() -> Iterator[Wiki40b]:
    """All builds that the samples allow."""
    for language in WIKI40B_LANGUAGES:
        yield Wiki40b(sample_config(language))


def sample_config(language: str) -> Wiki40bConfig:
    """The settings that build the sample of one language."""
    wiki = SAMPLES / "wikipedia" / f"{language}wiki"
    return Wiki40bConfig(
        language=language,
        dump=[str(wiki / f"{language}wiki-20260101-pages-articles-multistream.xml.bz2")],
        page_props=[str(wiki / f"{language}wiki-20260101-page_props.sql.gz")],
        entities=[str(SAMPLES / "wikidata" / "wikidata-20260101-all.json.gz")],
    )
