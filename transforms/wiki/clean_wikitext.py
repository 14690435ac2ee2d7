"""Pages → articles: wikitext becomes text in Wiki-40B layout."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from transforms.files import counters
from transforms.files.screen import reject
from transforms.records import Article, Page, Reason
from transforms.text.wikimedia.article_markers import find_marker, render_article
from transforms.text.wikimedia.language import Language
from transforms.text.wikimedia.template_pages import NO_TEMPLATES, WikiTemplates
from transforms.text.wikimedia.wikitext.clean import (
    CleanedPage,
    UncleanableError,
    WikitextCleaner,
)


class Unrendered(NamedTuple):
    """A template that left nothing in the running text of one article."""

    name: str  # normalised
    uses: int
    title: str  # of the article


class Cleaned(NamedTuple):
    """What CleanWikitext gives: kept + rejected = pages."""

    kept: beam.PCollection  # of Article
    rejected: beam.PCollection  # of Rejected
    unrendered: beam.PCollection  # of Unrendered, of kept articles


@dataclass(eq=False, repr=False)
class CleanWikitext(beam.PTransform):
    """Cleans pages. A page that has no paragraph left, or that cannot be cleaned, is rejected.

    Args:
      language: the tables of the corpus.
      namespaces: number → names in this wiki, from the head of the dump.
      templates: PCollection of one WikiTemplates, or None.
    """

    STAGE = "clean-wikitext"

    language: Language
    namespaces: Mapping[int, Sequence[str]]
    templates: beam.PCollection | None = None

    def expand(self, pages: beam.PCollection) -> Cleaned:
        of_wiki = beam.pvalue.AsSingleton(self.templates) if self.templates else NO_TEMPLATES
        clean = beam.ParDo(_Clean(self.language, self.namespaces), of_wiki)
        split = pages | clean.with_output_types(Article).with_outputs(
            "rejected", "unrendered", main="kept"
        )
        return Cleaned(split.kept, split.rejected, split.unrendered)


@dataclass(eq=False)
class _Clean(beam.DoFn):
    language: Language
    namespaces: Mapping[int, Sequence[str]]

    def setup(self) -> None:
        self.of_wiki: WikiTemplates | None = None

    def process(self, page: Page, of_wiki: WikiTemplates) -> Iterable[Any]:
        if of_wiki is not self.of_wiki:  # a new bundle may bring it anew
            self.of_wiki = of_wiki
            self.cleaner = WikitextCleaner(self.language, self.namespaces, of_wiki)
        try:
            cleaned = self.cleaner.clean(page.text, page.title)
            article = to_article(page, cleaned)
        except UncleanableError as error:
            article = Reason(error.reason, str(error))
        if isinstance(article, Reason):
            yield reject(page.page_id, page.title, CleanWikitext.STAGE, article)
            return
        counters.count(CleanWikitext.STAGE, "cleaned")
        yield article
        for name, uses in cleaned.unrendered.items():
            counters.count(CleanWikitext.STAGE, "unrendered", uses)
            yield beam.pvalue.TaggedOutput("unrendered", Unrendered(name, uses, page.title))


def to_article(page: Page, cleaned: CleanedPage) -> Article | Reason:
    """The article of a cleaned page, or the reason why it is none."""
    if not cleaned.sections:
        return Reason("empty-after-cleaning")
    if find_marker(cleaned.title) or any(
        find_marker(text)
        for section in cleaned.sections
        for text in (section.heading, *section.paragraphs)
    ):
        return Reason("marker-in-source", "after cleaning")  # put together from pieces
    return Article(
        page_id=page.page_id,
        title=page.title,
        version_id=str(page.revision_id),
        text=render_article(cleaned.title, cleaned.sections),
    )
