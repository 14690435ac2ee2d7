"""Pages → articles: wikitext becomes text in Wiki-40B layout."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apache_beam as beam

from transforms import counters
from transforms.records import Article, Page, Reason
from transforms.screen import Screened, reject
from transforms.text.wikimedia.article_markers import find_marker, render_article
from transforms.text.wikimedia.language import load_language
from transforms.text.wikimedia.wikitext.clean import UncleanableError, WikitextCleaner


class CleanWikitext(beam.PTransform):
    """Cleans pages. A page that has no paragraph left, or that cannot be cleaned, is rejected.

    Args:
      language: corpus code, "zh-tw".
      namespaces: number → names in this wiki, from the head of the dump.
    """

    STAGE = "clean-wikitext"

    def __init__(self, language: str, namespaces: Mapping[int, Sequence[str]]):
        super().__init__()
        self.language = language
        self.namespaces = dict(namespaces)

    def expand(self, pages: beam.PCollection) -> Screened:
        clean = beam.ParDo(_Clean(self.language, self.namespaces)).with_output_types(Article)
        split = pages | clean.with_outputs("rejected", main="kept")
        return Screened(split.kept, split.rejected)


class _Clean(beam.DoFn):
    def __init__(self, language: str, namespaces: Mapping[int, Sequence[str]]):
        self.language = language
        self.namespaces = namespaces

    def setup(self) -> None:
        self.cleaner = WikitextCleaner(load_language(self.language), self.namespaces)

    def process(self, page: Page) -> Iterable[Any]:
        cleaned = self._clean(page)
        if isinstance(cleaned, Reason):
            yield reject(page.page_id, page.title, CleanWikitext.STAGE, cleaned)
        else:
            counters.count(CleanWikitext.STAGE, "cleaned")
            yield cleaned

    def _clean(self, page: Page) -> Article | Reason:
        try:
            sections = self.cleaner.clean(page.text, page.title).sections
        except UncleanableError as error:
            return Reason(error.reason, str(error))
        if not sections:
            return Reason("empty-after-cleaning")
        if any(
            find_marker(text)
            for section in sections
            for text in (section.heading, *section.paragraphs)
        ):
            return Reason("marker-in-source", "after cleaning")  # put together from pieces
        return Article(
            page_id=page.page_id,
            title=page.title,
            version_id=str(page.revision_id),
            text=render_article(page.title, sections),
        )
