"""Cleans pages: converts wikitext to text in Wiki-40B layout."""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.files_screen import reject
from corpusmill.transforms.files.line_blocks import pack_block, unpack_block
from corpusmill.transforms.files.records import Article, Page, Reason
from corpusmill.transforms.files.scratch import Scratch, fetch
from corpusmill.transforms.wikitext.article_markers import find_marker, render_article
from corpusmill.transforms.wikitext.clean import CleanedPage, UncleanableError, WikitextCleaner
from corpusmill.transforms.wikitext.corpus_stats import estimate_words
from corpusmill.transforms.wikitext.language import Language
from corpusmill.transforms.wikitext.markdown import render_markdown
from corpusmill.transforms.wikitext.templates.template_pages import NO_TEMPLATES, WikiTemplates

HOLD_STAGE = "hold-pages"
HELD_CHARACTERS = 1 << 20
"""Size of pages that are written to a file together; a page may be larger."""

HOLE = "a hole"
GUESS = "a guess"
# the sentence, or the part in brackets, was removed, because the template's value cannot be known
NO_SENTENCE = "no sentence"


class Unrendered(NamedTuple):
    """A template whose text is not known, in the running text of an article.

    The template has no usable definition, or its value cannot be known, such as a price of today.
    """

    name: str  # normalised name of the template
    uses: int
    title: str  # title of the article
    left: str = HOLE  # what is in the text in place of the template: HOLE, GUESS or NO_SENTENCE


class Cleaned(NamedTuple):
    """The outputs of CleanWikitext. Each page is kept or rejected."""

    kept: beam.PCollection  # of Article
    rejected: beam.PCollection  # of Rejected
    unrendered: beam.PCollection  # of Unrendered, of kept articles


@dataclass(eq=False, repr=False)
class CleanWikitext(beam.PTransform):
    """Cleans the wikitext of pages. PCollection[Page] → Cleaned.

    Pages that have no paragraph or cannot be cleaned are rejected.

    Args:
      language: tables of the corpus language.
      namespaces: number → name in this wiki, from the head of the dump.
      templates: PCollection of one WikiTemplates with the wiki's own definitions of templates, or None to use
        no such definitions. Pages are stored in files until the definitions are collected.
      scratch: folder for the stored pages; see files/scratch.py.
      min_words: articles with fewer words in their paragraphs are rejected.
      markdown: True to also convert articles to Markdown, which takes 2.7 times as long.
    """

    STAGE = "clean-wikitext"

    language: Language
    namespaces: Mapping[int, Sequence[str]]
    templates: beam.PCollection | None = None
    scratch: str = ""
    min_words: int = 0
    markdown: bool = False

    def expand(self, pages: beam.PCollection) -> Cleaned:
        settings = self.language, self.namespaces, self.min_words, self.markdown
        if self.templates:
            pages = pages | "HoldPages" >> beam.ParDo(_HoldPages(self.scratch)).with_output_types(
                bytes
            )
            of_wiki = beam.pvalue.AsSingleton(self.templates)
            clean = beam.ParDo(_CleanHeld(*settings), of_wiki)
        else:
            clean = beam.ParDo(_Clean(*settings), NO_TEMPLATES)
        split = pages | clean.with_output_types(Article).with_outputs(
            "rejected", "unrendered", main="kept"
        )
        return Cleaned(split.kept, split.rejected, split.unrendered)


class _HoldPages(beam.DoFn):
    """Collects pages in batches, stores the batches in the scratch folder, and yields references to them."""

    def __init__(self, folder: str):
        self.scratch = Scratch(folder)

    def start_bundle(self) -> None:
        self.pages: list[Page] = []
        self.characters = 0

    def process(self, page: Page) -> Iterator[bytes]:
        self.pages.append(page)
        self.characters += len(page.text)
        if self.characters >= HELD_CHARACTERS:
            yield self._put()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self.pages:
            window = GlobalWindow()
            yield WindowedValue(self._put(), window.max_timestamp(), [window])

    def _put(self) -> bytes:
        counters.count(HOLD_STAGE, "pages", len(self.pages))
        packed = pack_block(pickle.dumps([tuple(page) for page in self.pages], protocol=5))
        self.start_bundle()
        return self.scratch.put(packed)


def fetch_pages(held: bytes) -> Iterator[Page]:
    """Yields the pages of a batch in the scratch folder, given its reference."""
    return map(Page._make, pickle.loads(unpack_block(fetch(held))))


@dataclass(eq=False)
class _Clean(beam.DoFn):
    language: Language
    namespaces: Mapping[int, Sequence[str]]
    min_words: int
    markdown: bool = False

    def setup(self) -> None:
        self.of_wiki: WikiTemplates | None = None

    def process(self, page: Page, of_wiki: WikiTemplates) -> Iterable[Any]:
        if of_wiki is not self.of_wiki:  # a new Beam bundle may pass a new object
            self.of_wiki = of_wiki
            self.cleaner = WikitextCleaner(self.language, self.namespaces, of_wiki)
        try:
            cleaned = self.cleaner.clean(page.text, page.title)
            article = to_article(page, cleaned, self.min_words)
            if self.markdown and isinstance(article, Article):
                article = article._replace(markdown=self._markdown(page, cleaned))
        except UncleanableError as error:
            article = Reason(error.reason, str(error))
        if isinstance(article, Reason):
            yield reject(page.page_id, page.title, CleanWikitext.STAGE, article)
            return
        counters.count(CleanWikitext.STAGE, "cleaned")
        if cleaned.dropped:
            counters.count(CleanWikitext.STAGE, "dropped-sentences", len(cleaned.dropped))
            words = sum(map(estimate_words, cleaned.dropped))
            counters.count(CleanWikitext.STAGE, "words-of-dropped-sentences", words)
        yield article
        for counter, left, counts in (
            ("unrendered", HOLE, cleaned.unrendered),
            ("guessed", GUESS, cleaned.guessed),
            ("unknown-values", NO_SENTENCE, cleaned.unknown),
        ):
            for name, uses in counts.items():
                counters.count(CleanWikitext.STAGE, counter, uses)
                found = Unrendered(name, uses, page.title, left)
                yield beam.pvalue.TaggedOutput("unrendered", found)

    def _markdown(self, page: Page, cleaned: CleanedPage) -> str:
        """Returns the article as Markdown.

        If the conversion fails, it is repeated without lists and tables.
        """
        try:
            return self.cleaner.markdown(page.text, page.title)
        except UncleanableError:
            return render_markdown(cleaned.title, [(0, one) for one in cleaned.sections])


class _CleanHeld(_Clean):
    """Cleans pages that are stored in the scratch folder."""

    def process(self, held: bytes, of_wiki: WikiTemplates) -> Iterator[Any]:  # type: ignore[override]
        for page in fetch_pages(held):
            yield from super().process(page, of_wiki)
            counters.count(HOLD_STAGE, "cleaned")


def to_article(page: Page, cleaned: CleanedPage, min_words: int = 0) -> Article | Reason:
    """Returns the article of a cleaned page, or the reason why it is rejected.

    An article with fewer than `min_words` words is rejected.
    """
    if not cleaned.sections:
        return Reason("empty-after-cleaning")
    if min_words:
        words = sum(
            estimate_words(one) for section in cleaned.sections for one in section.paragraphs
        )
        if words < min_words:
            return Reason("few-words", str(words))
    if find_marker(cleaned.title) or any(
        find_marker(text)
        for section in cleaned.sections
        for text in (section.heading, *section.paragraphs)
    ):
        # joining pieces of text has formed a marker
        return Reason("marker-in-source", "after cleaning")
    return Article(
        page_id=page.page_id,
        title=page.title,
        version_id=str(page.revision_id),
        text=render_article(cleaned.title, cleaned.sections),
        revised=page.revised,
    )
